//! Kinds of nonces, and the cost of random ones.
//!
//! Of q random nonces of b bits, j + 1 given ones are equal with a probability of 2^-bj. Two of the
//! q are therefore equal with a probability of at most C(q, 2) / 2^b. Some nonce belongs to more
//! than j messages with a probability of at most C(q, j + 1) / 2^(bj).

use super::BoundError;
use super::up::{UpperFloat, pairs};

/// The kind of nonces under a key.
///
/// ```
/// use tagmac_bounds::{NonceKind, Theorem};
/// let counted = Theorem::Poly1305Aes { nonces: NonceKind::Counted };
/// let random = counted.with_nonces(NonceKind::Random { bits: 128 });
/// assert_eq!(counted.messages(1500, 2f64.powi(-32))?.ilog2(), 64);
/// assert_eq!(random.messages(1500, 2f64.powi(-32))?.ilog2(), 48);
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceKind {
    /// A counter: nonces never repeat.
    Counted,
    /// Drawn at random, independently and uniformly.
    Random {
        /// The length of a nonce in bits.
        bits: u32,
    },
}

impl NonceKind {
    /// Refuses nonces of 0 bits or of more than `max`.
    pub(super) fn check(self, max: u32) -> Result<(), BoundError> {
        match self {
            NonceKind::Random { bits } if !(1..=max).contains(&bits) => {
                Err(BoundError::NonceBits { max, found: bits })
            }
            _ => Ok(()),
        }
    }

    /// An upper bound on the expected number of pairs of messages under one nonce.
    pub(super) fn equal_pairs(self, q: u128) -> UpperFloat {
        match self {
            NonceKind::Counted => UpperFloat::ZERO,
            NonceKind::Random { bits } => pairs(q).scaled(-(bits as i32)),
        }
    }

    /// An upper bound on the expected number of messages under the most frequent nonce.
    pub(super) fn multiplicity(self, q: u128) -> UpperFloat {
        match self {
            NonceKind::Counted => UpperFloat::from(1),
            NonceKind::Random { bits } => multiplicity(q, bits, None),
        }
    }
}

/// An upper bound on the expected frequency of the most frequent of q random values of `bits` bits,
/// which is never above `most`. It is at least 1:
///
/// ```text
/// sum over j of min(1, C(q, j + 1) / 2^(bits j)),  or q,  or 8 q / 2^bits + 130
/// ```
///
/// The last one bounds the sum: from j = 8 q / 2^bits + 128, its terms are at most q (e/8)^j.
pub(super) fn multiplicity(q: u128, bits: u32, most: Option<u32>) -> UpperFloat {
    const STEPS: u32 = 128;
    let one = UpperFloat::from(1);
    let negligible = UpperFloat::new(1, -200);
    let many = UpperFloat::from(q).scaled(3 - bits as i32).plus(UpperFloat::from(130));
    let simple = UpperFloat::from(q.max(1)).min(many);
    let rate = q.checked_shr(bits).unwrap_or(0);
    let (mut sum, mut term) = (UpperFloat::ZERO, UpperFloat::from(q.max(1)));
    for j in 0..STEPS.min(most.unwrap_or(STEPS)) {
        sum = sum.plus(term.min(one));
        let more = UpperFloat::from(q.saturating_sub(j as u128 + 1)).over(j as u128 + 2);
        term = term.times(more).scaled(-(bits as i32));
        // From here each term is at most half of the previous one: q / 2^bits is below rate + 1.
        if term <= negligible && rate < u128::from(j / 2) {
            return sum.plus(term).plus(term).min(simple);
        }
    }
    if most.is_some_and(|most| most <= STEPS) { sum.min(simple) } else { simple }
}
