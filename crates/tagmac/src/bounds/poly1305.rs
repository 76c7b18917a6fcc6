//! Poly1305-AES (Bernstein, slides on Poly1305-AES, "Poly1305-AES security guarantee").

use super::up::UpperFloat;
use super::{Bound, BoundError, MAX_UNDER_NONCES, Term, some};

/// After C tags, with C at most 2^64, one of D attempts to forge passes with a probability of at
/// most
///
/// ```text
/// 14 D ceil(L/16) / 2^106
/// ```
///
/// plus what C + D queries tell AES from a random permutation. All messages, also the attempted
/// ones, have at most L bytes. L = 0 counts as 1: the slide's formula would promise there that
/// nobody ever guesses the tag of the empty message.
///
/// The hash's own bound is 8 ceil(L/16) / 2^106 (see [`hashes`](crate::hashes)); that is an
/// attempt's probability where pads come from a random function. The slide compares AES with a random
/// permutation, whose pads never repeat, up to 2^64 of them. It does not derive its 14.
///
/// For L = 1536, D = 2^64 and a delta of 2^-40 the slide prints 0.999999999999998 for the probability
/// that all forgeries fail. Its formula gives 1 - 2^-40 - 3.06 * 10^-10, which is 0.9999999997.
///
/// # Errors
///
/// [`BoundError::Messages`] if C is over 2^64, [`BoundError::Nothing`] for C + D = 0.
///
/// ```
/// use tagmac::bounds::poly1305;
/// let bound = poly1305::mac(1 << 64, 1 << 64, 1536)?;
/// assert_eq!(bound.to_string(), "2^-31.60 + Adv^prp_AES(2^65)");
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn mac(c: u128, d: u128, l: u64) -> Result<Bound, BoundError> {
    some(c | d)?;
    if c > MAX_UNDER_NONCES {
        return Err(BoundError::Messages { max: MAX_UNDER_NONCES, found: c });
    }
    let blocks = l.div_ceil(16).max(1);
    let value = UpperFloat::from(d).times(UpperFloat::from(14 * blocks as u128)).scaled(-106);
    Ok(Bound::new(value, vec![Term::prp("AES", c.saturating_add(d))]))
}
