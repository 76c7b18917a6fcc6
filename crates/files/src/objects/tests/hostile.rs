//! Only what was sealed is read, and only where it was sealed.

use proptest::prelude::*;

use super::{header, key, object, shard};
use crate::objects::{FormatVersion, ManifestKey, Root, RootBuilder, Shard, ShardRecord};

const SHARD_NAMES: [&[u8]; 4] = [b"a", b"a\tb", b"b", b"c"];

fn sample() -> (ManifestKey, Vec<u8>, ShardRecord, Vec<u8>) {
    let (mac, key) = key("PMAC-AES128", 128, 7);
    let (text, record) = shard(&key, 0, &SHARD_NAMES.map(|name| object(&mac, name)));
    let mut root = RootBuilder::new(&key, &header());
    root.push(&record).unwrap();
    let root = root.seal();
    (key, text, record, root)
}

fn open(key: &ManifestKey, record: &ShardRecord, text: Vec<u8>) -> Result<(), String> {
    Shard::open(key, FormatVersion::V2, record, text, "shard")
        .map(drop)
        .map_err(|error| error.to_string())
}

fn open_root(key: &ManifestKey, text: Vec<u8>) -> Result<(), String> {
    Root::open(key, text, "root").map(drop).map_err(|error| error.to_string())
}

fn one_line(why: &str, shown: &str) {
    assert!(why.starts_with(shown) && !why.contains('\n') && why.len() < 400, "{why:?}");
}

#[test]
fn any_byte_flipped_is_found() {
    let (key, text, record, root) = sample();
    for at in 0..text.len() {
        for bit in [0x01, 0x80] {
            let mut bad = text.clone();
            bad[at] ^= bit;
            one_line(&open(&key, &record, bad).unwrap_err(), "shard: ");
        }
    }
    for at in 0..root.len() {
        for bit in [0x01, 0x80] {
            let mut bad = root.clone();
            bad[at] ^= bit;
            one_line(&open_root(&key, bad).unwrap_err(), "root: ");
        }
    }
}

#[test]
fn lines_that_are_removed_doubled_or_swapped_are_found() {
    let (key, text, record, root) = sample();
    for (text, is_root) in [(&text, false), (&root, true)] {
        let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
        let check = |lines: &[&[u8]]| {
            let bad = lines.concat();
            if bad == *text {
                return;
            }
            let why = match is_root {
                true => open_root(&key, bad),
                // Adapt the length in the root, so that more than the length is tested.
                false => {
                    open(&key, &ShardRecord { length: bad.len() as u64, ..record.clone() }, bad)
                }
            };
            one_line(&why.unwrap_err(), if is_root { "root: " } else { "shard: " });
        };
        for i in 0..lines.len() {
            let mut bad = lines.clone();
            bad.remove(i);
            check(&bad);
            bad.insert(i, lines[i]);
            bad.insert(i, lines[i]);
            check(&bad);
            for j in 0..i {
                let mut bad = lines.clone();
                bad.swap(i, j);
                check(&bad);
            }
            check(&lines[..i]);
        }
    }
}

#[test]
fn the_first_line_that_cannot_be_right_is_named() {
    let (key, text, record, _) = sample();
    let text = String::from_utf8(text).unwrap();
    let line = |number: usize| text.lines().nth(number - 1).unwrap();
    let changed = |from: &str, to: &str| {
        let bad = text.replacen(from, to, 1).into_bytes();
        let record = ShardRecord { length: bad.len() as u64, ..record.clone() };
        open(&key, &record, bad).unwrap_err()
    };
    let not = "shard: the seal does not match: it has changed since it was sealed";
    // A tag could have any value.
    assert_eq!(changed(&line(8)[4..20], &"0".repeat(16)), not);
    assert_eq!(changed(line(7), "x"), format!("{not} (line 7: expected a number)"));
    let doubled = [line(8), line(8)].join("\n");
    assert_eq!(
        changed(line(8), &doubled),
        format!("{not} (line 9: the name is the same as the previous one)")
    );
    let swapped = [line(9), line(8)].join("\n");
    assert_eq!(
        changed(&[line(8), line(9)].join("\n"), &swapped),
        format!("{not} (line 9: the name is before the previous one)")
    );
    assert_eq!(changed("shard: 0", "shard: 1"), format!("{not} (line 5: expected 'shard: 0')"));
    let cut = "shard: the last line is not 'seal: ' and 64 hex digits: it was cut off or changed";
    assert!(changed("seal: ", "Seal: ").starts_with(cut));
}

#[test]
fn shards_of_other_places_and_manifests_are_refused() {
    let (mac, key) = key("PMAC-AES128", 128, 7);
    let [a, b, c] = [b"a", b"b", b"c"].map(|name| object(&mac, name));
    let (first, first_record) = shard(&key, 0, std::slice::from_ref(&a));
    let (_, second_record) = shard(&key, 1, std::slice::from_ref(&b));
    // These have the same length and key; only the seal in the root differs.
    let another = "shard: not the shard that the root names, but another one sealed under";
    let why = open(&key, &second_record, first.clone()).unwrap_err();
    assert!(why.starts_with(another), "{why}");
    let (of_other, _) = shard(&key, 0, &[c]);
    let why = open(&key, &first_record, of_other).unwrap_err();
    assert!(why.starts_with(another), "{why}");
    let (of_longer, _) = shard(&key, 0, &[a, b]);
    let why = open(&key, &first_record, of_longer).unwrap_err();
    assert!(why.starts_with("shard: expected a shard of "), "{why}");
    // A root is not accepted as a shard, and vice versa.
    let mut root = RootBuilder::new(&key, &header());
    root.push(&first_record).unwrap();
    let root = root.seal();
    let record = ShardRecord { length: root.len() as u64, ..first_record };
    one_line(&open(&key, &record, root.clone()).unwrap_err(), "shard: ");
    assert_eq!(
        open_root(&key, first).unwrap_err(),
        "root: line 1: expected 'tagmac-object-root-2'"
    );
}

#[test]
fn other_keys_algorithms_and_lengths_are_named() {
    let (_, text, record, root) = sample();
    let (_, other) = key("PMAC-AES128", 128, 8);
    let why = open_root(&other, root.clone()).unwrap_err();
    assert!(
        why.starts_with("root: the manifest is sealed under another key: expected key id "),
        "{why}"
    );
    one_line(&open(&other, &record, text).unwrap_err(), "shard: the seal does not match");
    let (_, other) = key("LIGHTMAC-AES128-S32", 128, 7);
    assert_eq!(
        open_root(&other, root.clone()).unwrap_err(),
        "root: the manifest is for PMAC-AES128; expected LIGHTMAC-AES128-S32"
    );
    let (_, other) = key("PMAC-AES128", 64, 7);
    assert_eq!(
        open_root(&other, root.clone()).unwrap_err(),
        "root: expected tags of 64 bits, found 128"
    );
    let (_, key) = key("PMAC-AES128", 128, 7);
    let newer = String::from_utf8(root).unwrap().replacen("root-2", "root-3", 1);
    assert_eq!(
        open_root(&key, newer.into()).unwrap_err(),
        "root: expected tagmac-object-root-2, found tagmac-object-root-3"
    );
}

#[test]
fn roots_take_shards_in_their_order_alone() {
    let (mac, key) = key("PMAC-AES128", 128, 7);
    let [a, b] = [b"a", b"b"].map(|name| object(&mac, name));
    let (_, first) = shard(&key, 0, &[a]);
    let (_, second) = shard(&key, 1, &[b]);
    let full = ShardRecord { entries: 65_536, last: b"aa".to_vec(), ..first.clone() };
    let push = |records: &[&ShardRecord]| {
        let mut root = RootBuilder::new(&key, &header());
        records.iter().try_for_each(|record| root.push(record)).map_err(|error| error.to_string())
    };
    assert_eq!(push(&[&full, &second]), Ok(()));
    assert_eq!(push(&[&second]), Err("shard 1: expected shard 0, found shard 1".into()));
    assert_eq!(push(&[&full, &full]), Err("shard 0: expected shard 1, found shard 0".into()));
    assert_eq!(
        push(&[&first, &second]),
        Err("shard 1: expected 65536 entries in every shard but the last".into())
    );
    let late = ShardRecord { last: b"b".to_vec(), ..full };
    assert_eq!(
        push(&[&late, &second]),
        Err("shard 1: expected names after those of the previous shard".into())
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text: Vec<u8>) {
        let (key, _, record, _) = sample();
        let record = ShardRecord { length: text.len() as u64, ..record };
        prop_assert!(open(&key, &record, text.clone()).is_err());
        prop_assert!(ShardRecord::parse(&text).is_err());
        prop_assert!(open_root(&key, text).is_err());
    }

    #[test]
    fn no_likely_text_is_taken(cut in any::<prop::sample::Index>(), put: Vec<u8>, over in 0..80usize) {
        let (key, text, record, root) = sample();
        let splice = |text: &[u8]| {
            let at = cut.index(text.len());
            let mut bad = text.to_vec();
            bad.splice(at..(at + over).min(text.len()), put.iter().copied());
            bad
        };
        let bad = splice(&text);
        let record = ShardRecord { length: bad.len() as u64, ..record };
        prop_assert_eq!(open(&key, &record, bad.clone()).is_ok(), bad == text);
        let bad = splice(&root);
        prop_assert_eq!(open_root(&key, bad.clone()).is_ok(), bad == root);
        let line = record.to_line();
        let bad = splice(&line);
        if let Ok(read) = ShardRecord::parse(&bad) {
            prop_assert_eq!(read.to_line(), bad);
        }
    }
}
