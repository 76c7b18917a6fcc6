//! What libraries make of adversarial vectors: `vectors/wycheproof/*.json`, see `docs/formats/vectors.md`.
//!
//! Most libraries make a tag of the length that is asked for, and leave it to the application to
//! compare. So each is asked twice: by an application that knows how long a tag is, and by one that
//! takes the length from the tag.

use serde_json::Value;

use crate::info::Library;

/// What a library is asked, as a vector has it.
#[derive(Debug)]
pub struct Test {
    /// Its number in its file.
    pub id: u64,
    /// What it tests for.
    pub flags: Vec<String>,
    /// "valid", "invalid" or "acceptable".
    pub result: String,
    /// As all that follows, perhaps of a length that the algorithm does not have.
    pub key: Vec<u8>,
    /// Empty if the algorithm takes none.
    pub nonce: Vec<u8>,
    /// What is tagged.
    pub message: Vec<u8>,
    /// Right or wrong.
    pub tag: Vec<u8>,
    /// Bytes that a right tag has.
    pub tag_bytes: usize,
}

/// The tests of a file. Panics unless it is in one of Wycheproof's schemas for MACs.
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

/// What a library answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The tag is that of the message.
    Accepted,
    /// It is not, or key, nonce or tag have a length that the library refuses.
    Refused,
    /// The library's function cannot be asked this, and why.
    Unasked(&'static str),
}

impl Answer {
    #[allow(dead_code, reason = "a build without libraries has no answers")]
    pub(crate) fn accepted_if(right: bool) -> Answer {
        if right { Answer::Accepted } else { Answer::Refused }
    }
}

/// A library's MAC.
pub struct Subject {
    /// As in [`Info`](crate::Info).
    pub library: &'static str,
    /// As in [`Info`](crate::Info).
    pub version: String,
    /// By the registry's name.
    pub algorithm: &'static str,
    /// What is called.
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

    /// What the library makes of a test, by an application that takes the tag's length from the tag.
    pub fn any_length(&self, test: &Test) -> Answer {
        (self.verify)(test)
    }

    /// The same by an application that knows how long a tag is.
    pub fn fixed_length(&self, test: &Test) -> Answer {
        if test.tag.len() == test.tag_bytes { (self.verify)(test) } else { Answer::Refused }
    }
}

/// A test that a library answers in another way than its result wants.
pub fn is_wrong(test: &Test, answer: Answer) -> bool {
    match (&*test.result, answer) {
        ("valid", answer) => answer == Answer::Refused,
        ("invalid", answer) => answer == Answer::Accepted,
        _ => false,
    }
}
