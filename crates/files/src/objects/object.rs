//! The line of an object.

use std::io::Write;

use tagmac::Tag;

use crate::manifest::name::escape;
use crate::objects::line::{Columns, check_name};
use crate::objects::manifest_key::ManifestKey;

/// A sealed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The name below the prefix.
    pub name: Vec<u8>,
    /// The size in bytes.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// The tag.
    pub tag: Tag,
}

impl Object {
    /// Checks the name and the lengths of the nonce and the tag.
    pub fn check(&self, key: &ManifestKey) -> Result<(), String> {
        check_name(&self.name)?;
        let (expected, found) = (*key.algorithm.nonce_bytes().end(), self.nonce.len());
        if expected != found {
            return Err(format!("expected a nonce of {expected} bytes, found {found}"));
        }
        let (expected, found) = (key.bits, self.tag.bits());
        if expected != found {
            return Err(format!("expected a tag of {expected} bits, found {found}"));
        }
        Ok(())
    }

    /// Appends the line to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write!(out, "{}\t", self.size).expect("memory takes it");
        match &*self.nonce {
            [] => out.push(b'-'),
            nonce => write_hex(nonce, out),
        }
        out.push(b'\t');
        write_hex(self.tag.as_bytes(), out);
        out.push(b'\t');
        escape(&self.name, out);
        out.push(b'\n');
    }

    /// Parses a line without its line feed. Accepts only what [`write`](Object::write) produces.
    pub fn parse(line: &[u8], key: &ManifestKey) -> Result<Object, String> {
        let columns = &mut Columns::new(line);
        let (size, nonce, tag) = (columns.number()?, columns.bytes()?, columns.bytes()?);
        let name = columns.name()?;
        columns.end()?;
        let nonce = match nonce {
            b"-" => Vec::new(),
            hex => base16ct::lower::decode_vec(hex)
                .map_err(|_| "expected a nonce in hex digits or '-'")?,
        };
        let tag = base16ct::lower::decode_vec(tag).ok();
        let tag = tag.and_then(|tag| Tag::new(&tag, key.bits).ok());
        let tag =
            tag.ok_or_else(|| format!("expected a tag of {} bits in hex digits", key.bits))?;
        let object = Object { name, size, nonce, tag };
        object.check(key)?;
        let mut same = Vec::with_capacity(line.len() + 1);
        object.write(&mut same);
        if same.strip_suffix(b"\n") != Some(line) {
            return Err("expected numbers and names in canonical form".into());
        }
        Ok(object)
    }
}

/// Appends two hex digits for each byte.
fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    base16ct::lower::encode(bytes, &mut out[start..]).expect("there is room");
}
