//! Tags many short messages, each under its own raw key, side by side: each lane of a vector has
//! its own key.
//!
//! A key schedule takes as long as the tag of a short message, because each round key depends on
//! the previous one. The keys in a vector are independent of each other, and so are their messages.

mod lanes;
mod modes;
#[cfg(test)]
mod tests;
mod window;

use core::array;

use super::lightmac::LightMac;
use super::pmac::Pmac;
use super::xor::Truncation;
use crate::batch::{BatchError, verify_in_turns};
use crate::cipher::{Aes, Aes128, Aes256, Cipher};
use crate::construction::{Construction, Hash};
use crate::error::{Error, Mismatch, silent};
use crate::isa::{Block, CipherBlock, Isa, Kernel, Level, SelfTest};
use crate::mac::Mac;
use crate::tag::{Tag, matches};
use lanes::{Group, Vectors};
use window::{MAX_GROUP, Window};

/// Smaller batches are tagged one message at a time: below this, preparing and wiping the scratch
/// space costs more than it saves.
const MIN_MESSAGES: usize = 6;
/// Fewer messages do not form a group: a partial group takes as long as a full one.
const MIN_GROUP: usize = 3;

/// AES with keys of whole blocks, which have similar schedules.
#[diagnostic::on_unimplemented(
    message = "raw keys work with AES-128 and AES-256, not with `{Self}`"
)]
pub trait RawKeyed: Cipher<Block = Block> {}

impl RawKeyed for Aes128 {}
impl RawKeyed for Aes256 {}

/// A MAC that can tag messages under many raw keys side by side.
pub trait ManyKeys: Construction<Nonce = ()> + Sized {
    /// A key as bytes.
    type RawKey;
    /// The MAC's parameters besides the key.
    type Parameters: Copy + Send + Sync;
    /// Working memory on a level.
    type Scratch<I: Isa, const N: usize>;

    /// The parameters for the self-test.
    const SELF_TEST_PARAMETERS: Self::Parameters;

    /// Returns the MAC under a key.
    fn with_key(set: &RawKeys<Self>, key: &Self::RawKey) -> Self;
    /// Returns a key for the self-test.
    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey;
    /// Returns the state of the kernel's self-test.
    fn self_test() -> &'static SelfTest;
    /// Returns the length in bytes of a term's piece, or `None` if messages cannot run side by
    /// side.
    fn step(parameters: Self::Parameters) -> Option<usize>;
    /// Returns working memory for a level.
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N>;
    /// Returns the outputs of the last cipher calls, in the order of the messages.
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        parameters: Self::Parameters,
        scratch: &mut Self::Scratch<I, N>,
        group: &Group<'_, '_, Self::RawKey>,
    ) -> Vectors<I, N>;
}

/// A MAC for many short messages, each under its own key that is kept as bytes. It suits a server
/// that checks packets of many devices and has no memory for a [`Pmac`] of each.
///
/// It holds no key. Messages of up to 32 terms and a last block (528 bytes for PMAC) are processed
/// side by side, one per lane of a vector. This is several times as fast as one at a time. Three
/// kinds are processed one at a time: longer messages, batches of fewer than six messages, and all
/// messages on CPUs without AES instructions. Tags are the same.
///
/// | MAC | a key | side by side |
/// |---|---|---|
/// | [`PmacAes128`](crate::PmacAes128), [`PmacAes256`](crate::PmacAes256) | `[u8; 16]`, `[u8; 32]` | always |
/// | [`LightMacAes128`](crate::LightMacAes128), [`LightMacAes256`](crate::LightMacAes256) | two of them, `[k1, k2]` | if s is a multiple of 8 |
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
#[derive(Clone, Copy)]
pub struct RawKeys<M: ManyKeys> {
    parameters: M::Parameters,
    truncation: Truncation<Block>,
    level: Level,
}

impl<const R: usize> RawKeys<Pmac<Aes<R>>>
where
    Aes<R>: RawKeyed,
{
    /// Returns PMAC on the best level of this CPU. A raw key is the cipher's key.
    pub fn new() -> Self {
        Self::with_level(Level::best())
    }

    /// Returns PMAC on a given level.
    pub fn with_level(level: Level) -> Self {
        RawKeys::passing((), level)
    }
}

impl<const R: usize> Default for RawKeys<Pmac<Aes<R>>>
where
    Aes<R>: RawKeyed,
{
    fn default() -> Self {
        RawKeys::<Pmac<Aes<R>>>::new()
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
        let on = |parameters, level| RawKeys { parameters, truncation: Truncation::none(), level };
        let level =
            level.passing(M::self_test(), |level| on(M::SELF_TEST_PARAMETERS, level).passes());
        on(parameters, level)
    }

    /// Truncates tags to their first `bits` bits, 1 to 128.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
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
        keys: &[&M::RawKey],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        let n = messages.len();
        assert!(keys.len() == n && tags.len() == n, "a key and a tag for each message");
        let step = M::step(self.parameters);
        match step.filter(|_| self.level.facts().aes_instructions && n >= MIN_MESSAGES) {
            Some(step) => self.level.run(Tags { set: self, step, keys, messages, tags }),
            None => self.one_by_one(keys, messages, tags, 0, None),
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
        keys: &[&M::RawKey],
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
    fn tag(&self, key: &M::RawKey, message: &[u8]) -> Result<Tag, Error> {
        let mut tag = M::with_key(self, key).tag_with(&(), message)?;
        self.truncation.write(&Block::zero_filled(tag.as_bytes()), &mut tag);
        Ok(tag)
    }

    /// Tags messages one at a time: all, or those longer than `longer_than`. `first` is the index
    /// of the first message in the batch.
    #[inline(never)]
    fn one_by_one(
        &self,
        keys: &[&M::RawKey],
        messages: &[&[u8]],
        tags: &mut [Tag],
        first: usize,
        longer_than: Option<usize>,
    ) -> Result<(), BatchError> {
        for (index, ((key, message), tag)) in (first..).zip(keys.iter().zip(messages).zip(tags)) {
            if longer_than.is_none_or(|bytes| message.len() > bytes) {
                *tag = self.tag(key, message).map_err(|error| BatchError { index, error })?;
            }
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
        let keys: [M::RawKey; SELF_TEST_MESSAGES] =
            array::from_fn(|i| M::key_from_bytes(bytes[i..].first_chunk().expect("64 bytes")));
        let keys: [&M::RawKey; SELF_TEST_MESSAGES] = array::from_fn(|i| &keys[i]);
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

/// The kernel of `tag_many`, which processes some messages side by side.
struct Tags<'a, M: ManyKeys> {
    set: &'a RawKeys<M>,
    step: usize,
    keys: &'a [&'a M::RawKey],
    messages: &'a [&'a [u8]],
    tags: &'a mut [Tag],
}

impl<M: ManyKeys> Kernel for Tags<'_, M> {
    type Out = Result<(), BatchError>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Result<(), BatchError> {
        if const { !I::AES_INSTRUCTIONS } {
            return self.set.one_by_one(self.keys, self.messages, self.tags, 0, None);
        }
        if const { I::LANES >= 4 } {
            self.in_groups::<I, 4>(isa)
        } else {
            self.in_groups::<I, 8>(isa)
        }
    }
}

impl<M: ManyKeys> Tags<'_, M> {
    /// Processes `N` vectors at a time.
    #[inline(always)]
    fn in_groups<I: Isa, const N: usize>(self, isa: I) -> Result<(), BatchError> {
        let Tags { set, step, keys, messages, tags } = self;
        let size = N * I::LANES;
        assert!(size <= MAX_GROUP);
        let mut scratch = M::scratch::<I, N>(isa);
        let mut window = Window::new(step, <M::Hash as Hash>::LAST_BLOCK_DISTINCT, keys[0]);
        let mut first = 0;
        while first < messages.len() {
            let end = window.take(keys, messages, first, size);
            for at in (0..window.n).step_by(size) {
                if window.n - at < MIN_GROUP {
                    for place in window.places[at..window.n].iter().copied() {
                        let one = place..place + 1;
                        let (key, message) = (&keys[one.clone()], &messages[one.clone()]);
                        set.one_by_one(key, message, &mut tags[one], place, None)?;
                    }
                    break;
                }
                let group = window.group(at, size);
                let made = M::encrypt_group::<I, N>(isa, set.parameters, &mut scratch, &group);
                let mut blocks = [[0; 16]; MAX_GROUP];
                for (x, blocks) in made.into_iter().zip(blocks.chunks_exact_mut(I::LANES)) {
                    isa.store_lanes(x, blocks.as_flattened_mut());
                }
                for (block, place) in blocks[..size].iter().zip(&window.places[at..window.n]) {
                    set.truncation.write(block, &mut tags[*place]);
                }
            }
            let now = first..end;
            if window.n < now.len() {
                let (keys, messages) = (&keys[now.clone()], &messages[now.clone()]);
                set.one_by_one(keys, messages, &mut tags[now], first, Some(window.max_len()))?;
            }
            first = end;
        }
        Ok(())
    }
}
