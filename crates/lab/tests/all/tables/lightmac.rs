//! Lengths with data in LightMAC's paper.

use tagmac_lab::speeds::kept;
use tagmac_lab::tables::{Cell, find};

/// "Data is provided for message lengths smaller than 2^s (n - s) bits."
#[test]
fn rows_end_at_the_longest_message() {
    let speeds = &kept().expect("the kept records")[..1];
    let grid = find("lightmac-4").expect("a table").fill(speeds);
    let filled = |label: &str| {
        let row = grid.rows.iter().find(|row| row.label.starts_with(label)).expect("a row");
        row.cells.iter().filter(|cell| **cell != Cell::Empty).count()
    };
    // 128 .. 1024 of at most 256 * 7; .. 2048 of 256 * 15; all.
    assert_eq!(filled("LightMAC, PRESENT, s = 8"), 4);
    assert_eq!(filled("LightMAC, AES, s = 8"), 5);
    assert_eq!(filled("LightMAC, AES, s = n/3 = 40"), 7);
}
