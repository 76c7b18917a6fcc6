//! MACs that count their key's use and refuse to exceed a budget.
//!
//! A meter counts messages, their blocks (for PMAC), and failed verifications, by grade if a
//! receiver checks the first words of UMAC-128's tags ([`Budget::with_grades`]). [`Budget::new`]
//! derives the limits from a theorem and the probability of a forgery that you accept. A call that
//! would exceed the budget is refused before it tags or verifies.
//!
//! **Store the usage** where no one can roll it back, like a nonce counter: an old value would let
//! the key exceed its budget. Store it before you use it, because a crash after a tag would lose
//! the counts since the last save. [`Metered::reserve`] counts messages in advance: save the usage
//! after `reserve` and before you tag.
//!
//! ```
//! use tagmac::PmacAes128;
//! use tagmac_any::bounds::Theorem;
//! use tagmac_any::meter::{Budget, Metered, Usage};
//!
//! # let mut disk = [0; Usage::BYTES];
//! let budget = Budget::new(Theorem::Pmac { n: 128, t: 128 }, 1 << 20, 2f64.powi(-32))?;
//! let mac = Metered::new(PmacAes128::new(&[7; 16]), budget, Usage::default())?;
//! // 1000 messages of 10 MiB in total: count, save, and only then tag.
//! mac.reserve(1000, 10 << 20)?;
//! disk = mac.usage().to_bytes();
//! let tag = mac.tag(b"pay 100 to Bob")?;
//! assert!(mac.verify(b"pay 100 to Bob", &tag).is_ok());
//!
//! // After a restart the reserve counts as spent.
//! let usage = Usage::from_bytes(&disk)?;
//! assert_eq!(usage.messages, 1000);
//! let mac = Metered::new(PmacAes128::new(&[7; 16]), budget, usage)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A sender of packets needs a key, its nonces and a budget: use a metered [`NonceSequence`]. One
//! call returns nonce and tag, and takes no lock. [`Session`](crate::Session) does the same for any
//! MAC, and saves and restores its state.
//!
//! ```
//! use tagmac_any::bounds::{NonceKind, Theorem};
//! use tagmac_any::meter::{Budget, Metered, Usage};
//! use tagmac::{Mac, NonceSequence, Umac64};
//!
//! let mac = Umac64::new(&[7; 16]);
//! let theorem = Theorem::Umac { t: 64, nonces: NonceKind::Counted };
//! let budget = Budget::new(theorem, 1 << 16, 2f64.powi(-32))?;
//! let mut session = Metered::new(NonceSequence::new(&mac, 8)?, budget, Usage::default())?;
//! let (nonce, tag) = session.tag_next(b"packet")?;
//! assert!(mac.verify_with(&nonce, b"packet", &tag).is_ok());
//! assert_eq!(session.usage().messages, 1);
//! // After each tag, save this nonce and the usage, before you send the tag.
//! let next = session.mac().peek()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The budget belongs to the key, so all processes that share a key share its budget. Divide it
//! between them (lower the fields of [`Budget`] so that their sums stay within it), or let one
//! process count.

mod budget;
mod error;
mod usage;

use core::ops::Deref;
use core::{array, fmt};
use std::sync::{Mutex, PoisonError};

use tagmac::cipher::Cipher;
use tagmac::hazmat::Construction;
use tagmac::internals;
use tagmac::isa::Block;
use tagmac::{Assurance, Bits, Error, Mac, Mismatch, NonceSequence, Tag, Umac, UmacNonce};
use tagmac_bounds::Theorem;

use crate::mac::AnyMac;
pub use budget::Budget;
use budget::blocks;
pub use error::MeterError;
pub use usage::Usage;

/// A MAC under a key that stays within a budget. Threads can share it by reference.
///
/// `M` is a [`Mac`] or a [`NonceSequence`]. For any MAC of the registry, use
/// [`Session`](crate::Session).
pub struct Metered<M> {
    mac: M,
    budget: Budget,
    /// Failed checks of first words that an earlier budget allowed.
    kept: [u64; 3],
    used: Mutex<Used>,
}

struct Used {
    /// The rest of the budget.
    left: Usage,
    /// Usage that is counted in advance and not used yet.
    reserve: Usage,
}

impl Used {
    /// Counts usage, from the reserve first. Inlined, so that a message without a reserve, which has
    /// no failures, costs two subtractions.
    #[inline(always)]
    fn count(&mut self, budget: &Budget, more: Usage) -> Result<(), MeterError> {
        if self.reserve.messages | self.reserve.blocks != 0 {
            return self.count_with_reserve(budget, more);
        }
        self.count_without_reserve(budget, more)
    }

    #[inline(always)]
    fn count_without_reserve(&mut self, budget: &Budget, more: Usage) -> Result<(), MeterError> {
        let Some(left) = self.left.checked_less(more) else {
            return Err(budget.exhausted(self.left, more));
        };
        self.left = left;
        Ok(())
    }

    #[inline(never)]
    fn count_with_reserve(&mut self, budget: &Budget, more: Usage) -> Result<(), MeterError> {
        let (messages, blocks) =
            (more.messages.min(self.reserve.messages), more.blocks.min(self.reserve.blocks));
        let rest =
            Usage { messages: more.messages - messages, blocks: more.blocks - blocks, ..more };
        self.count_without_reserve(budget, rest)?;
        self.reserve.messages -= messages;
        self.reserve.blocks -= blocks;
        Ok(())
    }
}

impl<M> fmt::Debug for Metered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metered({})", self.usage())
    }
}

/// An error of a metered verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeteredVerifyError {
    /// The tag is wrong. The meter counts the failure.
    Mismatch,
    /// Refused before any check: [`MeterError::BudgetExhausted`].
    Refused(MeterError),
}

impl fmt::Display for MeteredVerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MeteredVerifyError::Mismatch => Mismatch.fmt(f),
            MeteredVerifyError::Refused(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for MeteredVerifyError {}

impl<M> Metered<M> {
    /// Meters a MAC whose key has the given usage; `Usage::default()` for a new key. If the budget
    /// allows no checks of first words, those that failed under an earlier budget stay counted, and
    /// the probability that the earlier budget accepted adds to this one's.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the usage exceeds the budget.
    pub fn new(mac: M, budget: Budget, usage: Usage) -> Result<Metered<M>, MeterError> {
        // A session that is restored without permission to check first words must not end because
        // of earlier failures: one forged packet would suffice.
        let kept = array::from_fn(|i| if budget.graded[i] == 0 { usage.graded[i] } else { 0 });
        let counted = usage.less(Usage { graded: kept, ..Usage::default() });
        let mut used = Used { left: budget.all(), reserve: Usage::default() };
        used.count(&budget, counted)?;
        Ok(Metered { mac, budget, kept, used: Mutex::new(used) })
    }

    /// The key's usage, including reserves.
    pub fn usage(&self) -> Usage {
        let kept = Usage { graded: self.kept, ..Usage::default() };
        self.with(|used| self.budget.all().less(used.left)).plus(kept)
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The MAC itself, whose calls are not counted.
    pub fn mac(&self) -> &M {
        &self.mac
    }

    /// Counts `messages` messages of `bytes` bytes in total in advance. Later tags use up this
    /// reserve. The rest stays counted when the meter is dropped.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not suffice; then nothing is counted.
    pub fn reserve(&self, messages: u64, bytes: u64) -> Result<(), MeterError> {
        // Each message may end with a partial block.
        let blocks = blocks(&self.budget.theorem, bytes);
        let blocks = messages.saturating_add(blocks);
        self.reserve_usage(Usage { messages, blocks, ..Usage::default() })
    }

    /// As [`reserve`](Metered::reserve), for messages of any lengths within the budget's. If the
    /// theorem counts blocks, each message counts as the longest one, otherwise as one block.
    pub(crate) fn reserve_longest(&self, messages: u64) -> Result<(), MeterError> {
        let blocks = match self.budget.theorem {
            Some(Theorem::Pmac { .. }) => self.budget.message(self.budget.length).blocks,
            _ => 1,
        };
        let blocks = messages.saturating_mul(blocks);
        self.reserve_usage(Usage { messages, blocks, ..Usage::default() })
    }

    /// The reserve that is not used yet.
    pub(crate) fn reserved(&self) -> Usage {
        self.with(|used| used.reserve)
    }

    fn reserve_usage(&self, more: Usage) -> Result<(), MeterError> {
        self.with(|used| {
            let reserve = core::mem::take(&mut used.reserve);
            let counted = used.count(&self.budget, more);
            used.reserve = if counted.is_ok() { reserve.plus(more) } else { reserve };
            counted
        })
    }

    /// Counts usage, from the reserve first.
    fn count(&self, more: Usage) -> Result<(), MeterError> {
        self.with(|used| used.count(&self.budget, more))
    }

    /// Counts a message, without a lock, and returns the MAC. On an error nothing is counted.
    #[inline(always)]
    pub(crate) fn count_message(&mut self, bytes: usize) -> Result<&mut M, MeterError> {
        let length = bytes as u64;
        self.budget.check_length(length)?;
        let used = self.used.get_mut().unwrap_or_else(PoisonError::into_inner);
        used.count(&self.budget, self.budget.message(length))?;
        Ok(&mut self.mac)
    }

    /// A poisoned lock is harmless: each closure changes the counts in its last step.
    fn with<R>(&self, change: impl FnOnce(&mut Used) -> R) -> R {
        change(&mut self.used.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tagging(
        &self,
        message: Bits<'_>,
        tag: impl FnOnce(&M, Bits<'_>) -> Result<Tag, Error>,
    ) -> Result<Tag, MeterError> {
        let length = message.bytes().len() as u64;
        self.budget.check_length(length)?;
        self.count(self.budget.message(length))?;
        // A message that the MAC refuses stays counted.
        Ok(tag(&self.mac, message)?)
    }

    /// A failure is counted before the check and taken back if the tag is right. So threads that
    /// verify at once cannot exceed the budget together, and a crash cannot hide a failure.
    fn verifying(
        &self,
        message: Bits<'_>,
        cost: Usage,
        verify: impl FnOnce(&M, Bits<'_>) -> Result<(), Mismatch>,
    ) -> Result<(), MeteredVerifyError> {
        let length = message.bytes().len() as u64;
        self.budget.check_length(length).map_err(MeteredVerifyError::Refused)?;
        // Reserves contain no failures, so the cost comes from the rest of the budget.
        self.count(cost).map_err(MeteredVerifyError::Refused)?;
        verify(&self.mac, message).map_err(|Mismatch| MeteredVerifyError::Mismatch)?;
        self.with(|used| used.left = used.left.plus(cost));
        Ok(())
    }

    /// Verifies with another MAC of the same key.
    pub(crate) fn verifying_by<'m>(
        &self,
        mac: &AnyMac,
        nonce: &[u8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying(message.into(), Usage::FAILURE, |_, message| mac.verify(nonce, message, tag))
    }

    /// Checks a tag's first words.
    pub(crate) fn verifying_prefix<'m>(
        &self,
        message: impl Into<Bits<'m>>,
        grade: Assurance,
        verify: impl FnOnce(&M, Bits<'_>) -> Result<(), Mismatch>,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying(message.into(), Usage::failed_grade(grade), verify)
    }

    /// Sets another budget for the same key.
    pub(crate) fn set_budget(&mut self, budget: Budget) -> Result<(), MeterError> {
        let mut used = Used { left: budget.all(), reserve: Usage::default() };
        used.count(&budget, self.usage())?;
        let now = self.used.get_mut().unwrap_or_else(PoisonError::into_inner);
        now.left = used.left;
        (self.budget, self.kept) = (budget, [0; 3]);
        Ok(())
    }
}

impl<R: Deref<Target: Construction>> Metered<NonceSequence<R>> {
    /// Returns the next nonce and the tag of a message under it. A refusal by the budget uses no
    /// nonce.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not suffice; then nothing is tagged.
    /// [`MeterError::Mac`] as [`NonceSequence::tag`]; the message stays counted.
    #[inline]
    pub fn tag_next<'m>(
        &mut self,
        message: impl Into<Bits<'m>>,
    ) -> Result<(<R::Target as Construction>::Nonce, Tag), MeterError> {
        let message = message.into();
        internals::tag_next(self.count_message(message.bytes().len())?, message)
    }
}

impl<M: Mac> Metered<M> {
    /// Returns the tag of a message under a nonce, which is `&()` for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not suffice; then nothing is tagged.
    /// [`MeterError::Mac`] if the MAC refuses the message, which stays counted.
    pub fn tag_with<'m>(
        &self,
        nonce: &M::Nonce,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, MeterError> {
        self.tagging(message.into(), |mac, message| mac.tag_with(nonce, message))
    }

    /// Checks the tag of a message in constant time.
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if the tag is wrong, [`MeteredVerifyError::Refused`] if the
    /// budget allows no more failures; then nothing is verified.
    pub fn verify_with<'m>(
        &self,
        nonce: &M::Nonce,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying(message.into(), Usage::FAILURE, |mac, message| {
            mac.verify_with(nonce, message, tag)
        })
    }
}

impl<M: Mac<Nonce = ()>> Metered<M> {
    /// [`tag_with`](Metered::tag_with) without a nonce.
    ///
    /// # Errors
    ///
    /// As [`tag_with`](Metered::tag_with).
    pub fn tag<'m>(&self, message: impl Into<Bits<'m>>) -> Result<Tag, MeterError> {
        self.tag_with(&(), message)
    }

    /// As [`tag`](Metered::tag), without a lock, for a meter that no other thread uses now: about
    /// half the time of a short message's tag.
    ///
    /// # Errors
    ///
    /// As [`tag_with`](Metered::tag_with).
    #[inline]
    pub fn tag_mut<'m>(&mut self, message: impl Into<Bits<'m>>) -> Result<Tag, MeterError> {
        let message = message.into();
        Ok(self.count_message(message.bytes().len())?.tag_with(&(), message)?)
    }

    /// [`verify_with`](Metered::verify_with) without a nonce.
    ///
    /// # Errors
    ///
    /// As [`verify_with`](Metered::verify_with).
    pub fn verify<'m>(
        &self,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.verify_with(&(), message, tag)
    }
}

impl<C: Cipher<Block = Block>> Metered<Umac<C, 4>> {
    /// Checks the first words of a tag, as [`Umac::verify_prefix`](tagmac::Umac::verify_prefix). A
    /// failure counts only at its grade; a check of all four words is a verification of the whole
    /// tag. The budget must allow lower grades: [`Budget::with_grades`].
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if the words are wrong, [`MeteredVerifyError::Refused`] if
    /// the budget allows no more failures at that grade; then nothing is checked.
    pub fn verify_prefix<'m>(
        &self,
        nonce: &UmacNonce,
        message: impl Into<Bits<'m>>,
        tag: &Tag,
        grade: Assurance,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying_prefix(message, grade, |mac, message| {
            mac.verify_prefix(nonce, message, tag, grade)
        })
    }
}
