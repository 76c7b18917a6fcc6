//! Private parsers that `assure/targets` fuzzes: sealed texts and lines of manifests. Not part of
//! the API.

use tagmac::save::Reader;
use tagmac_any::Parts;

use crate::ledger::{self, Ledger};
use crate::manifest::Sequence;
use crate::manifest::entry::Entry;
use crate::manifest::header::Header;
use crate::objects::line::Lines;
use crate::pin::Pin;
use crate::sidecar::{header, tree};
use crate::{checkpoint, manifest};

/// Escapes a name for a column of a manifest.
pub fn escape(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    manifest::name::escape(name, &mut out);
    out
}

/// Parses a name from a column of a manifest.
pub fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    manifest::name::unescape(text)
}

/// Parses the lines of a manifest up to the first invalid one; returns the entries and the reason.
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

/// Parses the text of a sidecar's header and writes it again.
pub fn sidecar_header(parts: Parts<'_>, text: &[u8]) -> Option<Vec<u8>> {
    let (header, end) = header::Header::load(parts, &mut Reader::new(text))?;
    let text = header.text(parts, end).expect("parts of this MAC");
    Some(text.as_bytes().to_vec())
}

/// Parses the text of a sidecar's node page and writes it again.
pub fn node_page(parts: Parts<'_>, level: u32, text: &[u8]) -> Option<Vec<u8>> {
    tree::again(parts, level, text)
}

/// Parses the text of a checkpoint and writes it again.
pub fn checkpoint(parts: Parts<'_>, text: &[u8]) -> Option<Vec<u8>> {
    checkpoint::again(parts, text)
}

/// Parses the lines of a ledger below its key ID.
pub fn ledger(text: &[u8]) -> Option<Ledger> {
    ledger::text::parse(&mut Lines::new(text)).ok()
}

/// Returns the lines of a ledger below its key ID.
pub fn ledger_text(ledger: &Ledger) -> Vec<u8> {
    ledger::text::lines(ledger)
}

/// Parses the lines of a pin below its key ID and writes them again.
pub fn pin(text: &[u8]) -> Option<Vec<u8>> {
    Pin::parse(&mut Lines::new(text)).ok().map(|pin| pin.lines().into())
}
