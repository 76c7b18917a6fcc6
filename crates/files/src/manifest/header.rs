//! The header of a manifest: the lines above the entries.

use std::io::BufRead;

use crate::chain::Chain;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::filter::{Patterns, read_filters, write_filters};
use crate::line_reader::Lines;
use crate::open_key::OpenKey;
use tagmac_any::{Algorithm, KeyId};

use crate::manifest::error::ManifestError;
use crate::manifest::options::ManifestOptions;
use crate::manifest::unreadable::unreadable;

/// The start of the first line, in every version.
pub const MAGIC: &str = "tagmac-manifest-";
/// The version that is written.
const VERSION: &str = "3";
/// The previous version, which is read too. It has no chain, filters, days and stamps.
const OLD_VERSION: &str = "2";

/// The header of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The algorithm of the files' tags.
    pub algorithm: Algorithm,
    /// The length of the tags in bits.
    pub bits: usize,
    /// The key's public ID.
    pub key_id: KeyId,
    /// The sealed properties.
    pub options: ManifestOptions,
    /// The place in the chain of manifests.
    pub chain: Chain,
    /// The patterns of the entries left out.
    pub filters: Patterns,
}

impl Header {
    /// The header of a manifest made under `key`.
    pub fn new(key: &OpenKey, options: ManifestOptions, chain: Chain, filters: Patterns) -> Header {
        let (algorithm, bits) = (key.mac.algorithm(), key.mac.tag_bits());
        Header { algorithm, bits, key_id: key.key_id(), options, chain, filters }
    }

    /// Returns whether the manifest has version 2.
    pub fn is_old(&self) -> bool {
        self.chain.sequence == 0
    }

    /// Returns the header's lines.
    pub fn text(&self) -> Vec<u8> {
        let Header { algorithm, bits, key_id, options, chain, filters } = self;
        let version = if self.is_old() { OLD_VERSION } else { VERSION };
        let mut text = format!(
            "{MAGIC}{version}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n\
             options: {options}\n"
        );
        if self.is_old() {
            return text.into_bytes();
        }
        chain.write(&mut text);
        write_filters(filters, text.into_bytes())
    }

    /// Reads a header and compares its key with `key`. The text is not trusted yet: it can only
    /// lead to an error, or to the check of the seal.
    pub fn read(
        lines: &mut Lines<impl BufRead>,
        name: &str,
        key: &OpenKey,
    ) -> Result<Header, Error> {
        let none = |cut_off| ManifestError::NotAManifest { manifest: name.into(), cut_off };
        let cut = || none(true);
        let mut whole = Vec::new();
        let mut bytes = |before: &str| {
            let line =
                lines.next_line().map_err(|error| unreadable(name, &error))?.ok_or_else(cut)?;
            whole.extend_from_slice(line.bytes.unwrap_or_default());
            whole.push(b'\n');
            let found = line.bytes.and_then(|bytes| bytes.strip_prefix(before.as_bytes()));
            found.map(<[u8]>::to_vec).ok_or_else(|| {
                let number = line.number;
                match before {
                    MAGIC => none(false).into(),
                    _ => Error::mismatch(format_args!(
                        "{name}: line {number}: expected a line that begins with '{before}'"
                    )),
                }
            })
        };
        let mut line = |before: &str| {
            let text = String::from_utf8(bytes(before)?);
            text.map_err(|_| {
                Error::mismatch(format_args!("{name}: expected text in UTF-8 after '{before}'"))
            })
        };
        let own = key.mac.algorithm();
        let shown = |text: &str| Escaped::text(text.as_bytes()).to_string();
        let version = line(MAGIC)?;
        let is_old = version == OLD_VERSION;
        if version != VERSION && !is_old {
            let found = shown(&version);
            let what = format_args!("{name}: expected {MAGIC}{VERSION}, found {MAGIC}{found}");
            return Err(Error::mismatch(what));
        }
        let found = line("algorithm: ")?;
        if found != own.name() {
            let found = shown(&found);
            let what = format_args!("{name}: the manifest is for {found}; expected {own}");
            return Err(Error::key(what));
        }
        let found = line("bits: ")?;
        let bits = found.parse().ok().filter(|bits: &usize| bits.to_string() == found);
        let bits = bits.ok_or_else(|| {
            let found = shown(&found);
            Error::mismatch(format_args!("{name}: expected a number of bits, found '{found}'"))
        })?;
        let (found, own_id) = (line("key id: ")?, key.key_id());
        if found != own_id.to_string() {
            let found = shown(&found);
            return Err(Error::key(format_args!(
                "{name}: the manifest is sealed under another key: expected key id {own_id}, found \
                 {found}"
            )));
        }
        let found = line("options: ")?;
        let options = ManifestOptions::parse(&found).filter(|found| !is_old || found.is_old());
        let options = options.ok_or_else(|| {
            Error::mismatch(format_args!("{name}: expected options, found '{}'", shown(&found)))
        })?;
        let (mut chain, mut filters) = (Chain::default(), Vec::new());
        if !is_old {
            let wrong = |what| Error::mismatch(format_args!("{name}: {what}"));
            chain = Chain::parse(&mut bytes, wrong)?;
            filters = read_filters(&mut bytes, wrong)?;
        }
        let header = Header { bits, ..Header::new(key, options, chain, filters) };
        // One header has one form, so the numbers and escapes in it are canonical.
        if header.text() != whole {
            let what = "expected numbers and patterns in canonical form";
            return Err(Error::mismatch(format_args!("{name}: {what}")));
        }
        Ok(header)
    }
}
