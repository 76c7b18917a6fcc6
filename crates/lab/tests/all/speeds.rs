//! Speeds from records of the bench.

use std::fs;
use std::path::Path;

use tagmac_lab::speeds::{Call, Speeds, digits, kept};

use crate::report::folder;

#[test]
fn the_kept_record_and_what_is_none() {
    let speeds = &kept().expect("the kept records")[0];
    assert_eq!(speeds.cpu(), "Zen 4");
    let short = speeds.cycles(Call::Ready, "PMAC-AES128", 64).expect("in sizes");
    let long = speeds.cycles(Call::Ready, "PMAC-AES128", 2048).expect("in lengths");
    let new = speeds.cycles(Call::NewKey, "PMAC-AES128", 64).expect("in keys");
    assert!(short < long && short < new, "{short} {long} {new}");
    assert_eq!(speeds.cycles(Call::Ready, "PMAC-AES129", 64), None);
    let error = Speeds::read(Path::new("/nowhere")).err().expect("no folder");
    assert_eq!(
        error,
        "/nowhere: no record in this folder; name one like bench/record/amd-epyc-zen4"
    );
}

/// Only the best level, and one way to call.
#[test]
fn a_figure_is_of_the_best_level_and_the_case() {
    let record = r#"{"experiment": "lab", "machine": {"cpu": "A (b)", "clock": 1.0,
        "levels": ["slow", "fast"], "compiler": "c", "date": "d"}, "series": [
        {"name": "M", "level": "slow", "points": [[16, 9, 9, 9]]},
        {"name": "M", "level": "fast", "case": "new key", "points": [[16, 5, 5, 5]]},
        {"name": "M", "level": "fast", "case": "", "points": [[16, 3, 3, 3]]}]}"#;
    let folder = folder("levels");
    fs::write(folder.join("lab.json"), record).expect("a record");
    let speeds = Speeds::read(&folder).expect("a record");
    assert_eq!(speeds.cycles(Call::Ready, "M", 16), Some(3.0));
    assert_eq!(speeds.cycles(Call::NewKey, "M", 16), Some(5.0));
    assert_eq!((speeds.cycles(Call::Ready, "M", 17), speeds.cpu()), (None, "A"));
}

#[test]
fn three_digits() {
    assert_eq!(
        [0.0678, 0.166, 1.0, 12.34, 246.1].map(digits),
        ["0.068", "0.17", "1.00", "12.3", "246"]
    );
}
