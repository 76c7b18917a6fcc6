//! Parts: the hash of a range of a message, and how neighbours join.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::construction::Construction;
use crate::error::Error;
use crate::hash::{Hash, absorbable_len, check_length};
use crate::kernels;
use crate::tag::Tag;

/// The hash of the bytes from `start` to `end` of some message. Wiped on drop, silent in `Debug`.
pub struct Part<H: Hash> {
    start: u64,
    end: u64,
    block: usize,
    sum: H::Sum,
}

impl<H: Hash> Drop for Part<H> {
    fn drop(&mut self) {
        self.sum.zeroize();
    }
}

impl<H: Hash> core::fmt::Debug for Part<H> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Part({}..{})", self.start, self.end)
    }
}

impl<H: Hash> Part<H> {
    /// The part of whole blocks that starts at byte `start`. None of them may be the message's
    /// last if the MAC treats that one apart; [`finish`](Part::finish) takes the rest.
    ///
    /// # Errors
    ///
    /// [`Error::Unaligned`] if the start or the length is no multiple of the block,
    /// [`Error::TooLong`] if the part ends over the MAC's limit.
    pub fn of(hash: &H, start: u64, blocks: &[u8]) -> Result<Self, Error> {
        let block = hash.block();
        for found in [start, blocks.len() as u64] {
            if found % block as u64 != 0 {
                return Err(Error::Unaligned { block, found });
            }
        }
        check_length(hash, start, blocks.into())?;
        let mut part = Part { start, end: start, block, sum: hash.empty() };
        part.grow(hash, blocks);
        Ok(part)
    }

    /// Adds neighbouring whole blocks within the limit.
    fn grow(&mut self, hash: &H, blocks: &[u8]) {
        kernels::absorb(hash, &mut self.sum, self.end, blocks);
        self.end += blocks.len() as u64;
    }

    /// The first byte of the range.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The byte after the range.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The two ranges as one.
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] unless `right` starts where this part ends, [`Error::ForeignPart`] if they
    /// are of a MAC with another block. That they are of one key is up to you.
    pub fn join(mut self, hash: &H, right: &Self) -> Result<Self, Error> {
        if self.block != hash.block() || right.block != hash.block() {
            return Err(Error::ForeignPart);
        }
        if right.start != self.end {
            return Err(Error::Gap { expected: self.end, found: right.start });
        }
        hash.join(&mut self.sum, &right.sum);
        self.end = right.end;
        Ok(self)
    }

    /// Checks in constant time that the part is of these blocks.
    ///
    /// # Errors
    ///
    /// [`Error::LeafChanged`] unless it is, [`Error::OldBytes`] if they are more or fewer,
    /// [`Error::ForeignPart`] if the part is of a MAC with another block.
    pub fn check(&self, hash: &H, blocks: &[u8]) -> Result<(), Error> {
        let (expected, found) = (self.end - self.start, blocks.len() as u64);
        if expected != found {
            return Err(Error::OldBytes { expected, found });
        }
        if self.block != hash.block() {
            return Err(Error::ForeignPart);
        }
        let now = Part::of(hash, self.start, blocks)?;
        if !hash.ct_eq(&self.sum, &now.sum) {
            return Err(Error::LeafChanged { start: self.start, end: self.end });
        }
        Ok(())
    }

    /// The tag of the message that this part begins and `rest`, of any length, ends.
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] if the part does not start at byte 0, [`Error::NoLastBlock`] if the rest is
    /// empty although the MAC treats the last block apart, [`Error::TooLong`] if the message is
    /// over the limit.
    pub fn finish<'m, M: Construction<Hash = H>>(
        mut self,
        mac: &M,
        nonce: &M::Nonce,
        rest: impl Into<Bits<'m>>,
    ) -> Result<Tag, Error> {
        let (hash, rest) = (mac.hash(), rest.into());
        if self.block != hash.block() {
            return Err(Error::ForeignPart);
        }
        if self.start != 0 {
            return Err(Error::Gap { expected: 0, found: self.start });
        }
        if H::LAST_BLOCK_DISTINCT && self.end > 0 && rest.bits() == 0 {
            return Err(Error::NoLastBlock);
        }
        check_length(hash, self.end, rest)?;
        let cut = absorbable_len(hash, rest);
        self.grow(hash, &rest.bytes()[..cut]);
        let (sum, at, tail) = (&self.sum, self.end, rest.after(cut));
        let pad = &mut M::PadCache::default();
        kernels::close(mac, nonce, pad, sum, at, tail)
    }
}

/// What a part is sealed for.
#[cfg(feature = "save")]
const PURPOSE: &[u8] = b"part 1";

#[cfg(feature = "save")]
impl<H: Hash<Sum: crate::save::Save>> Part<H> {
    /// Appends the range and the sum, which nothing hides: seal what comes of it.
    ///
    /// # Errors
    ///
    /// [`Error::NoSavedState`] if the sum cannot be read; that of a part always can.
    pub(crate) fn save(&self, out: &mut crate::save::Writer) -> Result<(), Error> {
        out.number(self.start).number(self.end);
        crate::save::Save::save(&self.sum, out)
    }

    /// Seals the part, bound to its range and to the object that it is a part of: a name of your
    /// choice that no two messages share.
    ///
    /// ```
    /// use tagmac::hazmat::Part;
    /// use tagmac::{PmacAes128, save::Sealer};
    /// let (mac, message) = (PmacAes128::new(&[7; 16]), [3; 100]);
    /// let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
    /// // On one machine:
    /// let sealed = Part::of(&mac, 0, &message[..96])?.seal(&sealer, b"photo 17")?;
    /// // On another:
    /// let part = Part::open(&mac, &sealer, b"photo 17", &sealed)?;
    /// assert_eq!(part.finish(&mac, &(), &message[96..])?, mac.tag(&message)?);
    /// # Ok::<(), tagmac::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoRandomBytes`] if the system has none for the seal.
    pub fn seal(&self, sealer: &crate::save::Sealer, object: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = crate::save::Writer::default();
        self.save(&mut out)?;
        sealer.seal(&[PURPOSE, object], out.as_bytes())
    }

    /// The part of this object that was sealed. Its range is what it says now: `start` and `end`
    /// are as secure as the sum.
    ///
    /// # Errors
    ///
    /// [`Error::Seal`] if it was altered, or is of another key or object, [`Error::Saved`] or
    /// [`Error::ForeignPart`] if it has another block. The sealer alone tells MACs and keys
    /// apart.
    pub fn open(
        hash: &H,
        sealer: &crate::save::Sealer,
        object: &[u8],
        sealed: &[u8],
    ) -> Result<Self, Error> {
        let opened = sealer.open(&[PURPOSE, object], sealed)?;
        let input = &mut crate::save::Reader::new(&opened);
        let part = Part::load(hash, input)?;
        if !input.is_empty() {
            return Err(Error::Saved { expected: "a part" });
        }
        Ok(part)
    }

    /// The part that was appended, which a hash of the same kind and key made.
    ///
    /// # Errors
    ///
    /// [`Error::Saved`] unless one was, [`Error::ForeignPart`] if it has another block,
    /// [`Error::TooLong`] if it ends over the MAC's limit.
    pub(crate) fn load(hash: &H, input: &mut crate::save::Reader<'_>) -> Result<Self, Error> {
        let none = Error::Saved { expected: "a part" };
        let (start, end) = (input.number().ok_or(none)?, input.number().ok_or(none)?);
        let block = hash.block();
        if start > end || [start, end].iter().any(|at| at % block as u64 != 0) {
            return Err(Error::ForeignPart);
        }
        check_length(hash, end, Bits::from(&[]))?;
        let sum = crate::save::Save::load(input, start..end).ok_or(none)?;
        Ok(Part { start, end, block, sum })
    }
}
