//! Poly1305-AES (Bernstein, slides on Poly1305-AES, "Poly1305-AES security guarantee").

use super::nonces::NonceKind;
use super::up::UpperFloat;
use super::{Bound, BoundError, Term, permutation, some};

/// After C tags, one of D attempts to forge passes with a probability of at most
///
/// ```text
/// D (1 - C/2^128)^(-(C + 1)/2) 8 ceil(L/16) / 2^106
/// ```
///
/// plus the advantage of distinguishing AES from a random permutation with C + D queries. All
/// messages, including the attempted ones, have at most L bytes. L = 0 counts as 1: with 0 the
/// formula would promise that the tag of the empty message is never guessed.
///
/// The bound of the hash is 8 ceil(L/16) / 2^106. The factor before it is Bernstein's, for pads
/// from a permutation. It is 1.6488 at C = 2^64, where the product is 13.19 ceil(L/16) / 2^106; the
/// slides round 13.19 up to 14, for C up to 2^64. Beyond, the factor is 7.4 at 2^65, 2^11.5 at 2^66
/// and 2^46.2 at 2^67.
///
/// A repeated nonce reveals r. Random nonces of b bits add C (C - 1) / 2^(b + 1), the probability
/// that two of them are equal.
///
/// For L = 1536, D = 2^64 and a delta of 2^-40 the slide prints 0.999999999999998 for the
/// probability that all forgeries fail. Its formula results in 1 - 2^-40 - 3.06 * 10^-10, which is
/// 0.9999999997.
///
/// # Errors
///
/// [`BoundError::Messages`] if C is over 2^68, [`BoundError::NonceBits`] for random nonces of more
/// than 128 bits, [`BoundError::Nothing`] for C + D = 0.
///
/// ```
/// use tagmac_bounds::{NonceKind, poly1305};
/// let bound = poly1305::mac(1 << 64, 1 << 64, 1536, NonceKind::Counted)?;
/// assert_eq!(bound.to_string(), "2^-31.69 + Adv^prp_AES(2^65)");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn mac(c: u128, d: u128, l: u64, nonces: NonceKind) -> Result<Bound, BoundError> {
    some(c | d)?;
    let repeat = repeated(c, nonces)?;
    let guess = UpperFloat::from(d).times(each(c, l)?);
    Ok(Bound::new(repeat.plus(guess), vec![Term::prp("AES", c.saturating_add(d))]))
}

/// The probability that an attempt passes after C tags.
pub(super) fn each(c: u128, l: u64) -> Result<UpperFloat, BoundError> {
    let blocks = l.div_ceil(16).max(1);
    let hash = UpperFloat::from(8 * blocks as u128).scaled(-106);
    Ok(hash.times(permutation::factor(c)?))
}

/// The probability that a nonce of at most 16 bytes repeats, for MACs that a repeat breaks.
pub(super) fn repeated(c: u128, nonces: NonceKind) -> Result<UpperFloat, BoundError> {
    nonces.check(128)?;
    Ok(nonces.equal_pairs(c))
}
