//! What the author of a MAC implements: a keyed hash of the message, finalized by a PRF under a nonce or
//! under none. Callers have [`Mac`](crate::Mac), which every construction has. Below the traits stands
//! how a message passes through them: at once, or whole blocks first and its end later.
//!
//! A keyed hash of a message is the product of its parts. With `||` for joining messages:
//!
//! * `absorb(absorb(s, a), b) = absorb(s, a || b)`
//! * `join` is associative and `empty` is neutral
//! * `join(absorb(empty, a at 0), absorb(empty, b at |a|)) = absorb(empty, a || b at 0)`
//!
//! One-shot calls, streams, threads and parts are all written on these operations, once.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::error::{Error, Mismatch};
use crate::isa::{Isa, Kernel, Level, Levels, Register, SMALL};
use crate::nonce::Nonce;
use crate::plan::Plan;
use crate::tag::Tag;

/// A keyed hash whose values over neighbouring ranges join.
///
/// The methods that take an [`Isa`] run inside a kernel: the driver enters the level once per call
/// and passes the proof on. They need `#[inline(always)]`.
pub trait Hash: Send + Sync {
    /// The hash of a range of blocks. Secret: anyone who sees sums can forge.
    type Sum: Clone + Zeroize + Send + Sync;
    /// The hash of a whole message.
    type Digest;
    /// Room for one block, for streams.
    type BlockBuffer: AsMut<[u8]> + Clone + Zeroize + Send + Sync;

    /// Whether the last block is treated apart even when it is full (PMAC), so that a driver must
    /// hold it back. Otherwise any full block can be absorbed.
    const LAST_BLOCK_DISTINCT: bool;
    /// Whether a message may end within a byte.
    const ACCEPTS_BIT_STRINGS: bool;
    /// Whether the sum of a range is the same wherever the range stands, so that blocks can be put
    /// in between or taken out. None that [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT) is.
    const POSITION_INDEPENDENT: bool = false;
    /// The kernels that it is compiled to.
    const PLAN: Plan = Plan::DEFAULT;

    /// The level that the key was made for.
    fn level(&self) -> Level;
    /// Bytes of a block.
    fn block(&self) -> usize;
    /// The number of whole blocks in `bytes` bytes.
    #[inline(always)]
    fn blocks_in(&self, bytes: usize) -> usize {
        bytes / self.block()
    }
    /// The longest message in bytes that costs less on the one-block level, if the plan has a
    /// [`narrow_path`](Plan::narrow_path).
    #[inline(always)]
    fn narrow_path_max_bytes(&self) -> usize {
        self.level().facts().narrow_path_max_blocks * self.block()
    }
    /// The most bits of a message; `u64::MAX` where the definition has no limit in reach.
    fn limit_bits(&self) -> u64;
    /// The sum of no blocks.
    fn empty(&self) -> Self::Sum;
    /// A cleared block.
    fn new_buffer(&self) -> Self::BlockBuffer;
    /// Adds whole blocks, of which the first starts at byte `at` of the message.
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Self::Sum, at: u64, blocks: &[u8]);
    /// As [`absorb`](Hash::absorb), for at most [`narrow_path_max_bytes`](Hash::narrow_path_max_bytes) bytes at the start of a message,
    /// on a one-block level.
    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut Self::Sum, blocks: &[u8]) {
        self.absorb(isa, sum, 0, blocks);
    }
    /// `left := left || right`, for neighbouring ranges.
    fn join(&self, left: &mut Self::Sum, right: &Self::Sum);
    /// Whether two sums are of the same blocks, in a time that depends on nothing secret.
    #[must_use]
    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool;
    /// Adds the rest of the message, which starts at byte `at`, and closes the hash. The rest is
    /// shorter than a block, or a full last block where [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT); it is
    /// empty only if the whole message is, or if the hash does not hold the last block.
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> Self::Digest;
}

/// Messages of a batch whose pads are made at once, where tags have pads.
pub(crate) const PADS_AT_ONCE: usize = 32;

/// How a MAC is made of a keyed hash.
pub trait Construction: Send + Sync {
    /// The hash of the message.
    type Hash: Hash;
    /// What must never repeat under a key; `()` for a deterministic MAC.
    type Nonce: Nonce;
    /// What may be kept between messages with consecutive nonces. Secret.
    type PadCache: Default + Zeroize + Send + Sync;

    /// The hash of the message.
    fn hash(&self) -> &Self::Hash;
    /// The most bits of a tag. One-shot calls return tags of at most 128 bits in registers.
    const MAX_TAG_BITS: usize = 8 * Tag::MAX_BYTES;

    /// The length of the tags in bits.
    fn output_bits(&self) -> usize;
    /// The sum that a message under this nonce begins with. A MAC whose sums grow with the message
    /// gives one that feeds its PRF at once, so that one-shot calls and streams take constant
    /// memory.
    #[inline(always)]
    fn begin(&self, _nonce: &Self::Nonce) -> <Self::Hash as Hash>::Sum {
        self.hash().empty()
    }
    /// Turns the digest of a message into its tag. Runs inside a kernel.
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &Self::Nonce,
        pad: &mut Self::PadCache,
        digest: <Self::Hash as Hash>::Digest,
    ) -> Tag;

    /// The most bytes of a message that is faster in a batch, see [`tag_batch`](Construction::tag_batch).
    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        0
    }
    /// The tags of messages of at most [`batch_max_len`](Construction::batch_max_len) bytes, a nonce for each, side by side.
    /// Runs inside a kernel.
    #[inline(always)]
    fn tag_batch<I: Isa>(
        &self,
        _isa: I,
        _nonces: &[Self::Nonce],
        _messages: &[&[u8]],
        _tags: &mut [Tag],
    ) {
        unreachable!("no message is short")
    }
}

/// How many of the next bytes, the last ones of a message, can be absorbed as whole blocks. The rest is for
/// [`Hash::finish`].
///
/// ```
/// use tagmac::hazmat::absorbable_len;
/// use tagmac::{PmacAes128, hashes::Poly1305Hash};
/// // PMAC holds its last block back, even if it is full.
/// assert_eq!(absorbable_len(&PmacAes128::new(&[7; 16]), (&[0; 48]).into()), 32);
/// assert_eq!(absorbable_len(&Poly1305Hash::new(&[7; 16]), (&[0; 48]).into()), 48);
/// ```
#[inline(always)]
pub fn absorbable_len<H: Hash>(hash: &H, rest: Bits<'_>) -> usize {
    let block = hash.block();
    if H::LAST_BLOCK_DISTINCT {
        hash.blocks_in(rest.bytes().len().saturating_sub(1)) * block
    } else {
        hash.blocks_in(rest.whole_bytes()) * block
    }
}

/// Refuses a message of `at` bytes and `rest` if it is over the limit, or ends within a byte where
/// that cannot be.
#[inline(always)]
pub(crate) fn check_length<H: Hash>(hash: &H, at: u64, rest: Bits<'_>) -> Result<(), Error> {
    if !H::ACCEPTS_BIT_STRINGS && rest.last_mask().is_some() {
        return Err(Error::PartialByte { found: rest.bits() });
    }
    let limit_bits = hash.limit_bits();
    match at.checked_mul(8).and_then(|bits| bits.checked_add(rest.bits())) {
        Some(bits) if bits <= limit_bits => Ok(()),
        _ => Err(Error::TooLong { limit_bits }),
    }
}

/// Adds whole blocks to a sum, of which the first starts at byte `at` of the message. A function of
/// its own, so that each MAC has it once.
#[inline(never)]
pub(crate) fn absorb<H: Hash>(hash: &H, sum: &mut H::Sum, at: u64, blocks: &[u8]) {
    hash.level().run(Absorb { hash, sum, at, blocks });
}

struct Absorb<'a, H: Hash> {
    hash: &'a H,
    sum: &'a mut H::Sum,
    at: u64,
    blocks: &'a [u8],
}

impl<H: Hash> Kernel for Absorb<'_, H> {
    const LEVELS: Levels = H::PLAN.long;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Absorb { hash, sum, at, blocks } = self;
        if const { H::PLAN.narrow_path && H::PLAN.uses_stream_kernels::<I>() && !SMALL }
            && at == 0
            && !blocks.is_empty()
            && blocks.len() <= hash.narrow_path_max_bytes()
        {
            return hash.absorb_narrow(isa.narrow(), sum, blocks);
        }
        hash.absorb(isa, sum, at, blocks);
    }
}

/// The tag of a message that ends with `tail` behind the blocks in the sum, up to byte `at`. A
/// result, so that callers pass it on as it is.
///
/// # Errors
///
/// None.
#[inline(never)]
pub(crate) fn finalize<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::PadCache,
    sum: &<M::Hash as Hash>::Sum,
    at: u64,
    tail: Bits<'_>,
) -> Result<Tag, Error> {
    mac.hash().level().run(Finalize { mac, nonce, pad, sum, at, tail })
}

struct Finalize<'a, M: Construction + ?Sized> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    pad: &'a mut M::PadCache,
    sum: &'a <M::Hash as Hash>::Sum,
    at: u64,
    tail: Bits<'a>,
}

impl<M: Construction + ?Sized> Kernel for Finalize<'_, M> {
    const LEVELS: Levels = M::Hash::PLAN.short;
    type Out = Result<Tag, Error>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Result<Tag, Error> {
        let Finalize { mac, nonce, pad, sum, at, tail } = self;
        Ok(finish_and_finalize(isa, mac, nonce, pad, sum, at, tail))
    }
}

/// Finish and finalize.
#[inline(always)]
fn finish_and_finalize<I: Isa, M: Construction + ?Sized>(
    isa: I,
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::PadCache,
    sum: &<M::Hash as Hash>::Sum,
    at: u64,
    tail: Bits<'_>,
) -> Tag {
    if const { M::Hash::PLAN.shared_finish.applies::<I>() } {
        return isa.run_outlined(
            #[inline(always)]
            || {
                let digest = mac.hash().finish(isa, sum, at, tail);
                mac.finalize_tag(isa, nonce, pad, digest)
            },
        );
    }
    let digest = mac.hash().finish(isa, sum, at, tail);
    mac.finalize_tag(isa, nonce, pad, digest)
}

/// The tag of a message.
///
/// # Errors
///
/// As [`Mac::tag_with`](crate::Mac::tag_with).
#[inline(always)]
pub(crate) fn tag<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    let hash = mac.hash();
    check_length(hash, 0, message)?;
    if !is_one_shot::<M>(message) {
        return absorb_and_finalize(mac, nonce, &mut M::PadCache::default(), message);
    }
    Ok(Tag::from_register(one_shot(mac, nonce, message.bytes()), mac.output_bits()))
}

/// Whether a message has this tag. One that is refused has none.
///
/// # Errors
///
/// As [`Mac::verify_with`](crate::Mac::verify_with).
#[inline(always)]
pub(crate) fn verify<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    message: Bits<'_>,
    tag: &Tag,
) -> Result<(), Mismatch> {
    if check_length(mac.hash(), 0, message).is_err() {
        return Err(Mismatch);
    }
    let is_right = if is_one_shot::<M>(message) {
        tag.is_in(one_shot(mac, nonce, message.bytes()), mac.output_bits())
    } else {
        let made = absorb_and_finalize(mac, nonce, &mut M::PadCache::default(), message);
        made.is_ok_and(|made| made == *tag)
    };
    if is_right { Ok(()) } else { Err(Mismatch) }
}

/// Whether a message is for [`one_shot`]: whole bytes, and the tag fits into a register.
#[inline(always)]
fn is_one_shot<M: Construction + ?Sized>(message: Bits<'_>) -> bool {
    (const { M::MAX_TAG_BITS <= 128 })
        && !(M::Hash::ACCEPTS_BIT_STRINGS && message.last_mask().is_some())
}

/// As [`tag`], with the pad that the message before it left, where that costs less than a new one.
/// Where AES is an instruction it does not: the cipher runs beside the hash. Where it is not, the
/// kernels of streams take the pad.
///
/// # Errors
///
/// As [`Mac::tag_with`](crate::Mac::tag_with).
#[inline(always)]
pub(crate) fn tag_with_pad<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::PadCache,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    if const { size_of::<M::PadCache>() == 0 } || mac.hash().level().facts().aes_instructions {
        return tag(mac, nonce, message);
    }
    check_length(mac.hash(), 0, message)?;
    absorb_and_finalize(mac, nonce, pad, message)
}

/// The tag of whole bytes, of at most 128 bits. In a register: who checks a tag does not store it, and
/// who wants it stores it once.
#[inline(never)]
pub(crate) fn one_shot<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    message: &[u8],
) -> Register {
    let (hash, key) = (mac.hash(), (mac, nonce));
    let cut = absorbable_len(hash, message.into());
    if cut == 0 {
        hash.level().run_on(key, message, cut, OneShot::<_, TAIL_ONLY>::new)
    } else if const { M::Hash::PLAN.narrow_path } && cut <= hash.narrow_path_max_bytes() {
        hash.level().run_on(key, message, cut, OneShot::<_, NARROW>::new)
    } else {
        hash.level().run_on(key, message, cut, OneShot::<_, LONG>::new)
    }
}

/// The tags of messages within the limit, for batches that would gain nothing.
#[inline(never)]
pub(crate) fn one_by_one<M: Construction + ?Sized>(
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    for ((tag, message), nonce) in tags.iter_mut().zip(messages).zip(nonces) {
        let made = self::tag(mac, nonce, (*message).into());
        *tag = made.expect("a message within the limit");
    }
}

/// The tag of a message by the kernels of streams.
#[inline(never)]
pub(crate) fn absorb_and_finalize<M: Construction + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::PadCache,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    let (hash, sum) = (mac.hash(), &mut mac.begin(nonce));
    let cut = absorbable_len(hash, message);
    let (blocks, tail) = (&message.bytes()[..cut], message.after(cut));
    if cut > 0 {
        absorb(hash, sum, 0, blocks);
    }
    finalize(mac, nonce, pad, sum, cut as u64, tail)
}

/// A message with nothing to absorb, so that it does not pay for long ones' set-up.
const TAIL_ONLY: u8 = 0;
/// A message of a few blocks, side by side on the one-block level.
const NARROW: u8 = 1;
/// A longer message.
const LONG: u8 = 2;

/// Absorb, finish and finalize in one visit to the level, for messages of a `SHAPE`: one of the three
/// constants above.
struct OneShot<'a, M: Construction + ?Sized, const SHAPE: u8> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    message: &'a [u8],
    /// Bytes to absorb; the rest is for the finish.
    cut: usize,
}

impl<'a, M: Construction + ?Sized, const SHAPE: u8> OneShot<'a, M, SHAPE> {
    /// From values of two words.
    #[inline(always)]
    fn new((mac, nonce): (&'a M, &'a M::Nonce), message: &'a [u8], cut: usize) -> Self {
        OneShot { mac, nonce, message, cut: if SHAPE == TAIL_ONLY { 0 } else { cut } }
    }

    /// By the kernels of streams. Nothing fails, as in [`finalize`].
    #[inline(always)]
    fn streamed(self) -> Register {
        let (pad, message) = (&mut M::PadCache::default(), self.message.into());
        let tag = absorb_and_finalize(self.mac, self.nonce, pad, message);
        tag.expect("a message within the limit").register()
    }

    /// Finish and finalize. The pad is made within the kernel, so that none of it is written down.
    #[inline(always)]
    fn finalize<I: Isa>(self, isa: I, sum: &<M::Hash as Hash>::Sum) -> Register {
        let OneShot { mac, nonce, message, cut } = self;
        let (pad, tail) = (&mut M::PadCache::default(), Bits::from(&message[cut..]));
        finish_and_finalize(isa, mac, nonce, pad, sum, cut as u64, tail).register()
    }
}

impl<M: Construction + ?Sized, const SHAPE: u8> Kernel for OneShot<'_, M, SHAPE> {
    const LEVELS: Levels = if SHAPE == LONG { M::Hash::PLAN.long } else { M::Hash::PLAN.short };
    type Out = Register;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Register {
        if const { M::Hash::PLAN.uses_stream_kernels::<I>() } {
            return self.streamed();
        }
        let (hash, mut sum) = (self.mac.hash(), self.mac.begin(self.nonce));
        let blocks = &self.message[..self.cut];
        match SHAPE {
            TAIL_ONLY => self.finalize(isa, &sum),
            NARROW => {
                let isa = isa.narrow();
                if I::One::NARROW_PATH_MAX_BLOCKS > 0 {
                    hash.absorb_narrow(isa, &mut sum, blocks);
                } else {
                    hash.absorb(isa, &mut sum, 0, blocks);
                }
                self.finalize(isa, &sum)
            }
            _ => {
                hash.absorb(isa, &mut sum, 0, blocks);
                self.finalize(isa, &sum)
            }
        }
    }
}
