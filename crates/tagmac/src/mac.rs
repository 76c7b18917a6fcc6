//! The trait [`Mac`], which callers use.

use crate::batch::{self, BatchError};
use crate::bits::Bits;
use crate::construction;
use crate::construction::Construction;
use crate::error::{Error, Mismatch};
use crate::stream::Stream;
use crate::tag::Tag;

/// A MAC under a key.
///
/// Deterministic MACs have `Nonce = ()`; their types also have `tag`, `verify` and `stream` without
/// a nonce. For the other types the compiler then suggests the methods below.
pub trait Mac: Construction {
    /// Returns the length of the tags in bits.
    #[inline]
    fn tag_bits(&self) -> usize {
        self.output_bits()
    }

    /// Returns the tag of a message.
    ///
    /// Every MAC returns a `Result`, so that generic code is the same for all. Of messages in
    /// memory, only EliMAC and LightMAC with a short counter refuse some. MACs of whole bytes
    /// refuse bit strings that end within a byte.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] if the message is over the limit of the MAC's definition,
    /// [`Error::PartialByte`] if it ends within a byte and the MAC accepts only whole bytes.
    #[doc(alias = "tag")]
    #[inline]
    fn tag_with<'m>(
        &self,
        nonce: &Self::Nonce,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, Error> {
        construction::tag(self, nonce, message.into())
    }

    /// As [`tag_with`](Mac::tag_with), but reuses the pad cached from the previous message if that
    /// costs less than a new one. Prefer [`NonceSequence`](crate::NonceSequence), which does this
    /// for you.
    ///
    /// # Errors
    ///
    /// As [`tag_with`](Mac::tag_with).
    #[inline]
    fn tag_with_pad<'m>(
        &self,
        nonce: &Self::Nonce,
        pad: &mut Self::PadCache,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, Error> {
        construction::tag_with_pad(self, nonce, pad, message.into())
    }

    /// Checks a tag in constant time. A message that is too long does not verify.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless `tag` is the tag of the message, of the MAC's own length.
    #[doc(alias = "verify")]
    #[inline]
    fn verify_with<'m>(
        &self,
        nonce: &Self::Nonce,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), Mismatch> {
        construction::verify(self, nonce, message.into(), tag)
    }

    /// Tags many messages, with one nonce for each; `&[(); n]` for a deterministic MAC. Short
    /// messages share vectors, see [`batch`](crate::batch). [`EliMac`](crate::EliMac) without a cache
    /// may allocate up to 64 KiB for longer ones, which then share subkeys.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a message is over the limit of the MAC's definition. The messages before
    /// it have their tags.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    #[doc(alias = "tag_many")]
    #[inline]
    fn tag_many_with(
        &self,
        nonces: &[Self::Nonce],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) -> Result<(), BatchError> {
        batch::tag_many(self, nonces, messages, tags)
    }

    /// Checks the tags of many messages, each in constant time, and writes a verdict for each. A
    /// message that is too long does not verify.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    #[doc(alias = "verify_many")]
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

    /// Returns a stream for one message under a nonce.
    #[doc(alias = "stream")]
    #[inline]
    fn stream_with(&self, nonce: &Self::Nonce) -> Stream<&Self>
    where
        Self: Sized,
    {
        Stream::new(self, nonce)
    }
}

impl<M: Construction + ?Sized> Mac for M {}

/// Implements the methods without a nonce for a deterministic MAC. `once` leaves out the batch
/// methods, for MACs whose key is for one message.
macro_rules! deterministic {
    (once $name:ident $(<$($parameter:ident: $bound:path),+>)?) => {
        impl $(<$($parameter: $bound),+>)? $name $(<$($parameter),+>)? {
            /// Returns the tag of a message.
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
                crate::construction::tag(self, &(), message.into())
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
                crate::construction::verify(self, &(), message.into(), tag)
            }

            /// Returns a stream for one message.
            #[inline]
            pub fn stream(&self) -> crate::Stream<&Self> {
                crate::Stream::new(self, &())
            }
        }
    };
    ($name:ident $(<$($parameter:ident: $bound:path),+>)?) => {
        $crate::mac::deterministic!(once $name $(<$($parameter: $bound),+>)?);

        impl $(<$($parameter: $bound),+>)? $name $(<$($parameter),+>)? {
            /// Tags many messages, see [`Mac::tag_many_with`](crate::Mac::tag_many_with).
            ///
            /// # Errors
            ///
            /// [`BatchError`](crate::batch::BatchError) if a message is over the limit of the MAC's
            /// definition.
            ///
            /// # Panics
            ///
            /// If the slices do not have one entry per message.
            #[inline]
            pub fn tag_many(
                &self,
                messages: &[&[u8]],
                tags: &mut [crate::Tag],
            ) -> Result<(), crate::batch::BatchError> {
                let nonces = &[(); usize::MAX][..messages.len()];
                crate::Mac::tag_many_with(self, nonces, messages, tags)
            }

            /// Checks the tags of many messages, see
            /// [`Mac::verify_many_with`](crate::Mac::verify_many_with).
            ///
            /// # Errors
            ///
            /// [`Mismatch`](crate::Mismatch) unless all verify.
            ///
            /// # Panics
            ///
            /// If the slices do not all have one entry per message.
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
pub(crate) use deterministic;
