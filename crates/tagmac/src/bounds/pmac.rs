//! PMAC (Black and Rogaway, "PMAC: A Parallelizable Message Authentication Code", draft of 2001;
//! theorem 1, section 5.2).

use super::up::Up;
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// Theorem 1: who asks for the tags of q messages of sigma blocks in all tells PMAC, with a random
/// permutation for E, from a random function with an advantage of at most
///
/// ```text
/// 1.5 (sigma + q + 1)^2 / 2^n
/// ```
///
/// An empty message has one block, so a sigma below q counts as q. With E itself, add what sigma + 1
/// queries tell it from a random permutation (the statement after the theorem).
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac::bounds::pmac;
/// let bound = pmac::prf(128, 1 << 20, 1 << 40)?;
/// assert_eq!(bound.to_string(), "2^-47.41 + Adv^prp_E(2^40)");
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn prf(n: u32, q: u128, sigma: u128) -> Result<Bound, BoundError> {
    mac(n, n, (some(q)?, sigma), (0, 0))
}

/// Theorem 1 for a MAC with tags of t bits: with q_v attempts to forge, on messages of sigma_v
/// blocks in all, one of them passes with a probability of at most
///
/// ```text
/// 1.5 (sigma' + q' + 1)^2 / 2^n + q_v / 2^t,    q' = q + q_v, sigma' = sigma + sigma_v
/// ```
///
/// The paper calls it standard and easy that a good PRF is hard to forge (end of section 5.2), and
/// leaves the formula out: the attempts are queries too, and a random function's tag is guessed with
/// 2^-t.
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
    let numbers = [sigma, sigma_v, q, q_v, 1].map(Up::from);
    let all = numbers.into_iter().fold(Up::ZERO, Up::plus);
    let collide = all.square().times(Up::from(3)).scaled(-1 - n as i32);
    let guess = Up::from(q_v).scaled(-(t as i32));
    let queries = sigma.saturating_add(sigma_v).saturating_add(1);
    Ok(Bound::new(collide.plus(guess), vec![Term::prp("E", queries)]))
}

/// q_v / 2^t, the part of [`mac`] that is not for the queries.
pub(super) fn guesses(n: u32, t: u32, q_v: u128) -> Result<Bound, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    Ok(Bound::new(Up::from(some(q_v)?).scaled(-(t as i32)), Vec::new()))
}
