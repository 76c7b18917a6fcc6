//! What a key may do.

use tagmac_bounds::{BoundError, Theorem, per_key, umac};

use super::{MeterError, Usage};

/// What is counted at each lower grade.
const GRADED: [&str; 3] =
    ["failed checks of one word", "failed checks of two words", "failed checks of three words"];

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
    /// messages and blocks may serve better: take any for which [`pmac::prf`](tagmac_bounds::pmac::prf) keeps
    /// to the probability, and failures for which failures times
    /// [`pmac::attempt`](tagmac_bounds::pmac::attempt) does.
    ///
    /// ```
    /// use tagmac_any::bounds::{Theorem, pmac};
    /// use tagmac_any::meter::Budget;
    /// let (present, probability) = (Theorem::Pmac { n: 64, t: 64 }, 2f64.powi(-32));
    /// let budget = Budget::new(present, 1 << 20, probability)?;
    /// assert_eq!((budget.messages, budget.blocks), (104, 104 << 17));
    /// // One megabyte in all, in up to 10 000 messages.
    /// let (messages, blocks) = (10_000, 131_072);
    /// assert!(pmac::prf(64, messages.into(), blocks.into())?.at_most(probability));
    /// let budget = Budget { messages, blocks, failures: 2028, ..budget };
    /// # Ok::<(), tagmac_any::bounds::BoundError>(())
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
    /// [`Umac::verify_prefix`](tagmac::Umac::verify_prefix). Each grade gets as many failures as keep the
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
    /// use tagmac_any::bounds::{NonceKind, Theorem, umac};
    /// use tagmac_any::meter::Budget;
    /// let theorem = Theorem::Umac { t: 128, nonces: NonceKind::Counted };
    /// let whole = Budget::new(theorem, 1500, 2f64.powi(-32))?;
    /// assert_eq!((whole.failures, whole.graded), (u64::MAX, [0; 3]));
    /// // 2^-10 for a first word, of some packet, that passes by chance.
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

    /// As [`new`](Budget::new) for each of `keys` keys, such as those of all devices, so that the
    /// probability that a tag is forged under any of them is at most `probability` by messages and by failures
    /// each, and at most twice that by both.
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

    /// What a message costs.
    #[inline]
    pub(super) fn message(&self, length: u64) -> Usage {
        let blocks = blocks(&self.theorem, length);
        Usage { messages: 1, blocks: blocks.max(1), ..Usage::default() }
    }

    /// All of it.
    pub(super) fn all(&self) -> Usage {
        let Budget { messages, blocks, failures, graded, .. } = *self;
        Usage { messages, blocks, failures, graded }
    }

    /// What is not left of it. Inlined, as other errors beside tags: a call would write into the place
    /// of the result, and then no tag could stay out of memory.
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

/// The blocks of a message.
#[inline]
pub(super) fn blocks(theorem: &Option<Theorem>, length: u64) -> u64 {
    match theorem {
        Some(theorem) => u64::try_from(theorem.blocks(length)).unwrap_or(u64::MAX),
        None => length.div_ceil(16),
    }
}
