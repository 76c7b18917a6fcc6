//! PMAC (Black and Rogaway, "PMAC: A Parallelizable Message Authentication Code", 2001).
//!
//! The bound is not the paper's theorem 1, which is marked as a draft: its last step takes messages
//! of equal length as the worst case of a sum that is convex, so they are the best. `docs/theory.md`
//! ("PMAC's bound") proves the one here, for messages of any mix of lengths.

use super::up::UpperFloat;
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// An adversary that asks for the tags of q messages of sigma blocks in all, of any mix of lengths,
/// tells PMAC, with a random permutation for E, from a random function with an advantage of at most
///
/// ```text
/// sigma min(3 q, sigma + 1) / 2^n
/// ```
///
/// An empty message has one block, so a sigma below q counts as q; one of `u128::MAX` stands for any
/// number, and the value is then above 1. With E itself, add what sigma + 1 queries tell it from a
/// random permutation. Tags of fewer than n bits only hide something.
///
/// The bound never falls as q or sigma grows, so it holds for at most q messages of at most sigma
/// blocks. Published bounds of the same kind are (sigma + 1)^2 / 2^(n-1) (Black and Rogaway,
/// Eurocrypt 2002) and (5 q sigma - 3.5 q^2) / 2^n (Nandi and Mandal, 2008). Gaži, Pietrzak and Rybár
/// (2016) attack PMAC with about q sigma / 2^n.
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac::bounds::pmac;
/// // A million messages, 16 TiB in all.
/// let bound = pmac::prf(128, 1 << 20, 1 << 40)?;
/// assert_eq!(bound.to_string(), "2^-66.41 + Adv^prp_E(2^40)");
/// // Short messages: sigma (sigma + 1) is less.
/// let bound = pmac::prf(128, 1 << 40, 1 << 40)?;
/// assert_eq!(bound.to_string(), "2^-47.99 + Adv^prp_E(2^40)");
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn prf(n: u32, q: u128, sigma: u128) -> Result<Bound, BoundError> {
    mac(n, n, (some(q)?, sigma), (0, 0))
}

/// The same for a MAC with tags of t bits: with q_v attempts to forge, on messages of sigma_v blocks
/// in all, one of them passes with a probability of at most
///
/// ```text
/// sigma' min(3 q', sigma' + 1) / 2^n + q_v / 2^t,    q' = q + q_v, sigma' = sigma + sigma_v
/// ```
///
/// The attempts are queries too, and a random function's tag is guessed with 2^-t. (The paper calls
/// the step from a PRF to a MAC standard and easy, at the end of section 5.2.)
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::TagBits`], [`BoundError::Nothing`] for q + q_v = 0.
pub fn mac(
    n: u32,
    t: u32,
    (q, sigma): (u128, u128),
    (q_v, sigma_v): (u128, u128),
) -> Result<Bound, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    some(q | q_v)?;
    let (sigma, sigma_v) = (sigma.max(q), sigma_v.max(q_v));
    let messages = UpperFloat::from(q).plus(UpperFloat::from(q_v));
    let blocks = UpperFloat::from(sigma).plus(UpperFloat::from(sigma_v));
    let each = match sigma.max(sigma_v) {
        // Not 3 q: nobody knows how many blocks there are.
        u128::MAX => blocks.plus(UpperFloat::from(1)),
        _ => messages.times(UpperFloat::from(3)).min(blocks.plus(UpperFloat::from(1))),
    };
    let collide = blocks.times(each).scaled(-(n as i32));
    let guess = UpperFloat::from(q_v).scaled(-(t as i32));
    let queries = sigma.saturating_add(sigma_v).saturating_add(1);
    Ok(Bound::new(collide.plus(guess), vec![Term::prp("E", queries)]))
}

/// 2^-t, what an attempt passes with, besides what it costs as a query.
pub(super) fn each(n: u32, t: u32) -> Result<UpperFloat, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    Ok(UpperFloat::new(1, -(t as i32)))
}
