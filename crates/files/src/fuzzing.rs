//! What `assure/targets` tries that has no public name: the texts under seals, and lines between others.
//! No part of the interface.

use tagmac::save::Reader;
use tagmac_any::Parts;

use crate::manifest::Sequence;
use crate::manifest::entry::Entry;
use crate::manifest::header::Header;
use crate::sidecar::{header, tree};
use crate::{checkpoint, manifest};

/// A name as it stands in a column of a manifest.
pub fn escape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    manifest::name::escape(name, &mut out);
    out
}

/// The name of a column.
pub fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    manifest::name::unescape(text)
}

/// The entries of a manifest's lines up to the first one that is refused, and why it is.
pub fn entries(text: &[u8], header: &Header) -> (Vec<Entry>, Option<String>) {
    let (mut sequence, mut entries) = (Sequence::default(), Vec::new());
    for line in text.split(|&byte| byte == b'\n') {
        match sequence.entry(line, header) {
            Ok(entry) => entries.push(entry),
            Err(why) => return (entries, Some(why)),
        }
    }
    (entries, None)
}

/// The text of a sidecar's header, read and written again.
pub fn sidecar_header(parts: Parts<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let (header, end) = header::Header::load(parts, &mut Reader::new(text))?;
    let text = header.text(parts, end).expect("parts of this MAC");
    Some(text.as_bytes().to_vec())
}

/// The text of a sidecar's node page, read and written again.
pub fn node_page(parts: Parts<'_>, level: u32, text: &[u8]) -> Option<Vec<u8>> {
    tree::again(parts, level, text)
}

/// The text of a checkpoint, read and written again.
pub fn checkpoint(parts: Parts<'_>, text: &[u8]) -> Option<Vec<u8>> {
    checkpoint::again(parts, text)
}
