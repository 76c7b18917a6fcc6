//! Runs `vectors/wycheproof` through the libraries. `docs/formats/vectors.md` describes their known
//! answers.

use std::fs;

use peers::adversarial::{Answer, is_wrong, tests};
use peers::subjects;
use serde_json::Value;

/// No library rejects a right tag, or accepts a wrong one of the right length. Libraries that make
/// tags of any length accept the first bytes of a tag. If an answer changes, update the page.
#[test]
fn libraries_do_what_the_page_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/wycheproof");
    let subjects = subjects();
    let mut asked = 0;
    for entry in fs::read_dir(folder).expect("vectors/wycheproof") {
        let text = fs::read(entry.expect("a file").path()).expect("a file");
        let file: Value = serde_json::from_slice(&text).expect("JSON");
        let tests = tests(&file);
        for subject in subjects.iter().filter(|subject| file["algorithm"] == subject.algorithm) {
            let at = format!("{} {}", subject.library, subject.algorithm);
            let mut short = 0;
            for test in &tests {
                let fixed = subject.fixed_length(test);
                assert!(!is_wrong(test, fixed), "{at}: {}", test.id);
                asked += usize::from(!matches!(fixed, Answer::Unasked(_)));
                if is_wrong(test, subject.any_length(test)) {
                    let length = test.tag.len() != test.tag_bytes;
                    assert!(length && test.result == "invalid", "{at}: {}", test.id);
                    short += 1;
                }
            }
            assert_eq!(short > 0, subject.library != "OpenSSL", "{at}: tags of any length");
        }
    }
    assert!(subjects.is_empty() || asked > 300, "only {asked} tests were asked");
}
