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
//! use tagmac::bounds::Theorem;
//! use tagmac::meter::{Budget, Metered, Usage};
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
//! [`NonceSequence`]. One call gives nonce and tag, and takes no lock. `dynamic::Session` does the same for
//! any MAC, and saves and restores its state.
//!
//! ```
//! use tagmac::bounds::{NonceKind, Theorem};
//! use tagmac::meter::{Budget, Metered, Usage};
//! use tagmac::{Mac, NonceSequence, Umac64};
//!
//! let mac = Umac64::new(&[7; 16]);
//! let theorem = Theorem::Umac { t: 64, nonces: NonceKind::Counted };
//! let budget = Budget::new(theorem, 1 << 16, 2f64.powi(-32))?;
//! let mut session = Metered::new(NonceSequence::new(&mac, 8)?, budget, Usage::default())?;
//! let (nonce, tag) = session.tag(b"packet")?;
//! assert!(mac.verify_with(&nonce, b"packet", &tag).is_ok());
//! assert_eq!(session.usage().messages, 1);
//! // After each tag, save this nonce and the usage, before you send the tag.
//! let next = session.mac().peek()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The budget belongs to the key: all processes that share a key share its budget. Divide it between
//! them (lower the fields of [`Budget`], so that their sums stay within it), or let one process count.

use core::ops::Deref;
use core::{array, fmt};
use std::sync::{Mutex, PoisonError};

use crate::algo::{Assurance, Umac, UmacNonce};
use crate::bits::Bits;
use crate::bounds::{BoundError, Theorem, per_key, umac};
use crate::cipher::Cipher;
use crate::construction::Construction;
#[cfg(feature = "dynamic")]
use crate::dynamic::AnyMac;
use crate::error::{Error, Mismatch, holds_mac_error};
use crate::isa::Block;
use crate::mac::Mac;
use crate::sequence::NonceSequence;
use crate::tag::Tag;

/// A call that a meter refuses, or usage that it cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeterError {
    /// A key has no budget left for what is asked of it.
    BudgetExhausted {
        /// What is counted.
        count: &'static str,
        /// The most of them.
        budget: u64,
        /// Those there were.
        used: u64,
        /// Those asked for now.
        asked: u64,
    },
    /// Saved usage has the wrong number of bytes.
    UsageBytes {
        /// The bytes that it has.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// Saved usage does not begin with the magic bytes of this version.
    UsageMagic,
    /// Saved usage has fewer blocks than messages.
    UsageBlocks {
        /// The messages given.
        messages: u64,
        /// The blocks given.
        blocks: u64,
    },
    /// What the MAC refuses.
    Mac(Error),
}

impl fmt::Display for MeterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MeterError::BudgetExhausted { count, budget, used: 0, asked } => {
                write!(f, "expected at most {budget} {count} under this key, found {asked}")
            }
            MeterError::BudgetExhausted { count, budget, used, asked } => write!(
                f,
                "expected at most {budget} {count} under this key, found {used} and {asked} more: take a new key"
            ),
            MeterError::UsageBytes { expected, found } => {
                write!(f, "expected {expected} bytes of saved usage, found {found}")
            }
            MeterError::UsageMagic => f.write_str(
                "expected saved usage that begins with 'tagmacU3', found something else",
            ),
            MeterError::UsageBlocks { messages, blocks } => write!(
                f,
                "expected a block or more for each of {messages} messages, found {blocks}"
            ),
            MeterError::Mac(ref error) => error.fmt(f),
        }
    }
}

holds_mac_error!(MeterError);

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The theorem that bounds the MAC, and says how many blocks a message has. `None` for a MAC that none
    /// bounds: blocks of 16 bytes are counted.
    pub theorem: Option<Theorem>,
    /// The longest message in bytes; longer ones are refused.
    pub length: u64,
    /// The most messages that may be tagged.
    pub messages: u64,
    /// The most blocks in all of them; an empty message counts as one.
    pub blocks: u64,
    /// The most verifications of whole tags that may fail.
    pub failures: u64,
    /// The most checks of the first one, two or three words of a tag that may fail, see
    /// [`with_grades`](Budget::with_grades). With 0 that grade is refused.
    pub graded: [u64; 3],
}

impl Budget {
    /// What a key may do while its messages, and its failures, each by itself keep a forgery to at most this
    /// probability; both together, to at most twice that. Messages have at most `length` bytes, in any mix of
    /// lengths. The longer messages may be, the fewer messages PMAC has, and the fewer failures Poly1305-AES.
    /// UMAC99-MMX may have fewer messages. Its failures under counted nonces fall. Its failures under random nonces,
    /// and PMAC's, depend on the length, but neither fall nor grow with it throughout. The length does not matter to
    /// the other MACs.
    ///
    /// This is for one key. Where an attacker sees the tags of many keys, see
    /// [`for_keys`](Budget::for_keys). For a MAC with nonces the theorem says how they are made.
    ///
    /// PMAC's bound is sigma min(3 q, sigma + 1) / 2^n for q messages of sigma blocks, and this
    /// budget is for messages that all have `length` bytes. Where most are shorter, other numbers of
    /// messages and blocks may serve better: take any for which [`pmac::prf`](crate::bounds::pmac::prf) keeps
    /// to the probability, and failures for which failures times
    /// [`pmac::attempt`](crate::bounds::pmac::attempt) does.
    ///
    /// ```
    /// use tagmac::bounds::{Theorem, pmac};
    /// use tagmac::meter::Budget;
    /// let (present, probability) = (Theorem::Pmac { n: 64, t: 64 }, 2f64.powi(-32));
    /// let budget = Budget::new(present, 1 << 20, probability)?;
    /// assert_eq!((budget.messages, budget.blocks), (104, 104 << 17));
    /// // One megabyte in all, in up to 10 000 messages.
    /// let (messages, blocks) = (10_000, 131_072);
    /// assert!(pmac::prf(64, messages.into(), blocks.into())?.at_most(probability));
    /// let budget = Budget { messages, blocks, failures: 2028, ..budget };
    /// # Ok::<(), tagmac::bounds::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BoundError::Probability`] unless it is between 0 and 1, [`BoundError::TooLong`] for a length
    /// over the MAC's limit, and what the theorem's functions refuse.
    pub fn new(theorem: Theorem, length: u64, probability: f64) -> Result<Budget, BoundError> {
        theorem.check_length(length)?;
        let small = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
        let messages = theorem.messages(length, probability)?;
        let failures = theorem.guesses(length, probability)?;
        let blocks = match theorem {
            Theorem::Pmac { .. } => messages.saturating_mul(theorem.blocks(length)),
            _ => u128::MAX,
        };
        let [messages, blocks, failures] = [messages, blocks, failures].map(small);
        let theorem = Some(theorem);
        Ok(Budget { theorem, length, messages, blocks, failures, graded: [0; 3] })
    }

    /// This budget for a receiver that also checks the first words of UMAC-128's tags,
    /// [`Umac::verify_prefix`](crate::Umac::verify_prefix). Each grade gets as many failures as keep the
    /// probability that a forger's attempt ever passes **at any grade** to this one; of whole tags, at most as
    /// many may fail. Below 2^-29.28 there are none for the lower grades, and the budget stays as it is. Nonces
    /// count: random ones that repeat cost more.
    ///
    /// What follows a first word that passed has no bound: check each tag that passes a lower grade whole
    /// before the next attempt, and end the key at the first that fails there. Whoever can change the last bytes
    /// of a right tag on its way can end the key so. See
    /// [`umac::graded`].
    ///
    /// ```
    /// use tagmac::bounds::{NonceKind, Theorem, umac};
    /// use tagmac::meter::Budget;
    /// let theorem = Theorem::Umac { t: 128, nonces: NonceKind::Counted };
    /// let whole = Budget::new(theorem, 1500, 2f64.powi(-32))?;
    /// assert_eq!((whole.failures, whole.graded), (u64::MAX, [0; 3]));
    /// // 2^-10 for a first word, of some packet, that passes by chance.
    /// let budget = whole.with_grades(2f64.powi(-10))?;
    /// assert_eq!((budget.failures, budget.graded), (635_993, [635_993; 3]));
    /// assert!(umac::graded(1 << 64, &[635_993; 4])?.at_most(2f64.powi(-10)));
    /// # Ok::<(), tagmac::bounds::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BoundError::TagBits`] unless this is a budget of UMAC-128, [`BoundError::Probability`] unless
    /// the probability is between 0 and 1.
    pub fn with_grades(self, probability: f64) -> Result<Budget, BoundError> {
        let found = match self.theorem {
            Some(Theorem::Umac { t: 128, .. }) => None,
            Some(Theorem::Umac { t, .. }) => Some(t),
            _ => Some(0),
        };
        if let Some(found) = found {
            return Err(BoundError::TagBits { min: 128, max: 128, found });
        }
        let each = umac::graded_guesses(probability)?;
        let failures = if each > 0 { self.failures.min(each) } else { self.failures };
        Ok(Budget { failures, graded: [each; 3], ..self })
    }

    /// As [`new`](Budget::new) for each of `keys` keys, such as those of all devices, so that the
    /// probability that a tag is forged under any of them is at most `probability` by messages and by failures
    /// each, and at most twice that by both.
    ///
    /// ```
    /// use tagmac::bounds::Theorem;
    /// use tagmac::meter::Budget;
    /// let (light, probability) = (Theorem::LightMac { n: 128, s: 32, t: 128 }, 2f64.powi(-32));
    /// let (one, each) = (
    ///     Budget::new(light, 1500, probability)?,
    ///     Budget::for_keys(light, 1500, probability, 1 << 20)?,
    /// );
    /// assert_eq!((one.messages.ilog2(), each.messages.ilog2()), (47, 37));
    /// # Ok::<(), tagmac::bounds::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Budget::new) and [`per_key`].
    pub fn for_keys(
        theorem: Theorem,
        length: u64,
        probability: f64,
        keys: u128,
    ) -> Result<Budget, BoundError> {
        Budget::new(theorem, length, per_key(probability, keys)?)
    }

    /// What a message costs.
    #[inline]
    fn message(&self, length: u64) -> Usage {
        let blocks = blocks(&self.theorem, length);
        Usage { messages: 1, blocks: blocks.max(1), ..Usage::default() }
    }

    /// All of it.
    fn all(&self) -> Usage {
        let Budget { messages, blocks, failures, graded, .. } = *self;
        Usage { messages, blocks, failures, graded }
    }

    /// What is not left of it. Inlined, as other errors beside tags: a call would write into the place
    /// of the result, and then no tag could stay out of memory.
    #[inline(always)]
    fn exhausted(&self, left: Usage, asked: Usage) -> MeterError {
        let (count, budget, left, asked) = if asked.messages > left.messages {
            ("messages", self.messages, left.messages, asked.messages)
        } else if asked.blocks > left.blocks {
            ("blocks", self.blocks, left.blocks, asked.blocks)
        } else if asked.failures > left.failures {
            ("failed verifications", self.failures, left.failures, asked.failures)
        } else {
            let over = (0..2).find(|&i| asked.graded[i] > left.graded[i]).unwrap_or(2);
            (GRADED[over], self.graded[over], left.graded[over], asked.graded[over])
        };
        MeterError::BudgetExhausted { count, budget, used: budget - left, asked }
    }

    #[inline]
    fn check_length(&self, found: u64) -> Result<(), MeterError> {
        if found <= self.length {
            return Ok(());
        }
        let (count, budget) = ("bytes of a message", self.length);
        Err(MeterError::BudgetExhausted { count, budget, used: 0, asked: found })
    }
}

/// The blocks of a message.
#[inline]
fn blocks(theorem: &Option<Theorem>, length: u64) -> u64 {
    match theorem {
        Some(theorem) => u64::try_from(theorem.blocks(length)).unwrap_or(u64::MAX),
        None => length.div_ceil(16),
    }
}

/// What is counted at each lower grade.
const GRADED: [&str; 3] =
    ["failed checks of one word", "failed checks of two words", "failed checks of three words"];

/// What a key has done. `Display` says it in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Messages tagged.
    pub messages: u64,
    /// Their blocks in all; an empty message has one.
    pub blocks: u64,
    /// Verifications of whole tags that failed.
    pub failures: u64,
    /// Checks of a tag's first one, two or three words that failed.
    pub graded: [u64; 3],
}

impl Usage {
    /// A failed verification.
    const FAILURE: Usage = Usage { messages: 0, blocks: 0, failures: 1, graded: [0; 3] };

    /// A failed check of a tag's first words; that of all four is a whole verification.
    fn failed_grade(grade: Assurance) -> Usage {
        let mut usage = Usage::default();
        match usage.graded.get_mut(grade.words() - 1) {
            Some(count) => *count = 1,
            None => usage = Usage::FAILURE,
        }
        usage
    }

    /// How saved usage begins.
    const MAGIC: [u8; 8] = *b"tagmacU3";

    /// Bytes of saved usage.
    pub const BYTES: usize = 56;

    /// The usage as 56 bytes: the magic bytes `tagmacU3`, then messages, blocks, failures and those of
    /// one, two and three words as little-endian numbers of 8 bytes.
    pub fn to_bytes(&self) -> [u8; Usage::BYTES] {
        let Usage { messages, blocks, failures, graded: [one, two, three] } = *self;
        let counts = [messages, blocks, failures, one, two, three].map(u64::to_le_bytes);
        let mut bytes = [0; Usage::BYTES];
        bytes[..8].copy_from_slice(&Self::MAGIC);
        bytes[8..].copy_from_slice(counts.as_flattened());
        bytes
    }

    /// The usage that [`to_bytes`](Usage::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`MeterError::UsageBytes`] unless there are 56 bytes, [`MeterError::UsageMagic`] unless they
    /// begin with the magic bytes, [`MeterError::UsageBlocks`] if there are fewer blocks than
    /// messages, which no meter counts.
    pub fn from_bytes(bytes: &[u8]) -> Result<Usage, MeterError> {
        let wrong = MeterError::UsageBytes { expected: Usage::BYTES, found: bytes.len() };
        let bytes: &[u8; Usage::BYTES] = bytes.try_into().map_err(|_| wrong)?;
        let (magic, counts) = bytes.split_at(8);
        if magic != Self::MAGIC {
            return Err(MeterError::UsageMagic);
        }
        let count = |i| u64::from_le_bytes(counts.as_chunks().0[i]);
        let (messages, blocks, failures) = (count(0), count(1), count(2));
        if blocks < messages {
            return Err(MeterError::UsageBlocks { messages, blocks });
        }
        Ok(Usage { messages, blocks, failures, graded: [count(3), count(4), count(5)] })
    }
}

impl Usage {
    #[inline]
    fn less(self, other: Usage) -> Usage {
        Usage {
            messages: self.messages - other.messages,
            blocks: self.blocks - other.blocks,
            failures: self.failures - other.failures,
            graded: array::from_fn(|i| self.graded[i] - other.graded[i]),
        }
    }

    /// Nothing if that would be less than none of something.
    #[inline]
    fn checked_less(self, other: Usage) -> Option<Usage> {
        let fewer = (0..3).any(|i| self.graded[i] < other.graded[i]);
        Some(Usage {
            messages: self.messages.checked_sub(other.messages)?,
            blocks: self.blocks.checked_sub(other.blocks)?,
            failures: self.failures.checked_sub(other.failures)?,
            graded: (!fewer).then(|| array::from_fn(|i| self.graded[i] - other.graded[i]))?,
        })
    }

    fn plus(self, other: Usage) -> Usage {
        Usage {
            messages: self.messages + other.messages,
            blocks: self.blocks + other.blocks,
            failures: self.failures + other.failures,
            graded: array::from_fn(|i| self.graded[i] + other.graded[i]),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { messages, blocks, failures, graded: [one, two, three] } = self;
        write!(f, "{messages} messages, {blocks} blocks, {failures} failed verifications")?;
        if self.graded == [0; 3] {
            return Ok(());
        }
        write!(f, ", {one}, {two} and {three} failed checks of one, two and three words")
    }
}

/// A MAC under a key that keeps to a budget. Share it between threads by reference.
///
/// `M` is a [`Mac`] or a [`NonceSequence`]; for any MAC of the registry there is `dynamic::Session`. Tags and
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
    #[cfg(feature = "dynamic")]
    pub(crate) fn reserve_longest(&self, messages: u64) -> Result<(), MeterError> {
        let blocks = match self.budget.theorem {
            Some(Theorem::Pmac { .. }) => self.budget.message(self.budget.length).blocks,
            _ => 1,
        };
        let blocks = messages.saturating_mul(blocks);
        self.reserve_usage(Usage { messages, blocks, ..Usage::default() })
    }

    /// What is reserved and not used yet.
    #[cfg(feature = "dynamic")]
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
    #[cfg(feature = "dynamic")]
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
    #[cfg(feature = "dynamic")]
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
    pub fn tag<'m>(
        &mut self,
        message: impl Into<Bits<'m>>,
    ) -> Result<(<R::Target as Construction>::Nonce, Tag), MeterError> {
        let message = message.into();
        self.count_message(message.bytes().len())?.tag_or(message)
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
    /// Checks the first words of a tag, as [`Umac::verify_prefix`](crate::Umac::verify_prefix). What
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
