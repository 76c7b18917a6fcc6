//! The common parts of a manifest's files: the head and the seal.

use tagmac::Tag;
use tagmac_any::{Algorithm, AnyMac, AnyStream, KeyId};

use crate::error::Error;
use crate::escaped::Escaped;
use crate::manifest::{SEAL, seal_mac};
use crate::objects::line::Lines;
use crate::raw_key::RawKey;

/// `seal: `, 64 hex digits and a line feed.
pub(super) const SEAL_LINE: usize = 71;

/// A version of the format. A root and its shards have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatVersion {
    /// Without a chain, filters, days and stamps. It is only read.
    V1,
    /// The version that is written.
    V2,
}

impl FormatVersion {
    const ALL: [FormatVersion; 2] = [FormatVersion::V1, FormatVersion::V2];

    /// Returns the number at the end of a file's first line.
    pub fn number(self) -> &'static str {
        match self {
            FormatVersion::V1 => "1",
            FormatVersion::V2 => "2",
        }
    }

    /// Returns the version with this number.
    pub fn from_number(number: &[u8]) -> Option<FormatVersion> {
        FormatVersion::ALL.into_iter().find(|version| version.number().as_bytes() == number)
    }
}

/// A kind of file of an object manifest. Its first line separates the seals of one kind from those
/// of another, and from those of a directory's manifest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ManifestFile {
    /// A shard.
    Shard,
    /// The root.
    Root,
}

impl ManifestFile {
    /// Returns the start of the first line; the version follows.
    pub fn magic(self) -> &'static str {
        match self {
            ManifestFile::Shard => "tagmac-object-shard-",
            ManifestFile::Root => "tagmac-object-root-",
        }
    }
}

/// Creates and checks the files of a manifest: the MAC of the objects, as their heads name it, and
/// the key of the seals.
#[derive(Clone)]
pub struct ManifestKey {
    /// The algorithm of the objects' tags.
    pub algorithm: Algorithm,
    /// The length of the tags in bits.
    pub bits: usize,
    /// The key's public ID.
    pub key_id: KeyId,
    seal: AnyMac,
}

impl ManifestKey {
    /// A key for objects that `mac` tags under `key`.
    pub fn new(mac: &AnyMac, key: &RawKey) -> ManifestKey {
        let (algorithm, bits) = (mac.algorithm(), mac.tag_bits());
        ManifestKey { algorithm, bits, key_id: mac.key_id(), seal: seal_mac(key) }
    }

    /// Returns the lines at the top.
    pub fn head(&self, kind: ManifestFile, version: FormatVersion) -> String {
        let ManifestKey { algorithm, bits, key_id, .. } = self;
        let (magic, version) = (kind.magic(), version.number());
        format!("{magic}{version}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n")
    }

    /// Checks the version, algorithm and key in a head, and returns its version and its number of
    /// bits. The text is not trusted yet: it can only lead to an error, or to the check of the seal.
    pub fn check_head(
        &self,
        kind: ManifestFile,
        text: &[u8],
        shown: &str,
    ) -> Result<(FormatVersion, usize), Error> {
        let lines = &mut Lines::new(text);
        let (magic, newest) = (kind.magic(), FormatVersion::V2.number());
        let shown_text = |text: &[u8]| Escaped::text(&text[..text.len().min(100)]).to_string();
        let found = lines.labelled(magic).map_err(|_| {
            Error::mismatch(format_args!("{shown}: line 1: expected '{magic}{newest}'"))
        })?;
        let version = FormatVersion::from_number(found).ok_or_else(|| {
            let found = shown_text(found);
            let what = format_args!("{shown}: expected {magic}{newest}, found {magic}{found}");
            Error::mismatch(what)
        })?;
        let mut line = |label| {
            lines.labelled(label).map_err(|why| {
                Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number()))
            })
        };
        let (algorithm, found) = (self.algorithm, line("algorithm: ")?);
        if found != algorithm.name().as_bytes() {
            let found = shown_text(found);
            return Err(Error::key(format_args!(
                "{shown}: the manifest is for {found}; expected {algorithm}"
            )));
        }
        let found = line("bits: ")?;
        let bits = str::from_utf8(found).ok().and_then(|text| text.parse().ok());
        let bits = bits.filter(|bits: &usize| bits.to_string().as_bytes() == found);
        let bits = bits.ok_or_else(|| {
            let found = shown_text(found);
            Error::mismatch(format_args!("{shown}: expected a number of bits, found '{found}'"))
        })?;
        let (key_id, found) = (self.key_id, line("key id: ")?);
        if found != key_id.to_string().as_bytes() {
            let found = shown_text(found);
            return Err(Error::key(format_args!(
                "{shown}: the manifest is sealed under another key: expected key id {key_id}, \
                 found {found}"
            )));
        }
        Ok((version, bits))
    }

    /// Appends the seal of a text to it.
    pub fn close(&self, text: &mut Vec<u8>) -> Tag {
        let seal = self.seal.tag(&[], &**text).expect("HMAC has no limit");
        text.extend_from_slice(SEAL);
        text.extend_from_slice(format!("{seal}\n").as_bytes());
        seal
    }

    /// Starts the seal of a text that comes in pieces.
    pub fn seal_stream(&self) -> AnyStream {
        self.seal.stream(&[]).expect("HMAC takes no nonce")
    }

    /// Verifies the seal at the end of a text. Returns the length of the text above it, and the
    /// seal.
    pub fn open(&self, text: &[u8]) -> Result<(usize, Tag), NotSealed> {
        let body = text.len().checked_sub(SEAL_LINE).ok_or(NotSealed::Cut)?;
        let (body, end) = text.split_at(body);
        let seal = parse_seal(end).filter(|_| body.ends_with(b"\n")).ok_or(NotSealed::Cut)?;
        match self.seal.verify(&[], body, &seal) {
            Ok(()) => Ok((body.len(), seal)),
            Err(_) => Err(NotSealed::Other),
        }
    }
}

/// Parses the last line of a file.
pub(super) fn parse_seal(line: &[u8]) -> Option<Tag> {
    let hex = line.strip_prefix(SEAL)?.strip_suffix(b"\n")?;
    Tag::try_from(&*base16ct::lower::decode_vec(hex).ok()?).ok()
}

/// The reason why a text's seal is invalid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NotSealed {
    /// The last line is not a seal.
    Cut,
    /// The seal does not match the text.
    Other,
}

impl NotSealed {
    /// Returns the error. `wrong` describes the first line that cannot be right, if any: a hint
    /// only, as the text is not trusted.
    pub fn error(self, shown: &str, wrong: Option<String>) -> Error {
        let what = match self {
            NotSealed::Cut => {
                "the last line is not 'seal: ' and 64 hex digits: it was cut off or changed"
            }
            NotSealed::Other => "the seal does not match: it has changed since it was sealed",
        };
        let wrong = wrong.map(|wrong| format!(" ({wrong})")).unwrap_or_default();
        Error::mismatch(format_args!("{shown}: {what}{wrong}"))
    }
}
