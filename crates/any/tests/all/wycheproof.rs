//! `vectors/wycheproof/*.json` on every level: adversarial vectors in the schemas of Wycheproof,
//! which `docs/formats/vectors.md` describes. `reference/wycheproof.py` writes them.

use serde_json::Value;
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

use crate::common::{VECTORS, hex, parsed, text};

/// The files, each an object with an algorithm of the registry.
fn files() -> Vec<Value> {
    let folder = std::fs::read_dir(format!("{VECTORS}/wycheproof")).expect("vectors/wycheproof");
    let names = folder.map(|entry| entry.expect("a file").file_name());
    let mut names: Vec<String> =
        names.map(|name| name.into_string().expect("a name in ASCII")).collect();
    names.sort();
    names.iter().map(|name| parsed(&format!("wycheproof/{name}"))).collect()
}

fn array<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of[field].as_array().unwrap_or_else(|| panic!("expected an array in '{field}'"))
}

/// The library's result for a test: whether it accepts the tag, and whether it computes the same
/// one, at once and as a stream. `None` if it refuses the key, the tag's length, the nonce or the
/// message.
fn answers(algorithm: Algorithm, tag_bits: usize, test: &Value, level: Level) -> Option<[bool; 3]> {
    let (key, message, tag) =
        (hex(text(test, "key")), hex(text(test, "msg")), hex(text(test, "tag")));
    let nonce = test.get("iv").map(|_| hex(text(test, "iv"))).unwrap_or_default();
    let mac = AnyMac::with_options(algorithm, &key, tag_bits, level).ok()?;
    let made = mac.tag(&nonce, &message[..]).ok()?;
    let mut stream = mac.stream(&nonce).ok()?;
    message.chunks(13).for_each(|piece| stream.update(piece));
    let streamed = stream.tag().ok()?;
    // An empty tag is never accepted and never computed.
    let Ok(tag) = Tag::new(&tag, 8 * tag.len()) else { return Some([false; 3]) };
    Some([mac.verify(&nonce, &message[..], &tag).is_ok(), made == tag, streamed == tag])
}

/// True if the library's behaviour matches the test's result.
fn holds(algorithm: Algorithm, tag_bits: usize, test: &Value, level: Level) -> bool {
    let found = answers(algorithm, tag_bits, test, level);
    match text(test, "result") {
        "valid" => found == Some([true; 3]),
        "invalid" => found.is_none_or(|found| found == [false; 3]),
        "acceptable" => found.is_none_or(|found| found == [true; 3] || found == [false; 3]),
        other => panic!("expected a result of Wycheproof, found {other}"),
    }
}

#[test]
fn every_vector_does_what_its_result_wants() {
    let files = files();
    assert!(files.len() >= 16, "expected 16 files, found {}", files.len());
    for file in &files {
        let name = text(file, "algorithm");
        let algorithm = Algorithm::from_name(name).expect("an algorithm of the registry");
        for level in Level::all() {
            let [mut tests, mut valid] = [0; 2];
            for group in array(file, "testGroups") {
                let number = |field: &str| group[field].as_u64().expect("a number") as usize;
                for test in array(group, "tests") {
                    assert_eq!(4 * text(test, "key").len(), number("keySize"), "{name}: {test}");
                    if algorithm.takes_nonce() {
                        assert_eq!(4 * text(test, "iv").len(), number("ivSize"), "{name}: {test}");
                    }
                    let holds = holds(algorithm, number("tagSize"), test, level);
                    assert!(holds, "{name} on {level}: {test}");
                    tests += 1;
                    valid += u64::from(text(test, "result") == "valid");
                }
            }
            assert_eq!(Some(tests), file["numberOfTests"].as_u64(), "{name}: tests");
            assert!(valid >= 50 && tests - valid >= 200, "{name}: {valid} of {tests} are valid");
        }
    }
}

/// Checks that the test above can fail: with another tag or length, each result must be wrong.
#[test]
fn a_vector_with_another_result_is_seen() {
    for file in files() {
        let algorithm = Algorithm::from_name(text(&file, "algorithm")).expect("known");
        let group = &array(&file, "testGroups")[0];
        let bits = group["tagSize"].as_u64().expect("a number") as usize;
        let level = Level::best();
        for test in array(group, "tests") {
            let mut other = test.clone();
            match text(test, "result") {
                "valid" => other["result"] = "invalid".into(),
                "invalid" => other["result"] = "valid".into(),
                _ => continue,
            }
            assert!(holds(algorithm, bits, test, level), "{test}");
            assert!(!holds(algorithm, bits, &other, level), "{other}");
        }
    }
}
