//! Tags many short messages, each under its own raw key, side by side: each lane of a vector has
//! its own key.
//!
//! A key schedule takes as long as the tag of a short message, because each round key depends on
//! the previous one. The keys in a vector are independent of each other, and so are their messages.

mod blocks;
mod lanes;
mod modes;
mod poly1305;
#[cfg(test)]
mod tests;
mod umac;
mod window;

use core::array;

use super::lightmac::LightMac;
use super::xor::Truncation;
use crate::batch::{BatchError, verify_in_turns};
use crate::cipher::{Aes, Aes128, Aes256, Cipher};
use crate::error::{Error, Mismatch, silent};
use crate::isa::{Block, CipherBlock, Isa, Kernel, Level, SelfTest};
use crate::tag::{Tag, matches};

/// Smaller batches are tagged one message at a time: below this, preparing and wiping the scratch
/// space costs more than it saves.
const MIN_MESSAGES: usize = 6;

/// AES with keys of whole blocks, which have similar schedules.
#[diagnostic::on_unimplemented(
    message = "raw keys work with AES-128 and AES-256, not with `{Self}`"
)]
pub trait RawKeyed: Cipher<Block = Block> {
    /// The first two keys in the bytes of the self-test.
    fn two_keys(bytes: &[u8; 64]) -> &[Self::Key; 2];
}

impl RawKeyed for Aes128 {
    fn two_keys(bytes: &[u8; 64]) -> &[[u8; 16]; 2] {
        bytes.as_chunks().0.first_chunk().expect("four of 16 bytes")
    }
}

impl RawKeyed for Aes256 {
    fn two_keys(bytes: &[u8; 64]) -> &[[u8; 32]; 2] {
        bytes.as_chunks().0.first_chunk().expect("two of 32 bytes")
    }
}

/// A MAC that can tag messages under many raw keys side by side.
pub trait ManyKeys: Sized {
    /// A message's key as bytes, with the nonce if the MAC needs one.
    type RawKey<'k>: Copy;
    /// The MAC's parameters besides the key.
    type Parameters: Copy + Send + Sync;

    /// The parameters for the self-test.
    const SELF_TEST_PARAMETERS: Self::Parameters;
    /// The length of a tag in bits.
    const TAG_BITS: usize = 128;
    /// Tags may be truncated.
    const TRUNCATES: bool = true;

    /// Returns the whole tag of one message.
    fn tag_one(set: &RawKeys<Self>, key: Self::RawKey<'_>, message: &[u8]) -> Result<Tag, Error>;
    /// Returns a key for the self-test.
    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey<'_>;
    /// Returns the state of the kernel's self-test.
    fn self_test() -> &'static SelfTest;
    /// Returns whether messages can run side by side.
    fn runs_side_by_side(_: Self::Parameters) -> bool {
        true
    }
    /// Tags all messages, `N` vectors at a time.
    fn tag_groups<I: Isa, const N: usize>(
        isa: I,
        batch: Batch<'_, '_, Self>,
    ) -> Result<(), BatchError>;
}

/// A MAC for many short messages, each under its own key that is kept as bytes. It suits a server
/// that checks packets of many devices and has no memory for a [`Pmac`](crate::Pmac) of each.
///
/// It holds no key. Messages of up to 32 pieces and a last block (528 bytes for PMAC) are processed
/// side by side, one per lane of a vector. This is several times as fast as one at a time. Three
/// kinds are processed one at a time: longer messages, batches of fewer than six messages, and all
/// messages on CPUs without AES instructions. Tags are the same.
///
/// Of Poly1305-AES, the pads `AES_k(nonce)` are computed side by side, for messages of any length.
/// Of UMAC, the pads and the parts of the keys that a message needs are, for messages of up to 1024
/// bytes. The hashes of both are computed one at a time.
///
/// | MAC | the key of a message | side by side |
/// |---|---|---|
/// | [`PmacAes128`](crate::PmacAes128), [`PmacAes256`](crate::PmacAes256) | `&[u8; 16]`, `&[u8; 32]` | always |
/// | [`LightMacAes128`](crate::LightMacAes128), [`LightMacAes256`](crate::LightMacAes256) | two of them, `&[k1, k2]` | if s is a multiple of 8 |
/// | [`Cmac`](crate::Cmac) of AES-128, of AES-256 | `&[u8; 16]`, `&[u8; 32]` | always |
/// | [`EliMac`](crate::EliMac) | two keys, `&[k1, k2]` | always |
/// | [`Poly1305Aes`](crate::Poly1305Aes) | key and nonce, `(&[u8; 32], &[u8; 16])` | the pads |
/// | [`Umac32`](crate::Umac32) to [`Umac128`](crate::Umac128) | key and nonce, `(&[u8; 16], UmacNonce)` | keys and pads |
///
/// ```
/// use tagmac::batch::RawKeys;
/// use tagmac::{PmacAes128, Tag};
/// let devices = [[1; 16], [2; 16]]; // random bytes
/// let keys = [&devices[0], &devices[1], &devices[0]];
/// let messages = [&b"report"[..], b"another", b"and one more"];
///
/// let mac = RawKeys::<PmacAes128>::new();
/// let mut tags = [Tag::default(); 3];
/// mac.tag_many(&keys, &messages, &mut tags)?;
/// assert_eq!(tags[1], PmacAes128::new(&devices[1]).tag(b"another")?);
///
/// let mut verdicts = [Ok(()); 3];
/// assert!(mac.verify_many(&keys, &messages, &tags, &mut verdicts).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A MAC with nonces takes each key with its nonce:
///
/// ```
/// use tagmac::batch::RawKeys;
/// use tagmac::{Mac, Poly1305Aes, Tag};
/// let devices = [[1; 32], [2; 32]]; // random bytes
/// let nonces = [1u128, 2].map(u128::to_be_bytes);
/// let keys = [(&devices[0], &nonces[0]), (&devices[1], &nonces[1])];
/// let messages = [&b"report"[..], b"another"];
///
/// let mut tags = [Tag::default(); 2];
/// RawKeys::<Poly1305Aes>::new().tag_many(&keys, &messages, &mut tags)?;
/// assert_eq!(tags[1], Poly1305Aes::new(&devices[1]).tag_with(&nonces[1], b"another")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Tags of Poly1305-AES and UMAC cannot be truncated:
///
/// ```compile_fail
/// use tagmac::{Poly1305Aes, batch::RawKeys};
/// let mac = RawKeys::<Poly1305Aes>::new().with_tag_bits(64);
/// ```
#[derive(Clone, Copy)]
pub struct RawKeys<M: ManyKeys> {
    parameters: M::Parameters,
    truncation: Truncation<Block>,
    level: Level,
}

impl<M: ManyKeys<Parameters = ()>> RawKeys<M> {
    /// Returns the MAC on the best level of this CPU.
    pub fn new() -> Self {
        Self::with_level(Level::best())
    }

    /// Returns the MAC on a given level.
    pub fn with_level(level: Level) -> Self {
        RawKeys::passing((), level)
    }
}

impl<M: ManyKeys<Parameters = ()>> Default for RawKeys<M> {
    fn default() -> Self {
        RawKeys::<M>::new()
    }
}

impl<const R: usize> RawKeys<LightMac<Aes<R>>>
where
    Aes<R>: RawKeyed,
{
    /// Returns LightMAC with a counter of `s` bits on the best level of this CPU. A raw key is two
    /// cipher keys, `[k1, k2]`.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is 1 to 64.
    pub fn new(s: usize) -> Result<Self, Error> {
        Self::with_level(s, Level::best())
    }

    /// Returns LightMAC with a counter of `s` bits on a given level.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is 1 to 64.
    pub fn with_level(s: usize, level: Level) -> Result<Self, Error> {
        match s {
            1..=64 => Ok(RawKeys::passing(s, level)),
            found => Err(Error::CounterBits { max: 64, found }),
        }
    }
}

impl<M: ManyKeys> RawKeys<M> {
    /// The MAC on the highest level up to `level` on which its tags are right.
    fn passing(parameters: M::Parameters, level: Level) -> Self {
        let truncation = Truncation::to(M::TAG_BITS).expect("1 to 128 bits");
        let on = |parameters, level| RawKeys { parameters, truncation, level };
        let level =
            level.passing(M::self_test(), |level| on(M::SELF_TEST_PARAMETERS, level).passes());
        on(parameters, level)
    }

    /// Truncates tags to their first `bits` bits, 1 to 128. Tags of Poly1305-AES and UMAC have one
    /// length: this does not compile for them.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        const { assert!(M::TRUNCATES, "tags of this MAC have one length") };
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// Tags many messages, each under its key.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a message is over the limit of the MAC's definition. The messages before
    /// it have their tags.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    pub fn tag_many(
        &self,
        keys: &[M::RawKey<'_>],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        let n = messages.len();
        assert!(keys.len() == n && tags.len() == n, "a key and a tag for each message");
        let together = M::runs_side_by_side(self.parameters) && n >= MIN_MESSAGES;
        if together && self.level.facts().aes_instructions {
            self.level.run(Batch { set: self, keys, messages, tags })
        } else {
            self.one_by_one(keys, messages, tags, 0, None)
        }
    }

    /// Checks the tags of many messages, each under its key and in constant time, and writes a
    /// verdict for each. A message that is too long does not verify.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    pub fn verify_many(
        &self,
        keys: &[M::RawKey<'_>],
        messages: &[&[u8]],
        tags: &[Tag],
        verdicts: &mut [Result<(), Mismatch>],
    ) -> Result<(), Mismatch> {
        let n = messages.len();
        assert!(
            keys.len() == n && tags.len() == n && verdicts.len() == n,
            "a key, a tag and a verdict for each message"
        );
        verify_in_turns(
            tags,
            verdicts,
            |now, expected| self.tag_many(&keys[now.clone()], &messages[now], expected),
            |i, tag| matches(self.tag(keys[i], messages[i]), tag),
        )
    }

    /// The tag of a message under a key.
    fn tag(&self, key: M::RawKey<'_>, message: &[u8]) -> Result<Tag, Error> {
        let mut tag = M::tag_one(self, key, message)?;
        self.truncation.write(&Block::zero_filled(tag.as_bytes()), &mut tag);
        Ok(tag)
    }

    /// Tags messages one at a time: all, or those longer than `longer_than`. `first` is the index
    /// of the first message in the batch.
    #[inline(never)]
    fn one_by_one(
        &self,
        keys: &[M::RawKey<'_>],
        messages: &[&[u8]],
        tags: &mut [Tag],
        first: usize,
        longer_than: Option<usize>,
    ) -> Result<(), BatchError> {
        for (index, ((key, message), tag)) in (first..).zip(keys.iter().zip(messages).zip(tags)) {
            if longer_than.is_none_or(|bytes| message.len() > bytes) {
                *tag = self.tag(*key, message).map_err(|error| BatchError { index, error })?;
            }
        }
        Ok(())
    }

    /// Tags the messages at some places one at a time.
    fn one_by_one_at(
        &self,
        keys: &[M::RawKey<'_>],
        messages: &[&[u8]],
        tags: &mut [Tag],
        places: &[usize],
    ) -> Result<(), BatchError> {
        for place in places.iter().copied() {
            let one = place..place + 1;
            let (key, message) = (&keys[one.clone()], &messages[one.clone()]);
            self.one_by_one(key, message, &mut tags[one], place, None)?;
        }
        Ok(())
    }

    /// Returns whether tags made side by side equal those made one at a time, for messages of
    /// different lengths and of one length.
    #[cold]
    #[inline(never)]
    fn passes(&self) -> bool {
        let mut bytes = [0; 576];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (i * 167 + i / 256) as u8;
        }
        let keys: [M::RawKey<'_>; SELF_TEST_MESSAGES] =
            array::from_fn(|i| M::key_from_bytes(bytes[i..].first_chunk().expect("64 bytes")));
        [|i| 22 * i, |_| 64].into_iter().all(|length: fn(usize) -> usize| {
            let messages: [&[u8]; SELF_TEST_MESSAGES] =
                array::from_fn(|i| &bytes[i..][..length(i)]);
            let [mut made, mut expected] = [[Tag::default(); SELF_TEST_MESSAGES]; 2];
            self.tag_many(&keys, &messages, &mut made).is_ok()
                && self.one_by_one(&keys, &messages, &mut expected, 0, None).is_ok()
                && made == expected
        })
    }
}

silent!(RawKeys<M: ManyKeys>);

/// The number of messages in the self-test.
const SELF_TEST_MESSAGES: usize = 24;

/// The kernel of `tag_many`.
pub struct Batch<'a, 'k, M: ManyKeys> {
    set: &'a RawKeys<M>,
    keys: &'a [M::RawKey<'k>],
    messages: &'a [&'a [u8]],
    tags: &'a mut [Tag],
}

impl<M: ManyKeys> Kernel for Batch<'_, '_, M> {
    type Out = Result<(), BatchError>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Result<(), BatchError> {
        if const { !I::AES_INSTRUCTIONS } {
            return self.set.one_by_one(self.keys, self.messages, self.tags, 0, None);
        }
        if const { I::LANES >= 4 } {
            M::tag_groups::<I, 4>(isa, self)
        } else {
            M::tag_groups::<I, 8>(isa, self)
        }
    }
}
