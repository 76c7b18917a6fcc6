//! `tagmac update` needs memory for some leaves and some node pages, whatever the edit.

use std::fs;

use crate::common::{Place, Ran, peak, sparse};

const MIB: u64 = 1 << 20;

/// Returns the peak memory of an update in KiB.
fn update(place: &Place, args: &[&str]) -> (u64, Ran) {
    let args = [&["update", "-k", "k", "--num-threads", "1"], args, &["f"]].concat();
    peak(&mut place.command(&args))
}

#[test]
fn memory_does_not_grow_with_the_edit() {
    let place = Place::new();
    sparse(&place, "f", 100 * MIB);
    fs::write(place.path("p"), vec![1; 96 << 20]).unwrap();
    let peaks =
        [&[][..], &["--patch", "1000", "p"], &["--range", "1000:96MiB"], &["--truncate", "1000"]]
            .map(|args| {
                let (peak, ran) = update(&place, args);
                ran.exits(0);
                println!("{args:?}: {peak} KiB");
                peak
            });
    // The process, 4 MiB of leaves, 4 MiB of a patch, and a node page of 1 MiB, old and new.
    assert!(peaks.iter().all(|peak| *peak < 48 << 10), "{peaks:?} KiB");
}
