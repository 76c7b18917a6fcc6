//! EliMAC (Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around 20%", 2023;
//! sections 4 and 5).

use super::nonces::multiplicity;
use super::up::{UpperFloat, pairs};
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// The bound of Keliher and Sui on the average differentials of four rounds of AES: (53 / 2^34)^4, about
/// 1.8812 * 2^-114. Section 5 of the paper prints 1.881 * 2^-114, which is a little less. That it holds for
/// fixed keys is an assumption.
pub const AES4: f64 = 7_890_481.0 / (1u128 << 68) as f64 / (1u128 << 68) as f64;

/// The messages' most blocks under EliMAC-AES, mu.
const MU: u128 = 1 << 32;

/// Theorem 1 (section 4.1): who asks for the tags, of t bits, of q messages tells EliMAC from a
/// random function with an advantage of at most
///
/// ```text
/// C(q, 2) e + min((C(q, 2) / 2^(2n - t))^(1/2), C(q, 2) / 2^n),    e = (2^k delta)^mu eps
/// ```
///
/// plus what q queries tell E from a random permutation. H is delta-mu-independent and gives subkeys
/// of k bits; I is eps-XOR-universal, and has no value with more than eps either. (The paper lacks
/// the last condition, without which proposition 1 is false: `docs/design/errata.md` has a counterexample.
/// EliMAC-AES keeps it.)
///
/// The minimum is the price of E being a permutation. The paper has the root alone, which is far too
/// much for whole tags; the other part is that of whole tags, from which cut ones are computed (Gilboa,
/// Gueron and Morris, Journal of Cryptology 2018, have both).
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::TagBits`], [`BoundError::Epsilon`],
/// [`BoundError::Nothing`] for q = 0.
pub fn prf(n: u32, t: u32, e: f64, q: u128) -> Result<Bound, BoundError> {
    distinguish(n, t, checked(n, t, e)?, q)
}

fn distinguish(n: u32, t: u32, e: UpperFloat, q: u128) -> Result<Bound, BoundError> {
    let cut = pairs(some(q)?).scaled(t as i32 - 2 * n as i32).root();
    let whole = pairs(q).scaled(-(n as i32));
    Ok(Bound::new(pairs(q).times(e).plus(cut.min(whole)), vec![Term::prp("E", q)]))
}

/// Theorem 2 (section 4.2), better for cut tags: with q_f attempts to forge, at tags of t bits, one of
/// them passes with a probability of at most C(q, 2) e, with e as in [`prf`], plus the smaller of
///
/// ```text
/// q_f 2^(n - t) max(e, 1 / (2^n - q))
/// q_f (2^(n - t) / (2^n - q) + k e),    k = sum over j of min(1, C(q, j + 1) / 2^(tj)), j < 2^(n - t)
/// ```
///
/// plus what q + q_f queries tell E from a random permutation. The first is the paper's. In the second
/// k is at least the expected number of messages that have the most frequent cut tag (where the sum is long,
/// q or 8 q / 2^t + 130 bounds it): an attempt passes
/// if its hash is that of one of these, or if a new value of E begins as it says. Only the second event
/// is made more likely by cutting ("amplified by 2^(n-t)", section 4.3, is said of both).
///
/// # Errors
///
/// As [`prf`], with [`BoundError::Nothing`] for q + q_f = 0, and [`BoundError::Messages`] unless q
/// is below 2^n.
pub fn mac(n: u32, t: u32, e: f64, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    forge(n, t, checked(n, t, e)?, q, q_f)
}

fn forge(n: u32, t: u32, e: UpperFloat, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    some(q | q_f)?;
    let guess = UpperFloat::from(q_f).times(each(n, t, e, q)?);
    let queries = q.saturating_add(q_f);
    Ok(Bound::new(pairs(q).times(e).plus(guess), vec![Term::prp("E", queries)]))
}

/// What an attempt passes with after q tags.
fn each(n: u32, t: u32, e: UpperFloat, q: u128) -> Result<UpperFloat, BoundError> {
    let max = (u128::MAX >> (128 - n.min(128))).saturating_sub((n > 128) as u128);
    let fresh = UpperFloat::one_below(n, q).ok_or(BoundError::Messages { max, found: q })?;
    let cut = n - t;
    let either = e.max(fresh).scaled(cut as i32);
    // Of different values of E no more than 2^(n - t) begin alike.
    let same = multiplicity(q, t, 1u32.checked_shl(cut));
    Ok(either.min(fresh.scaled(cut as i32).plus(same.times(e))))
}

/// Corollary 1 (section 5.1): theorem 1 for EliMAC-AES, where n = 128, mu = 2^32 and H is a random
/// permutation:
///
/// ```text
/// C(q, 2) e + min((C(q, 2) / 2^(256 - t))^(1/2), C(q, 2) / 2^128),    e = eps / (1 - mu / 2^128)
/// ```
///
/// plus what q queries tell AES from a random permutation, and mu queries AES of seven rounds. The
/// paper has eps = [`AES4`], an assumption on four rounds of AES, and 2 eps in the place of e: given
/// all other subkeys, that of the block where two messages differ is one of 2^128 - mu + 1 equally
/// likely values, so no more is needed.
///
/// # Errors
///
/// As [`prf`].
///
/// ```
/// use tagmac_bounds::elimac;
/// // "security up to q about 2^56" (section 5.1): the corollary as printed has 0.4730 there.
/// let at = |q| elimac::aes_prf(128, elimac::AES4, q).map(|bound| format!("{:.4}", bound.value()));
/// assert_eq!(at(1 << 55)?, "0.0588");
/// assert_eq!(at(1 << 56)?, "0.2352");
/// assert_eq!(at(1 << 57)?, "0.9406");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn aes_prf(t: u32, eps: f64, q: u128) -> Result<Bound, BoundError> {
    Ok(aes(distinguish(128, t, aes_epsilon(t, eps)?, q)?))
}

/// Theorem 2 for EliMAC-AES. The paper states the corollary for theorem 1; its step, to put a random
/// permutation in the place of H, is the same here.
///
/// # Errors
///
/// As [`mac`].
pub fn aes_mac(t: u32, eps: f64, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    Ok(aes(forge(128, t, aes_epsilon(t, eps)?, q, q_f)?))
}

/// What an attempt passes with after q tags.
pub(super) fn aes_each(t: u32, eps: f64, q: u128) -> Result<UpperFloat, BoundError> {
    each(128, t, aes_epsilon(t, eps)?, q)
}

/// eps / (1 - mu / 2^128)
fn aes_epsilon(t: u32, eps: f64) -> Result<UpperFloat, BoundError> {
    let left = UpperFloat::one_below(128, MU).expect("mu is below 2^128").scaled(128);
    Ok(checked(128, t, eps)?.times(left))
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
