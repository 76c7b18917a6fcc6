//! Runs adversarial vectors through libraries: `vectors/wycheproof/*.json`, see
//! `docs/formats/vectors.md`.
//!
//! Most libraries make a tag of the requested length and leave the comparison to the application.
//! So each test runs twice: as in an application that knows the length of a tag, and as in one that
//! takes the length from the tag that it got.

use serde_json::Value;

use crate::info::Library;

/// A test of a vector file.
#[derive(Debug)]
pub struct Test {
    /// The test's number in its file.
    pub id: u64,
    /// The flags of the test.
    pub flags: Vec<String>,
    /// "valid", "invalid" or "acceptable".
    pub result: String,
    /// The key. Like the following fields, it may have a length that the algorithm does not accept.
    pub key: Vec<u8>,
    /// The nonce; empty for an algorithm without nonces.
    pub nonce: Vec<u8>,
    /// The message.
    pub message: Vec<u8>,
    /// The tag, right or wrong.
    pub tag: Vec<u8>,
    /// The length of a right tag in bytes.
    pub tag_bytes: usize,
}

/// Reads the tests of a file. Panics unless the file is in one of Wycheproof's schemas for MACs.
pub fn tests(file: &Value) -> Vec<Test> {
    let groups = file["testGroups"].as_array().expect("groups");
    let in_group = |group: &Value| -> Vec<Test> {
        let tag_bytes = group["tagSize"].as_u64().expect("a size") as usize / 8;
        let tests = group["tests"].as_array().expect("tests");
        tests.iter().map(|row| test(row, tag_bytes)).collect()
    };
    groups.iter().flat_map(in_group).collect()
}

fn test(row: &Value, tag_bytes: usize) -> Test {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let hex = |name: &str| -> Vec<u8> {
        let (pairs, []) = text(name).as_bytes().as_chunks::<2>() else { panic!("half a byte") };
        let byte = |pair| u8::from_str_radix(str::from_utf8(pair).expect("ASCII"), 16);
        pairs.iter().map(|pair| byte(pair).expect("hex")).collect()
    };
    let flags = row["flags"].as_array().expect("flags").iter();
    Test {
        id: row["tcId"].as_u64().expect("a number"),
        flags: flags.map(|flag| flag.as_str().expect("a flag").into()).collect(),
        result: text("result").into(),
        key: hex("key"),
        nonce: hex("iv"),
        message: hex("msg"),
        tag: hex("tag"),
        tag_bytes,
    }
}

/// The answer of a library.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The tag is that of the message.
    Accepted,
    /// The tag is wrong, or the library rejects the length of key, nonce or tag.
    Refused,
    /// The library's function cannot express this test, for this reason.
    Unasked(&'static str),
}

impl Answer {
    #[allow(dead_code, reason = "a build without libraries has no answers")]
    pub(crate) fn accepted_if(right: bool) -> Answer {
        if right { Answer::Accepted } else { Answer::Refused }
    }
}

/// A MAC of a library.
pub struct Subject {
    /// The library, as in [`Info`](crate::Info).
    pub library: &'static str,
    /// Its version, as in [`Info`](crate::Info).
    pub version: String,
    /// The registry's name of the algorithm.
    pub algorithm: &'static str,
    /// The functions that are called.
    pub call: &'static str,
    verify: Box<dyn Fn(&Test) -> Answer>,
}

impl Subject {
    #[allow(dead_code, reason = "a build without libraries has no subjects")]
    pub(crate) fn new(
        library: &Library,
        algorithm: &'static str,
        call: &'static str,
        verify: impl Fn(&Test) -> Answer + 'static,
    ) -> Subject {
        let (library, version) = (library.name, library.version.clone());
        Subject { library, version, algorithm, call, verify: Box::new(verify) }
    }

    /// Answers a test as in an application that uses the length of the tag that it got.
    pub fn any_length(&self, test: &Test) -> Answer {
        (self.verify)(test)
    }

    /// Answers a test as in an application that knows the length of a tag.
    pub fn fixed_length(&self, test: &Test) -> Answer {
        if test.tag.len() == test.tag_bytes { (self.verify)(test) } else { Answer::Refused }
    }
}

/// Returns true if the answer differs from the result that the test demands.
pub fn is_wrong(test: &Test, answer: Answer) -> bool {
    match (&*test.result, answer) {
        ("valid", answer) => answer == Answer::Refused,
        ("invalid", answer) => answer == Answer::Accepted,
        _ => false,
    }
}
