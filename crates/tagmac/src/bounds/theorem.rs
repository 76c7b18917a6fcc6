//! Which theorem speaks of a MAC, and how much a key may do at a given probability of a forgery.

use super::up::UpperFloat;
use super::{Bound, BoundError, elimac, lightmac, pmac, poly1305, umac};

/// The theorem that bounds a MAC, with the MAC's parameters. n is the bits of the cipher's block,
/// t those of a tag.
///
/// Every MAC of the registry but CMAC and HMAC has one: `dynamic::Algorithm::theorem`.
///
/// ```
/// use tagmac::bounds::Theorem;
/// let present = Theorem::LightMac { n: 64, s: 16, t: 64 };
/// // Of any length, up to that of the counter.
/// assert_eq!(present.messages(384 << 10, 2f64.powi(-32))?, 65535);
/// assert!(present.messages((384 << 10) + 1, 2f64.powi(-32)).is_err());
/// // Tags of 64 bits are guessed with 2^-64.
/// assert_eq!(present.guesses(1500, 2f64.powi(-32))?.ilog2(), 31);
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Theorem {
    /// PMAC, for any mix of lengths: [`pmac`].
    Pmac {
        /// Bits of a block.
        n: u32,
        /// Bits of a tag.
        t: u32,
    },
    /// LightMAC, theorems 1 and 2: [`lightmac`].
    LightMac {
        /// Bits of a block.
        n: u32,
        /// Bits of the counter.
        s: u32,
        /// Bits of a tag.
        t: u32,
    },
    /// EliMAC-AES, corollary 1 and theorem 2, with the paper's eps: [`elimac`].
    EliMacAes {
        /// Bits of a tag.
        t: u32,
    },
    /// RFC 4418, section 6.2: [`umac`].
    Umac {
        /// Bits of a tag: 32, 64, 96 or 128.
        t: u32,
    },
    /// UMAC 1999, theorem 8.2: [`umac`].
    Umac1999 {
        /// The hash collides with a probability of at most 2^-b.
        b: u32,
        /// Bits of a tag.
        t: u32,
    },
    /// Bernstein's guarantee: [`poly1305`].
    Poly1305Aes,
}

/// What is done under a key: messages tagged or tried. The bounds hold for messages of any lengths up
/// to the one here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Messages tagged.
    pub messages: u128,
    /// The most bytes of a message.
    pub length: u64,
    /// Attempts to forge: verifications that failed.
    pub attempts: u128,
}

impl Theorem {
    /// The most bytes of a message that the MAC's definition allows; `u64::MAX` if none is in reach.
    pub fn limit(self) -> u64 {
        let bytes = match self {
            Theorem::LightMac { n, s, .. } => {
                let blocks = 1u128.checked_shl(s).unwrap_or(u128::MAX);
                blocks.saturating_mul(n.saturating_sub(s).into()) / 8
            }
            Theorem::EliMacAes { .. } => (1 << 36) - 1,
            _ => u128::MAX,
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The same with tags of t bits.
    ///
    /// # Errors
    ///
    /// [`BoundError::TagBits`] if there are no such tags; those of UMAC and Poly1305-AES have one
    /// length.
    pub fn with_tag_bits(self, t: u32) -> Result<Theorem, BoundError> {
        let (min, max, with) = match self {
            Theorem::Pmac { n, .. } => (1, n, Theorem::Pmac { n, t }),
            Theorem::LightMac { n, s, .. } => (1, n, Theorem::LightMac { n, s, t }),
            Theorem::EliMacAes { .. } => (1, 128, Theorem::EliMacAes { t }),
            Theorem::Umac { t: own } => (own, own, self),
            Theorem::Umac1999 { b, .. } => (1, 256, Theorem::Umac1999 { b, t }),
            Theorem::Poly1305Aes => (128, 128, self),
        };
        if (min..=max).contains(&t) {
            Ok(with)
        } else {
            Err(BoundError::TagBits { min, max, found: t })
        }
    }

    /// What the load's tags alone give away, without its attempts: the bound on telling them from
    /// random strings (PMAC's bound, LightMAC's theorem 1, EliMAC's corollary 1). The MACs with
    /// nonces have no such theorem; for them this is [`forgery`](Theorem::forgery) with no attempt,
    /// 0 and a term.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] for no message, [`BoundError::TooLong`] for a length over
    /// [`limit`](Theorem::limit), and what the theorem's function refuses.
    pub fn tags(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        let q = load.messages;
        let sigma = q.saturating_mul(self.blocks(load.length));
        match self {
            Theorem::Pmac { n, .. } => pmac::prf(n, q, sigma),
            Theorem::LightMac { n, s, .. } => lightmac::prf(n, s, q, sigma),
            Theorem::EliMacAes { t } => elimac::aes_prf(t, elimac::AES4, q),
            _ => self.forgery(&Workload { attempts: 0, ..*load }),
        }
    }

    /// With what probability one of the load's attempts passes.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] for no message and no attempt, and as [`tags`](Theorem::tags).
    pub fn forgery(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        let (q, v, blocks) = (load.messages, load.attempts, self.blocks(load.length));
        let [with_q, with_v] = [q, v].map(|count| (count, count.saturating_mul(blocks)));
        match self {
            Theorem::Pmac { n, t } => pmac::mac(n, t, with_q, with_v),
            Theorem::LightMac { n, s, t } => lightmac::mac(n, s, t, with_q, with_v),
            Theorem::EliMacAes { t } => elimac::aes_mac(t, elimac::AES4, q, v),
            Theorem::Umac { t } => umac::mac(t, q, v),
            Theorem::Umac1999 { b, t } => umac::mac_1999(b, t, q, v),
            Theorem::Poly1305Aes => poly1305::mac(q, v, load.length),
        }
    }

    /// What the load's attempts alone come to: their number times what one passes with. Without the
    /// messages, and without what PMAC's attempts cost as messages.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] for no attempt, and as [`tags`](Theorem::tags).
    pub fn guessing(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        match self {
            Theorem::Pmac { n, t } => pmac::guesses(n, t, load.attempts),
            _ => self.forgery(&Workload { messages: 0, ..*load }),
        }
    }

    /// The most messages of up to `length` bytes that keep to the probability of a forgery. For the MACs with
    /// nonces, 2^64: more than the theorems speak of.
    ///
    /// # Errors
    ///
    /// [`BoundError::Probability`] unless it is between 0 and 1, and as [`tags`](Theorem::tags).
    pub fn messages(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        let load = |messages| Workload { messages, length, attempts: 0 };
        self.largest(length, probability, |q, probability| {
            let (tags, forgery) = (self.tags(&load(q))?, self.forgery(&load(q))?);
            Ok(tags.value.max(forgery.value) <= probability)
        })
    }

    /// The bytes of the most messages of `length` bytes, see [`messages`](Theorem::messages).
    ///
    /// # Errors
    ///
    /// As [`messages`](Theorem::messages).
    pub fn bytes(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        Ok(self.messages(length, probability)?.saturating_mul(length.into()))
    }

    /// The most failed attempts on messages of up to `length` bytes that keep to the probability of a forgery:
    /// attempts times what one passes with. PMAC's attempts count as messages too, so there are
    /// never more of them than messages.
    ///
    /// # Errors
    ///
    /// As [`messages`](Theorem::messages).
    pub fn guesses(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        let guesses = self.largest(length, probability, |attempts, probability| {
            let load = Workload { messages: 0, length, attempts };
            Ok(self.guessing(&load)?.value <= probability)
        })?;
        match self {
            Theorem::Pmac { .. } => Ok(guesses.min(self.messages(length, probability)?)),
            _ => Ok(guesses),
        }
    }

    /// The largest number for which `fits`, by bisection; it does for all smaller ones.
    fn largest(
        self,
        length: u64,
        probability: f64,
        fits: impl Fn(u128, UpperFloat) -> Result<bool, BoundError>,
    ) -> Result<u128, BoundError> {
        self.check_length(length)?;
        if !(probability > 0.0 && probability < 1.0) {
            return Err(BoundError::Probability { found: probability });
        }
        let probability = UpperFloat::from_f64(probability);
        let (mut low, mut over) = (0, u128::MAX);
        while over - low > 1 {
            let middle = low + (over - low) / 2;
            match fits(middle, probability) {
                Ok(true) => low = middle,
                // Beyond what the theorem speaks of.
                Ok(false) | Err(BoundError::Messages { .. }) => over = middle,
                Err(error) => return Err(error),
            }
        }
        Ok(low)
    }

    /// The blocks of a message: PMAC's, or LightMAC's that go under K1.
    pub(crate) fn blocks(self, length: u64) -> u128 {
        let bits = 8 * length as u128;
        match self {
            Theorem::Pmac { n, .. } => bits.div_ceil(n.max(1).into()).max(1),
            Theorem::LightMac { n, s, .. } => bits / n.saturating_sub(s).max(1) as u128,
            _ => bits.div_ceil(128),
        }
    }

    pub(crate) fn check_length(self, found: u64) -> Result<(), BoundError> {
        let limit = self.limit();
        if found <= limit { Ok(()) } else { Err(BoundError::TooLong { limit, found }) }
    }
}
