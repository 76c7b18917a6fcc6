//! The traits that a new MAC implements: a keyed hash of the message, and a PRF, with or without a
//! nonce, that finalizes it. Callers use [`Mac`](crate::Mac), which every construction implements.
//! The functions below the traits pass a message through them, in one call or in pieces.
//!
//! A keyed hash of a message is the product of its parts. With `||` for concatenation:
//!
//! * `absorb(absorb(s, a), b) = absorb(s, a || b)`
//! * `join` is associative and `empty` is neutral
//! * `join(absorb(empty, a at 0), absorb(empty, b at |a|)) = absorb(empty, a || b at 0)`
//!
//! One-shot calls, streams, threads and parts are all written with these operations.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::error::{BatchError, Error, Mismatch};
use crate::isa::{Isa, Kernel, Level, Levels, Register, SMALL};
use crate::nonce::Nonce;
use crate::plan::Plan;
use crate::tag::Tag;

/// A keyed hash with a value for each range of blocks. The values of neighbouring ranges join.
///
/// Methods with a parameter of type [`Isa`] run inside a kernel: the driver enters the level once
/// per call and passes on the proof that it is available. They need `#[inline(always)]`.
pub trait Hash: Send + Sync {
    /// The hash of a range of blocks. Secret: anyone who sees sums can forge.
    type Sum: Clone + Zeroize + Send + Sync;
    /// The hash of a whole message.
    type Digest;
    /// A buffer for one block, for streams.
    type BlockBuffer: AsMut<[u8]> + Clone + Zeroize + Send + Sync;

    /// Treats the last block differently even if it is full (PMAC), so a driver must hold it back.
    /// Otherwise any full block can be absorbed.
    const LAST_BLOCK_DISTINCT: bool;
    /// Accepts messages that end within a byte.
    const ACCEPTS_BIT_STRINGS: bool;
    /// The sum of a range does not depend on its position, so blocks can be inserted and removed.
    /// Never together with [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT).
    const POSITION_INDEPENDENT: bool = false;
    /// The kernels to compile.
    const PLAN: Plan = Plan::DEFAULT;

    /// Returns the level that the key was made for.
    fn level(&self) -> Level;
    /// Returns the block size in bytes.
    fn block(&self) -> usize;
    /// Returns the number of whole blocks in `bytes` bytes.
    #[inline(always)]
    fn blocks_in(&self, bytes: usize) -> usize {
        bytes / self.block()
    }
    /// Returns the length in bytes up to which a message is faster on the one-block level, if the
    /// plan has a [`narrow_path`](Plan::narrow_path).
    #[inline(always)]
    fn narrow_path_max_bytes(&self) -> usize {
        self.level().facts().narrow_path_max_blocks * self.block()
    }
    /// Returns the maximum length of a message in bits, or `u64::MAX` if the definition has no
    /// limit within reach.
    fn limit_bits(&self) -> u64;
    /// Returns the sum of no blocks.
    fn empty(&self) -> Self::Sum;
    /// Returns a zeroed block buffer.
    fn new_buffer(&self) -> Self::BlockBuffer;
    /// Adds whole blocks to the sum. The first block starts at byte `at` of the message.
    fn absorb<I: Isa>(&self, isa: I, sum: &mut Self::Sum, at: u64, blocks: &[u8]);
    /// As [`absorb`](Hash::absorb), on a one-block level, for at most
    /// [`narrow_path_max_bytes`](Hash::narrow_path_max_bytes) bytes at the start of a message.
    #[inline(always)]
    fn absorb_narrow<I: Isa>(&self, isa: I, sum: &mut Self::Sum, blocks: &[u8]) {
        self.absorb(isa, sum, 0, blocks);
    }
    /// Sets `left := left || right`, for neighbouring ranges.
    fn join(&self, left: &mut Self::Sum, right: &Self::Sum);
    /// Compares two sums, in a time that does not depend on secrets.
    #[must_use]
    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool;
    /// Adds the rest of the message, which starts at byte `at`, and closes the hash. The rest is
    /// shorter than a block, or a full last block if
    /// [`LAST_BLOCK_DISTINCT`](Hash::LAST_BLOCK_DISTINCT). It is empty only if the whole message
    /// is, or if the hash does not hold back the last block.
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> Self::Digest;
    /// The same as [`finish`](Hash::finish) of the bytes from `cut`, of a message whose first `cut`
    /// bytes, at least a block, were absorbed. It may load bytes before `cut`, so that one load has
    /// the rest, whatever its length. Streams call [`finish`](Hash::finish), and so do one-shot calls
    /// if [`Plan::shared_finish`] applies.
    #[inline(always)]
    fn finish_message<I: Isa>(
        &self,
        isa: I,
        sum: &Self::Sum,
        message: &[u8],
        cut: usize,
    ) -> Self::Digest {
        self.finish(isa, sum, cut as u64, message[cut..].into())
    }
}

/// The number of messages of a batch for which pads are made at once, in MACs that use pads.
pub(crate) const PADS_AT_ONCE: usize = 32;

/// A MAC, built from a keyed hash.
pub trait Construction: Send + Sync {
    /// The hash of the message.
    type Hash: Hash;
    /// The nonce, which must never repeat under a key; `()` for a deterministic MAC.
    type Nonce: Nonce;
    /// State that may be kept between messages with consecutive nonces. Secret.
    type PadCache: Default + Zeroize + Send + Sync;

    /// Returns the keyed hash.
    fn hash(&self) -> &Self::Hash;
    /// The maximum length of a tag in bits. One-shot calls return tags of at most 128 bits in
    /// registers.
    const MAX_TAG_BITS: usize = 8 * Tag::MAX_BYTES;

    /// Returns the length of the tags in bits.
    fn output_bits(&self) -> usize;
    /// Returns the initial sum of a message under this nonce. A MAC whose sums grow with the
    /// message returns one that feeds its PRF directly, so that one-shot calls and streams need
    /// constant memory.
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

    /// Returns the length in bytes up to which a message is faster in a batch, see
    /// [`tag_batch`](Construction::tag_batch).
    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        0
    }
    /// Returns the same for messages of one length, at least as much.
    #[inline(always)]
    fn batch_max_len_alike(&self) -> usize {
        self.batch_max_len()
    }
    /// Returns whether messages that [`tag_batch`](Construction::tag_batch) accepts, at least four,
    /// are faster in a batch than one by one.
    #[inline(always)]
    fn batch_helps(&self, _messages: &[&[u8]]) -> bool {
        true
    }
    /// Returns whether short messages among long ones are worth gathering for a batch.
    #[inline(always)]
    fn batch_gathers(&self) -> bool {
        !self.hash().level().facts().aes_instructions
    }
    /// Tags messages of at most [`batch_max_len`](Construction::batch_max_len) bytes together, or of
    /// one length of at most [`batch_max_len_alike`](Construction::batch_max_len_alike) bytes, with
    /// one nonce for each. Runs inside a kernel.
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
    /// Tags messages that [`tag_batch`](Construction::tag_batch) does not help, with all messages
    /// after them, if there is a faster way than a call for each. Otherwise returns `None`, and
    /// writes nothing. As [`Mac::tag_many_with`](crate::Mac::tag_many_with), it refuses messages
    /// over the limit. Runs outside of kernels, at most once per batch.
    #[inline(always)]
    fn tag_long(
        &self,
        _nonces: &[Self::Nonce],
        _messages: &[&[u8]],
        _tags: &mut [Tag],
    ) -> Option<Result<(), BatchError>> {
        None
    }
}

/// Returns how many bytes of `rest`, the last bytes of a message, can be absorbed as whole blocks.
/// The remaining bytes are for [`Hash::finish`].
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

/// Refuses a message of `at` bytes and `rest` if it is over the limit, or if it ends within a byte
/// and the hash accepts only whole bytes.
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

/// Adds whole blocks to a sum. The first block starts at byte `at` of the message. Not inlined, so
/// that each MAC has it once.
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

/// Returns the tag of a message that consists of `at` absorbed bytes and `tail`. It returns a
/// `Result` so that callers can pass it on directly.
///
/// # Errors
///
/// Never.
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

/// Finishes the hash and finalizes the tag.
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

/// Returns the tag of a message.
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

/// Checks a tag. A message that is refused has no right tag.
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

/// Returns whether [`one_shot`] can tag a message: it is whole bytes, and the tag fits into a
/// register.
#[inline(always)]
fn is_one_shot<M: Construction + ?Sized>(message: Bits<'_>) -> bool {
    (const { M::MAX_TAG_BITS <= 128 })
        && !(M::Hash::ACCEPTS_BIT_STRINGS && message.last_mask().is_some())
}

/// As [`tag`], but reuses the pad of the previous message if that costs less than a new one. With
/// AES instructions it does not: the cipher runs in parallel with the hash. Otherwise the kernels
/// of streams use the pad.
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

/// Returns the tag of whole bytes, of at most 128 bits. Returned in a register, so that verifying
/// never writes the tag to memory.
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

/// Tags a message by the kernels of streams.
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

/// A message without whole blocks to absorb, which skips the set-up for long messages.
const TAIL_ONLY: u8 = 0;
/// A message of a few blocks, processed side by side on the one-block level.
const NARROW: u8 = 1;
/// A longer message.
const LONG: u8 = 2;

/// Absorbs, finishes and finalizes in one visit to the level. `SHAPE` is one of the three constants
/// above.
struct OneShot<'a, M: Construction + ?Sized, const SHAPE: u8> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    message: &'a [u8],
    /// The number of bytes to absorb; the rest is left to the finish.
    cut: usize,
}

impl<'a, M: Construction + ?Sized, const SHAPE: u8> OneShot<'a, M, SHAPE> {
    /// The arguments are values of two words, which are passed in registers.
    #[inline(always)]
    fn new((mac, nonce): (&'a M, &'a M::Nonce), message: &'a [u8], cut: usize) -> Self {
        OneShot { mac, nonce, message, cut: if SHAPE == TAIL_ONLY { 0 } else { cut } }
    }

    /// Runs the kernels of streams. Cannot fail, as [`finalize`] cannot.
    #[inline(always)]
    fn streamed(self) -> Register {
        let (pad, message) = (&mut M::PadCache::default(), self.message.into());
        let tag = absorb_and_finalize(self.mac, self.nonce, pad, message);
        tag.expect("a message within the limit").register()
    }

    /// Finishes and finalizes. The pad is made within the kernel, so that it is never stored.
    #[inline(always)]
    fn finalize<I: Isa>(self, isa: I, sum: &<M::Hash as Hash>::Sum) -> Register {
        let OneShot { mac, nonce, message, cut } = self;
        let pad = &mut M::PadCache::default();
        // Without a block before the rest, or in the function that streams share.
        if const { SHAPE == TAIL_ONLY || M::Hash::PLAN.shared_finish.applies::<I>() } {
            let tail = Bits::from(&message[cut..]);
            return finish_and_finalize(isa, mac, nonce, pad, sum, cut as u64, tail).register();
        }
        let digest = mac.hash().finish_message(isa, sum, message, cut);
        mac.finalize_tag(isa, nonce, pad, digest).register()
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
