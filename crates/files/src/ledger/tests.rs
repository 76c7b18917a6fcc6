//! Laws of ledgers, and their file.

mod page;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use tagmac_any::{Algorithm, AnyMac};

use super::*;
use crate::error::{Error, ErrorKind};
use crate::objects::ManifestKey;
use crate::raw_key::RawKey;

fn chain(byte: u8) -> Tag {
    Tag::try_from(&[byte; 32][..]).unwrap()
}

fn day(days: i32) -> Day {
    Day::from_days(days).unwrap()
}

pub(crate) fn key(byte: u8) -> ManifestKey {
    let raw = RawKey::new(Algorithm::default(), vec![byte; 16].into()).unwrap();
    ManifestKey::new(&AnyMac::new(raw.algorithm, &raw.bytes).unwrap(), &raw)
}

/// Positions near each other and near the ends, so that arcs touch and overlap.
fn position() -> impl Strategy<Value = u64> {
    prop_oneof![0..40u64, any::<u64>(), (u64::MAX - 40)..=u64::MAX]
}

/// Arcs that were read, the day, and the positions that could not be read.
type Night = (Vec<(u64, u64)>, i32, Vec<u64>);

fn nights() -> impl Strategy<Value = Vec<Night>> {
    vec((vec((position(), position()), 0..4), 0..9i32, vec(position(), 0..4)), 0..6)
}

fn arcs(night: &Night) -> Arcs {
    Arcs::from_ranges(night.0.iter().copied())
}

fn recorded(nights: &[Night]) -> Ledger {
    let mut ledger = Ledger::new(chain(7));
    for night in nights {
        ledger.record(&arcs(night), day(night.1), night.2.iter().copied()).unwrap();
    }
    ledger
}

fn merged(left: &Ledger, right: &Ledger) -> Ledger {
    let mut merged = left.clone();
    merged.merge(right).unwrap();
    merged
}

proptest! {
    #[test]
    fn a_position_has_the_latest_day_on_which_it_was_read(
        nights in nights(),
        others in vec(position(), 9),
    ) {
        let ledger = recorded(&nights);
        let ends = nights.iter().flat_map(|night| {
            let ends = night.0.iter().flat_map(|(first, last)| [*first, *last]);
            ends.chain(night.2.iter().copied())
        });
        for at in ends.chain(others) {
            let near = [at.wrapping_sub(1), at, at.wrapping_add(1)];
            for at in near {
                let read = nights.iter().filter(|night| {
                    arcs(night).contains(at) && !night.2.contains(&at)
                });
                prop_assert_eq!(ledger.day_at(at), read.map(|night| day(night.1)).max());
            }
        }
    }

    #[test]
    fn ledgers_are_a_lattice(a in nights(), b in nights(), c in nights(), at in position()) {
        let [a, b, c] = [a, b, c].map(|nights| recorded(&nights));
        prop_assert_eq!(&merged(&a, &a), &a);
        prop_assert_eq!(&merged(&a, &Ledger::new(a.chain)), &a);
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
        prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(merged(&a, &b).day_at(at), a.day_at(at).max(b.day_at(at)));
    }

    #[test]
    fn a_merged_ledger_has_the_nights_of_both(a in nights(), b in nights()) {
        prop_assert_eq!(merged(&recorded(&a), &recorded(&b)), recorded(&[a, b].concat()));
    }

    #[test]
    fn what_is_written_is_read(nights in nights(), sequence in 1..=u64::MAX) {
        let (key, ledger) = (key(7), Ledger { sequence, ..recorded(&nights) });
        let text = file::write(&ledger, &key);
        prop_assert_eq!(read(&text), Ok(ledger));
    }

    #[test]
    fn no_byte_of_a_ledger_can_be_another(
        nights in nights(),
        at in any::<prop::sample::Index>(),
        put: Vec<u8>,
        over in 0..80usize,
    ) {
        let text = file::write(&Ledger { sequence: 1, ..recorded(&nights) }, &key(7));
        let at = at.index(text.len());
        let mut other = text.clone();
        other.splice(at..(at + over).min(text.len()), put);
        prop_assert_eq!(read(&other).is_ok(), other == text);
    }

    /// Holders of the key can seal anything. A ledger has one form only.
    #[test]
    fn a_sealed_text_is_a_ledger_in_its_one_form_or_nothing(
        nights in nights(),
        at in any::<prop::sample::Index>(),
        put in "[0-9a-f \\n-]{0,9}",
        over in 0..30usize,
    ) {
        let (key, ledger) = (key(7), Ledger { sequence: 1, ..recorded(&nights) });
        let mut text = text::body(&ledger, key.key_id);
        let at = at.index(text.len());
        text.splice(at..(at + over).min(text.len()), put.into_bytes());
        key.close(&mut text);
        if let Ok(found) = read(&text) {
            prop_assert_eq!(file::write(&found, &key), text);
        }
    }

    #[test]
    fn the_oldest_arcs_are_the_oldest(nights in nights(), length: u64, at in vec(position(), 9)) {
        let ledger = recorded(&nights);
        let found = ledger.oldest_arcs(length.into());
        prop_assert_eq!(found.length(), u128::from(length));
        let taken = at.iter().filter(|at| found.contains(**at)).map(|at| ledger.arc_day(*at)).max();
        let left = at.iter().filter(|at| !found.contains(**at)).map(|at| ledger.arc_day(*at)).min();
        if let (Some(taken), Some(left)) = (taken, left) {
            prop_assert!(taken <= left);
        }
    }

    #[test]
    fn bins_are_in_the_order_of_their_oldest_days(nights in nights()) {
        let ledger = recorded(&nights);
        let mut expected: Vec<(Option<Day>, usize)> = (0..16).map(|bin| {
            let (first, last) = ((bin as u64) << 60, (bin as u64) << 60 | u64::MAX >> 4);
            let touching = ledger.arcs().filter(|arc| arc.0 <= last && arc.1 >= first);
            (touching.map(|arc| arc.2).min().unwrap(), bin)
        }).collect();
        expected.sort();
        let expected: Vec<usize> = expected.into_iter().map(|(_, bin)| bin).collect();
        prop_assert_eq!(ledger.oldest_bins(4), expected);
    }
}

/// Parses the text of a ledger. Returns the error without its name.
fn read(text: &[u8]) -> Result<Ledger, (ErrorKind, String)> {
    let parsed = file::parse(text, "l", &key(7), &chain(7), day(100));
    parsed.map_err(|error| (error.kind(), error.to_string().replacen("l: ", "", 1)))
}

#[test]
fn every_byte_is_sealed() {
    let night = (vec![(5, 1 << 40), (1 << 60, u64::MAX)], 7, vec![6, u64::MAX]);
    let text = file::write(&Ledger { sequence: 12, ..recorded(&[night]) }, &key(7));
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut other = text.clone();
            other[at] ^= 1 << bit;
            assert!(read(&other).is_err(), "byte {at}");
        }
        assert!(read(&text[..at]).is_err(), "{at} bytes");
    }
    assert!(read(&[&text[..], b"\n"].concat()).is_err());
}

#[test]
fn the_format_is_that_of_the_page() {
    let mut ledger = Ledger { sequence: 12, ..Ledger::new(chain(0xab)) };
    let november = |of: u8| Day::parse(format!("2026-11-{of}").as_bytes()).unwrap();
    ledger.record(&Arcs::part(5, 7).unwrap(), november(14), []).unwrap();
    ledger.record(&Arcs::part(1, 7).unwrap(), november(21), []).unwrap();
    ledger.record(&Arcs::part(5, 7).unwrap(), november(25), [0xa3b1_c2d3_e4f5_0617]).unwrap();
    let body = String::from_utf8(text::body(&ledger, key(7).key_id)).unwrap();
    let (id, chain) = (key(7).key_id, "ab".repeat(32));
    assert_eq!(
        body,
        format!(
            "tagmac-ledger-1\nkey id: {id}\nchain: {chain}\nsequence: 12\narcs: 4\n\
             0000000000000000 2026-11-21\n2492492492492492 -\n9249249249249249 2026-11-25\n\
             b6db6db6db6db6db -\nexceptions: 1\na3b1c2d3e4f50617 2026-11-14\n"
        )
    );
}

#[test]
fn what_is_under_a_right_seal_is_checked_too() {
    let (key, chain_line) = (key(7), format!("chain: {}\n", chain(7)));
    let id = key.key_id;
    let zero = "0000000000000000";
    let one = format!("arcs: 1\n{zero} -\n");
    let none = "exceptions: 0\n";
    let mismatch = |line: u64, why: &str| Err((ErrorKind::Mismatch, format!("line {line}: {why}")));
    let placed = "expected a position in 16 hex digits and a day or '-'";
    let cases = [
        (format!("{chain_line}sequence: 1\n{one}{none}"), Ok(())),
        (format!("{chain_line}sequence: 0\n{one}{none}"), mismatch(4, "expected a number from 1")),
        (format!("{chain_line}sequence: 01\n{one}{none}"), mismatch(4, "expected a number from 1")),
        (
            format!("sequence: 1\n{one}{none}"),
            mismatch(3, "expected a line that begins with 'chain: '"),
        ),
        (format!("chain: 07\nsequence: 1\n{one}{none}"), mismatch(3, "expected 64 hex digits")),
        (
            format!("{chain_line}sequence: 1\narcs: 0\n{none}"),
            mismatch(5, "expected at least one arc"),
        ),
        (
            format!("{chain_line}sequence: 1\narcs: 65537\n"),
            mismatch(5, "expected a number up to 65536"),
        ),
        (
            format!("{chain_line}sequence: 1\narcs: 1\n{}1 -\n{none}", &zero[1..]),
            mismatch(6, "expected the first arc to begin at 0"),
        ),
        (
            format!("{chain_line}sequence: 1\narcs: 2\n{zero} -\n{zero} 1970-01-01\n{none}"),
            mismatch(7, "expected ascending arcs"),
        ),
        (
            format!("{chain_line}sequence: 1\narcs: 2\n{zero} -\n8{} -\n{none}", &zero[1..]),
            mismatch(7, "expected another day than before"),
        ),
        (format!("{chain_line}sequence: 1\narcs: 1\n{zero}  -\n{none}"), mismatch(6, placed)),
        (
            format!("{chain_line}sequence: 1\narcs: 1\n{zero} 2026-11-31\n{none}"),
            mismatch(6, placed),
        ),
        (
            format!("{chain_line}sequence: 1\narcs: 1\nA{} -\n{none}", &zero[1..]),
            mismatch(6, placed),
        ),
        (format!("{chain_line}sequence: 1\narcs: 2\n{zero} -\n{none}"), mismatch(7, placed)),
        (
            format!("{chain_line}sequence: 1\n{one}exceptions: 10001\n"),
            mismatch(7, "expected a number up to 10000"),
        ),
        (
            format!("{chain_line}sequence: 1\n{one}exceptions: 1\n{zero} -\n"),
            mismatch(8, "expected an older day than that of the arc"),
        ),
        (
            format!(
                "{chain_line}sequence: 1\narcs: 1\n{zero} 1970-01-09\nexceptions: 2\n{zero} -\n\
                 {zero} -\n"
            ),
            mismatch(9, "expected ascending positions"),
        ),
        (
            format!("{chain_line}sequence: 1\n{one}{none}{none}"),
            mismatch(8, "expected no more lines"),
        ),
    ];
    for (body, expected) in cases {
        let mut text = format!("tagmac-ledger-1\nkey id: {id}\n{body}").into_bytes();
        key.close(&mut text);
        assert_eq!(read(&text).map(drop), expected, "{body}");
    }
}

#[test]
fn a_ledger_is_of_one_key_one_chain_and_the_past() {
    let night = (vec![(0, 5)], 101, vec![]);
    let ledger = Ledger { sequence: 1, ..recorded(&[night]) };
    let text = file::write(&ledger, &key(7));
    let parse = |text: &[u8], other: u8, of: u8, today| {
        let parsed = file::parse(text, "l", &key(other), &chain(of), day(today));
        parsed.map_err(|error| (error.kind(), error.to_string()))
    };
    assert_eq!(parse(&text, 7, 7, 100), Ok(ledger));
    let (mine, others) = (key(7).key_id, key(8).key_id);
    let another = format!(
        "l: the ledger is sealed under another key: expected key id {others}, found {mine}"
    );
    assert_eq!(parse(&text, 8, 7, 100), Err((ErrorKind::Key, another)));
    let another = format!(
        "l: the ledger belongs to another chain of manifests: expected {}, found {}",
        chain(8),
        chain(7)
    );
    assert_eq!(parse(&text, 7, 8, 100), Err((ErrorKind::Mismatch, another)));
    let (kind, why) = parse(&text, 7, 7, 99).unwrap_err();
    assert_eq!(kind, ErrorKind::Io);
    assert!(why.contains("were read on 1970-04-12, and today is 1970-04-10;"), "{why}");
    for (text, expected) in [
        (&b"tagmac-manifest-2\n"[..], "l: this is not a ledger"),
        (b"", "l: this is not a ledger"),
        (b"tagmac-ledger-2\n", "l: expected tagmac-ledger-1, found tagmac-ledger-2"),
        (b"tagmac-ledger-1\n", "l: line 2: expected a line that begins with 'key id: '"),
    ] {
        assert_eq!(parse(text, 7, 7, 100), Err((ErrorKind::Mismatch, expected.into())));
    }
}

#[test]
fn too_many_exceptions_record_nothing() {
    let mut ledger = Ledger::new(chain(7));
    let before = ledger.clone();
    let spread = |from: u64| (0..6000).map(move |i| from + (i << 20));
    let far = (0..=MAX_EXCEPTIONS as u64).map(|i| i << 20);
    assert_eq!(ledger.record(&Arcs::all(), day(1), far), Err(TooManyExceptions));
    assert_eq!(ledger, before);
    let [first, second] = [1, 2].map(|half| Arcs::part(half, 2).unwrap());
    ledger.record(&first, day(1), spread(0)).unwrap();
    assert_eq!(ledger.exceptions(), 6000);
    let before = ledger.clone();
    assert_eq!(ledger.record(&second, day(2), spread(1 << 63)), Err(TooManyExceptions));
    assert_eq!(ledger, before);
    // Positions outside of the arcs were not to be read.
    ledger.record(&second, day(2), spread(1)).unwrap();
    assert_eq!(ledger.exceptions(), 6000);
    // All entries were read.
    ledger.record(&Arcs::all(), day(3), []).unwrap();
    assert_eq!(ledger.exceptions(), 0);
}

#[test]
fn the_longest_ledger_fits() {
    let mut ledger = Ledger { sequence: u64::MAX, ..Ledger::new(chain(7)) };
    let dated = |i: u64| (i << 47, Some(if i.is_multiple_of(2) { day(8) } else { day(9) }));
    ledger.arcs = (0..MAX_ARCS as u64).map(dated).collect();
    ledger.exceptions = (0..MAX_EXCEPTIONS as u64).map(|i| (i << 40, Some(day(7)))).collect();
    let text = file::write(&ledger, &key(7));
    assert!(text.len() as u64 <= text::MAX_BYTES, "{}", text.len());
    assert_eq!(read(&text), Ok(ledger.clone()));
    // One more arc makes the two that lose least one. The exceptions in it stay older.
    ledger.record(&Arcs::from_ranges([(1 << 46, 1 << 46)]), day(30), []).unwrap();
    assert!(ledger.arcs().count() <= MAX_ARCS);
    assert_eq!(read(&file::write(&ledger, &key(7))), Ok(ledger));
}

fn save_at(path: &Path, ledger: &Ledger) -> Result<Ledger, Error> {
    save(path, &key(7), ledger, day(100))
}

fn open_at(path: &Path) -> Result<Option<Ledger>, Error> {
    open(path, &key(7), &chain(7), day(100))
}

#[test]
fn saves_are_counted_and_merged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    assert_eq!(open_at(&path).unwrap(), None);
    let first = recorded(&[(vec![(0, 99)], 1, vec![5])]);
    let saved = save_at(&path, &first).unwrap();
    assert_eq!(saved, Ledger { sequence: 1, ..first });
    assert_eq!(open_at(&path).unwrap(), Some(saved));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // Two runs that both began with the first save.
    let second = recorded(&[(vec![(50, 199)], 2, vec![])]);
    let third = recorded(&[(vec![(5, 5)], 3, vec![])]);
    save_at(&path, &second).unwrap();
    let saved = save_at(&path, &third).unwrap();
    assert_eq!(saved.sequence, 3);
    let days = [0, 5, 50, 199, 200].map(|at| saved.day_at(at).map(Day::days));
    assert_eq!(days, [Some(1), Some(3), Some(2), Some(2), None]);
    assert_eq!(open_at(&path).unwrap(), Some(saved));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn runs_at_the_same_time_lose_no_night() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l");
    let start = Barrier::new(3);
    thread::scope(|scope| {
        for run in 0..3u64 {
            let (path, start) = (&path, &start);
            scope.spawn(move || {
                start.wait();
                let night = (vec![(run, run)], run as i32, vec![]);
                save_at(path, &recorded(&[night])).unwrap();
            });
        }
    });
    let saved = open_at(&path).unwrap().unwrap();
    assert_eq!(saved.sequence, 3);
    (0..3).for_each(|run| assert_eq!(saved.day_at(run), Some(day(run as i32))));
}

#[test]
fn a_ledger_takes_the_place_of_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("l"), folder.path().join("link"));
    let ledger = Ledger::new(chain(7));
    symlink(&path, &link).unwrap();
    for found in [save_at(&link, &ledger).map(drop), open_at(&link).map(drop)] {
        let why = "this is a symbolic link; name the file itself";
        assert!(found.unwrap_err().to_string().ends_with(why));
    }
    for text in ["", "a photo", "tagmac-ledger-1\n"] {
        fs::write(&path, text).unwrap();
        assert_eq!(save_at(&path, &ledger).unwrap_err().kind(), ErrorKind::Mismatch, "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let file = fs::File::create(&path).unwrap();
    file.set_len(text::MAX_BYTES + 1).unwrap();
    for found in [save_at(&path, &ledger).map(drop), open_at(&path).map(drop)] {
        let what = format!("longer than {} bytes", text::MAX_BYTES);
        assert!(found.unwrap_err().to_string().ends_with(&what));
    }
    let found = open_at(folder.path()).unwrap_err().to_string();
    assert!(found.ends_with("expected a file, found a directory"), "{found}");
}

/// Whichever calls of the system fail, from some call on, as after a kill: the file is the old
/// ledger or the new one, and the next save finds no leftovers.
#[cfg(feature = "fault-injection")]
#[test]
fn a_kill_at_any_call_leaves_a_ledger() {
    use crate::faults::{HookedFault, with_hook};
    let [old, new] = [1, 2].map(|at| recorded(&[(vec![(at, at)], 1, vec![])]));
    let (mut olds, mut news) = (0, 0);
    for exists in [true, false] {
        for call in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("l");
            let before = exists.then(|| save_at(&path, &old).unwrap());
            let mut calls = 0;
            let hook = move |_: &str| {
                calls += 1;
                (calls > call).then_some(HookedFault::Short(5, 5))
            };
            let saved = with_hook(hook, || save_at(&path, &new));
            let found = open_at(&path).unwrap();
            if let Ok(saved) = saved {
                assert_eq!(found, Some(saved));
                break;
            }
            if found == before {
                olds += 1;
            } else {
                assert_eq!(found.unwrap().day_at(2), Some(day(1)));
                news += 1;
            }
            save_at(&path, &new).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
    assert!(olds > 4 && news > 0, "{olds} {news}");
}
