//! What all files of a manifest have in common: the head, and the tag at the end.

use tagmac::Tag;
use tagmac_any::{Algorithm, AnyMac, KeyId};

use crate::error::Error;
use crate::escaped::Escaped;
use crate::manifest::{SEAL, seal_mac};
use crate::objects::line::Lines;
use crate::raw_key::RawKey;

/// `seal: `, 64 hex digits, a line feed.
const SEAL_LINE: usize = 71;
const VERSION: &str = "1";

/// A kind of file of an object manifest. Its first line keeps the tags of one kind from being those of
/// another, and from those of a directory's manifest, which begins otherwise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ManifestFile {
    /// A shard.
    Shard,
    /// The root.
    Root,
}

impl ManifestFile {
    /// What the first line begins with; a number follows.
    pub fn magic(self) -> &'static str {
        match self {
            ManifestFile::Shard => "tagmac-object-shard-",
            ManifestFile::Root => "tagmac-object-root-",
        }
    }
}

/// What makes and checks the files of a manifest: the MAC of the objects, as their heads name it,
/// and the key that closes them.
#[derive(Clone)]
pub struct ManifestKey {
    /// The algorithm of the objects' tags.
    pub algorithm: Algorithm,
    /// Their length.
    pub bits: usize,
    /// The key's public id.
    pub key_id: KeyId,
    seal: AnyMac,
}

impl ManifestKey {
    /// For objects that `mac` tags under `key`.
    pub fn new(mac: &AnyMac, key: &RawKey) -> ManifestKey {
        let (algorithm, bits) = (mac.algorithm(), mac.tag_bits());
        ManifestKey { algorithm, bits, key_id: mac.key_id(), seal: seal_mac(key) }
    }

    /// The lines at the top.
    pub fn head(&self, kind: ManifestFile) -> String {
        let ManifestKey { algorithm, bits, key_id, .. } = self;
        let magic = kind.magic();
        format!("{magic}{VERSION}\nalgorithm: {algorithm}\nbits: {bits}\nkey id: {key_id}\n")
    }

    /// Refuses the head of another version, algorithm or key. No word of it is trusted: what
    /// follows is a refusal, or the check of the seal. Returns the number of bits.
    pub fn check_head(&self, kind: ManifestFile, text: &[u8], shown: &str) -> Result<usize, Error> {
        let lines = &mut Lines::new(text);
        let magic = kind.magic();
        let shown_text = |text: &[u8]| Escaped::text(&text[..text.len().min(100)]).to_string();
        let version = lines.labelled(magic).map_err(|_| {
            Error::mismatch(format_args!(
                "{shown}: line 1: expected '{magic}{VERSION}', found something else"
            ))
        })?;
        if version != VERSION.as_bytes() {
            return Err(Error::mismatch(format_args!(
                "{shown}: expected {magic}{VERSION}, found {magic}{}",
                shown_text(version)
            )));
        }
        let mut line = |label| {
            lines.labelled(label).map_err(|why| {
                Error::mismatch(format_args!("{shown}: line {}: {why}", lines.number()))
            })
        };
        let (algorithm, found) = (self.algorithm, line("algorithm: ")?);
        if found != algorithm.name().as_bytes() {
            let found = shown_text(found);
            return Err(Error::key(format_args!(
                "{shown}: expected a manifest of {algorithm}, found one of {found}"
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
                "{shown}: expected a manifest sealed under this key (id {key_id}), found one \
                 sealed under the key with id {found}"
            )));
        }
        Ok(bits)
    }

    /// Closes a text: adds its seal.
    pub fn close(&self, text: &mut Vec<u8>) -> Tag {
        let seal = self.seal.tag(&[], &**text).expect("HMAC has no limit");
        text.extend_from_slice(SEAL);
        text.extend_from_slice(format!("{seal}\n").as_bytes());
        seal
    }

    /// The length of what is above the seal, and the seal, if that is the text's.
    pub fn open(&self, text: &[u8]) -> Result<(usize, Tag), NotSealed> {
        let body = text.len().checked_sub(SEAL_LINE).ok_or(NotSealed::Cut)?;
        let (body, end) = text.split_at(body);
        let hex = end.strip_prefix(SEAL).and_then(|end| end.strip_suffix(b"\n"));
        let seal = hex.and_then(|hex| base16ct::lower::decode_vec(hex).ok());
        let seal = seal.and_then(|seal| Tag::try_from(&*seal).ok());
        let seal = seal.filter(|_| body.ends_with(b"\n")).ok_or(NotSealed::Cut)?;
        match self.seal.verify(&[], body, &seal) {
            Ok(()) => Ok((body.len(), seal)),
            Err(_) => Err(NotSealed::Other),
        }
    }
}

/// Why a text is not one that was sealed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NotSealed {
    /// The last line has no seal.
    Cut,
    /// It is not that of the text.
    Other,
}

impl NotSealed {
    /// The error, with the first line that cannot be right if there is one: a hint, made of a text
    /// that somebody changed.
    pub fn error(self, shown: &str, wrong: Option<String>) -> Error {
        let what = match self {
            NotSealed::Cut => {
                "expected 'seal: ' and 64 hex digits on the last line, found something else: it was \
                 cut off or changed"
            }
            NotSealed::Other => "the seal does not match: it is not as it was sealed",
        };
        let wrong = wrong.map(|wrong| format!(" ({wrong})")).unwrap_or_default();
        Error::mismatch(format_args!("{shown}: {what}{wrong}"))
    }
}
