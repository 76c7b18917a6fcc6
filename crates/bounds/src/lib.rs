//! Theorems on the amount that one key may authenticate, as functions. They are from the papers, or
//! from `docs/design/theory.md` where a paper's theorem is weaker or does not hold (PMAC, EliMAC
//! and others).
//!
//! A theorem bounds the success of an attacker who has tags under a key: the probability to
//! distinguish them from random strings, or to forge. The bound has two parts. One is
//! information-theoretic, a formula in the numbers of messages, blocks and attempts; it is the
//! value of a [`Bound`]. The other is the advantage of distinguishing the cipher from a random
//! permutation with a given number of queries. It is unknown, so it remains a named [`Term`].
//!
//! ```
//! use tagmac_bounds::{Workload, Theorem, pmac};
//! // 2^20 messages of 2^40 blocks in all, under PMAC-AES128.
//! let bound = pmac::prf(128, 1 << 20, 1 << 40)?;
//! assert_eq!(bound.to_string(), "2^-66.41 + Adv^prp_E(2^40)");
//!
//! // The number of messages of up to 1 MiB for a probability of a forgery of at most 2^-32.
//! let theorem = Theorem::Pmac { n: 128, t: 128 };
//! let messages = theorem.messages(1 << 20, 2f64.powi(-32))?;
//! assert_eq!(messages.ilog2(), 39);
//! let load = Workload { messages, length: 1 << 20, attempts: 0 };
//! assert!(theorem.tags(&load)?.at_most(2f64.powi(-32)));
//! # Ok::<(), tagmac_bounds::BoundError>(())
//! ```
//!
//! | MAC | bound on tags | probability of each attempt | from |
//! |---|---|---|---|
//! | [`pmac`] | sigma min(3 q, sigma + 1) / 2^n | 2^-t and about (k + 1) (8 l + min(q, l v)) / 2^n | `docs/design/theory.md`, "PMAC's bound", "PMAC's attempts" |
//! | [`lightmac`] | about q^2 / 2^n | about 2^-t | LightMAC, theorems 1 and 2 |
//! | [`elimac`] | C(q, 2) (e + 2^-128) | 2^(128-t) / (2^128 - q) + k e | EliMAC, corollary 1, theorem 2; `docs/design/theory.md` |
//! | [`umac`], RFC 4418 | 0, or C(q, 2) / 2^b | 2^-30 for each 32 bits, times delta | RFC 4418, section 6.2; Bernstein |
//! | [`umac`] of 1999 | 0, or C(q, 2) 2^-b eps; and CBC3's | m eps + 2^-tau | UMAC 1999, theorem 8.2; `docs/design/theory.md` |
//! | [`poly1305`] | 0, or C(q, 2) / 2^b | 8 ceil(L/16) delta / 2^106 | Bernstein's slides |
//!
//! q messages have sigma blocks in all, or at most L bytes each; tags have t bits. l is the maximum
//! number of blocks of a message, v is about n (l + 1) / (n - log2(2 q l^2)). Random nonces have b
//! bits ([`NonceKind`]); counted nonces add nothing. delta is the cost of pads from a permutation,
//! 1.65 after 2^64 messages. k and m are the number of messages that share a truncated tag or a
//! nonce: about 1 to 3 at the limits for 2^-32, unless tags or nonces are short. Every bound holds
//! for any mix of lengths; only those of PMAC and CBC3 depend on the total number of blocks. The
//! probability of an attempt depends on the longest message for PMAC, CBC3 and Poly1305-AES.
//!
//! [`Theorem::leaves`] is the bound for leaf tags, which verify ranges of a content.
//!
//! These bounds are for one key. For several keys, see [`per_key`] and [`Bound::of_keys`].
//!
//! CMAC and HMAC are not included: none of these papers proves a bound for them.
//!
//! **A value is never too small.** Values are rounded upward at every step and are larger than the
//! formulas by less than one part in 2^40. (A long sum of messages under one nonce or one truncated
//! tag is bounded by q or 8 q / 2^b + 130 instead.) Numbers of messages derived from them are
//! therefore never too large.
//!
//! # Limits for a probability
//!
//! Choose the probability of a forgery that you accept, such as 2^-32. [`Theorem`] turns it into
//! limits, and `Budget` of the crate `tagmac-any` into a budget that a `Metered` MAC enforces:
//!
//! - **tags** alone may reach it: the largest number of messages for which two bounds are within
//!   it, the bound on distinguishing tags from random strings and that on forging without an
//!   attempt;
//! - **guesses** alone may reach it: the largest number of failed attempts whose product with the
//!   probability of one attempt, after that number of messages, is within it.
//!
//! Using up both limits at most doubles the probability.
//!
//! The terms of the cipher are not included. For full AES no attack is known that is much better
//! than trying keys.

#![forbid(unsafe_code)]

pub mod elimac;
mod keys;
mod leaves;
pub mod lightmac;
mod nonces;
mod permutation;
pub mod pmac;
pub mod poly1305;
mod theorem;
pub mod umac;
mod up;

use core::fmt;

pub use keys::per_key;
pub use nonces::NonceKind;
pub use theorem::{Theorem, Workload};
use up::UpperFloat;

/// The maximum number of messages under a key for MACs with nonces, which limits
/// [`Theorem::messages`].
const MAX_UNDER_NONCES: u128 = 1 << 64;

/// A bound on an attacker's advantage: a number, plus terms for attacks on the cipher.
///
/// `Display` writes the number as a power of 2 with two decimals, rounded upward, and the terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    value: UpperFloat,
    terms: Vec<Term>,
}

/// `times` times the advantage of distinguishing a primitive from an ideal one with `queries`
/// queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The factor of the advantage.
    pub times: u32,
    /// The ideal: `prp`, a random permutation, `prf`, a random function, or `prg`, random bits.
    pub notion: &'static str,
    /// The primitive: `E`, `E1`, `E2` and `E3` for the cipher under its keys; `AES` for AES and
    /// `AES7` for seven rounds of it; for UMAC 1999 `F`, the PRF, and `KDF`, which derives its
    /// keys. `HMAC-SHA256` makes leaf tags.
    pub primitive: &'static str,
    /// The number of queries under each key; `u128::MAX` also stands for more.
    pub queries: u128,
    /// The number of independent keys. The attacker must distinguish one of them.
    pub keys: u128,
}

impl Bound {
    fn new(value: UpperFloat, mut terms: Vec<Term>) -> Bound {
        terms.retain(|term| term.queries > 0);
        Bound { value, terms }
    }

    /// Returns the information-theoretic part as a logarithm to base 2, rounded upward: by less
    /// than 2^-42 for values from 2^-1024 to 2^1024, and by less than two steps of an `f64` for
    /// others. Minus infinity for 0. A result of 0 or more means that the theorem bounds nothing.
    pub fn log2(&self) -> f64 {
        self.value.log2()
    }

    /// Returns the information-theoretic part, rounded up to an `f64`. It may exceed 1. It is 0 or
    /// at least 2^-1022.
    pub fn value(&self) -> f64 {
        self.value.to_f64()
    }

    /// Returns whether the information-theoretic part is at most `probability`, which must be
    /// positive and finite.
    #[must_use]
    pub fn at_most(&self, probability: f64) -> bool {
        probability > 0.0
            && probability.is_finite()
            && self.value <= UpperFloat::from_f64(probability)
    }

    /// Returns the terms to add for the primitives.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            UpperFloat::ZERO => f.write_str("0")?,
            value => write!(f, "2^{}", hundredths((value.log2() * 100.0).ceil()))?,
        }
        self.terms.iter().try_for_each(|term| write!(f, " + {term}"))
    }
}

impl Term {
    fn prp(primitive: &'static str, queries: u128) -> Term {
        Term { times: 1, notion: "prp", primitive, queries, keys: 1 }
    }
}

/// `3 Adv^prp_AES(2^40)`; the exponent is rounded to two decimals. With several keys `3
/// Adv^prp_AES(2^20 keys, 2^40)`.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.times > 1 {
            write!(f, "{} ", self.times)?;
        }
        write!(f, "Adv^{}_{}(", self.notion, self.primitive)?;
        if self.keys > 1 {
            write!(f, "{} keys, ", power(self.keys))?;
        }
        write!(f, "{})", power(self.queries))
    }
}

/// A number in decimal, or as a power of 2 with two decimals.
fn power(number: u128) -> String {
    match number {
        ..10_000 => number.to_string(),
        _ => format!("2^{}", hundredths(((number as f64).log2() * 100.0).round())),
    }
}

/// A number of hundredths as a decimal, without decimals if it is whole.
fn hundredths(number: f64) -> String {
    let text = format!("{:.2}", number / 100.0);
    text.strip_suffix(".00").unwrap_or(&text).into()
}

/// Parameters to which no theorem applies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoundError {
    /// No messages and no attempts.
    Nothing,
    /// More messages than the theorem allows.
    Messages {
        /// The maximum.
        max: u128,
        /// The number of messages.
        found: u128,
    },
    /// More blocks than the cipher has values.
    Blocks {
        /// The length of a block in bits.
        n: u32,
        /// The number of blocks.
        found: u128,
    },
    /// A message over the limit of the MAC's definition.
    TooLong {
        /// The maximum length in bytes.
        limit: u64,
        /// The length in bytes.
        found: u64,
    },
    /// A probability of a forgery that is not between 0 and 1.
    Probability {
        /// The probability.
        found: f64,
    },
    /// A probability of a collision that is not positive.
    Epsilon {
        /// The probability.
        found: f64,
    },
    /// A block length that is not an even number of bits from 2 to 256.
    BlockBits {
        /// The length in bits.
        found: u32,
    },
    /// No keys.
    NoKeys,
    /// A MAC without leaf tags: it has a nonce.
    NoLeafTags,
    /// A length of random nonces that the MAC does not support.
    NonceBits {
        /// The maximum in bits; 0 if nonces must be counted.
        max: u32,
        /// The length in bits.
        found: u32,
    },
    /// LightMAC does not allow a counter of this length.
    CounterBits {
        /// The maximum in bits: half a block.
        max: u32,
        /// The length in bits.
        found: u32,
    },
    /// The MAC has no tags of this length.
    TagBits {
        /// The minimum in bits.
        min: u32,
        /// The maximum in bits.
        max: u32,
        /// The length in bits.
        found: u32,
    },
}

impl fmt::Display for BoundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BoundError::Nothing => f.write_str("expected at least one message, found 0"),
            BoundError::Messages { max, found } => {
                write!(f, "expected at most {max} messages, found {found}")
            }
            BoundError::Blocks { n, found } => {
                write!(f, "expected at most 2^{n} blocks in two messages, found {found}")
            }
            BoundError::TooLong { limit, found } => {
                write!(f, "expected a message of at most {limit} bytes, found {found}")
            }
            BoundError::Probability { found } => {
                write!(f, "expected a probability between 0 and 1, such as 2^-32, found {found}")
            }
            BoundError::Epsilon { found } => {
                write!(f, "expected a positive probability, found {found}")
            }
            BoundError::BlockBits { found } => {
                write!(f, "expected blocks of an even number of bits, 2 to 256, found {found}")
            }
            BoundError::NoKeys => f.write_str("expected at least one key, found 0"),
            BoundError::NoLeafTags => f.write_str("a MAC with nonces has no leaf tags"),
            BoundError::NonceBits { max: 0, found } => {
                write!(f, "nonces must be counted, found random ones of {found} bits")
            }
            BoundError::NonceBits { max, found } => {
                write!(f, "expected nonces of 1 to {max} bits, found {found}")
            }
            BoundError::CounterBits { max, found } => {
                write!(f, "expected a counter of 1 to {max} bits, found {found}")
            }
            BoundError::TagBits { min, max, found } if min == max => {
                write!(f, "expected tags of {max} bits, found {found}")
            }
            BoundError::TagBits { min, max, found } => {
                write!(f, "expected tags of {min} to {max} bits, found {found}")
            }
        }
    }
}

impl core::error::Error for BoundError {}

fn block_bits(n: u32) -> Result<(), BoundError> {
    if (2..=256).contains(&n) && n.is_multiple_of(2) {
        Ok(())
    } else {
        Err(BoundError::BlockBits { found: n })
    }
}

fn tag_bits(t: u32, max: u32) -> Result<(), BoundError> {
    if (1..=max).contains(&t) { Ok(()) } else { Err(BoundError::TagBits { min: 1, max, found: t }) }
}

/// Returns the number unless it is 0.
fn some(number: u128) -> Result<u128, BoundError> {
    if number > 0 { Ok(number) } else { Err(BoundError::Nothing) }
}
