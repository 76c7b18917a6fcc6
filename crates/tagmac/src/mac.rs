//! A MAC: a keyed hash, sealed by a PRF under a nonce or under none.

use zeroize::Zeroize;

use crate::batch::{self, Refused};
use crate::bits::Bits;
use crate::error::{Error, Mismatch};
use crate::hash::{Hash, long_level, short_level, whole, within_limit};
use crate::isa::{Dispatch, Isa, Kernel};
use crate::nonce::Nonce;
use crate::part::{Absorb, Close};
use crate::stream::Stream;
use crate::tag::{Tag, matches};

/// A MAC under a key.
///
/// Deterministic MACs have `Nonce = ()`; their types also have `tag`, `verify` and `stream`
/// without the nonce.
pub trait Mac: Send + Sync {
    /// The hash of the message.
    type Hash: Hash;
    /// What must never repeat under a key; `()` for a deterministic MAC.
    type Nonce: Nonce;
    /// What may be kept between messages with consecutive nonces. Secret.
    type Pad: Default + Zeroize + Send + Sync;

    /// The hash of the message.
    fn hash(&self) -> &Self::Hash;
    /// The length of the tags in bits.
    fn tag_bits(&self) -> usize;
    /// The sum that a message under this nonce begins with. A MAC whose sums grow with the message
    /// gives one that feeds its PRF at once, so that one-shot calls and streams take constant
    /// memory.
    #[inline(always)]
    fn begin(&self, _nonce: &Self::Nonce) -> <Self::Hash as Hash>::Sum {
        self.hash().empty()
    }
    /// Turns the digest of a message into its tag. Runs inside a kernel.
    fn seal<I: Isa>(
        &self,
        isa: I,
        nonce: &Self::Nonce,
        pad: &mut Self::Pad,
        digest: <Self::Hash as Hash>::Digest,
    ) -> Tag;

    /// The most bytes of a message that gains from company, see [`tag_short`](Mac::tag_short).
    #[inline(always)]
    fn short(&self) -> usize {
        0
    }
    /// The tags of messages of at most [`short`](Mac::short) bytes, a nonce for each, side by side.
    /// Runs inside a kernel.
    #[inline(always)]
    fn tag_short<I: Isa>(
        &self,
        _isa: I,
        _nonces: &[Self::Nonce],
        _messages: &[&[u8]],
        _tags: &mut [Tag],
    ) {
        unreachable!("no message is short")
    }

    /// The tag of a message.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the limit of the MAC's definition.
    #[inline]
    fn tag_with<'m>(
        &self,
        nonce: &Self::Nonce,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, Error> {
        tag_of(self, nonce, Fresh, message.into())
    }

    /// As [`tag_with`](Mac::tag_with), with the pad that the message before it left.
    ///
    /// # Errors
    ///
    /// As [`tag_with`](Mac::tag_with).
    #[inline]
    fn tag_with_pad<'m>(
        &self,
        nonce: &Self::Nonce,
        pad: &mut Self::Pad,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, Error> {
        if const { size_of::<Self::Pad>() == 0 } {
            return tag_of(self, nonce, Fresh, message.into());
        }
        tag_of(self, nonce, pad, message.into())
    }

    /// Checks a tag in constant time. A message over the limit has no tag, so it is a mismatch.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    #[inline]
    fn verify_with<'m>(
        &self,
        nonce: &Self::Nonce,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), Mismatch> {
        matches(self.tag_with(nonce, message), tag)
    }

    /// The tags of many messages, a nonce for each; `&[(); n]` for a deterministic MAC. Short
    /// messages share vectors, see [`batch`](crate::batch).
    ///
    /// # Errors
    ///
    /// [`Refused`] if a message is over the limit of the MAC's definition. Those before it have
    /// their tags.
    ///
    /// # Panics
    ///
    /// Unless there is a nonce and a tag for each message.
    #[inline]
    fn tag_many_with(
        &self,
        nonces: &[Self::Nonce],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), Refused> {
        batch::tag_many(self, nonces, messages, tags)
    }

    /// Checks the tags of many messages, each in constant time, and says of each whether it is
    /// right. A message over the limit has no tag, so it is a mismatch.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all are right.
    ///
    /// # Panics
    ///
    /// Unless there is a nonce, a tag and a verdict for each message.
    #[inline]
    fn verify_many_with(
        &self,
        nonces: &[Self::Nonce],
        messages: &[&[u8]],
        tags: &[Tag],
        verdicts: &mut [Result<(), Mismatch>],
    ) -> Result<(), Mismatch> {
        batch::verify_many(self, nonces, messages, tags, verdicts)
    }

    /// A stream of one message under a nonce.
    #[inline]
    fn stream_with(&self, nonce: &Self::Nonce) -> Stream<&Self>
    where
        Self: Sized,
    {
        Stream::new(self, nonce)
    }
}

/// Where a message's pad comes from.
trait PadFrom<P> {
    /// Lends the pad.
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R;
}

/// The pad that the message before it left.
impl<P> PadFrom<P> for &mut P {
    #[inline(always)]
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R {
        f(self)
    }
}

/// A pad that nothing is known of: made within the kernel, so that none of it is written down.
struct Fresh;

impl<P: Default> PadFrom<P> for Fresh {
    #[inline(always)]
    fn lend<R>(self, f: impl FnOnce(&mut P) -> R) -> R {
        f(&mut P::default())
    }
}

/// The tag of a message.
#[inline(always)]
fn tag_of<M: Mac + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    pad: impl PadFrom<M::Pad>,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    let hash = mac.hash();
    if within_limit(hash, 0, message).is_err() {
        return refused(hash, message);
    }
    if M::Hash::BITS && message.last_mask().is_some() {
        return pad.lend(
            #[inline(always)]
            |pad| in_bits(mac, nonce, pad, message),
        );
    }
    Ok(one_shot(mac, nonce, pad, message.bytes()))
}

/// The tag of whole bytes. Not inlined: each move of a tag is a store and a load, and from a call
/// in one place it goes where the caller wants it.
#[inline(never)]
fn one_shot<M: Mac + ?Sized, P: PadFrom<M::Pad>>(
    mac: &M,
    nonce: &M::Nonce,
    pad: P,
    message: &[u8],
) -> Tag {
    let (hash, key) = (mac.hash(), (mac, nonce));
    let cut = whole(hash, message.into());
    if cut == 0 {
        short_level(hash).run_on(
            key,
            message,
            pad,
            #[inline(always)]
            |key, message, pad| Rest(OneShot::of(key, message, (pad, 0))),
        )
    } else if M::Hash::FEW && cut <= hash.few() {
        short_level(hash).run_on(
            key,
            message,
            (pad, cut),
            #[inline(always)]
            |key, message, rest| Few(OneShot::of(key, message, rest)),
        )
    } else {
        long_level(hash).run_on(key, message, (pad, cut), OneShot::of)
    }
}

/// Why a message is refused. In a function of its own: where errors are made beside tags, compilers
/// cut tags into their fields, and what is stored in pieces cannot be loaded at once.
#[cold]
#[inline(never)]
fn refused<H: Hash>(hash: &H, message: Bits<'_>) -> Result<Tag, Error> {
    within_limit(hash, 0, message)?;
    unreachable!("the message is within the limit")
}

/// The tag of a message that ends within a byte, by the kernels of streams.
#[cold]
fn in_bits<M: Mac + ?Sized>(
    mac: &M,
    nonce: &M::Nonce,
    pad: &mut M::Pad,
    message: Bits<'_>,
) -> Result<Tag, Error> {
    let (hash, sum) = (mac.hash(), &mut mac.begin(nonce));
    let cut = whole(hash, message);
    let (blocks, tail) = (&message.bytes()[..cut], message.after(cut));
    long_level(hash).run(Absorb { hash, sum, at: 0, blocks });
    short_level(hash).run(Close { mac, nonce, pad, sum, at: cut as u64, tail })
}

/// Absorb, finish and seal in one visit to the rung.
struct OneShot<'a, M: Mac + ?Sized, P> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    pad: P,
    message: &'a [u8],
    /// Bytes to absorb; the rest is for the finish.
    cut: usize,
}

impl<'a, M: Mac + ?Sized, P: PadFrom<M::Pad>> OneShot<'a, M, P> {
    /// From values of two words.
    #[inline(always)]
    fn of((mac, nonce): (&'a M, &'a M::Nonce), message: &'a [u8], (pad, cut): (P, usize)) -> Self {
        OneShot { mac, nonce, pad, message, cut }
    }

    /// Finish and seal.
    #[inline(always)]
    fn close<I: Isa>(self, isa: I, sum: &<M::Hash as Hash>::Sum, at: usize) -> Tag {
        let (mac, nonce, tail) = (self.mac, self.nonce, Bits::from(&self.message[at..]));
        let digest = mac.hash().finish(isa, sum, at as u64, tail);
        self.pad.lend(
            #[inline(always)]
            |pad| mac.seal(isa, nonce, pad, digest),
        )
    }
}

impl<M: Mac + ?Sized, P: PadFrom<M::Pad>> Kernel for OneShot<'_, M, P> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let (cut, mut sum) = (self.cut, self.mac.begin(self.nonce));
        self.mac.hash().absorb(isa, &mut sum, 0, &self.message[..cut]);
        self.close(isa, &sum, cut)
    }
}

/// A message with nothing to absorb, so that it does not pay for long ones' set-up.
struct Rest<T>(T);

impl<M: Mac + ?Sized, P: PadFrom<M::Pad>> Kernel for Rest<OneShot<'_, M, P>> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let sum = self.0.mac.begin(self.0.nonce);
        self.0.close(isa, &sum, 0)
    }
}

/// A message of few blocks, on the one-block rung.
struct Few<T>(T);

impl<M: Mac + ?Sized, P: PadFrom<M::Pad>> Kernel for Few<OneShot<'_, M, P>> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let (isa, one_shot) = (isa.narrow(), self.0);
        let (cut, mut sum) = (one_shot.cut, one_shot.mac.begin(one_shot.nonce));
        let (hash, blocks) = (one_shot.mac.hash(), &one_shot.message[..cut]);
        if I::One::FEW > 0 {
            hash.absorb_few(isa, &mut sum, blocks);
        } else {
            hash.absorb(isa, &mut sum, 0, blocks);
        }
        one_shot.close(isa, &sum, cut)
    }
}

/// Gives a deterministic MAC its calls without a nonce.
macro_rules! deterministic {
    ($name:ident $(<$($parameter:ident: $bound:path),+>)?) => {
        impl $(<$($parameter: $bound),+>)? $name $(<$($parameter),+>)? {
            /// The tag of a message.
            ///
            /// # Errors
            ///
            /// [`Error::TooLong`](crate::Error::TooLong) if the message is over the limit of the
            /// MAC's definition.
            #[inline]
            pub fn tag<'m>(
                &self,
                message: impl Into<crate::Bits<'m>>,
            ) -> Result<crate::Tag, crate::Error> {
                crate::Mac::tag_with(self, &(), message)
            }

            /// Checks a tag in constant time.
            ///
            /// # Errors
            ///
            /// [`Mismatch`](crate::Mismatch) unless `tag` is the tag of the message, of the MAC's
            /// own length.
            #[inline]
            pub fn verify<'m>(
                &self,
                message: impl Into<crate::Bits<'m>>,
                tag: &crate::Tag,
            ) -> Result<(), crate::Mismatch> {
                crate::Mac::verify_with(self, &(), message, tag)
            }

            /// A stream of one message.
            #[inline]
            pub fn stream(&self) -> crate::Stream<&Self> {
                crate::Stream::new(self, &())
            }
        }
    };
}
pub(crate) use deterministic;

/// Gives a deterministic MAC with a key for many messages its calls on many of them.
macro_rules! batches {
    ($name:ident $(<$($parameter:ident: $bound:path),+>)?) => {
        impl $(<$($parameter: $bound),+>)? $name $(<$($parameter),+>)? {
            /// The tags of many messages, see [`Mac::tag_many_with`](crate::Mac::tag_many_with).
            ///
            /// # Errors
            ///
            /// [`Refused`](crate::batch::Refused) if a message is over the limit of the MAC's
            /// definition.
            ///
            /// # Panics
            ///
            /// Unless there is a tag for each message.
            #[inline]
            pub fn tag_many(
                &self,
                messages: &[&[u8]],
                tags: &mut [crate::Tag],
            ) -> Result<(), crate::batch::Refused> {
                let nonces = &[(); usize::MAX][..messages.len()];
                crate::Mac::tag_many_with(self, nonces, messages, tags)
            }

            /// Checks the tags of many messages, see
            /// [`Mac::verify_many_with`](crate::Mac::verify_many_with).
            ///
            /// # Errors
            ///
            /// [`Mismatch`](crate::Mismatch) unless all are right.
            ///
            /// # Panics
            ///
            /// Unless there is a tag and a verdict for each message.
            #[inline]
            pub fn verify_many(
                &self,
                messages: &[&[u8]],
                tags: &[crate::Tag],
                verdicts: &mut [Result<(), crate::Mismatch>],
            ) -> Result<(), crate::Mismatch> {
                let nonces = &[(); usize::MAX][..messages.len()];
                crate::Mac::verify_many_with(self, nonces, messages, tags, verdicts)
            }
        }
    };
}
pub(crate) use batches;
