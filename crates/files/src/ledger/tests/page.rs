//! The examples of the documentation, and their independent reader.

use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use tagmac_any::{AnyMac, KeyFile};
use zeroize::Zeroizing;

use super::{Night, nights};
use crate::day::Day;
use crate::ledger::{Ledger, open, save};
use crate::objects::ManifestKey;
use crate::pin::{Pin, PinFile};
use crate::position::{Arcs, Positions};
use crate::raw_key::RawKey;
use tagmac::Tag;

const PAGE: &str = include_str!("../../../docs/formats/ledger.md");
const KEY_PAGE: &str = include_str!("../../../docs/formats/key-file.md");
const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/ledger.py");

/// Returns the code block that begins with `start`.
fn block<'a>(page: &'a str, start: &str) -> &'a str {
    let text = &page[page.find(&format!("```text\n{start}")).unwrap() + 8..];
    &text[..text.find("```").unwrap()]
}

/// Returns the key of the examples.
fn keys() -> (ManifestKey, Positions) {
    let file = KeyFile::parse(block(KEY_PAGE, "tagmac-key-2").as_bytes()).unwrap();
    let raw = RawKey::new(file.algorithm(), Zeroizing::new(file.key().to_vec())).unwrap();
    let mac = AnyMac::new(raw.algorithm, &raw.bytes).unwrap();
    (ManifestKey::new(&mac, &raw), Positions::new(&raw))
}

fn ascending(from: u8) -> Tag {
    let bytes: Vec<u8> = (from..from + 32).collect();
    Tag::try_from(&bytes[..]).unwrap()
}

fn day(text: &str) -> Day {
    Day::parse(text.as_bytes()).unwrap()
}

#[test]
fn the_documentation_shows_a_ledger_and_a_pin_to_the_byte() {
    let ((key, positions), folder) = (keys(), tempfile::tempdir().unwrap());
    let (path, today) = (folder.path().join("l"), day("2026-11-22"));
    let mut ledger = Ledger::new(ascending(0x20));
    ledger.record(&Arcs::part(1, 7).unwrap(), day("2026-11-21"), []).unwrap();
    save(&path, &key, &ledger, today).unwrap();
    let unread = [positions.of(b"to\ttab")];
    ledger.record(&Arcs::part(2, 7).unwrap(), today, unread).unwrap();
    let saved = save(&path, &key, &ledger, today).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, block(PAGE, "tagmac-ledger-1"));
    assert_eq!(open(&path, &key, &ascending(0x20), today).unwrap(), Some(saved));
    let path = folder.path().join("p");
    let chain = ascending(0x20);
    let pin = Pin { chain, sequence: 3, manifest: ascending(0x40), ledger: 2 };
    std::fs::write(&path, block(PAGE, "tagmac-pin-1")).unwrap();
    assert_eq!(PinFile::open(&path, &key).unwrap().pin(), Some(&pin));
    for (name, shown) in
        [("a\\b", "`a\\b`"), ("photos/café", "`photos/café`"), ("to\ttab", "`to`, a tab, `tab`")]
    {
        let row = format!("| {shown} | {:016x} |", positions.of(name.as_bytes()));
        assert!(PAGE.contains(&row), "{row}");
    }
}

/// Returns the days of the names as the independent reader prints them.
fn read(key: &Path, ledger: &Path, names: &[String]) -> Vec<String> {
    let ran = Command::new("python3").arg(READER).args([key, ledger]).args(names).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
    String::from_utf8(ran.stdout).unwrap().lines().map(String::from).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn another_implementation_reads_the_same(nights in nights()) {
        let ((key, positions), folder) = (keys(), tempfile::tempdir().unwrap());
        let [key_path, path] = ["key", "l"].map(|name| folder.path().join(name));
        std::fs::write(&key_path, block(KEY_PAGE, "tagmac-key-2")).unwrap();
        let names: Vec<String> = (0..30).map(|number| format!("é/{number}")).collect();
        // Arcs that begin and end at the positions of names.
        let mut ledger = super::recorded(&nights);
        let night: Night = (vec![(positions.of("é/1".as_bytes()), u64::MAX)], 5, Vec::new());
        let unread = [positions.of("é/7".as_bytes())];
        ledger.record(&super::arcs(&night), super::day(night.1), unread).unwrap();
        let saved = save(&path, &key, &ledger, super::day(9)).unwrap();
        let days = names.iter().map(|name| {
            let day = saved.day_at(positions.of(name.as_bytes()));
            day.map_or("-".into(), |day| day.to_string())
        });
        prop_assert_eq!(read(&key_path, &path, &names), days.collect::<Vec<String>>());
    }
}
