//! What runs on a level: a message at once, whole blocks of one, and its end. Each of them is compiled
//! for each MAC and level, so there are no more of them than speed asks for.

use crate::bits::Bits;
use crate::construction::{Construction, Hash, absorbable_len, check_length};
use crate::error::{Error, Mismatch};
use crate::isa::{Isa, Kernel, Levels, Register, SMALL};
use crate::tag::Tag;

/// Adds whole blocks to a sum, of which the first starts at byte `at` of the message. A function of
/// its own, so that each MAC has it once.
#[inline(never)]
pub(crate) fn absorb<H: Hash>(hash: &H, sum: &mut H::Sum, at: u64, blocks: &[u8]) {
    hash.level().run(Absorb { hash, sum, at, blocks });
}

/// Whether one-shot calls on a level use the two kernels of streams: where AES takes so long that two
/// calls are nothing beside it, and where code is to be small.
const fn uses_stream_kernels<H: Hash, I: Isa>() -> bool {
    !I::AES_INSTRUCTIONS && (SMALL || H::SHARES_STREAM_KERNELS)
}

struct Absorb<'a, H: Hash> {
    hash: &'a H,
    sum: &'a mut H::Sum,
    at: u64,
    blocks: &'a [u8],
}

impl<H: Hash> Kernel for Absorb<'_, H> {
    const LEVELS: Levels = H::LONG;
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
    const LEVELS: Levels = M::Hash::SHORT;
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
    if const { M::Hash::SHARED_FINISH.applies::<I>() } {
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
        hash.level().run_on(
            key,
            message,
            cut,
            #[inline(always)]
            |key, message, _| TailOnly(OneShot::new(key, message, 0)),
        )
    } else if M::Hash::HAS_NARROW_PATH && cut <= hash.narrow_path_max_bytes() {
        hash.level().run_on(
            key,
            message,
            cut,
            #[inline(always)]
            |key, message, cut| Narrow(OneShot::new(key, message, cut)),
        )
    } else {
        hash.level().run_on(key, message, cut, OneShot::new)
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

/// Absorb, finish and finalize in one visit to the level.
struct OneShot<'a, M: Construction + ?Sized> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    message: &'a [u8],
    /// Bytes to absorb; the rest is for the finish.
    cut: usize,
}

impl<'a, M: Construction + ?Sized> OneShot<'a, M> {
    /// From values of two words.
    #[inline(always)]
    fn new((mac, nonce): (&'a M, &'a M::Nonce), message: &'a [u8], cut: usize) -> Self {
        OneShot { mac, nonce, message, cut }
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
    fn finalize<I: Isa>(self, isa: I, sum: &<M::Hash as Hash>::Sum, at: usize) -> Register {
        let tail = Bits::from(&self.message[at..]);
        let pad = &mut M::PadCache::default();
        finish_and_finalize(isa, self.mac, self.nonce, pad, sum, at as u64, tail).register()
    }
}

impl<M: Construction + ?Sized> Kernel for OneShot<'_, M> {
    const LEVELS: Levels = M::Hash::LONG;
    type Out = Register;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Register {
        if const { uses_stream_kernels::<M::Hash, I>() } {
            return self.streamed();
        }
        let (cut, mut sum) = (self.cut, self.mac.begin(self.nonce));
        self.mac.hash().absorb(isa, &mut sum, 0, &self.message[..cut]);
        self.finalize(isa, &sum, cut)
    }
}

/// A message with nothing to absorb, so that it does not pay for long ones' set-up.
struct TailOnly<T>(T);

impl<M: Construction + ?Sized> Kernel for TailOnly<OneShot<'_, M>> {
    const LEVELS: Levels = M::Hash::SHORT;
    type Out = Register;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Register {
        if const { uses_stream_kernels::<M::Hash, I>() } {
            return self.0.streamed();
        }
        let sum = self.0.mac.begin(self.0.nonce);
        self.0.finalize(isa, &sum, 0)
    }
}

/// A message of a few blocks, side by side on the one-block level.
struct Narrow<T>(T);

impl<M: Construction + ?Sized> Kernel for Narrow<OneShot<'_, M>> {
    const LEVELS: Levels = M::Hash::SHORT;
    type Out = Register;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Register {
        if const { uses_stream_kernels::<M::Hash, I>() } {
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
