//! The JSON objects of `--json`, one per line.

use std::borrow::Cow;

use serde::Serialize;
use tagmac_files::line::Line;
use tagmac_files::open_key::OpenKey;

use crate::json;

/// The result for a file.
#[derive(Serialize)]
pub struct FileRecord<'a> {
    /// The name, in which invalid UTF-8 is replaced.
    pub path: Cow<'a, str>,
    /// The name's bytes in hex, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The algorithm in use.
    pub algorithm: &'a str,
    /// The tag: the one made by `tag`, the one in the list by `check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The nonce of the tag, if the algorithm needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonce: Option<String>,
    /// Length of the tags in bits.
    pub bits: usize,
    /// The id of the key in use.
    pub key_id: String,
    /// The length of the file, if it was read to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The verdict as a word.
    pub status: &'a str,
    /// The reason, unless the file is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A malformed line of a list.
#[derive(Serialize)]
pub struct MalformedRecord<'a> {
    /// The list's name, in which invalid UTF-8 is replaced.
    pub list: Cow<'a, str>,
    /// The line's number, from 1.
    pub line: u64,
    /// `malformed`
    pub status: &'a str,
    /// The expected form.
    pub reason: String,
}

impl<'a> FileRecord<'a> {
    /// Returns a record of a file without its tag.
    pub fn new(name: &'a [u8], key: &'a OpenKey, status: &'a str) -> FileRecord<'a> {
        let (path, path_hex) = json::name(name);
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

    /// Returns a record of a file with the tag of its line.
    pub fn of_line(line: &'a Line<'_>, key: &'a OpenKey, status: &'a str) -> FileRecord<'a> {
        let hex = |bytes: &Vec<u8>| base16ct::lower::encode_string(bytes);
        let (tag, nonce) = (Some(hex(&line.tag)), line.nonce.as_ref().map(hex));
        FileRecord { tag, nonce, ..FileRecord::new(&line.name, key, status) }
    }
}
