//! `vectors/*.json` on every level. `vectors/README.md` defines the rows' schema.

use std::thread;

use crate::common::{VECTORS, family, hex, rows, string, text};
use serde_json::Value;
use tagmac::isa::Level;
use tagmac::{EliMac, Poly1305, Tag};
use tagmac_any::{Algorithm, AnyMac};

fn expected(row: &Value) -> Tag {
    let bits = row["tag_bits"].as_u64().expect("a number") as usize;
    Tag::new(&hex(text(row, "tag")), bits).expect("a tag of that many bits")
}

/// Checks a row with every call. Returns the number of checks.
fn check(row: &Value, level: Level) -> usize {
    let algorithm = Algorithm::from_name(text(row, "algorithm")).expect("it is in the registry");
    let key = hex(text(row, "key"));
    // Wycheproof's rows for keys of invalid AES sizes name an algorithm that must refuse them.
    if row.get("refuse").and_then(Value::as_str) == Some("key") {
        assert!(AnyMac::new(algorithm, &key).is_err(), "took the key of {row}");
        return 1;
    }
    let tag = expected(row);
    if algorithm.check_tag_bits(tag.bits()).is_err() {
        assert!(AnyMac::with_options(algorithm, &key, tag.bits(), level).is_err());
        return 0;
    }
    let mac =
        AnyMac::with_options(algorithm, &key, tag.bits(), level).expect("a key and a tag length");
    let valid = row["valid"].as_bool().expect("true or false");
    let message = string(row, "msg");
    let nonce = row.get("nonce").map(|_| hex(text(row, "nonce"))).unwrap_or_default();
    assert_eq!(mac.tag(&nonce, message.bits()) == Ok(tag), valid, "{level}: {row}");
    let verified = mac.verify(&nonce, message.bits(), &tag).is_ok();
    assert_eq!(verified, valid, "verified on {level}: {row}");
    if let Some(bytes) = message.whole() {
        let mut stream = mac.stream(&nonce).expect("a nonce");
        // Pieces that do not match blocks; longer ones for a long message.
        bytes.chunks(13.max(bytes.len() / 1000)).for_each(|piece| stream.update(piece));
        assert_eq!(stream.tag() == Ok(tag), valid, "streamed on {level}: {row}");
    }
    1
}

/// The expected number of rows in all files, so that none is lost.
const LEAST: usize = 1975;

/// The rows of each file of MACs of the registry.
fn files() -> Vec<Vec<Value>> {
    let entries = std::fs::read_dir(VECTORS).expect("vectors/");
    let names = entries.map(|entry| entry.expect("a file").file_name().into_string());
    let names = names.map(|name| name.expect("a name in ASCII"));
    let files = names.filter(|name| name.ends_with(".json")).map(|name| rows(&name));
    let known = |row: &Value| Algorithm::all().any(|one| row["algorithm"] == one.name());
    files.filter(|rows| rows.iter().any(known)).collect()
}

#[test]
fn every_row_on_every_level() {
    // On an emulated CPU, rows of many megabytes take minutes: TAGMAC_TEST_BYTES leaves them out,
    // and they are counted.
    let most = std::env::var("TAGMAC_TEST_BYTES").map_or(u64::MAX, |n| n.parse().expect("bytes"));
    let long = |row: &Value| row["msg"]["total_bytes"].as_u64().is_some_and(|n| n > most);
    let files = files();
    for level in Level::all() {
        let one = |row: &Value| if long(row) { 1 } else { check(row, level) };
        let all: usize = thread::scope(|scope| {
            let walk = |rows: &[Value]| rows.iter().map(one).sum::<usize>();
            let threads: Vec<_> =
                files.iter().map(|rows| scope.spawn(move || walk(rows))).collect();
            threads.into_iter().map(|thread| thread.join().expect("its rows")).sum()
        });
        assert!(all >= LEAST, "expected {LEAST} rows on {level}, found {all}");
    }
}

#[test]
fn every_mac_of_the_registry_has_vectors() {
    let rows: Vec<Value> = files().into_iter().flatten().collect();
    for algorithm in Algorithm::all() {
        let has_rows = rows.iter().any(|row| family(text(row, "algorithm")) == algorithm.family());
        assert!(has_rows, "{algorithm}: expected rows in vectors/, found none");
    }
}

#[test]
fn elimac_with_a_cache() {
    for level in Level::all() {
        for row in rows("elimac.json") {
            let key = hex(text(&row, "key"));
            let ([k1, k2], []) = key.as_chunks() else { panic!("32 bytes of key in {row}") };
            let cached = EliMac::with_level(k1, k2, level).with_cache(256);
            assert!(
                cached.tag(string(&row, "msg").bits()) == Ok(expected(&row)),
                "cached on {level}: {row}"
            );
        }
    }
}

#[test]
fn poly1305() {
    for row in rows("poly1305.json") {
        for level in Level::all() {
            let key = hex(text(&row, "key"));
            let mac = Poly1305::with_level(key.as_slice().try_into().expect("32 bytes"), level);
            let message = string(&row, "msg");
            let mut stream = mac.stream();
            let pieces = message.whole().expect("bytes").chunks(13);
            pieces.for_each(|piece| _ = stream.update(piece));
            assert!(mac.tag(message.bits()) == Ok(expected(&row)), "{level}: {row}");
            assert!(stream.tag() == Ok(expected(&row)), "streamed on {level}: {row}");
        }
    }
}

/// Words that need two steps of a polynomial must be counted when parts are joined.
#[test]
fn umac_markers_in_parts() {
    let mut state = 1u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    let mut long = 0;
    for row in rows("umac.json").iter().filter(|row| text(row, "comment").contains("marker")) {
        let (key, nonce) = (hex(text(row, "key")), hex(text(row, "nonce")));
        let message = string(row, "msg");
        let message = message.whole().expect("bytes");
        let algorithm = Algorithm::from_name(text(row, "algorithm")).expect("UMAC");
        long += (message.len() > 1 << 24) as usize;
        for (i, level) in Level::all().enumerate() {
            let mac =
                AnyMac::with_options(algorithm, &key, expected(row).bits(), level).expect("UMAC");
            let parts = mac.parts().expect("UMAC has parts");
            let blocks = message.len() / 2048;
            // Always the last blocks, and others at random.
            let mut ends: Vec<usize> = (0..i + 4).map(|_| below(blocks + 1)).collect();
            ends.extend([blocks.saturating_sub(1), blocks, blocks.min(8192), blocks.min(8191)]);
            ends.sort();
            let (mut start, mut all) = (0, vec![parts.new_part(0, &[]).expect("aligned")]);
            for end in ends.into_iter().map(|end| 2048 * end) {
                all.push(parts.new_part(start as u64, &message[start..end]).expect("aligned"));
                start = end;
            }
            while all.len() > 1 {
                let place = below(all.len() - 1);
                let (right, left) = (all.remove(place + 1), all.remove(place));
                all.insert(place, parts.join(left, &right).expect("neighbours"));
            }
            let tag = parts.finish(all.remove(0), &nonce, &message[start..]);
            assert!(tag == Ok(expected(row)), "on {level}: {}", text(row, "comment"));
        }
    }
    assert!(long >= 10, "only {long} rows past byte 2^24");
}

#[test]
fn the_best_level_is_the_expected_one() {
    // Set if the tests run on a CPU of a known kind.
    if let Ok(expected) = std::env::var("TAGMAC_EXPECT_LEVEL") {
        assert_eq!(Level::best().name(), expected);
    }
}
