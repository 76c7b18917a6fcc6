//! Partials: the hashes of ranges of an object as files, made on any machine and joined later.
//!
//! ```text
//! "tagmac-partial-2"  key id (8)  start (8)  end (8)  last (1)
//! length (1)  algorithm  length (2)  object  seal of all this (40)
//! sealed part and tail
//! ```
//!
//! Numbers are little-endian. The header is public. It has its own seal, so that a reader can check
//! it before it trusts the length of the rest, and the rest is bound to it.
//! `docs/formats/partials.md` specifies the format byte by byte. As with key files, the caller
//! reads and writes the files.

use core::fmt;
use core::ops::Deref;

use zeroize::Zeroizing;

use tagmac::Error;
use tagmac::internals::{SEAL_NONCE, fill_random, seal_into};
use tagmac::save::{Reader, SaveError, Sealer, Writer};

use crate::key_id::KeyId;
use crate::mac::AnyMac;
use crate::parts::{AnyPart, Parts};

/// The beginning of every version, and this version.
const MAGIC: &[u8] = b"tagmac-partial-";
const VERSION: u8 = b'2';
/// Associated data of the header's seal, and of the rest's.
const HEADER: &[u8] = b"partial header 2";
const PURPOSE: &[u8] = b"partial 2";

/// The header of a partial. It is not trusted before it is [checked](Partial::check).
///
/// ```
/// use tagmac_any::{Algorithm, AnyMac, Partial};
/// use tagmac::save::Sealer;
/// let mac = AnyMac::new(Algorithm::default(), &[7; 16])?;
/// let sealer = Sealer::new(mac.algorithm().name(), &[7; 16]);
/// let parts = mac.parts().expect("PMAC has parts");
///
/// // On one machine, and on another:
/// let first = Partial::seal(&mac, &sealer, b"photo 17", &parts.new_part(0, &[3; 64])?, None)?;
/// let last = Partial::seal(&mac, &sealer, b"photo 17", &parts.new_part(64, &[])?, Some(&[3; 5]))?;
///
/// // On a third:
/// let (left, _) = Partial::parse(&first)?.check(&mac, &sealer)?.open()?;
/// let (right, tail) = Partial::parse(&last)?.check(&mac, &sealer)?.open()?;
/// let tag = parts.finish(parts.join(left, &right)?, &[], &tail)?;
/// assert_eq!(tag, mac.tag(&[], &[3; 69])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Partial<'a> {
    header: &'a [u8],
    seal: [u8; Sealer::OVERHEAD],
    sealed: &'a [u8],
    id: KeyId,
    start: u64,
    end: u64,
    last: bool,
    algorithm: &'a str,
    object: &'a [u8],
}

/// A [`Partial`] with a header that was made under the key: someone with the key claimed this
/// range. The rest is verified when it is opened.
#[derive(Clone, Copy)]
pub struct CheckedPartial<'a> {
    partial: Partial<'a>,
    parts: Parts<'a>,
    sealer: &'a Sealer,
    max_len: u64,
}

/// An error in making or using a partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartialError {
    /// It does not begin like a partial.
    NotAPartial,
    /// The partial has an unknown version.
    Version,
    /// The header or its seal is cut off, or the header is malformed.
    Header,
    /// It belongs to another algorithm or key.
    Foreign,
    /// The object's name is too long.
    ObjectName {
        /// The maximum length in bytes.
        max: usize,
        /// The length found in bytes.
        found: usize,
    },
    /// The tail of the object, after its last part, is longer than a block.
    TailLength {
        /// The maximum length in bytes.
        max: usize,
        /// The length found in bytes.
        found: usize,
    },
    /// An error of a part, of a seal, or of sealed content.
    Save(SaveError),
}

impl fmt::Display for PartialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartialError::NotAPartial => f.write_str("not a partial"),
            PartialError::Version => {
                f.write_str("the partial has an unknown version; this program reads version 2")
            }
            PartialError::Header => f.write_str("the partial's header is damaged or cut off"),
            PartialError::Foreign => f.write_str("the partial belongs to another algorithm or key"),
            PartialError::ObjectName { max, found } => {
                write!(f, "expected an object's name of at most {max} bytes, found {found}")
            }
            PartialError::TailLength { max, found } => {
                write!(f, "expected a tail of at most {max} bytes, found {found}")
            }
            PartialError::Save(SaveError::Seal) => {
                f.write_str("the partial is damaged, or was not sealed under this key")
            }
            PartialError::Save(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PartialError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PartialError::Save(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SaveError> for PartialError {
    fn from(error: SaveError) -> PartialError {
        PartialError::Save(error)
    }
}

impl<'a> Partial<'a> {
    /// Maximum length of an object's name in bytes.
    pub const MAX_OBJECT: usize = u16::MAX as usize;
    /// Maximum length of a header with its seal in bytes. [`parse`](Partial::parse) and
    /// [`check`](Partial::check) need no more of a file.
    pub const MAX_HEADER: usize = MAGIC.len()
        + 1
        + KeyId::BYTES
        + 8
        + 8
        + 1
        + 1
        + 255
        + 2
        + Partial::MAX_OBJECT
        + Sealer::OVERHEAD;

    /// Returns the file of a partial. `tail` is the end of the object after its last part, at most
    /// a block, which [`Parts::finish`](super::Parts::finish) needs. It is `None` unless the part
    /// is the last.
    ///
    /// # Errors
    ///
    /// [`PartialError::ObjectName`] if the name is too long, [`PartialError::TailLength`] if the
    /// tail is longer than a block.
    ///
    /// [`PartialError::Save`] with [`SaveError::ForeignPart`] if the part belongs to another MAC or
    /// key or the MAC has no parts, or with [`Error::TooLong`] if the range ends beyond the MAC's
    /// limit. The same with [`Error::NoRandomBytes`] if the system's random generator fails.
    pub fn seal(
        mac: &AnyMac,
        sealer: &Sealer,
        object: &[u8],
        part: &AnyPart,
        tail: Option<&[u8]>,
    ) -> Result<Vec<u8>, PartialError> {
        let parts = mac.parts().ok_or(SaveError::ForeignPart)?;
        let name = mac.algorithm().name();
        let (max, found) = (Partial::MAX_OBJECT, object.len());
        let bytes = u16::try_from(found).map_err(|_| PartialError::ObjectName { max, found })?;
        let (last, tail) = (tail.is_some(), tail.unwrap_or_default());
        if tail.len() > parts.block() {
            return Err(PartialError::TailLength { max: parts.block(), found: tail.len() });
        }
        let limit_bits = mac.algorithm().max_message_bits().unwrap_or(u64::MAX);
        let over = || SaveError::from(Error::TooLong { limit_bits });
        let end = part.end().checked_add(tail.len() as u64).ok_or_else(over)?;
        let range = [part.start(), end].map(u64::to_le_bytes);
        let header = [
            MAGIC,
            &[VERSION],
            mac.id.as_bytes(),
            range.as_flattened(),
            &[last as u8, name.len() as u8],
            name.as_bytes(),
            &bytes.to_le_bytes(),
            object,
        ];
        let header = &*header.concat();
        let sum = mac.algorithm().max_part_len(part.end() - part.start()).unwrap_or_default();
        let mut secret = Writer::with_capacity(sum as usize + 8 + tail.len());
        parts.save(part, &mut secret)?;
        secret.length_prefixed(tail);
        let secret = secret.as_bytes();
        // One system call makes both nonces, which differ in one bit.
        let mut nonces = [[0; SEAL_NONCE]; 2];
        fill_random(&mut nonces[0]).map_err(SaveError::from)?;
        nonces[1] = nonces[0];
        nonces[1][SEAL_NONCE - 1] ^= 1;
        let mut out = Vec::with_capacity(header.len() + secret.len() + 2 * Sealer::OVERHEAD);
        out.extend_from_slice(header);
        seal_into(sealer, &mut out, &nonces[0], &[HEADER, header], b"");
        seal_into(sealer, &mut out, &nonces[1], &[PURPOSE, header], secret);
        Ok(out)
    }

    /// Parses the header without trusting it. Bytes after the header's seal may be cut off.
    ///
    /// # Errors
    ///
    /// [`PartialError::NotAPartial`], [`PartialError::Version`] or [`PartialError::Header`].
    pub fn parse(bytes: &'a [u8]) -> Result<Partial<'a>, PartialError> {
        let input = &mut Reader::new(bytes);
        if input.bytes(MAGIC.len()) != Some(MAGIC) {
            return Err(PartialError::NotAPartial);
        }
        match input.array() {
            Some([VERSION]) => {}
            Some([_]) => return Err(PartialError::Version),
            None => return Err(PartialError::Header),
        }
        Partial::fields(bytes, input).ok_or(PartialError::Header)
    }

    fn fields(bytes: &'a [u8], input: &mut Reader<'a>) -> Option<Partial<'a>> {
        let id = input.array::<{ KeyId::BYTES }>()?.into();
        let (start, end) = (input.number()?, input.number()?);
        let [last, name] = input.array()?;
        let algorithm = str::from_utf8(input.bytes(name.into())?).ok()?;
        let object = u16::from_le_bytes(input.array()?);
        let object = input.bytes(object.into())?;
        let (seal, sealed) = (input.array()?, input.rest());
        let header = &bytes[..bytes.len() - sealed.len() - Sealer::OVERHEAD];
        (last <= 1 && start <= end).then_some(())?;
        Some(Partial { header, seal, sealed, id, start, end, last: last == 1, algorithm, object })
    }

    /// Checks the header's seal. Do not allocate memory by the header's lengths before this.
    ///
    /// # Errors
    ///
    /// [`PartialError::Foreign`] if the partial belongs to another algorithm or key,
    /// [`PartialError::Save`] with [`SaveError::Seal`] if the header was changed.
    pub fn check(
        self,
        mac: &'a AnyMac,
        sealer: &'a Sealer,
    ) -> Result<CheckedPartial<'a>, PartialError> {
        let algorithm = mac.algorithm();
        if self.algorithm != algorithm.name() || self.id != mac.id {
            return Err(PartialError::Foreign);
        }
        sealer.open(&[HEADER, self.header], &self.seal)?;
        let parts = mac.parts().ok_or(SaveError::ForeignPart)?;
        let sum = algorithm.max_part_len(self.end - self.start).ok_or(SaveError::ForeignPart)?;
        let rest = Sealer::OVERHEAD + 8 + parts.block();
        let max_len = (self.header_len() + rest) as u64 + sum;
        Ok(CheckedPartial { partial: self, parts, sealer, max_len })
    }

    /// The name of the algorithm, which may be unknown.
    pub fn algorithm(&self) -> &'a str {
        self.algorithm
    }

    /// The id of the key.
    pub fn key_id(&self) -> KeyId {
        self.id
    }

    /// The name of the object.
    pub fn object(&self) -> &'a [u8] {
        self.object
    }

    /// The offset of the range's first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The offset after the range's last byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// True if the object ends with this range.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// The length of the header with its seal in bytes.
    pub fn header_len(&self) -> usize {
        self.header.len() + self.seal.len()
    }
}

/// The fields of the header.
impl<'a> Deref for CheckedPartial<'a> {
    type Target = Partial<'a>;

    fn deref(&self) -> &Partial<'a> {
        &self.partial
    }
}

impl CheckedPartial<'_> {
    /// Maximum length in bytes of the file of a partial with this header. Reading no more protects
    /// against oversized files. For the UMAC of 1999 it includes 1/256 of the range; for all others
    /// it is below 70 KiB.
    pub fn max_len(&self) -> u64 {
        self.max_len
    }

    /// Decrypts the part and the object's tail, which is empty unless the part is the last.
    ///
    /// # Errors
    ///
    /// [`PartialError::Save`] with [`SaveError::Seal`] if the bytes after the header were changed.
    pub fn open(&self) -> Result<(AnyPart, Zeroizing<Vec<u8>>), PartialError> {
        self.open_in_place(&mut Zeroizing::new(self.sealed.to_vec()))
    }

    /// [`open`](CheckedPartial::open) with the bytes after the header and its seal, `sealed`,
    /// decrypted in place without a copy. They are secret afterwards: wipe them after use.
    ///
    /// # Errors
    ///
    /// As [`open`](CheckedPartial::open).
    pub fn open_in_place(
        &self,
        sealed: &mut [u8],
    ) -> Result<(AnyPart, Zeroizing<Vec<u8>>), PartialError> {
        let opened = self.sealer.open_in_place(&[PURPOSE, self.header], sealed)?;
        let input = &mut Reader::new(opened);
        let part = self.parts.load(input)?;
        let none = SaveError::Saved { expected: "a part and the tail of its object" };
        let tail = Zeroizing::new(input.length_prefixed().ok_or(none)?.to_vec());
        let end = part.end().checked_add(tail.len() as u64);
        let fits = part.start() == self.start && end == Some(self.end) && input.is_empty();
        if !fits || tail.len() > self.parts.block() || !self.last && !tail.is_empty() {
            return Err(none.into());
        }
        Ok((part, tail))
    }
}
