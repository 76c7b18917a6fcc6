//! Budgets: limits on a key's use.

use tagmac_bounds::{BoundError, Theorem, per_key, umac};

use super::{MeterError, Usage};

/// Names of the counts at each lower grade.
const GRADED: [&str; 3] =
    ["failed checks of one word", "failed checks of two words", "failed checks of three words"];

/// Limits on the use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The theorem that bounds the MAC and defines the number of blocks of a message. `None` if no
    /// theorem does: then blocks of 16 bytes are counted.
    pub theorem: Option<Theorem>,
    /// The maximum length of a message in bytes; longer ones are refused.
    pub length: u64,
    /// The maximum number of messages to tag.
    pub messages: u64,
    /// The maximum number of blocks in all messages; an empty message counts as one.
    pub blocks: u64,
    /// The maximum number of failed verifications of whole tags.
    pub failures: u64,
    /// The maximum number of failed checks of a tag's first one, two or three words, see
    /// [`with_grades`](Budget::with_grades). With 0, that grade is refused.
    pub graded: [u64; 3],
}

impl Budget {
    /// The budget that keeps the probability of a forgery within `probability` by the number of
    /// messages, and again by the number of failures; so both together keep it within twice that.
    /// Messages have at most `length` bytes, in any mix of lengths.
    ///
    /// A larger `length` allows fewer messages for PMAC, fewer failures for Poly1305-AES, and
    /// possibly fewer messages for UMAC99-MMX. For UMAC99-MMX, it also allows fewer failures under
    /// counted nonces. Its failures under random nonces, and PMAC's failures, depend on the length,
    /// but not monotonically. The other MACs' budgets do not depend on it.
    ///
    /// This is for one key. If an attacker sees the tags of many keys, see
    /// [`for_keys`](Budget::for_keys). For a MAC that needs nonces, the theorem defines how they
    /// are generated.
    ///
    /// PMAC's bound is sigma min(3 q, sigma + 1) / 2^n for q messages of sigma blocks in total.
    /// This budget assumes that all messages have `length` bytes. If most are shorter, choose other
    /// numbers of messages and blocks for which [`pmac::prf`](tagmac_bounds::pmac::prf) stays
    /// within the probability, and a number of failures that stays within it when multiplied by
    /// [`pmac::attempt`](tagmac_bounds::pmac::attempt).
    ///
    /// ```
    /// use tagmac_any::bounds::{Theorem, pmac};
    /// use tagmac_any::meter::Budget;
    /// let (present, probability) = (Theorem::Pmac { n: 64, t: 64 }, 2f64.powi(-32));
    /// let budget = Budget::new(present, 1 << 20, probability)?;
    /// assert_eq!((budget.messages, budget.blocks), (104, 104 << 17));
    /// // One mebibyte in total, in up to 10 000 messages.
    /// let (messages, blocks) = (10_000, 131_072);
    /// assert!(pmac::prf(64, messages.into(), blocks.into())?.at_most(probability));
    /// let budget = Budget { messages, blocks, failures: 2028, ..budget };
    /// # Ok::<(), tagmac_any::bounds::BoundError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BoundError::Probability`] unless `probability` is between 0 and 1, [`BoundError::TooLong`]
    /// for a length over the MAC's limit, and the errors of the theorem's functions.
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

    /// This budget for a receiver that also checks only the first words of UMAC-128's tags, with
    /// [`Umac::verify_prefix`](tagmac::Umac::verify_prefix). Each grade gets the largest number of
    /// failures that keeps the probability that any forgery passes, **at any grade**, within
    /// `probability`; the failures of whole tags are limited to that number too. Below 2^-29.28 the
    /// lower grades get 0, and the budget stays unchanged. The nonces must be counted: random ones
    /// that repeat cost more.
    ///
    /// There is no bound after a forgery whose first word passed. Check each tag that passes a
    /// lower grade as a whole before the next attempt, and stop using the key at the first one that
    /// fails. An attacker who can change the last bytes of a valid tag in transit can thus force
    /// the key to be retired. See [`umac::graded`].
    ///
    /// ```
    /// use tagmac_any::bounds::{NonceKind, Theorem, umac};
    /// use tagmac_any::meter::Budget;
    /// let theorem = Theorem::Umac { t: 128, nonces: NonceKind::Counted };
    /// let whole = Budget::new(theorem, 1500, 2f64.powi(-32))?;
    /// assert_eq!((whole.failures, whole.graded), (u64::MAX, [0; 3]));
    /// // Probability 2^-10 that the first word of any packet passes by chance.
    /// let budget = whole.with_grades(2f64.powi(-10))?;
    /// assert_eq!((budget.failures, budget.graded), (635_993, [635_993; 3]));
    /// assert!(umac::graded(1 << 64, &[635_993; 4])?.at_most(2f64.powi(-10)));
    /// # Ok::<(), tagmac_any::bounds::BoundError>(())
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

    /// The budget of each of `keys` keys, such as those of all devices. Together they keep the
    /// probability that a tag is forged under any of them within `probability`, by messages and
    /// again by failures, and within twice that by both.
    ///
    /// ```
    /// use tagmac_any::bounds::Theorem;
    /// use tagmac_any::meter::Budget;
    /// let (light, probability) = (Theorem::LightMac { n: 128, s: 32, t: 128 }, 2f64.powi(-32));
    /// let (one, each) = (
    ///     Budget::new(light, 1500, probability)?,
    ///     Budget::for_keys(light, 1500, probability, 1 << 20)?,
    /// );
    /// assert_eq!((one.messages.ilog2(), each.messages.ilog2()), (47, 37));
    /// # Ok::<(), tagmac_any::bounds::BoundError>(())
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

    /// The usage that a message of `length` bytes adds.
    #[inline]
    pub(super) fn message(&self, length: u64) -> Usage {
        let blocks = blocks(&self.theorem, length);
        Usage { messages: 1, blocks: blocks.max(1), ..Usage::default() }
    }

    /// The whole budget as usage.
    pub(super) fn all(&self) -> Usage {
        let Budget { messages, blocks, failures, graded, .. } = *self;
        Usage { messages, blocks, failures, graded }
    }

    /// The error for exceeding the budget. Inlined like other error paths near tags: a call would
    /// write through the result's address, which would force every tag into memory.
    #[inline(always)]
    pub(super) fn exhausted(&self, left: Usage, asked: Usage) -> MeterError {
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
    pub(super) fn check_length(&self, found: u64) -> Result<(), MeterError> {
        if found <= self.length {
            return Ok(());
        }
        let (count, budget) = ("bytes of a message", self.length);
        Err(MeterError::BudgetExhausted { count, budget, used: 0, asked: found })
    }
}

/// The number of blocks of a message.
#[inline]
pub(super) fn blocks(theorem: &Option<Theorem>, length: u64) -> u64 {
    match theorem {
        Some(theorem) => u64::try_from(theorem.blocks(length)).unwrap_or(u64::MAX),
        None => length.div_ceil(16),
    }
}
