//! Many short messages, each under a raw key of its own, side by side: each lane of a vector has its
//! own key.
//!
//! A key schedule takes as long as the tag of a short message, because each round key waits for the
//! one before. Vectors of keys do not wait for each other, and neither do their messages.

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

/// Fewer messages go one by one: they do not make up for the room that a call prepares and wipes.
const MIN_MESSAGES: usize = 6;
/// Fewer messages than these make no group. A group that is not full takes as long as a full one.
const MIN_GROUP: usize = 3;

/// AES with keys of whole blocks, whose schedules are alike.
#[diagnostic::on_unimplemented(
    message = "raw keys go side by side under AES-128 and AES-256, not under `{Self}`"
)]
pub trait RawKeyed: Cipher<Block = Block> {}

impl RawKeyed for Aes128 {}
impl RawKeyed for Aes256 {}

/// A MAC whose tags under many raw keys are made side by side.
pub trait ManyKeys: Construction<Nonce = ()> + Sized {
    /// A key as bytes.
    type RawKey;
    /// What the MAC has beside the key.
    type Parameters: Copy + Send + Sync;
    /// What a level needs.
    type Scratch<I: Isa, const N: usize>;

    /// The parameters of the self-test.
    const SELF_TEST_PARAMETERS: Self::Parameters;

    /// The MAC under a key.
    fn with_key(set: &RawKeys<Self>, key: &Self::RawKey) -> Self;
    /// A key for the self-test.
    fn key_from_bytes(bytes: &[u8; 64]) -> Self::RawKey;
    /// What became of the kernel's self-test.
    fn self_test() -> &'static SelfTest;
    /// Bytes of a term's piece, if messages go side by side.
    fn step(parameters: Self::Parameters) -> Option<usize>;
    /// Room for what a level needs.
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N>;
    /// The last calls' outputs, in the order of the messages.
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        parameters: Self::Parameters,
        scratch: &mut Self::Scratch<I, N>,
        group: &Group<'_, '_, Self::RawKey>,
    ) -> Vectors<I, N>;
}

/// A MAC for many short messages, each under a key of its own that is kept as bytes: for a server that
/// checks packets of many devices and has no room for a [`Pmac`] of each.
///
/// It holds no key. Messages of up to 32 terms and a last block (528 bytes for PMAC) go side by side, a lane of a vector to each, which is
/// several times as fast as one by one. Longer messages, fewer than six messages and CPUs without AES
/// instructions go one by one. Tags are the same.
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
    /// PMAC on the best level of this CPU. A key is the cipher's.
    pub fn new() -> Self {
        Self::with_level(Level::best())
    }

    /// PMAC on a level of your choice.
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
    /// LightMAC with a counter of `s` bits on the best level of this CPU. A key is two of the cipher:
    /// `[k1, k2]`.
    ///
    /// # Errors
    ///
    /// [`Error::CounterBits`] unless `s` is 1 to 64.
    pub fn new(s: usize) -> Result<Self, Error> {
        Self::with_level(s, Level::best())
    }

    /// LightMAC with a counter of `s` bits on a level of your choice.
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
    /// On this level, or the highest below it on which the tags are right.
    fn passing(parameters: M::Parameters, level: Level) -> Self {
        let on = |parameters, level| RawKeys { parameters, truncation: Truncation::none(), level };
        let level =
            level.passing(M::self_test(), |level| on(M::SELF_TEST_PARAMETERS, level).passes());
        on(parameters, level)
    }

    /// The same MAC with tags of the first `bits` bits, 1 to 128.
    ///
    /// # Errors
    ///
    /// [`Error::TagBits`] for any other length.
    pub fn with_tag_bits(mut self, bits: usize) -> Result<Self, Error> {
        self.truncation = Truncation::to(bits)?;
        Ok(self)
    }

    /// The tags of many messages, each under its key.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a message is over the limit of the MAC's definition. Those before it have
    /// their tags.
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

    /// Checks the tags of many messages, each under its key and in constant time, and writes a verdict
    /// for each. A message that is too long does not verify.
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

    /// The tags of messages, of which the first is message `first`: of all, or of those that are longer.
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

    /// Whether messages side by side, of all lengths and of one, get the tags that they have alone.
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

/// Messages of the self-test.
const SELF_TEST_MESSAGES: usize = 24;

/// Tags of messages, some of them side by side.
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
    /// By `N` vectors at a time.
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
