//! PMAC (Black and Rogaway, "PMAC: A Parallelizable Message Authentication Code", 2001).
//!
//! The bound is not the paper's theorem 1, which is marked as a draft. Its last step treats
//! messages of equal length as the worst case of a sum, but the sum is convex, so they are the best
//! case. `docs/design/theory.md` ("PMAC's bound") proves the bound here, for messages of any mix of
//! lengths.

use super::up::UpperFloat;
use super::{Bound, BoundError, Term, block_bits, nonces, some, tag_bits};

/// Let an adversary have the tags of q messages of sigma blocks in all, of any mix of lengths. It
/// distinguishes PMAC, with a random permutation for E, from a random function with an advantage of
/// at most
///
/// ```text
/// sigma min(3 q, sigma + 1) / 2^n
/// ```
///
/// An empty message has one block, so a sigma below q counts as q. `u128::MAX` stands for any
/// number of blocks, and the value is then at least 1. With E itself, add the advantage of
/// distinguishing it from a random permutation with sigma + 1 queries. Truncated tags only hide
/// information.
///
/// The bound does not decrease as q or sigma grows, so it holds for at most q messages of at most
/// sigma blocks. Similar published bounds are (sigma + 1)^2 / 2^(n-1) (Black and Rogaway, Eurocrypt
/// 2002) and (5 q sigma - 3.5 q^2) / 2^n (Nandi and Mandal, 2008). Gaži, Pietrzak and Rybár (2016)
/// attack PMAC with a success of the order of q^2 l / 2^n, for equal lengths.
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac_bounds::pmac;
/// // A million messages, 16 TiB in all.
/// let bound = pmac::prf(128, 1 << 20, 1 << 40)?;
/// assert_eq!(bound.to_string(), "2^-66.41 + Adv^prp_E(2^40)");
/// // Short messages: sigma (sigma + 1) is less.
/// let bound = pmac::prf(128, 1 << 40, 1 << 40)?;
/// assert_eq!(bound.to_string(), "2^-47.99 + Adv^prp_E(2^40)");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn prf(n: u32, q: u128, sigma: u128) -> Result<Bound, BoundError> {
    block_bits(n)?;
    let sigma = sigma.max(some(q)?);
    Ok(Bound::new(tags(n, q, sigma), vec![Term::prp("E", sigma.saturating_add(1))]))
}

/// The bound for PMAC as a MAC with tags of t bits. After q tags of messages of sigma blocks in
/// all, one of q_v attempts to forge passes with a probability of at most the smaller of
///
/// ```text
/// sigma min(3 q, sigma + 1) / 2^n  +  q_v a
/// sigma' min(3 q', sigma' + 1) / 2^n  +  q_v / 2^t
/// ```
///
/// The first is linear in the attempts; [`attempt`] computes a. The second counts each attempt as a
/// message: q' = q + q_v and sigma' = sigma + q_v l. All messages and attempts have at most l =
/// `longest` blocks.
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::TagBits`], [`BoundError::Nothing`] for q + q_v = 0 or
/// l = 0.
///
/// ```
/// use tagmac_bounds::pmac;
/// // 1000 messages of 512 blocks of 64 bits, and 1000 attempts, which add almost nothing.
/// let (messages, blocks) = (1000, 512_000);
/// assert_eq!(pmac::prf(64, messages, blocks)?.to_string(), "2^-33.48 + Adv^prp_E(2^18.97)");
/// let bound = pmac::mac(64, 64, (messages, blocks), 1000, 512)?;
/// assert_eq!(bound.to_string(), "2^-33.47 + Adv^prp_E(2^19.97)");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn mac(
    n: u32,
    t: u32,
    (q, sigma): (u128, u128),
    q_v: u128,
    longest: u128,
) -> Result<Bound, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    some(q | q_v)?;
    let (sigma, sigma_v) = (sigma.max(q), q_v.saturating_mul(some(longest)?));
    let guess = UpperFloat::from(q_v).scaled(-(t as i32));
    let (all, blocks) = (q.saturating_add(q_v), sigma.saturating_add(sigma_v));
    let as_messages = tags(n, all, blocks).plus(guess);
    let each = UpperFloat::from(q_v).times(each(n, t, (q, sigma), longest)?);
    let value = tags(n, q, sigma).plus(each).min(as_messages);
    Ok(Bound::new(value, vec![Term::prp("E", blocks.saturating_add(1))]))
}

/// The term that each attempt adds to [`prf`], after q tags of messages of sigma blocks in all:
///
/// ```text
/// a = 1 / 2^n + 2^(n-t) / R (1 + 8 q l / R)
///       + (k + 1) (8 l + min(q, l v) + q l^2 (5 q + 18) / R) / R,     R = 2^n - sigma - l - 1
/// ```
///
/// l = `longest` is the maximum number of blocks of a message or an attempt. k is the expected
/// number of messages, of q with random tags, that share the most frequent t bits: 1 for whole
/// tags. v is about n (l + 1) / (n - log2(2 q l^2)). `docs/design/theory.md` ("PMAC's attempts")
/// has the proof, for 2 q l up to R. The value is at most 1. Beyond that range it is 1, which
/// bounds nothing.
///
/// # Errors
///
/// As [`mac`].
///
/// ```
/// use tagmac_bounds::pmac;
/// // PMAC-PRESENT, messages of 4 KiB: an attempt adds 1/220 of a message's average part.
/// let attempt = pmac::attempt(64, 64, (1672, 1672 * 512), 512)?;
/// assert_eq!(attempt.to_string(), "2^-50.50");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn attempt(
    n: u32,
    t: u32,
    (q, sigma): (u128, u128),
    longest: u128,
) -> Result<Bound, BoundError> {
    Ok(Bound::new(each(n, t, (q, sigma), longest)?, Vec::new()))
}

/// The value of [`attempt`].
pub(super) fn each(
    n: u32,
    t: u32,
    (q, sigma): (u128, u128),
    longest: u128,
) -> Result<UpperFloat, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    let value = each_proven(n, t, (q, sigma.max(q)), some(longest)?);
    // At most 1, as a probability, so it does not decrease as the numbers grow.
    Ok(value.unwrap_or(UpperFloat::from(1)).min(UpperFloat::from(1)))
}

/// sigma min(3 q, sigma + 1) / 2^n.
fn tags(n: u32, q: u128, sigma: u128) -> UpperFloat {
    let blocks = UpperFloat::from(sigma);
    let each = match sigma {
        // Not 3 q: the number of blocks is unknown.
        u128::MAX => blocks.plus(UpperFloat::from(1)),
        _ => UpperFloat::from(q).times(UpperFloat::from(3)).min(blocks.plus(UpperFloat::from(1))),
    };
    blocks.times(each).scaled(-(n as i32))
}

/// [`each`] where it is proven, for sigma of at least q and l of at least 1.
fn each_proven(n: u32, t: u32, (q, sigma): (u128, u128), l: u128) -> Option<UpperFloat> {
    let number = UpperFloat::from;
    // 1 / R
    let rest = UpperFloat::one_below(n, sigma.checked_add(l)?.checked_add(1)?)?;
    let ql = q.checked_mul(l)?;
    if number(ql).scaled(1).times(rest) > number(1) {
        return None;
    }
    let guess = rest.scaled((n - t) as i32).times(number(1).plus(number(ql).scaled(3).times(rest)));
    let hits = multiplicity(n, q, l).map_or(q, |v| q.min(l.saturating_mul(v)));
    let squares = number(ql).times(number(l)).times(number(5).times(number(q)).plus(number(18)));
    let each = number(l).scaled(3).plus(number(hits)).plus(squares.times(rest));
    let targets = nonces::multiplicity(q, t, 1u32.checked_shl(n - t)).plus(number(1));
    let each = guess.plus(targets.times(each).times(rest));
    Some(each.plus(UpperFloat::new(1, -(n as i32))))
}

/// The smallest v for which 8 l N^l (2 q l^2 / N)^v is at most 1/N by counting bits, if it exists.
/// This expression bounds the probability that some attempt has v of the proof's successes.
fn multiplicity(n: u32, q: u128, l: u128) -> Option<u128> {
    let (q, log_l) = (bits(q), u128::from(bits(l)));
    let each = u128::from(n).checked_sub(1 + u128::from(q) + 2 * log_l).filter(|each| *each > 0)?;
    let all = u128::from(n).checked_mul(l.checked_add(1)?)?.checked_add(3 + log_l)?;
    Some(all.div_ceil(each))
}

/// The smallest a with number <= 2^a.
fn bits(number: u128) -> u32 {
    128 - number.saturating_sub(1).leading_zeros()
}
