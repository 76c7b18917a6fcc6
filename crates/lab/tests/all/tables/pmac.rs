//! Calls of the cipher, against the formulas of PMAC's paper.

use tagmac_lab::speeds::kept;
use tagmac_lab::tables::{Cell, find};

/// The paper's formulas at every length shown.
#[test]
fn calls_are_the_papers() {
    let grid = find("pmac-calls").expect("a table").fill(&kept().expect("the kept records"));
    let row = |label: &str| -> Vec<String> {
        let row = grid.rows.iter().find(|row| row.label.starts_with(label)).expect("a row");
        row.cells[1..].iter().map(Cell::text).collect()
    };
    assert_eq!(row("PMAC"), ["1", "1", "1", "2", "2", "3"]);
    assert_eq!(row("CBC MAC, basic"), ["", "", "1", "", "2", ""]);
    assert_eq!(row("CBC MAC of [10]"), ["1", "1", "1", "2", "2", "3"]);
    assert_eq!(row("padded always, double"), ["2", "2", "3", "3", "4", "4"]);
    assert_eq!(row("padded always, triple"), ["3", "3", "4", "4", "5", "5"]);
    assert!(
        grid.notes[0].ends_with("counted over 2^16 offsets: 1.000 and 0.125."),
        "{:?}",
        grid.notes
    );
}
