//! The theorem for each MAC, and the limits of a key for a probability of a forgery.

use super::umac::Umac1999;
use super::up::UpperFloat;
use super::{Bound, BoundError, MAX_UNDER_NONCES, NonceKind};
use super::{elimac, lightmac, pmac, poly1305, some, umac};

/// The theorem that bounds a MAC, with the MAC's parameters. n is the length in bits of the
/// cipher's block, and t that of a tag.
///
/// Every MAC of the registry except CMAC and HMAC has one: `Algorithm::theorem` of the crate
/// `tagmac-any`.
///
/// ```
/// use tagmac_bounds::Theorem;
/// let present = Theorem::LightMac { n: 64, s: 16, t: 64 };
/// // Messages of any length within the counter's limit.
/// assert_eq!(present.messages(384 << 10, 2f64.powi(-32))?, 65535);
/// assert!(present.messages((384 << 10) + 1, 2f64.powi(-32)).is_err());
/// // Tags of 64 bits are guessed with 2^-64.
/// assert_eq!(present.guesses(1500, 2f64.powi(-32))?.ilog2(), 31);
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Theorem {
    /// PMAC, for any mix of lengths: [`pmac`].
    Pmac {
        /// The length of a block in bits.
        n: u32,
        /// The length of a tag in bits.
        t: u32,
    },
    /// LightMAC, theorems 1 and 2: [`lightmac`].
    LightMac {
        /// The length of a block in bits.
        n: u32,
        /// The length of the counter in bits.
        s: u32,
        /// The length of a tag in bits.
        t: u32,
    },
    /// EliMAC-AES, corollary 1 and theorem 2, with the paper's eps: [`elimac`].
    EliMacAes {
        /// The length of a tag in bits.
        t: u32,
    },
    /// RFC 4418, section 6.2: [`umac`].
    Umac {
        /// The length of a tag in bits: 32, 64, 96 or 128.
        t: u32,
        /// The kind of nonces.
        nonces: NonceKind,
    },
    /// UMAC 1999, theorem 8.2: [`umac`].
    Umac1999(Umac1999),
    /// Bernstein's guarantee: [`poly1305`].
    Poly1305Aes {
        /// The kind of nonces.
        nonces: NonceKind,
    },
}

/// The work under a key: the messages that are tagged and attempted. The bounds hold for messages
/// of any length up to `length`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The number of messages tagged.
    pub messages: u128,
    /// The maximum length of a message in bytes.
    pub length: u64,
    /// The number of attempts to forge, that is, of failed verifications.
    pub attempts: u128,
}

impl Theorem {
    /// Returns the maximum length of a message in bytes by the MAC's definition; `u64::MAX` if no
    /// limit is within reach.
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

    /// Returns the theorem for tags of t bits.
    ///
    /// # Errors
    ///
    /// [`BoundError::TagBits`] if the MAC has no such tags. UMAC (RFC 4418) and Poly1305-AES have
    /// one length.
    pub fn with_tag_bits(self, t: u32) -> Result<Theorem, BoundError> {
        let (min, max, with) = match self {
            Theorem::Pmac { n, .. } => (1, n, Theorem::Pmac { n, t }),
            Theorem::LightMac { n, s, .. } => (1, n, Theorem::LightMac { n, s, t }),
            Theorem::EliMacAes { .. } => (1, 128, Theorem::EliMacAes { t }),
            Theorem::Umac { t: own, .. } => (own, own, self),
            Theorem::Umac1999(mac) => {
                let max = match mac.prf {
                    umac::Prf1999::Named => 256,
                    umac::Prf1999::Cbc3 { n, .. } => n,
                };
                (1, max, Theorem::Umac1999(Umac1999 { t, ..mac }))
            }
            Theorem::Poly1305Aes { .. } => (128, 128, self),
        };
        if (min..=max).contains(&t) {
            Ok(with)
        } else {
            Err(BoundError::TagBits { min, max, found: t })
        }
    }

    /// Returns the theorem for another kind of nonces. Nothing changes for a MAC without nonces.
    pub fn with_nonces(self, nonces: NonceKind) -> Theorem {
        match self {
            Theorem::Umac { t, .. } => Theorem::Umac { t, nonces },
            Theorem::Umac1999(mac) => Theorem::Umac1999(Umac1999 { nonces, ..mac }),
            Theorem::Poly1305Aes { .. } => Theorem::Poly1305Aes { nonces },
            _ => self,
        }
    }

    /// Returns the kind of nonces; `None` for a MAC without nonces.
    pub fn nonces(self) -> Option<NonceKind> {
        match self {
            Theorem::Umac { nonces, .. } | Theorem::Poly1305Aes { nonces } => Some(nonces),
            Theorem::Umac1999(mac) => Some(mac.nonces),
            _ => None,
        }
    }

    /// Returns the bound for the load's tags, without its attempts: the advantage of distinguishing
    /// untruncated tags from random strings (PMAC's bound, LightMAC's theorem 1, EliMAC's corollary
    /// 1). The MACs with nonces have no such theorem. For them this is
    /// [`forgery`](Theorem::forgery) without attempts: the cost of repeated nonces, and for UMAC
    /// 1999 of the PRF if it is a number.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] for 0 messages, [`BoundError::TooLong`] for a length over
    /// [`limit`](Theorem::limit), and the errors of the theorem's function.
    pub fn tags(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        let q = load.messages;
        let sigma = q.saturating_mul(self.blocks(load.length));
        match self {
            Theorem::Pmac { n, .. } => pmac::prf(n, q, sigma),
            Theorem::LightMac { n, s, .. } => lightmac::prf(n, s, q, sigma),
            // Truncated tags are computed from whole ones, so they reveal no more.
            Theorem::EliMacAes { .. } => elimac::aes_prf(128, elimac::AES4, q),
            _ => self.forgery(&Workload { attempts: 0, ..*load }),
        }
    }

    /// Returns the probability that one of the load's attempts passes.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] without messages and attempts, and as [`tags`](Theorem::tags).
    pub fn forgery(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        let (q, v, length) = (load.messages, load.attempts, load.length);
        let [with_q, with_v] = [q, v].map(|n| (n, n.saturating_mul(self.blocks(length))));
        match self {
            Theorem::Pmac { n, t } => pmac::mac(n, t, with_q, v, self.blocks(length)),
            Theorem::LightMac { n, s, t } => lightmac::mac(n, s, t, with_q, with_v),
            Theorem::EliMacAes { t } => elimac::aes_mac(t, elimac::AES4, q, v),
            Theorem::Umac { t, nonces } => umac::mac(t, q, v, nonces),
            Theorem::Umac1999(mac) => umac::mac_1999(&mac, length, q, v),
            Theorem::Poly1305Aes { nonces } => poly1305::mac(q, v, length, nonces),
        }
    }

    /// Returns the part of the load's attempts: their number times the probability of one after the
    /// load's messages. [`forgery`](Theorem::forgery) is at most the sum of this and the part of
    /// the messages.
    ///
    /// # Errors
    ///
    /// [`BoundError::Nothing`] for 0 attempts, and as [`tags`](Theorem::tags).
    pub fn guessing(self, load: &Workload) -> Result<Bound, BoundError> {
        self.check_length(load.length)?;
        let attempts = UpperFloat::from(some(load.attempts)?);
        let value = attempts.times(self.each(load.messages, load.length)?);
        Ok(Bound { value, ..self.forgery(load)? })
    }

    /// The probability that an attempt passes after q messages of up to `length` bytes.
    pub(super) fn each(self, q: u128, length: u64) -> Result<UpperFloat, BoundError> {
        match self {
            Theorem::Pmac { n, t } => {
                let blocks = self.blocks(length);
                pmac::each(n, t, (q, q.saturating_mul(blocks)), blocks)
            }
            Theorem::LightMac { n, t, .. } => lightmac::each(n, t),
            Theorem::EliMacAes { t } => elimac::aes_each(t, elimac::AES4, q),
            Theorem::Umac { t, .. } => umac::each(t, q),
            Theorem::Umac1999(mac) => mac.each(length, q),
            Theorem::Poly1305Aes { .. } => poly1305::each(q, length),
        }
    }

    /// Returns the maximum number of messages of up to `length` bytes within a probability of a
    /// forgery. For the MACs with nonces it is at most 2^64. UMAC of RFC 4418 and Poly1305-AES have
    /// pads from a permutation, and their bounds rise steeply beyond that. An attempt is up to 1.65
    /// times as likely to pass after 2^64 messages, 7.4 times after 2^65, 2^11.5 after 2^66, 2^46
    /// after 2^67. The UMAC of 1999 has no more nonces.
    ///
    /// For several keys, pass [`per_key`](super::per_key) of the probability for all of them.
    ///
    /// # Errors
    ///
    /// [`BoundError::Probability`] unless it is between 0 and 1, and as [`tags`](Theorem::tags).
    pub fn messages(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        let load = |messages| Workload { messages, length, attempts: 0 };
        let nonces = self.nonces().is_some();
        self.largest(length, probability, |q, probability| {
            if nonces && q > MAX_UNDER_NONCES {
                return Ok(false);
            }
            let tags = self.tags(&load(q))?.value;
            // For a MAC with nonces the two are the same.
            let forgery = if nonces { tags } else { self.forgery(&load(q))?.value };
            Ok(tags.max(forgery) <= probability)
        })
    }

    /// Returns the number of bytes in the maximum number of messages of `length` bytes, see
    /// [`messages`](Theorem::messages).
    ///
    /// # Errors
    ///
    /// As [`messages`](Theorem::messages).
    pub fn bytes(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        Ok(self.messages(length, probability)?.saturating_mul(length.into()))
    }

    /// Returns the maximum number of failed attempts within a probability of a forgery, on messages
    /// of up to `length` bytes, after the maximum number of [`messages`](Theorem::messages). For
    /// UMAC (RFC 4418) and Poly1305-AES it is after 2^64 messages. The attempts count with the
    /// probability of one attempt, so using up both limits at most doubles the probability.
    ///
    /// # Errors
    ///
    /// As [`messages`](Theorem::messages).
    pub fn guesses(self, length: u64, probability: f64) -> Result<u128, BoundError> {
        let messages = match self {
            // Bernstein's factor is always that of the maximum number of messages, even if random
            // nonces allow fewer.
            Theorem::Umac { .. } | Theorem::Poly1305Aes { .. } => MAX_UNDER_NONCES,
            _ => self.messages(length, probability)?,
        };
        let each = self.each(messages, length)?;
        self.largest(length, probability, |attempts, probability| {
            Ok(UpperFloat::from(attempts).times(each) <= probability)
        })
    }

    /// The largest number for which `fits` holds, by bisection. It must hold for all smaller
    /// numbers.
    pub(super) fn largest(
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
        let fits = |count| fits(count, probability);
        // First find the power of 2, so that small numbers need few steps.
        let (mut bits, mut over_bits) = (0, 129);
        while over_bits - bits > 1 {
            let middle = (bits + over_bits) / 2;
            if fits(1 << (middle - 1))? { bits = middle } else { over_bits = middle }
        }
        let (mut low, mut over) = match bits {
            0 => return Ok(0),
            bits => (1 << (bits - 1), 1u128.checked_shl(bits).unwrap_or(u128::MAX)),
        };
        while over - low > 1 {
            let middle = low + (over - low) / 2;
            if fits(middle)? { low = middle } else { over = middle }
        }
        Ok(low)
    }

    /// Returns the number of blocks of a message of `length` bytes: PMAC's blocks, LightMAC's
    /// blocks under K1, or blocks of 16 bytes.
    #[inline]
    pub fn blocks(&self, length: u64) -> u128 {
        // A meter asks for each message, so by a division of 64 bits where that is possible.
        fn divided(length: u64, bits: u32) -> (u128, bool) {
            let bits = u64::from(bits.max(1));
            match length.checked_mul(8) {
                Some(all) => ((all / bits).into(), all % bits != 0),
                None => {
                    let (all, bits) = (8 * u128::from(length), u128::from(bits));
                    (all / bits, all % bits != 0)
                }
            }
        }
        match *self {
            // Most often, so by a shift and without a call.
            Theorem::Pmac { n: 128, .. } => length.div_ceil(16).max(1).into(),
            Theorem::Pmac { n, .. } => {
                let (whole, has_rest) = divided(length, n);
                (whole + u128::from(has_rest)).max(1)
            }
            Theorem::LightMac { n, s, .. } => divided(length, n.saturating_sub(s)).0,
            Theorem::EliMacAes { .. }
            | Theorem::Umac { .. }
            | Theorem::Umac1999(_)
            | Theorem::Poly1305Aes { .. } => length.div_ceil(16).into(),
        }
    }

    /// Refuses messages that are longer than the MAC allows.
    ///
    /// # Errors
    ///
    /// [`BoundError::TooLong`].
    pub fn check_length(self, found: u64) -> Result<(), BoundError> {
        let limit = self.limit();
        if found <= limit { Ok(()) } else { Err(BoundError::TooLong { limit, found }) }
    }
}
