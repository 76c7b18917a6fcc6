//! The line of an object.

use std::io::Write;

use tagmac::Tag;

use crate::column::push_hex;
use crate::day::Day;
use crate::dir::EntryKind;
use crate::manifest::entry::{Content, Entry};
use crate::manifest::name::{escape, unescape};
use crate::objects::line::{Columns, check_name};
use crate::objects::manifest_key::{FormatVersion, ManifestKey};

/// Maximum length of a stamp in bytes.
pub const MAX_STAMP: usize = 1024;

/// A sealed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The name below the prefix.
    pub name: Vec<u8>,
    /// The size in bytes.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// The tag; `None` if the store had archived the object, so that it could not be read.
    pub tag: Option<Tag>,
    /// The day on which a seal last read the object; `None` if it is not known.
    pub read: Option<Day>,
    /// The store's name for this content: a strong ETag, or else a version ID.
    pub stamp: Option<Vec<u8>>,
}

impl From<Object> for Entry {
    fn from(object: Object) -> Entry {
        let Object { name, size, nonce, tag, read, .. } = object;
        let content = Some(Content { size, nonce, tag });
        Entry { path: name, content, read, ..Entry::new(EntryKind::File) }
    }
}

impl Object {
    /// Checks the name, the stamp, and the lengths of the nonce and the tag.
    pub fn check(&self, key: &ManifestKey) -> Result<(), String> {
        check_name(&self.name)?;
        let is_stamp = |stamp: &Vec<u8>| matches!(stamp.len(), 1..=MAX_STAMP) && stamp != b"-";
        if !self.stamp.as_ref().is_none_or(is_stamp) {
            return Err(format!("expected a stamp of 1 to {MAX_STAMP} bytes other than '-'"));
        }
        let Some(tag) = self.tag else {
            let is_unread = self.nonce.is_empty() && self.read.is_none();
            let why = "an object without a tag has a nonce, or a day on which it was read";
            return if is_unread { Ok(()) } else { Err(why.into()) };
        };
        let (expected, found) = (*key.algorithm.nonce_bytes().end(), self.nonce.len());
        if expected != found {
            return Err(format!("expected a nonce of {expected} bytes, found {found}"));
        }
        let (expected, found) = (key.bits, tag.bits());
        if expected != found {
            return Err(format!("expected a tag of {expected} bits, found {found}"));
        }
        Ok(())
    }

    /// Returns whether a listed object of this size and with this stamp has the content that was
    /// sealed, as far as the store shows. An object without a stamp never has.
    pub fn is_as_sealed(&self, size: u64, stamp: Option<&[u8]>) -> bool {
        stamp.is_some() && (self.size, self.stamp.as_deref()) == (size, stamp)
    }

    /// Appends the line to `out`.
    pub fn write(&self, version: FormatVersion, out: &mut Vec<u8>) {
        write!(out, "{}\t", self.size).expect("memory takes it");
        match &*self.nonce {
            [] => out.push(b'-'),
            nonce => push_hex(nonce, out),
        }
        out.push(b'\t');
        match &self.tag {
            Some(tag) => push_hex(tag.as_bytes(), out),
            None => out.push(b'-'),
        }
        out.push(b'\t');
        if version == FormatVersion::V2 {
            match self.read {
                Some(day) => write!(out, "{day}").expect("memory takes it"),
                None => out.push(b'-'),
            }
            out.push(b'\t');
            escape(self.stamp.as_deref().unwrap_or(b"-"), out);
            out.push(b'\t');
        }
        escape(&self.name, out);
        out.push(b'\n');
    }

    /// Parses a line without its line feed. Accepts only what [`write`](Object::write) produces.
    pub fn parse(line: &[u8], key: &ManifestKey, version: FormatVersion) -> Result<Object, String> {
        let columns = &mut Columns::new(line);
        let (size, nonce, tag) = (columns.number()?, columns.bytes()?, columns.bytes()?);
        let (mut read, mut stamp) = (None, None);
        if version == FormatVersion::V2 {
            read = match columns.bytes()? {
                b"-" => None,
                day => Some(Day::parse(day).ok_or("expected a day as YYYY-MM-DD or '-'")?),
            };
            stamp = match columns.bytes()? {
                b"-" => None,
                text => Some(unescape(text).ok_or("expected a stamp or '-'")?),
            };
        }
        let name = columns.name()?;
        columns.end()?;
        let nonce = match nonce {
            b"-" => Vec::new(),
            hex => base16ct::lower::decode_vec(hex)
                .map_err(|_| "expected a nonce in hex digits or '-'")?,
        };
        let tag = match tag {
            b"-" if version == FormatVersion::V2 => None,
            hex => {
                let tag = base16ct::lower::decode_vec(hex).ok();
                let tag = tag.and_then(|tag| Tag::new(&tag, key.bits).ok());
                let expected = || format!("expected a tag of {} bits in hex digits", key.bits);
                Some(tag.ok_or_else(expected)?)
            }
        };
        let object = Object { name, size, nonce, tag, read, stamp };
        object.check(key)?;
        let mut same = Vec::with_capacity(line.len() + 1);
        object.write(version, &mut same);
        if same.strip_suffix(b"\n") != Some(line) {
            return Err("expected numbers, stamps and names in canonical form".into());
        }
        Ok(object)
    }
}
