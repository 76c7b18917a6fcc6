//! LightMAC (Luykx, Preneel, Tischhauser, Yasuda, "A MAC Mode for Lightweight Block Ciphers", 2016;
//! section 4), and the bounds of other modes from its introduction.

use super::up::UpperFloat;
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// Theorem 1 (section 4.2). An adversary with the tags of q messages of at most 2^s (n - s) bits
/// distinguishes LightMAC from a random function with an advantage of at most
///
/// ```text
/// (1 + 1/(N - 1) + 1/(2 (N - 1)^2)) q^2 / 2^n,    N = 2^(n/2)
/// ```
///
/// for any lengths, plus the advantage of distinguishing E from a random permutation, with q 2^s
/// queries under K1 and q under K2. The proof queries E under K1 only for the messages' full blocks
/// of n - s bits, so the number of queries is at most `blocks`. Pass `u128::MAX` if you do not know
/// it.
///
/// The paper counts q (2^s - 1) queries under K1. But a message of 2^s (n - s) bits, which it
/// allows, has 2^s full blocks and an empty last one (section 2).
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::CounterBits`], [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac_bounds::lightmac;
/// // The paper's example: blocks of 32 bits, a probability of 2^-20.
/// assert!(lightmac::prf(32, 16, 63, u128::MAX)?.at_most(2f64.powi(-20)));
/// assert!(!lightmac::prf(32, 16, 64, u128::MAX)?.at_most(2f64.powi(-20)));
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn prf(n: u32, s: u32, q: u128, blocks: u128) -> Result<Bound, BoundError> {
    let e1 = counters(n, s, some(q)?)?.min(blocks);
    let x = one_below_half(n);
    let factor = UpperFloat::from(1).plus(x).plus(x.square().scaled(-1));
    let value = factor.times(UpperFloat::from(q).square()).scaled(-(n as i32));
    Ok(Bound::new(value, vec![Term::prp("E1", e1), Term::prp("E2", q)]))
}

/// Theorem 2 (section 4.3). One of v attempts to forge tags of t bits passes with a probability of
/// at most
///
/// ```text
/// (1 + 2/(N - 1) + 1/(N - 1)^2) (q^2 / 2^n + v / 2^t),    N = 2^(n/2)
/// ```
///
/// plus the advantage of distinguishing E from a random permutation, with (q + v) 2^s queries under
/// K1 and q + v under K2. `blocks` and `blocks_v` are the numbers of blocks of the messages and of
/// the attempts. The paper has separate terms for the attempts, which is too little:
/// `docs/design/errata.md`.
///
/// The proof uses a result for untruncated tags. EliMAC's authors point out that truncation needs
/// more care, and that their method even leads to a slightly better bound for LightMAC (EliMAC,
/// section 4.2). `docs/design/theory.md` ("LightMAC") has the proof for truncated tags, so the
/// theorem holds for them.
///
/// # Errors
///
/// As [`prf`], with [`BoundError::Nothing`] for q + v = 0, and [`BoundError::TagBits`].
pub fn mac(
    n: u32,
    s: u32,
    t: u32,
    (q, blocks): (u128, u128),
    (v, blocks_v): (u128, u128),
) -> Result<Bound, BoundError> {
    some(q | v)?;
    let all = q.saturating_add(v);
    let e1 = counters(n, s, all)?.min(blocks.saturating_add(blocks_v));
    let collide = factor(n).times(UpperFloat::from(q).square()).scaled(-(n as i32));
    let guess = UpperFloat::from(v).times(each(n, t)?);
    Ok(Bound::new(collide.plus(guess), vec![Term::prp("E1", e1), Term::prp("E2", all)]))
}

/// The probability that an attempt passes.
pub(super) fn each(n: u32, t: u32) -> Result<UpperFloat, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    Ok(factor(n).scaled(-(t as i32)))
}

/// (1 + 1/(N - 1))^2
fn factor(n: u32) -> UpperFloat {
    UpperFloat::from(1).plus(one_below_half(n)).square()
}

/// Proposition 1 (section 4.4). Take two messages of l1 and l2 blocks of n - s bits, including the
/// last ones. With a random permutation they have the same sum with a probability of at most 1 /
/// (2^n - l1 - l2 + 1).
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] if neither message has a block,
/// [`BoundError::Blocks`] if 2^n - l1 - l2 + 1 is not positive.
pub fn collision(n: u32, l1: u128, l2: u128) -> Result<Bound, BoundError> {
    block_bits(n)?;
    let l = l1.saturating_add(l2);
    let one = UpperFloat::one_below(n, some(l)? - 1).ok_or(BoundError::Blocks { n, found: l })?;
    Ok(Bound::new(one, Vec::new()))
}

/// The rough bound of section 1 for many modes: q^2 l / 2^n for q messages of l blocks.
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] for q = 0 or l = 0.
pub fn generic(n: u32, q: u128, l: u128) -> Result<Bound, BoundError> {
    block_bits(n)?;
    let value = UpperFloat::from(some(q)?).square().times(UpperFloat::from(some(l)?));
    Ok(Bound::new(value.scaled(-(n as i32)), Vec::new()))
}

/// EMAC's improved bound as the paper quotes it (section 1.2, from Pietrzak, ICALP 2006): 16 q^2 /
/// 2^n + 128 q^2 l^8 / 2^2n. Returns `None` unless l is at most 2^(n/8) and q at least l^2.
///
/// **Its proof is wrong.** It uses lemma 10 of Bellare, Pietrzak and Rogaway (Crypto 2005). So does
/// the proof of EMAC's bound in the paper's table 2. Jha and Nandi refuted the lemma ("Revisiting
/// structure graphs: Applications to CBC-MAC and EMAC", Journal of Mathematical Cryptology, 2016).
/// They prove a bound of the order of q^2 / 2^n, for l below 2^(n/4). This formula is included for
/// the paper's figure.
///
/// # Errors
///
/// As [`generic`].
pub fn emac(n: u32, q: u128, l: u128) -> Result<Option<Bound>, BoundError> {
    block_bits(n)?;
    let (square, l) = (UpperFloat::from(some(q)?).square(), UpperFloat::from(some(l)?));
    // Here l^8 <= 2^n, so nothing is rounded.
    let eighth = l.square().square().square();
    if eighth > UpperFloat::new(1, n as i32) || UpperFloat::from(q) < l.square() {
        return Ok(None);
    }
    let value = square.scaled(4 - n as i32);
    let value = value.plus(square.times(eighth).scaled(7 - 2 * n as i32));
    Ok(Some(Bound::new(value, Vec::new())))
}

/// The improved bound of the sum of CBCs (section 1.2, from Yasuda): 40 l^3 q^3 / 2^2n. Returns
/// `None` unless l is at most 2^(2n/5).
///
/// # Errors
///
/// As [`generic`].
pub fn sum_of_cbcs(n: u32, q: u128, l: u128) -> Result<Option<Bound>, BoundError> {
    block_bits(n)?;
    let (q, l) = (UpperFloat::from(some(q)?), UpperFloat::from(some(l)?));
    let fifth = l.square().square().times(l);
    if fifth > UpperFloat::new(1, 2 * n as i32) {
        return Ok(None);
    }
    let lq = l.times(q);
    let value = lq.square().times(lq).times(UpperFloat::from(40)).scaled(-2 * n as i32);
    Ok(Some(Bound::new(value, Vec::new())))
}

/// 1 / (2^(n/2) - 1).
fn one_below_half(n: u32) -> UpperFloat {
    UpperFloat::one_below(n / 2, 1).expect("n is at least 2")
}

/// q 2^s, after checking n and s.
fn counters(n: u32, s: u32, q: u128) -> Result<u128, BoundError> {
    block_bits(n)?;
    if !(1..=n / 2).contains(&s) {
        return Err(BoundError::CounterBits { max: n / 2, found: s });
    }
    Ok(q.saturating_mul(1u128.checked_shl(s).unwrap_or(u128::MAX)))
}
