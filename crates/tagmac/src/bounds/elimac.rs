//! EliMAC (Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around 20%", 2023;
//! sections 4 and 5).

use super::up::{UpperFloat, pairs};
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// The bound on the average differentials of four rounds of AES, 1.881 * 2^-114, to the next `f64`
/// (section 5, from Keliher and Sui). That it holds for fixed keys is an assumption.
pub const AES4: f64 = (1.881 / (1u128 << 114) as f64).next_up();

/// The messages' most blocks under EliMAC-AES, mu.
const MU: u128 = 1 << 32;

/// Theorem 1 (section 4.1): who asks for the tags, of t bits, of q messages tells EliMAC from a
/// random function with an advantage of at most
///
/// ```text
/// C(q, 2) e + (C(q, 2) / 2^(2n - t))^(1/2),    e = (2^k delta)^mu eps
/// ```
///
/// plus what q queries tell E from a random permutation. H is delta-mu-independent and gives subkeys
/// of k bits; I is eps-XOR-universal, and has no value with more than eps either. (The paper lacks
/// the last condition, without which proposition 1 is false: see [`PlainFamilies`]. EliMAC-AES keeps
/// it.) The root is the price of truncation, and is there for t = n
/// too: then it is q / 2^((n+1)/2), nearly, the largest part up to about half of the block's bits.
///
/// [`PlainFamilies`]: crate::hashes::PlainFamilies#contract
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::TagBits`], [`BoundError::Epsilon`],
/// [`BoundError::Nothing`] for q = 0.
pub fn prf(n: u32, t: u32, e: f64, q: u128) -> Result<Bound, BoundError> {
    let e = checked(n, t, e)?;
    let truncated = pairs(some(q)?).scaled(t as i32 - 2 * n as i32).root();
    Ok(Bound::new(pairs(q).times(e).plus(truncated), vec![Term::prp("E", q)]))
}

/// Theorem 2 (section 4.2): with q_f attempts to forge, at tags of t bits, one of them passes with a
/// probability of at most
///
/// ```text
/// C(q, 2) e + q_f 2^(n - t) max(e, 1 / (2^n - q)),    e = (2^k delta)^mu eps
/// ```
///
/// plus what q + q_f queries tell E from a random permutation.
///
/// # Errors
///
/// As [`prf`], with [`BoundError::Nothing`] for q + q_f = 0, and [`BoundError::Messages`] unless q
/// is below 2^n.
pub fn mac(n: u32, t: u32, e: f64, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    let e = checked(n, t, e)?;
    some(q | q_f)?;
    let max = (u128::MAX >> (128 - n.min(128))).saturating_sub((n > 128) as u128);
    let fresh = UpperFloat::one_below(n, q).ok_or(BoundError::Messages { max, found: q })?;
    let guess = UpperFloat::from(q_f).times(e.max(fresh)).scaled((n - t) as i32);
    let queries = q.saturating_add(q_f);
    Ok(Bound::new(pairs(q).times(e).plus(guess), vec![Term::prp("E", queries)]))
}

/// Corollary 1 (section 5.1): theorem 1 for EliMAC-AES, where n = 128, mu = 2^32 and
/// (2^k delta)^mu is at most 2:
///
/// ```text
/// C(q, 2) 2 eps + (C(q, 2) / 2^(256 - t))^(1/2)
/// ```
///
/// plus what q queries tell AES from a random permutation, and mu queries AES of seven rounds. The
/// paper has eps = [`AES4`], an assumption on four rounds of AES.
///
/// # Errors
///
/// As [`prf`].
///
/// ```
/// use tagmac::bounds::elimac;
/// // "security up to q about 2^56" (section 5.1): an advantage of nearly a half there.
/// let at = |q| elimac::aes_prf(128, elimac::AES4, q).map(|bound| format!("{:.4}", bound.value()));
/// assert_eq!(at(1 << 55)?, "0.1189");
/// assert_eq!(at(1 << 56)?, "0.4730");
/// assert_eq!(at(1 << 57)?, "1.8865");
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn aes_prf(t: u32, eps: f64, q: u128) -> Result<Bound, BoundError> {
    Ok(aes(prf(128, t, 2.0 * eps, q)?))
}

/// Theorem 2 for EliMAC-AES. The paper states the corollary for theorem 1; its steps, to put a
/// random permutation in the place of H and 2 in that of (2^k delta)^mu, are the same here.
///
/// # Errors
///
/// As [`mac`].
pub fn aes_mac(t: u32, eps: f64, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    Ok(aes(mac(128, t, 2.0 * eps, q, q_f)?))
}

/// The bound with E and H named as rounds of AES.
fn aes(bound: Bound) -> Bound {
    let queries = bound.terms().iter().map(|term| Term::prp("AES10", term.queries));
    let terms = queries.chain([Term::prp("AES7", MU)]).collect();
    Bound { terms, ..bound }
}

fn checked(n: u32, t: u32, e: f64) -> Result<UpperFloat, BoundError> {
    block_bits(n)?;
    tag_bits(t, n)?;
    if e > 0.0 && e.is_finite() {
        Ok(UpperFloat::from_f64(e))
    } else {
        Err(BoundError::Epsilon { found: e })
    }
}
