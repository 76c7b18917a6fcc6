//! Ten thousand random messages against the slow programs in `reference/`, which were written
//! from the papers and share nothing with the library.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;
use tagmac::Tag;
use tagmac::any::{Algorithm, AnyMac};
use tagmac::isa::Level;

fn hex(row: &Value, field: &str) -> Vec<u8> {
    let digits = row[field].as_str().unwrap_or_else(|| panic!("no '{field}' in {row}"));
    let byte = |i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex");
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[test]
fn agrees_on_random_messages() {
    let program = format!("{}/../../reference/generate.py", env!("CARGO_MANIFEST_DIR"));
    let names: Vec<&str> = Algorithm::all()
        .filter(|a| a.block().is_some())
        .map(|algorithm| algorithm.name())
        .collect();
    let mut child = Command::new("python3")
        .arg(&program)
        .args(["--count", "10000", "--seed", "2026"])
        .args(&names)
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut count = 0;
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let row: Value = serde_json::from_str(&line.expect("a line")).expect("an object");
        let algorithm =
            Algorithm::named(row["algorithm"].as_str().expect("a name")).expect("known");
        let bits = row["tag_bits"].as_u64().expect("a number") as usize;
        let tag = Tag::new(&hex(&row, "tag"), bits).expect("a tag");
        let (key, message) = (hex(&row, "key"), hex(&row, "msg"));
        for level in Level::all() {
            let mac = AnyMac::with(algorithm, &key, bits, level).expect("a key and a tag length");
            assert!(mac.tag(&[], &message) == Ok(tag), "{level}: {row}");
        }
        count += 1;
    }
    assert!(child.wait().expect("it ends").success());
    assert_eq!(count, 10_000);
}
