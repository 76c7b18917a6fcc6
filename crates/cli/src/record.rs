//! The objects of `--json`, one a line.

use std::borrow::Cow;

use serde::Serialize;
use tagmac_files::line::Line;
use tagmac_files::open_key::OpenKey;

/// What became of a file.
#[derive(Serialize)]
pub struct FileRecord<'a> {
    /// The name; what is not UTF-8 in it is replaced.
    pub path: Cow<'a, str>,
    /// The name's bytes in hex, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The algorithm in use.
    pub algorithm: &'a str,
    /// The tag: the one made by `tag`, the one in the list by `check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The nonce of the tag, if the algorithm takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// The length of the tags in use.
    pub bits: usize,
    /// The id of the key in use.
    pub key_id: String,
    /// The length of the file, if it was read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The verdict in a word.
    pub status: &'a str,
    /// What was expected and found, if the file is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A line of a list that is malformed.
#[derive(Serialize)]
pub struct MalformedRecord<'a> {
    /// The list's name; what is not UTF-8 in it is replaced.
    pub list: Cow<'a, str>,
    /// The line's number, from 1.
    pub line: u64,
    /// `malformed`
    pub status: &'a str,
    /// What was expected.
    pub reason: String,
}

impl<'a> FileRecord<'a> {
    /// A record of a file, with nothing said yet of its tag.
    pub fn new(name: &'a [u8], key: &'a OpenKey, status: &'a str) -> FileRecord<'a> {
        let path = String::from_utf8_lossy(name);
        let path_hex = matches!(path, Cow::Owned(_)).then(|| base16ct::lower::encode_string(name));
        FileRecord {
            path,
            path_hex,
            algorithm: key.mac.algorithm().name(),
            tag: None,
            nonce: None,
            bits: key.mac.tag_bits(),
            key_id: key.key_id().to_string(),
            bytes: None,
            status,
            reason: None,
        }
    }

    /// A record of a file and of the tag in its line.
    pub fn of_line(line: &'a Line<'_>, key: &'a OpenKey, status: &'a str) -> FileRecord<'a> {
        let hex = |bytes: &Vec<u8>| base16ct::lower::encode_string(bytes);
        let (tag, nonce) = (Some(hex(&line.tag)), line.nonce.as_ref().map(hex));
        FileRecord { tag, nonce, ..FileRecord::new(&line.name, key, status) }
    }
}
