//! Private interface for the crate `tagmac-any`; do not use it elsewhere. That crate offers every
//! MAC by name as one type and wipes the stack itself. It works on parts and streams in place,
//! because a move leaves a copy of a secret in memory. Both crates are released together and
//! require exactly each other's version, so this module may change in any release.

use core::ops::Deref;

use crate::algo::{Cmac, CmacStream, LightMac, Pmac};
use crate::batch::{self, BatchError};
use crate::bits::Bits;
use crate::cipher::{Cipher, Field};
use crate::construction::{Construction, Hash};
use crate::error::{Error, Mismatch};
use crate::hazmat::{Part, PartError};
use crate::isa::Level;
use crate::sequence::NonceSequence;
use crate::stream::Stream;
use crate::tag::Tag;

pub use crate::algo::elimac::LIMIT_BITS as ELIMAC_LIMIT_BITS;
pub use crate::algo::lightmac::limit_bits as lightmac_limit_bits;
pub use crate::cipher::aes::LongAes;
pub use crate::isa::block::zero_filled;
#[cfg(feature = "std")]
pub use crate::nonce::fill_random;
pub use crate::nonce::{MAX_BYTES as MAX_NONCE_BYTES, check_length as check_nonce_length};
#[cfg(feature = "save")]
pub use crate::save::derive::derive_only;
#[cfg(feature = "save")]
pub use crate::save::sealer::NONCE as SEAL_NONCE;
pub use crate::tag::matches;
#[cfg(feature = "save")]
pub use crate::wipe::with_stack_wiped;

#[cfg(feature = "save")]
pub use saving::*;

/// PMAC of a keyed cipher.
pub fn pmac<C: Cipher<Block: Field>>(cipher: C, level: Level) -> Pmac<C> {
    Pmac::from_cipher(cipher, level)
}

/// LightMAC of two keyed ciphers.
///
/// # Errors
///
/// As [`LightMac::new`].
#[inline]
pub fn lightmac<C: Cipher>(k1: C, k2: C, s: usize, level: Level) -> Result<LightMac<C>, Error> {
    LightMac::from_ciphers(k1, k2, s, level)
}

/// CMAC of a keyed cipher.
pub fn cmac<C: Cipher<Block: Field>>(cipher: C, level: Level) -> Cmac<C> {
    Cmac::from_cipher(cipher, level)
}

/// Returns the tag of a CMAC stream without moving the stream.
pub fn finalize_cmac<R: Deref<Target = Cmac<C>>, C: Cipher<Block: Field>>(
    stream: &CmacStream<R, C>,
) -> Tag {
    stream.finalize()
}

/// Returns the tag of a stream without moving the stream.
///
/// # Errors
///
/// As [`Stream::tag`].
#[inline]
pub fn finalize_stream<R: Deref<Target: Construction>>(
    stream: &mut Stream<R>,
) -> Result<Tag, Error> {
    stream.finalize()
}

/// [`NonceSequence::tag`] with the caller's error type.
///
/// # Errors
///
/// As [`NonceSequence::tag`].
#[inline(always)]
pub fn tag_next<'m, R: Deref<Target: Construction>, E: From<Error>>(
    sequence: &mut NonceSequence<R>,
    message: impl Into<Bits<'m>>,
) -> Result<(<R::Target as Construction>::Nonce, Tag), E> {
    sequence.tag_or(message)
}

/// [`Part::join`] without moving the left part.
///
/// # Errors
///
/// As [`Part::join`].
pub fn append_part<H: Hash>(
    left: &mut Part<H>,
    hash: &H,
    right: &Part<H>,
) -> Result<(), PartError> {
    left.append(hash, right)
}

/// [`Part::finish`] without moving the part.
///
/// # Errors
///
/// As [`Part::finish`].
pub fn finalize_part<M: Construction>(
    part: &mut Part<M::Hash>,
    mac: &M,
    nonce: &M::Nonce,
    rest: Bits<'_>,
) -> Result<Tag, PartError> {
    part.finalize(mac, nonce, rest)
}

/// Writes the verdicts of `tags`, given the right ones, see [`batch`](crate::batch).
///
/// # Errors
///
/// [`Mismatch`] unless all are right.
pub fn write_verdicts(
    made: Result<(), BatchError>,
    expected: &[Tag],
    tags: &[Tag],
    verdicts: &mut [Result<(), Mismatch>],
    alone: impl Fn(usize) -> Result<(), Mismatch>,
) -> Result<(), Mismatch> {
    batch::write_verdicts(made, expected, tags, verdicts, alone)
}

/// Sealing with the associated data of `tagmac-any`.
#[cfg(feature = "save")]
mod saving {
    use super::*;
    use crate::save::{Reader, Save, SaveError, Sealer, Writer};

    /// [`Sealer::seal`] under a given nonce, which must be random and unused. Appends to `out`.
    pub fn seal_into(
        sealer: &Sealer,
        out: &mut Vec<u8>,
        nonce: &[u8; SEAL_NONCE],
        associated_data: &[&[u8]],
        secret: &[u8],
    ) {
        sealer.seal_into(out, nonce, associated_data, secret);
    }

    /// [`Stream::save`] with additional associated data.
    ///
    /// # Errors
    ///
    /// As [`Stream::save`].
    pub fn save_stream<R: Deref<Target: Construction<Hash: Hash<Sum: Save>>>>(
        stream: &Stream<R>,
        sealer: &Sealer,
        associated_data: &[&[u8]],
    ) -> Result<Vec<u8>, SaveError> {
        stream.save_with(sealer, associated_data)
    }

    /// [`Stream::restore`] with additional associated data.
    ///
    /// # Errors
    ///
    /// As [`Stream::restore`].
    pub fn restore_stream<R: Deref<Target: Construction<Hash: Hash<Sum: Save>>>>(
        mac: R,
        sealer: &Sealer,
        associated_data: &[&[u8]],
        saved: &[u8],
    ) -> Result<Stream<R>, SaveError> {
        Stream::restore_with(mac, sealer, associated_data, saved)
    }

    /// Appends a part's range and sum unencrypted: seal the result.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum cannot be read. The sum of a part can always be read.
    pub fn save_part<H: Hash<Sum: Save>>(
        part: &Part<H>,
        out: &mut Writer,
    ) -> Result<(), SaveError> {
        part.save(out)
    }

    /// Reads a part that [`save_part`] wrote, for a hash of the same kind and key.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] if the bytes are not a part, [`SaveError::ForeignPart`] if it has
    /// another block size, [`SaveError::Mac`] with [`Error::TooLong`] if it ends beyond the MAC's
    /// limit.
    pub fn load_part<H: Hash<Sum: Save>>(
        hash: &H,
        input: &mut Reader<'_>,
    ) -> Result<Part<H>, SaveError> {
        Part::load(hash, input)
    }
}
