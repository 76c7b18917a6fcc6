//! The key of PMAC, and its interface for other constructions on the same key.

use core::slice;

use super::super::known_answer;
use super::super::xor::Truncation;
use super::offsets::{Offsets, SHORT_PERIOD, gray};
use crate::cipher::{Aes128, Aes192, Aes256, Cipher, Encrypt, Field};
use crate::error::{Error, silent};
use crate::isa::{CipherBlock, Isa, Kernel, Level, Levels};
use crate::mac::deterministic;
#[cfg(feature = "std")]
use crate::tables::Tables;
use crate::wipe::wipe;

/// PMAC under a key.
///
/// Deterministic. Accepts messages of any bit length. Tags have n bits, or fewer with
/// [`with_tag_bits`](Pmac::with_tag_bits).
///
/// ```
/// use tagmac::PmacAes128;
/// let mac = PmacAes128::new(&[7; 16]);
/// let tag = mac.tag(b"message")?;
/// assert!(mac.verify(b"message", &tag).is_ok());
/// assert!(mac.verify(b"massage", &tag).is_err());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct Pmac<C: Cipher<Block: Field>> {
    pub(super) cipher: C,
    pub(super) level: Level,
    pub(super) truncation: Truncation<C::Block>,
    /// L/x.
    pub(super) l_inv: C::Block,
    /// gamma_j L for j = 1..=8.
    pub(super) first: [C::Block; SHORT_PERIOD],
    #[cfg(feature = "std")]
    pub(super) offsets: Tables<Offsets<C::Block>>,
    #[cfg(not(feature = "std"))]
    offsets: Offsets<C::Block>,
}

impl<C: Cipher<Block: Field>> Drop for Pmac<C> {
    #[inline(never)]
    fn drop(&mut self) {
        wipe(slice::from_mut(&mut self.l_inv), C::Block::ZERO);
        wipe(&mut self.first, C::Block::ZERO);
    }
}

/// PMAC-AES128.
pub type PmacAes128 = Pmac<Aes128>;
/// PMAC-AES192.
pub type PmacAes192 = Pmac<Aes192>;
/// PMAC-AES256.
pub type PmacAes256 = Pmac<Aes256>;

impl<C: Cipher<Block: Field>> Pmac<C> {
    /// Returns PMAC with the cipher C on the best level of this CPU.
    pub fn new(key: &C::Key) -> Self {
        Pmac::with_level(key, Level::best())
    }

    /// Returns PMAC with the cipher C on a given level.
    #[inline(never)]
    pub fn with_level(key: &C::Key, level: Level) -> Self {
        let level = Self::passing(level);
        level.run(Build::<C> { key, level })
    }

    /// PMAC with a keyed cipher that was made for the same level.
    pub(crate) fn from_cipher(cipher: C, level: Level) -> Self {
        let level = Self::passing(level);
        let l = level.run(Encrypt(&cipher, &C::Block::ZERO));
        Pmac::with_l(cipher, l, level)
    }

    /// See [`known_answer::passing`].
    fn passing(level: Level) -> Level {
        let Some(known) = C::KNOWN_ANSWERS else { return level };
        known_answer::passing(&known.pmac, level, |level| {
            let mac = level.run(Build::<C> { key: &known_answer::key::<C>(), level });
            move |message| mac.tag(message)
        })
    }

    /// PMAC with L = E_K(0).
    #[inline(always)]
    fn with_l(cipher: C, l: C::Block, level: Level) -> Self {
        let (twice, truncation) = (l.times_x(), Truncation::none());
        let four_times = twice.times_x();
        Pmac {
            cipher,
            level,
            truncation,
            l_inv: l.over_x(),
            first: gray(&[l, twice, four_times, four_times.times_x()]),
            #[cfg(feature = "std")]
            offsets: Tables::new(),
            #[cfg(not(feature = "std"))]
            offsets: Offsets::new(&l),
        }
    }

    /// The offsets of messages of any length.
    #[inline(always)]
    pub(super) fn offsets(&self) -> &Offsets<C::Block> {
        #[cfg(feature = "std")]
        return match self.offsets.get() {
            Some(offsets) => offsets,
            None => self.make_offsets(),
        };
        #[cfg(not(feature = "std"))]
        &self.offsets
    }

    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    pub(super) fn make_offsets(&self) -> &Offsets<C::Block> {
        self.offsets.get_or_make(|| {
            let mut offsets = Box::new(Offsets::ZERO);
            offsets.make(&self.first[0]);
            offsets
        })
    }

    /// Truncates tags to their first `bits` bits, 1 to n.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }
}

/// Makes a key, see [`Cipher::new_in`].
struct Build<'a, C: Cipher> {
    key: &'a C::Key,
    level: Level,
}

impl<C: Cipher<Block: Field>> Kernel for Build<'_, C> {
    const LEVELS: Levels = C::ONE_BLOCK_LEVELS;
    type Out = Pmac<C>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Pmac<C> {
        let cipher = C::new_in(isa, self.key, self.level);
        let l = cipher.encrypt_one(isa, &C::Block::ZERO);
        Pmac::with_l(cipher, l, self.level)
    }
}

/// The components of a PMAC key, for other constructions on the same key. **All of them are as
/// secret as the key**: the cipher can compute every tag, and anyone who knows an offset can find
/// messages with equal tags.
///
/// ```text
/// L = E_K(0)      offset(i) = gamma_i L, added to block i before it is encrypted; i >= 1
/// ```
///
/// Given a tag, any block but the last can be replaced, from the old and the new block alone. (The
/// crate `tagmac-papers` has functions for this.) For example:
///
/// ```
/// use tagmac::cipher::{Cipher, CipherBlock, Decrypt};
/// use tagmac::hazmat::{Hash, PmacKey};
/// use tagmac::isa::{Isa, Kernel};
/// use tagmac::PmacAes128;
///
/// struct Replace<'a>(&'a PmacAes128, [&'a [u8; 16]; 2], &'a [u8; 16]);
///
/// impl Kernel for Replace<'_> {
///     type Out = [u8; 16];
///
///     #[inline(always)]
///     fn run<I: Isa>(self, isa: I) -> [u8; 16] {
///         let Replace(mac, [old, new], tag) = self;
///         let (cipher, offset) = (mac.cipher(), mac.offset(1));
///         let old = cipher.encrypt_one(isa, &old.xor(&offset));
///         let new = cipher.encrypt_one(isa, &new.xor(&offset));
///         let sigma = cipher.decrypt_one(isa, tag).xor(&old).xor(&new);
///         cipher.encrypt_one(isa, &sigma)
///     }
/// }
///
/// let mac = PmacAes128::new(&[7; 16]);
/// let (before, after) = ([[1; 16], [2; 16]], [[9; 16], [2; 16]]);
/// let tag = mac.tag(before.as_flattened())?;
/// let tag = tag.as_bytes().try_into().expect("16 bytes");
/// let made = mac.level().run(Replace(&mac, [&before[0], &after[0]], tag));
/// assert_eq!(&made, mac.tag(after.as_flattened())?.as_bytes());
/// # Ok::<(), tagmac::Error>(())
/// ```
pub trait PmacKey<C: Cipher> {
    /// Returns the cipher under the key.
    fn cipher(&self) -> &C;
    /// Returns the offset of block `number`, counted from 1.
    fn offset(&self, number: u64) -> C::Block;
}

impl<C: Cipher<Block: Field>> PmacKey<C> for Pmac<C> {
    #[inline(always)]
    fn cipher(&self) -> &C {
        &self.cipher
    }

    #[inline(always)]
    fn offset(&self, number: u64) -> C::Block {
        self.offsets().gamma_l(number)
    }
}

deterministic!(Pmac<C: Cipher<Block: Field>>);
silent!(Pmac<C: Cipher<Block: Field>>);
