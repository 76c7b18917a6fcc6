//! Thousands of random messages, of bytes and of bits, compared with the slow programs in
//! `reference/`, which were written from the papers and share nothing with the library.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{hex, string, text};
use serde_json::Value;
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

/// Lets the reference tag random messages for every MAC that it knows. Returns the number of cases.
fn each_case(arguments: &[&str], check: &mut dyn FnMut(&Value)) -> usize {
    let program = format!("{}/reference/generate.py", env!("CARGO_MANIFEST_DIR"));
    // With --bits, only MACs that accept partial bytes.
    let bits = arguments.contains(&"--bits");
    let known = |a: &Algorithm| !a.name().starts_with("HMAC") && (a.capabilities().bits || !bits);
    let names = Algorithm::all().filter(known).map(|algorithm| algorithm.name());
    let mut child = Command::new("python3")
        .arg(&program)
        .args(arguments)
        .args(names)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut count = 0;
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        check(&serde_json::from_str(&line.expect("a line")).expect("an object"));
        count += 1;
    }
    assert!(child.wait().expect("it ends").success());
    count
}

fn expected(row: &Value) -> Tag {
    let bits = row["tag_bits"].as_u64().expect("a number") as usize;
    Tag::new(&hex(text(row, "tag")), bits).expect("a tag")
}

/// Checks a case on every level.
fn agrees(row: &Value) {
    let algorithm = Algorithm::from_name(text(row, "algorithm")).expect("known");
    let (tag, key, message) = (expected(row), hex(text(row, "key")), string(row, "msg"));
    let nonce = row.get("nonce").map(|_| hex(text(row, "nonce"))).unwrap_or_default();
    for level in Level::all() {
        let mac = AnyMac::with_options(algorithm, &key, tag.bits(), level);
        let mac = mac.expect("a key and a tag length");
        assert!(mac.tag(&nonce, message.bits()) == Ok(tag), "{level}: {row}");
    }
}

#[test]
fn agrees_on_random_messages() {
    let count = each_case(&["--count", "10000", "--seed", "2026"], &mut agrees);
    assert_eq!(count, 10_000);
}

#[test]
fn agrees_on_random_bit_strings() {
    let mut checked = 0;
    each_case(&["--bits", "--count", "8000", "--seed", "2027"], &mut |row| {
        // A quarter of the messages; the others are whole bytes.
        if row.get("msg_bits").is_none() {
            return;
        }
        agrees(row);
        checked += 1;
    });
    assert!(checked > 1900, "only {checked} messages did not end on a byte");
}
