//! EliMAC (Dobraunig, Mennink, Neves, "EliMAC: Speeding Up LightMAC by around 20%", 2023;
//! sections 4 and 5).

use super::nonces::multiplicity;
use super::up::{UpperFloat, pairs};
use super::{Bound, BoundError, Term, block_bits, some, tag_bits};

/// The bound of Keliher and Sui on the average differentials of four rounds of AES: (53 / 2^34)^4,
/// about 1.8812 * 2^-114. Section 5 of the paper prints 1.881 * 2^-114, which is slightly too
/// small. Using the bound for fixed keys is an assumption.
pub const AES4: f64 = 7_890_481.0 / (1u128 << 68) as f64 / (1u128 << 68) as f64;

/// The maximum number of blocks of a message under EliMAC-AES, mu.
const MU: u128 = 1 << 32;

/// Theorem 1 (section 4.1). An adversary with the tags, of t bits, of q messages distinguishes
/// EliMAC from a random function with an advantage of at most
///
/// ```text
/// C(q, 2) e + min((C(q, 2) / 2^(2n - t))^(1/2), C(q, 2) / 2^n),    e = (2^k delta)^mu eps
/// ```
///
/// plus the advantage of distinguishing E from a random permutation with q queries. H must be
/// delta-mu-independent with subkeys of k bits. I must be eps-XOR-universal, and no value of I may
/// have a probability above eps. (The paper lacks the last condition. Without it proposition 1 is
/// false: `docs/design/errata.md` has a counterexample. EliMAC-AES satisfies it.)
///
/// The minimum is the cost of E being a permutation. The paper has only the square root, which is
/// far too large for whole tags. The other part is that of whole tags; truncated tags are computed
/// from them (Gilboa, Gueron and Morris, Journal of Cryptology 2018, have both).
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

/// Theorem 2 (section 4.2), better for truncated tags. One of q_f attempts to forge tags of t bits
/// passes with a probability of at most C(q, 2) e, with e as in [`prf`], plus the smaller of
///
/// ```text
/// q_f 2^(n - t) max(e, 1 / (2^n - q))
/// q_f (2^(n - t) / (2^n - q) + k e),    k = sum over j of min(1, C(q, j + 1) / 2^(tj)), j < 2^(n - t)
/// ```
///
/// plus the advantage of distinguishing E from a random permutation with q + q_f queries. The first
/// is the paper's. In the second, k is at least the expected number of messages with the most
/// frequent truncated tag. (Where the sum is long, it is bounded by q or 8 q / 2^t + 130.) An
/// attempt passes if its hash is that of one of these messages, or if a new value of E starts with
/// the attempted tag. Truncation makes only the second event more likely (section 4.3 says
/// "amplified by 2^(n-t)" of both).
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

/// The probability that an attempt passes after q tags.
fn each(n: u32, t: u32, e: UpperFloat, q: u128) -> Result<UpperFloat, BoundError> {
    let max = (u128::MAX >> (128 - n.min(128))).saturating_sub((n > 128) as u128);
    let fresh = UpperFloat::one_below(n, q).ok_or(BoundError::Messages { max, found: q })?;
    let cut = n - t;
    let either = e.max(fresh).scaled(cut as i32);
    // At most 2^(n - t) different values of E start with the same t bits.
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
/// plus the advantage of distinguishing AES from a random permutation with q queries, and AES of
/// seven rounds with mu queries. The paper has eps = [`AES4`], an assumption on four rounds of AES,
/// and 2 eps instead of e. The smaller e suffices: given all other subkeys, the subkey of the block
/// in which two messages differ is one of 2^128 - mu + 1 equally likely values.
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

/// Theorem 2 for EliMAC-AES. The paper states the corollary for theorem 1; the step that replaces H
/// by a random permutation is the same here.
///
/// # Errors
///
/// As [`mac`].
pub fn aes_mac(t: u32, eps: f64, q: u128, q_f: u128) -> Result<Bound, BoundError> {
    Ok(aes(forge(128, t, aes_epsilon(t, eps)?, q, q_f)?))
}

/// The probability that an attempt passes after q tags.
pub(super) fn aes_each(t: u32, eps: f64, q: u128) -> Result<UpperFloat, BoundError> {
    each(128, t, aes_epsilon(t, eps)?, q)
}

/// eps / (1 - mu / 2^128)
fn aes_epsilon(t: u32, eps: f64) -> Result<UpperFloat, BoundError> {
    let left = UpperFloat::one_below(128, MU).expect("mu is below 2^128").scaled(128);
    Ok(checked(128, t, eps)?.times(left))
}

/// The bound with rounds of AES as E and H.
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
