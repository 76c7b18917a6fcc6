//! A MAC: a keyed hash, sealed by a PRF under a nonce or under none.

use zeroize::Zeroize;

use crate::bits::Bits;
use crate::error::{Error, Mismatch};
use crate::hash::{Hash, whole, within_limit};
use crate::isa::{Isa, Kernel};
use crate::nonce::Nonce;
use crate::part::Close;
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
        self.tag_with_pad(nonce, &mut Self::Pad::default(), message)
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
        let (hash, message) = (self.hash(), message.into());
        within_limit(hash, 0, message)?;
        let cut = whole(hash, message);
        if cut == 0 {
            // Kernels of their own, so that short messages do not pay for long ones' set-up.
            let sum = &self.begin(nonce);
            let close = Close { mac: self, nonce, pad, sum, at: 0, tail: message };
            return hash.level().run(close);
        }
        let one_shot = OneShot { mac: self, nonce, pad, message, cut };
        if <Self::Hash as Hash>::FEW && cut <= hash.few() {
            return hash.level().run(Few(one_shot));
        }
        hash.level().run(one_shot)
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

    /// A stream of one message under a nonce.
    #[inline]
    fn stream_with(&self, nonce: &Self::Nonce) -> Stream<&Self>
    where
        Self: Sized,
    {
        Stream::new(self, nonce)
    }
}

/// Absorb, finish and seal in one visit to the rung.
struct OneShot<'a, M: Mac + ?Sized> {
    mac: &'a M,
    nonce: &'a M::Nonce,
    pad: &'a mut M::Pad,
    message: Bits<'a>,
    /// Bytes to absorb; the rest is for the finish.
    cut: usize,
}

impl<M: Mac + ?Sized> Kernel for OneShot<'_, M> {
    type Out = Result<Tag, Error>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Result<Tag, Error> {
        let (hash, cut) = (self.mac.hash(), self.cut);
        let mut sum = self.mac.begin(self.nonce);
        hash.absorb(isa, &mut sum, 0, &self.message.bytes()[..cut]);
        let digest = hash.finish(isa, &sum, cut as u64, self.message.after(cut));
        Ok(self.mac.seal(isa, self.nonce, self.pad, digest))
    }
}

/// A message of few blocks, on the one-block rung.
struct Few<'a, M: Mac + ?Sized>(OneShot<'a, M>);

impl<M: Mac + ?Sized> Kernel for Few<'_, M> {
    type Out = Result<Tag, Error>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Result<Tag, Error> {
        if I::FEW == 0 {
            unreachable!("no message has that few blocks")
        }
        self.0.run(isa.narrow())
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
