//! UMAC: RFC 4418 (section 6.2), and the paper of 1999 (Black, Halevi, Krawczyk, Krovetz, Rogaway,
//! "UMAC: Fast and Secure Message Authentication", sections 4, 5 and 8).

use super::up::UpperFloat;
use super::{Bound, BoundError, MAX_UNDER_NONCES, Term, some, tag_bits};

/// RFC 4418, section 6.2: q_v attempts to forge at UMAC's tags of t bits, 32, 64, 96 or 128, pass
/// with a probability of at most
///
/// ```text
/// q_v / 2^(30 t / 32)
/// ```
///
/// plus three times what tells AES from a random permutation, if at most 2^64 messages are tagged.
/// Messages may have any length. The text does not count the queries to AES: here it is one for each
/// message and attempt, which make the pads; a few hundred more derive the keys.
///
/// That 2^64 messages do no harm although AES is a permutation is there with the word
/// "significantly", by reference to a paper of Bernstein; the formula that the RFC ends with has no
/// term for it, and so has this one.
///
/// # Errors
///
/// [`BoundError::TagBits`], [`BoundError::Messages`] for more than 2^64 messages,
/// [`BoundError::Nothing`] for q + q_v = 0.
///
/// ```
/// use tagmac::bounds::umac;
/// let bound = umac::mac(64, 1 << 32, 1 << 10)?;
/// assert_eq!(bound.to_string(), "2^-50 + 3 Adv^prp_AES(2^32)");
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn mac(t: u32, q: u128, q_v: u128) -> Result<Bound, BoundError> {
    tag_bits(t, 128)?;
    if !t.is_multiple_of(32) {
        return Err(BoundError::TagBits { min: 32, max: 128, found: t });
    }
    let term = Term { times: 3, ..Term::prp("AES", pads(q, q_v)?) };
    Ok(Bound::new(UpperFloat::from(q_v).scaled(-30 * (t as i32 / 32)), vec![term]))
}

/// UMAC 1999, lemma 8.1 and theorem 8.2: q_v attempts to forge at tags of tau bits pass with a
/// probability of at most
///
/// ```text
/// q_v (2^-b + 2^-tau)
/// ```
///
/// plus what q + q_v queries tell the PRF from a random function. 2^-b is the bound of the hash's
/// collisions: [`nh`], [`nhs`], [`nh_t2`], [`nhs_t2`].
///
/// Nonces have 8 bytes here, so there are 2^64 messages at most. Two levels with one stream, as
/// UMAC-STD-30 has, are in no theorem: section 2.2 states 2^-30 for it, and its section on two
/// levels that they lose "only" a factor of two, without the analysis.
///
/// # Errors
///
/// As [`mac`]; tau is 1 to 256.
pub fn mac_1999(b: u32, tau: u32, q: u128, q_v: u128) -> Result<Bound, BoundError> {
    tag_bits(tau, 256)?;
    // Far beyond any hash, and within the exponents that there are.
    let b = b.min(1 << 16) as i32;
    let each = UpperFloat::new(1, -b).plus(UpperFloat::new(1, -(tau as i32)));
    let term = Term { notion: "prf", ..Term::prp("F", pads(q, q_v)?) };
    Ok(Bound::new(UpperFloat::from(q_v).times(each), vec![term]))
}

/// Theorems 4.2 and 5.1: NH with words of w bits and t streams collides with 2^-b, b = w t.
pub const fn nh(w: u32, t: u32) -> u32 {
    w.saturating_mul(t)
}

/// Theorems 4.5 and 5.2: NHS, of signed words, with 2^-b, b = (w - 1) t.
pub const fn nhs(w: u32, t: u32) -> u32 {
    w.saturating_sub(1).saturating_mul(t)
}

/// Theorem 5.3: NH^T2, two levels and two streams, with 2^-b, b = 2w - 2.
pub const fn nh_t2(w: u32) -> u32 {
    w.saturating_mul(2).saturating_sub(2)
}

/// Theorem 5.4: NHS^T2, signed, with 2^-b, b = 2w - 4.
pub const fn nhs_t2(w: u32) -> u32 {
    w.saturating_mul(2).saturating_sub(4)
}

/// Queries to what makes the pads.
fn pads(q: u128, q_v: u128) -> Result<u128, BoundError> {
    some(q | q_v)?;
    if q > MAX_UNDER_NONCES {
        return Err(BoundError::Messages { max: MAX_UNDER_NONCES, found: q });
    }
    Ok(q.saturating_add(q_v))
}
