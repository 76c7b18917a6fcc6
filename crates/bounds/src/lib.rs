//! How much one key may authenticate: theorems as functions. They are the papers', or those of
//! `docs/design/theory.md` where a paper's says less or does not hold (PMAC, EliMAC and others).
//!
//! A theorem bounds what an attacker gains from the tags of a key: the probability to tell them from
//! random strings, or to forge. It has two parts. One is information-theoretic, a formula in the
//! numbers of messages, blocks and attempts: that is a [`Bound`]'s value. The other is the
//! advantage of telling the cipher from a random permutation with a given number of queries. Nobody
//! knows it, so it stays a named [`Term`].
//!
//! ```
//! use tagmac_bounds::{Workload, Theorem, pmac};
//! // 2^20 messages of 2^40 blocks in all, under PMAC-AES128.
//! let bound = pmac::prf(128, 1 << 20, 1 << 40)?;
//! assert_eq!(bound.to_string(), "2^-66.41 + Adv^prp_E(2^40)");
//!
//! // How many messages of up to 1 MiB while a forgery has a probability of at most 2^-32?
//! let theorem = Theorem::Pmac { n: 128, t: 128 };
//! let messages = theorem.messages(1 << 20, 2f64.powi(-32))?;
//! assert_eq!(messages.ilog2(), 39);
//! let load = Workload { messages, length: 1 << 20, attempts: 0 };
//! assert!(theorem.tags(&load)?.at_most(2f64.powi(-32)));
//! # Ok::<(), tagmac_bounds::BoundError>(())
//! ```
//!
//! | MAC | tags cost | each attempt passes with | from |
//! |---|---|---|---|
//! | [`pmac`] | sigma min(3 q, sigma + 1) / 2^n | 2^-t and about (k + 1) (8 l + min(q, l v)) / 2^n | `docs/design/theory.md`, "PMAC's bound", "PMAC's attempts" |
//! | [`lightmac`] | about q^2 / 2^n | about 2^-t | LightMAC, theorems 1 and 2 |
//! | [`elimac`] | C(q, 2) (e + 2^-128) | 2^(128-t) / (2^128 - q) + k e | EliMAC, corollary 1, theorem 2; `docs/design/theory.md` |
//! | [`umac`], RFC 4418 | 0, or C(q, 2) / 2^b | 2^-30 for each 32 bits, times delta | RFC 4418, section 6.2; Bernstein |
//! | [`umac`] of 1999 | 0, or C(q, 2) 2^-b eps; and CBC3's | m eps + 2^-tau | UMAC 1999, theorem 8.2; `docs/design/theory.md` |
//! | [`poly1305`] | 0, or C(q, 2) / 2^b | 8 ceil(L/16) delta / 2^106 | Bernstein's slides |
//!
//! q messages have sigma blocks in all, or at most L bytes each; tags have t bits. l is the
//! most blocks of a message, v is about n (l + 1) / (n - log2(2 q l^2)). Random nonces have b bits
//! ([`NonceKind`]); those that count cost nothing.
//! delta is what pads from a permutation cost, 1.65 after 2^64 messages. k and m are the number of messages
//! that share a cut tag or a nonce: about 1 to 3 at the limits for 2^-32, unless tags or nonces are short. Every
//! bound holds for any mix of lengths: only PMAC's and CBC3's count blocks in all. What an attempt passes
//! with depends on the longest message for PMAC, CBC3 and Poly1305-AES.
//!
//! All of this is for one key. For several, see [`per_key`] and [`Bound::of_keys`].
//!
//! CMAC and HMAC are not here: none of these papers proves a bound for them.
//!
//! **A value is never too small.** Values are rounded upward at every step and are larger than the
//! formulas by less than one part in 2^40 (a long sum of messages under one nonce or one cut tag is bounded by q
//! or 8 q / 2^b + 130 instead), so the numbers of messages derived from them are never too large.
//!
//! # Limits for a probability
//!
//! You choose the probability of a forgery that you accept, such as 2^-32. [`Theorem`] turns it into
//! numbers, the crate `tagmac-any`'s `Budget` into what a `Metered` MAC keeps:
//!
//! - **tags** alone may reach it: the largest number of messages for which neither the bound on
//!   telling tags from random strings passes it, nor that on forging with no attempt;
//! - **guesses** alone may reach it: the largest number of failed attempts for which attempts times
//!   what one passes with, after that many messages, does not pass it.
//!
//! Using up both limits at most doubles the probability.
//!
//! The terms of the cipher come on top. For the whole AES nothing much better is known than to try keys.

#![forbid(unsafe_code)]

pub mod elimac;
mod keys;
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

/// The most messages under a key whose tags need nonces: the limit of [`Theorem::messages`].
const MAX_UNDER_NONCES: u128 = 1 << 64;

/// What an attacker gains at most: a number, and what attacks on the cipher add.
///
/// `Display` writes the number as a power of 2 with two decimals, rounded upward, and the terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    value: UpperFloat,
    terms: Vec<Term>,
}

/// The advantage of telling a primitive from an ideal one with `queries` queries, `times` times over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// How often the advantage counts.
    pub times: u32,
    /// From what it is told: `prp`, a random permutation, `prf`, a random function, or `prg`, random bits.
    pub notion: &'static str,
    /// The primitive: `E`, `E1`, `E2` and `E3` for the cipher under its keys, `AES` or `AES7` for AES,
    /// or for that many rounds of it; of UMAC 1999 `F`, the PRF, and `KDF`, which derives its keys.
    pub primitive: &'static str,
    /// The queries to it under each key, or `u128::MAX` for more.
    pub queries: u128,
    /// The number of independent keys, one of which is to be told from the ideal.
    pub keys: u128,
}

impl Bound {
    fn new(value: UpperFloat, mut terms: Vec<Term>) -> Bound {
        terms.retain(|term| term.queries > 0);
        Bound { value, terms }
    }

    /// The information-theoretic part, as a logarithm to base 2, rounded upward: for values from 2^-1024 to
    /// 2^1024 by less than 2^-42, for others by less than two steps of an `f64`. Minus infinity for 0. At 0 and
    /// above the theorem says nothing.
    pub fn log2(&self) -> f64 {
        self.value.log2()
    }

    /// The information-theoretic part as the next `f64`. May be over 1; 2^-1022 at least, unless it
    /// is 0.
    pub fn value(&self) -> f64 {
        self.value.to_f64()
    }

    /// Whether the information-theoretic part is at most a positive finite number.
    #[must_use]
    pub fn at_most(&self, probability: f64) -> bool {
        probability > 0.0
            && probability.is_finite()
            && self.value <= UpperFloat::from_f64(probability)
    }

    /// What is to be added for the primitives.
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

/// `3 Adv^prp_AES(2^40)`; the power is rounded to two decimals. With several keys
/// `3 Adv^prp_AES(2^20 keys, 2^40)`.
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

/// A number as it is, or as a power of 2 with two decimals.
fn power(number: u128) -> String {
    match number {
        ..10_000 => number.to_string(),
        _ => format!("2^{}", hundredths(((number as f64).log2() * 100.0).round())),
    }
}

/// A number of hundredths: whole ones without decimals.
fn hundredths(number: f64) -> String {
    let text = format!("{:.2}", number / 100.0);
    text.strip_suffix(".00").unwrap_or(&text).into()
}

/// What no theorem speaks of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoundError {
    /// No message and no attempt.
    Nothing,
    /// More messages than the theorem has.
    Messages {
        /// The most messages.
        max: u128,
        /// The messages given.
        found: u128,
    },
    /// More blocks than the cipher has values.
    Blocks {
        /// The bits of a block.
        n: u32,
        /// The blocks given.
        found: u128,
    },
    /// A message over the limit of the MAC's definition.
    TooLong {
        /// The most bytes.
        limit: u64,
        /// The bytes given.
        found: u64,
    },
    /// A probability of a forgery that is not between 0 and 1.
    Probability {
        /// The probability given.
        found: f64,
    },
    /// A probability of a collision that is not positive.
    Epsilon {
        /// The number given.
        found: f64,
    },
    /// Blocks have an even number of bits, 2 to 256.
    BlockBits {
        /// The bits given.
        found: u32,
    },
    /// No keys.
    NoKeys,
    /// Random nonces of a length that the MAC does not take.
    NonceBits {
        /// The most bits; 0 where nonces have to be counted.
        max: u32,
        /// The bits given.
        found: u32,
    },
    /// LightMAC has no counter of that length.
    CounterBits {
        /// The most bits: half a block.
        max: u32,
        /// The bits given.
        found: u32,
    },
    /// No such tag length.
    TagBits {
        /// The shortest tag.
        min: u32,
        /// The longest tag.
        max: u32,
        /// The bits given.
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
                write!(f, "expected a message of at most {limit} bytes, found one of {found}")
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
            BoundError::NonceBits { max: 0, found } => {
                write!(f, "expected nonces of a counter, found random ones of {found} bits")
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

/// The number, which must not be 0.
fn some(number: u128) -> Result<u128, BoundError> {
    if number > 0 { Ok(number) } else { Err(BoundError::Nothing) }
}
