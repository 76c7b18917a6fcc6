//! A MAC that counts what its key has done and refuses to exceed a budget.
//!
//! It counts messages, their blocks (PMAC), and failed verifications, by grade where a receiver checks
//! the first words of UMAC-128's tags ([`Budget::with_grades`]). [`Budget::new`] takes the limits
//! from a theorem and the probability of a forgery that you accept. A call that would exceed the budget is
//! refused before it tags or verifies.
//!
//! **Store the usage** where nobody can roll it back, like a nonce counter: restoring an old value
//! lets the key exceed its budget. Store it before you use it: a crash after a tag would lose what was
//! counted since the last save. [`Metered::reserve`] counts messages in advance, so save the usage
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
//! // 1000 messages of 10 MiB in all: counted, saved, and only then tagged.
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
//! The sender of packets holds a key, the nonces under it and a budget: a metered
//! [`NonceSequence`]. One call gives nonce and tag, and takes no lock. [`Session`](crate::Session) does the same for
//! any MAC, and saves and restores its state.
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
//! The budget belongs to the key: all processes that share a key share its budget. Divide it between
//! them (lower the fields of [`Budget`], so that their sums stay within it), or let one process count.

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

/// A MAC under a key that keeps to a budget. Share it between threads by reference.
///
/// `M` is a [`Mac`] or a [`NonceSequence`]; for any MAC of the registry there is [`Session`](crate::Session). Tags and
/// verdicts are those of the MAC.
pub struct Metered<M> {
    mac: M,
    budget: Budget,
    /// Checks of first words that failed when a budget before this one allowed them.
    kept: [u64; 3],
    used: Mutex<Used>,
}

struct Used {
    /// What is left of the budget.
    left: Usage,
    /// What is not in it any more, and not yet tagged.
    reserve: Usage,
}

impl Used {
    /// Counts, from the reserve first.
    #[inline]
    fn count(&mut self, budget: &Budget, more: Usage) -> Result<(), MeterError> {
        let rest = Usage {
            messages: more.messages.saturating_sub(self.reserve.messages),
            blocks: more.blocks.saturating_sub(self.reserve.blocks),
            ..more
        };
        let Some(left) = self.left.checked_less(rest) else {
            return Err(budget.exhausted(self.left, rest));
        };
        *self = Used { left, reserve: self.reserve.less(more.less(rest)) };
        Ok(())
    }
}

impl<M> fmt::Debug for Metered<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metered({})", self.usage())
    }
}

/// Why a verification gave no "yes".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeteredVerifyError {
    /// The tag is wrong, and this was counted.
    Mismatch,
    /// It was not tried: [`MeterError::BudgetExhausted`].
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
    /// The MAC with what its key has done so far; `Usage::default()` for a new key. Where the budget allows
    /// no checks of first words, those that failed under another budget stay counted, and what that one accepted
    /// comes on top of this one's probability.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if more was done than the budget allows.
    pub fn new(mac: M, budget: Budget, usage: Usage) -> Result<Metered<M>, MeterError> {
        // One forged packet must not end a session that is restored without leave to check first words.
        let kept = array::from_fn(|i| if budget.graded[i] == 0 { usage.graded[i] } else { 0 });
        let counted = usage.less(Usage { graded: kept, ..Usage::default() });
        let mut used = Used { left: budget.all(), reserve: Usage::default() };
        used.count(&budget, counted)?;
        Ok(Metered { mac, budget, kept, used: Mutex::new(used) })
    }

    /// What the key has done, reserves counted.
    pub fn usage(&self) -> Usage {
        let kept = Usage { graded: self.kept, ..Usage::default() };
        self.with(|used| self.budget.all().less(used.left)).plus(kept)
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The MAC, which does not count.
    pub fn mac(&self) -> &M {
        &self.mac
    }

    /// Counts `messages` messages of `bytes` bytes in total in advance. The tags that follow use up
    /// this reserve. What is left when the meter is dropped stays counted.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not have it; then nothing is counted.
    pub fn reserve(&self, messages: u64, bytes: u64) -> Result<(), MeterError> {
        // Each message may have one more block than its bytes fill.
        let blocks = blocks(&self.budget.theorem, bytes);
        let blocks = messages.saturating_add(blocks);
        self.reserve_usage(Usage { messages, blocks, ..Usage::default() })
    }

    /// As [`reserve`](Metered::reserve), for messages of any lengths within the budget's. Blocks are
    /// those of the longest where the theorem counts them, and else one for each.
    pub(crate) fn reserve_longest(&self, messages: u64) -> Result<(), MeterError> {
        let blocks = match self.budget.theorem {
            Some(Theorem::Pmac { .. }) => self.budget.message(self.budget.length).blocks,
            _ => 1,
        };
        let blocks = messages.saturating_mul(blocks);
        self.reserve_usage(Usage { messages, blocks, ..Usage::default() })
    }

    /// What is reserved and not used yet.
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

    /// Counts, from the reserve first.
    fn count(&self, more: Usage) -> Result<(), MeterError> {
        self.with(|used| used.count(&self.budget, more))
    }

    /// Counts a message, without a lock, and gives what tags it. What the budget does not have is not
    /// counted.
    #[inline(always)]
    pub(crate) fn count_message(&mut self, bytes: usize) -> Result<&mut M, MeterError> {
        let length = bytes as u64;
        self.budget.check_length(length)?;
        let used = self.used.get_mut().unwrap_or_else(PoisonError::into_inner);
        used.count(&self.budget, self.budget.message(length))?;
        Ok(&mut self.mac)
    }

    /// A panic elsewhere leaves the counts whole: each change is the last that its closure does.
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
        // What the MAC refuses stays counted.
        Ok(tag(&self.mac, message)?)
    }

    /// A failure is counted before it is known, and taken back if it was none: threads that verify
    /// at once cannot pass the budget together, nor can a crash hide a failure.
    fn verifying(
        &self,
        message: Bits<'_>,
        cost: Usage,
        verify: impl FnOnce(&M, Bits<'_>) -> Result<(), Mismatch>,
    ) -> Result<(), MeteredVerifyError> {
        let length = message.bytes().len() as u64;
        self.budget.check_length(length).map_err(MeteredVerifyError::Refused)?;
        // No reserve has failures, so all of it comes from what is left.
        self.count(cost).map_err(MeteredVerifyError::Refused)?;
        verify(&self.mac, message).map_err(|Mismatch| MeteredVerifyError::Mismatch)?;
        self.with(|used| used.left = used.left.plus(cost));
        Ok(())
    }

    /// A verification by another MAC of the same key.
    pub(crate) fn verifying_by<'m>(
        &self,
        mac: &AnyMac,
        nonce: &[u8],
        message: impl Into<Bits<'m>>,
        tag: &Tag,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying(message.into(), Usage::FAILURE, |_, message| mac.verify(nonce, message, tag))
    }

    /// A check of a tag's first words.
    pub(crate) fn verifying_prefix<'m>(
        &self,
        message: impl Into<Bits<'m>>,
        grade: Assurance,
        verify: impl FnOnce(&M, Bits<'_>) -> Result<(), Mismatch>,
    ) -> Result<(), MeteredVerifyError> {
        self.verifying(message.into(), Usage::failed_grade(grade), verify)
    }

    /// Takes another budget for the same key.
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
    /// The tag of a message under the next nonce, and that nonce. What the budget does not have uses
    /// up no nonce.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not have the message; then nothing is
    /// tagged. [`MeterError::Mac`] as [`NonceSequence::tag`], after the count.
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
    /// The tag of a message under a nonce; `&()` for a deterministic MAC.
    ///
    /// # Errors
    ///
    /// [`MeterError::BudgetExhausted`] if the budget does not have the message; then nothing is tagged.
    /// [`MeterError::Mac`] comes after the count.
    pub fn tag_with<'m>(
        &self,
        nonce: &M::Nonce,
        message: impl Into<Bits<'m>>,
    ) -> Result<Tag, MeterError> {
        self.tagging(message.into(), |mac, message| mac.tag_with(nonce, message))
    }

    /// Checks a tag in constant time.
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if it is wrong, [`MeteredVerifyError::Refused`] if the budget has no failure
    /// left; then nothing is verified.
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
    /// As [`tag_with`](Metered::tag_with), without a nonce.
    ///
    /// # Errors
    ///
    /// As [`tag_with`](Metered::tag_with).
    pub fn tag<'m>(&self, message: impl Into<Bits<'m>>) -> Result<Tag, MeterError> {
        self.tag_with(&(), message)
    }

    /// As [`verify_with`](Metered::verify_with), without a nonce.
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
    /// Checks the first words of a tag, as [`Umac::verify_prefix`](tagmac::Umac::verify_prefix). What
    /// fails counts at its grade, and nowhere else; checks of all four words are verifications of whole
    /// tags. The budget has to allow lower grades: [`Budget::with_grades`].
    ///
    /// # Errors
    ///
    /// [`MeteredVerifyError::Mismatch`] if it is wrong, [`MeteredVerifyError::Refused`] if the budget
    /// has no failure left at that grade; then nothing is checked.
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
