//! Runs `vectors/wycheproof` through other libraries:
//!
//! ```text
//! cargo run -p peers --bin wycheproof -- [FILE ..]
//! ```
//!
//! Prints a line for each library, file and way to ask. Below it are the wrong answers by their
//! flags, and the reasons for tests that a library cannot express.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use peers::adversarial::{Answer, Subject, Test, is_wrong, tests};
use peers::subjects;
use serde_json::Value;

fn main() {
    let mut files: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors/wycheproof");
        let entries = fs::read_dir(folder).expect("vectors/wycheproof");
        files.extend(entries.map(|entry| entry.expect("a file").path()));
        files.sort();
    }
    for reason in peers::missing() {
        println!("left out: {reason}");
    }
    let subjects = subjects();
    for path in files {
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file: Value = serde_json::from_slice(&text).expect("JSON");
        let tests = tests(&file);
        for subject in subjects.iter().filter(|subject| file["algorithm"] == subject.algorithm) {
            report(subject, "fixed length of tags", &tests, |test| subject.fixed_length(test));
            report(subject, "length of the given tag", &tests, |test| subject.any_length(test));
        }
    }
}

fn report(subject: &Subject, asked: &str, tests: &[Test], answer: impl Fn(&Test) -> Answer) {
    let Subject { library, version, algorithm, call, .. } = subject;
    let mut unasked = BTreeMap::new();
    let mut wrong: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let [mut passed, mut lenient, mut strict] = [0; 3];
    for test in tests {
        match answer(test) {
            Answer::Unasked(reason) => *unasked.entry(reason).or_insert(0) += 1,
            answer if is_wrong(test, answer) => {
                let did = if test.result == "valid" { "refuses" } else { "accepts" };
                wrong.entry((did, test.flags.join(", "))).or_default().push(test.id.to_string());
            }
            answer => {
                passed += 1;
                if test.result == "acceptable" {
                    *(if answer == Answer::Accepted { &mut lenient } else { &mut strict }) += 1;
                }
            }
        }
    }
    println!(
        "{library} {version}, {algorithm}, {call}, {asked}: {passed} passed, {} wrong, {} not asked",
        wrong.values().map(Vec::len).sum::<usize>(),
        unasked.values().sum::<usize>()
    );
    if lenient + strict > 0 {
        println!("    of the acceptable ones {lenient} accepted, {strict} rejected");
    }
    for ((did, flags), ids) in wrong {
        println!("    {did} {} with {flags}: {}", ids.len(), ids.join(" "));
    }
    for (reason, count) in unasked {
        println!("    {count} not asked: {reason}");
    }
}
