//! What runs on a level: a message at once, whole blocks of one, and its end. Each of them is compiled
//! for each MAC and level, so there are no more of them than speed asks for.

use crate::bits::Bits;
use crate::construction::{
    Construction, Hash, absorbable_len, check_length, long_level, short_level,
};
use crate::error::Error;
use crate::isa::{Dispatch, Isa, Kernel, SMALL};
use crate::tag::Tag;

/// Adds whole blocks to a sum, of which the first starts at byte `at` of the message. A function of
/// its own, so that each MAC has it once.
#[inline(never)]
pub(crate) fn absorb<H: Hash>(hash: &H, sum: &mut H::Sum, at: u64, blocks: &[u8]) {
    long_level(hash).run(Absorb { hash, sum, at, blocks });
}

/// Whether one-shot calls on a level use the two kernels of streams: where AES takes so long that two
/// calls are nothing beside it, and where code is to be small.
const fn uses_stream_kernels<H: Hash, I: Isa>() -> bool {
    !I::AES_INSTRUCTIONS && (SMALL || H::SHARES_STREAM_KERNELS)
}

/// Whether they do for messages whose pad comes from there: see [`tag_with_pad`].
const fn uses_stream_kernels_with_pad<H: Hash, I: Isa, Q: PadFrom<P>, P>() -> bool {
    uses_stream_kernels::<H, I>() || I::AES_INSTRUCTIONS && Q::IS_CACHED
}

struct Absorb<'a, H: Hash> {
    hash: &'a H,
    sum: &'a mut H::Sum,
    at: u64,
    blocks: &'a [u8],
}

impl<H: Hash> Kernel for Absorb<'_, H> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Absorb { hash, sum, at, blocks } = self;
        if const { H::HAS_NARROW_PATH && uses_stream_kernels::<H, I>() && !SMALL }
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
    short_level(mac.hash()).run(Finalize { mac, nonce, pad, sum, at, tail })
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
    pad: impl PadFrom<M::PadCache>,
    sum: &<M::Hash as Hash>::Sum,
    at: u64,
    tail: Bits<'_>,
) -> Tag {
    if const { M::Hash::SHARED_FINISH.applies::<I>() } {
        return pad.lend(
            #[inline(always)]
            |pad| finish_outlined(isa, mac, nonce, pad, sum, at, tail),
        );
    }
    let digest = mac.hash().finish(isa, sum, at, tail);
    pad.lend(
        #[inline(always)]
        |pad| mac.finalize_tag(isa, nonce, pad, digest),
    )
}

/// As [`finish_and_finalize`], in a function of its own that one-shot calls and streams share: it does
/// not depend on where the pad comes from.
#[inline(always)]
fn finish_outlined<I: Isa, M: Construction + ?Sized>(
    isa: I,
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::PadCache,
    sum: &<M::Hash as Hash>::Sum,
    at: u64,
    tail: Bits<'_>,
) -> Tag {
    isa.run_outlined(
        #[inline(always)]
        || {
            let digest = mac.hash().finish(isa, sum, at, tail);
            mac.finalize_tag(isa, nonce, pad, digest)
        },
    )
}

/// Where a message's pad comes from.
pub(crate) trait PadFrom<P> {
    /// Whether it may be known already.
    const IS_CACHED: bool;
    /// Lends the pad.
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R;
}

/// The pad that the message before it left.
impl<P> PadFrom<P> for &mut P {
    const IS_CACHED: bool = true;

    #[inline(always)]
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R {
        f(self)
    }
}

/// A pad that nothing is known of: made within the kernel, so that none of it is written down.
pub(crate) struct Fresh;

impl<P: Default> PadFrom<P> for Fresh {
    const IS_CACHED: bool = false;

    #[inline(always)]
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R {
        f(&mut P::default())
    }
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
    pad: impl PadFrom<M::PadCache>,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    let hash = mac.hash();
    if check_length(hash, 0, message).is_err() {
        return refuse(hash, message);
    }
    if M::Hash::ACCEPTS_BIT_STRINGS && message.last_mask().is_some() {
        return pad.lend(
            #[inline(always)]
            |pad| absorb_and_finalize(mac, nonce, pad, message),
        );
    }
    Ok(one_shot(mac, nonce, pad, message.bytes()))
}

/// As [`tag`], with the pad that the message before it left, where that costs less than a new one.
/// Where AES is an instruction it does not: the cipher runs beside the hash.
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
        return tag(mac, nonce, Fresh, message);
    }
    tag(mac, nonce, pad, message)
}

/// The tag of whole bytes. Not inlined: each move of a tag is a store and a load, and from a call
/// in one place it goes where the caller wants it.
#[inline(never)]
pub(crate) fn one_shot<M: Construction + ?Sized, P: PadFrom<M::PadCache>>(
    mac: &M,
    nonce: &M::Nonce,
    pad: P,
    message: &[u8],
) -> Tag {
    let (hash, key) = (mac.hash(), (mac, nonce));
    let cut = absorbable_len(hash, message.into());
    if cut == 0 {
        short_level(hash).run_on(
            key,
            message,
            pad,
            #[inline(always)]
            |key, message, pad| TailOnly(OneShot::new(key, message, (pad, 0))),
        )
    } else if M::Hash::HAS_NARROW_PATH && cut <= hash.narrow_path_max_bytes() {
        short_level(hash).run_on(
            key,
            message,
            (pad, cut),
            #[inline(always)]
            |key, message, rest| Narrow(OneShot::new(key, message, rest)),
        )
    } else {
        long_level(hash).run_on(key, message, (pad, cut), OneShot::new)
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
        *tag = one_shot(mac, nonce, Fresh, message);
    }
}

/// Why a message is refused. In a function of its own: where errors are made beside tags, compilers
/// cut tags into their fields, and what is stored in pieces cannot be loaded at once.
#[cold]
#[inline(never)]
fn refuse<H: Hash>(hash: &H, message: Bits<'_>) -> Result<Tag, Error> {
    check_length(hash, 0, message)?;
    unreachable!("the message is within the limit")
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

/// Absorb, finish and finalize in one visit to the level.
struct OneShot<'a, M: Construction + ?Sized, P> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    pad: P,
    message: &'a [u8],
    /// Bytes to absorb; the rest is for the finish.
    cut: usize,
}

impl<'a, M: Construction + ?Sized, P: PadFrom<M::PadCache>> OneShot<'a, M, P> {
    /// From values of two words.
    #[inline(always)]
    fn new((mac, nonce): (&'a M, &'a M::Nonce), message: &'a [u8], (pad, cut): (P, usize)) -> Self {
        OneShot { mac, nonce, pad, message, cut }
    }

    /// By the kernels of streams. Nothing fails, as in [`finalize`].
    #[inline(always)]
    fn streamed(self) -> Tag {
        let OneShot { mac, nonce, pad, message, .. } = self;
        let tag = pad.lend(
            #[inline(always)]
            |pad| absorb_and_finalize(mac, nonce, pad, message.into()),
        );
        tag.expect("a message within the limit")
    }

    /// Finish and finalize.
    #[inline(always)]
    fn finalize<I: Isa>(self, isa: I, sum: &<M::Hash as Hash>::Sum, at: usize) -> Tag {
        let tail = Bits::from(&self.message[at..]);
        finish_and_finalize(isa, self.mac, self.nonce, self.pad, sum, at as u64, tail)
    }
}

impl<M: Construction + ?Sized, P: PadFrom<M::PadCache>> Kernel for OneShot<'_, M, P> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        if const { uses_stream_kernels_with_pad::<M::Hash, I, P, M::PadCache>() } {
            return self.streamed();
        }
        let (cut, mut sum) = (self.cut, self.mac.begin(self.nonce));
        self.mac.hash().absorb(isa, &mut sum, 0, &self.message[..cut]);
        self.finalize(isa, &sum, cut)
    }
}

/// A message with nothing to absorb, so that it does not pay for long ones' set-up.
struct TailOnly<T>(T);

impl<M: Construction + ?Sized, P: PadFrom<M::PadCache>> Kernel for TailOnly<OneShot<'_, M, P>> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        if const { uses_stream_kernels_with_pad::<M::Hash, I, P, M::PadCache>() } {
            return self.0.streamed();
        }
        let sum = self.0.mac.begin(self.0.nonce);
        self.0.finalize(isa, &sum, 0)
    }
}

/// A message of a few blocks, side by side on the one-block level.
struct Narrow<T>(T);

impl<M: Construction + ?Sized, P: PadFrom<M::PadCache>> Kernel for Narrow<OneShot<'_, M, P>> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        if const { uses_stream_kernels_with_pad::<M::Hash, I, P, M::PadCache>() } {
            return self.0.streamed();
        }
        let (isa, one_shot) = (isa.narrow(), self.0);
        let (cut, mut sum) = (one_shot.cut, one_shot.mac.begin(one_shot.nonce));
        let (hash, blocks) = (one_shot.mac.hash(), &one_shot.message[..cut]);
        if I::One::NARROW_PATH_MAX_BLOCKS > 0 {
            hash.absorb_narrow(isa, &mut sum, blocks);
        } else {
            hash.absorb(isa, &mut sum, 0, blocks);
        }
        one_shot.finalize(isa, &sum, cut)
    }
}
