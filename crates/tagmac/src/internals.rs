//! What the crate `tagmac-any` needs of the insides, and nobody else should use. It holds every MAC by
//! name behind one type, wipes the stack by itself, and works where parts and streams are, because
//! what moves leaves a copy of a secret behind. Both crates are released together and ask for exactly
//! each other's version, so this may change in any release.

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

/// PMAC of a cipher under its key.
pub fn pmac<C: Cipher<Block: Field>>(cipher: C, level: Level) -> Pmac<C> {
    Pmac::from_cipher(cipher, level)
}

/// LightMAC of two ciphers under their keys.
///
/// # Errors
///
/// As [`LightMac::new`].
#[inline]
pub fn lightmac<C: Cipher>(k1: C, k2: C, s: usize, level: Level) -> Result<LightMac<C>, Error> {
    LightMac::from_ciphers(k1, k2, s, level)
}

/// CMAC of a cipher under its key.
pub fn cmac<C: Cipher<Block: Field>>(cipher: C, level: Level) -> Cmac<C> {
    Cmac::from_cipher(cipher, level)
}

/// The tag of CMAC's stream, where the stream is.
pub fn finalize_cmac<R: Deref<Target = Cmac<C>>, C: Cipher<Block: Field>>(
    stream: &CmacStream<R, C>,
) -> Tag {
    stream.finalize()
}

/// The tag of a stream, where the stream is.
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

/// [`NonceSequence::tag`] with an error of the caller's.
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

/// [`Part::join`], where the left part is.
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

/// [`Part::finish`], where the part is.
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

/// The verdicts of tags whose right ones were made, see [`batch`](crate::batch).
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

/// What is sealed with associated data of `tagmac-any`'s.
#[cfg(feature = "save")]
mod saving {
    use super::*;
    use crate::save::{Reader, Save, SaveError, Sealer, Writer};

    /// [`Sealer::seal`] under a nonce that is random and was never used, appended.
    pub fn seal_into(
        sealer: &Sealer,
        out: &mut Vec<u8>,
        nonce: &[u8; SEAL_NONCE],
        associated_data: &[&[u8]],
        secret: &[u8],
    ) {
        sealer.seal_into(out, nonce, associated_data, secret);
    }

    /// [`Stream::save`] with more associated data.
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

    /// [`Stream::restore`] with more associated data.
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

    /// Appends a part's range and sum, which nothing hides: seal what comes of it.
    ///
    /// # Errors
    ///
    /// [`SaveError::NoSavedState`] if the sum cannot be read; that of a part always can.
    pub fn save_part<H: Hash<Sum: Save>>(
        part: &Part<H>,
        out: &mut Writer,
    ) -> Result<(), SaveError> {
        part.save(out)
    }

    /// The part that was appended, which a hash of the same kind and key made.
    ///
    /// # Errors
    ///
    /// [`SaveError::Saved`] unless one was, [`SaveError::ForeignPart`] if it has another block,
    /// [`SaveError::Mac`] with [`Error::TooLong`] if it ends over the MAC's limit.
    pub fn load_part<H: Hash<Sum: Save>>(
        hash: &H,
        input: &mut Reader<'_>,
    ) -> Result<Part<H>, SaveError> {
        Part::load(hash, input)
    }
}
