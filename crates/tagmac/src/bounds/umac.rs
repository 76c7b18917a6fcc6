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

/// UMAC-128 where the first words of a tag are checked too, as
/// [`Umac::verify_prefix`](crate::Umac::verify_prefix) does. Of `attempts[i]` attempts that fail or pass
/// with i + 1 words, one has its first `grade` words accepted with a probability of at most this; 4 is
/// the whole tag.
///
/// A forger whose attempts are answered by lower grades guesses one word after the other. With e =
/// 2^-30, and v_h attempts at h words,
///
/// ```text
/// P_0 = 1
/// P_h = min(1, v_h (P_0 e^h + P_1 e^(h-1) + .. + P_(h-1) e))
/// ```
///
/// are the probabilities that h words are ever the most that an attempt had right. The bound is the sum
/// over h from `grade` on of v_h (P_0 e^h + .. + P_(grade-1) e^(h-grade+1)). With no attempt at lower
/// grades that is v_4 2^-120, the bound of [`mac`]; with v at each, v (v + 1)^3 2^-120 for the whole
/// tag, which is nothing any more at 2^30. `docs/theory.md` has the proof. It takes what the proof of
/// theorem 5.1 shows: each stream's bound holds given the streams before it.
///
/// # Errors
///
/// [`BoundError::TagBits`] unless `grade` is 1 to 4, and as [`mac`].
///
/// ```
/// use tagmac::bounds::umac;
/// // A million failures at each grade: the first word, and the whole tag.
/// assert_eq!(umac::graded(0, &[1 << 20; 4], 1)?.log2().ceil(), -9.0);
/// assert_eq!(umac::graded(0, &[1 << 20; 4], 4)?.log2().ceil(), -39.0);
/// // The same number of attempts at whole tags alone.
/// assert_eq!(umac::graded(0, &[0, 0, 0, 1 << 22], 4)?.log2(), -98.0);
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn graded(q: u128, attempts: &[u128; 4], grade: usize) -> Result<Bound, BoundError> {
    let v = attempts.iter().fold(0u128, |sum, v| sum.saturating_add(*v));
    let terms = mac(128, q, v)?.terms;
    // What AES being a permutation adds, as a factor: that of one attempt.
    let factor = mac(128, q, 1)?.value.scaled(120);
    let value = chain(UpperFloat::new(1, -30), attempts, grade)?;
    Ok(Bound::new(value.times(factor), terms))
}

/// The most failures that each of UMAC-128's four grades may have while the forgery of a whole tag has at
/// most this probability: [`graded`] for no message. Never 2^30 or more.
///
/// # Errors
///
/// [`BoundError::Probability`] unless it is between 0 and 1.
pub(crate) fn graded_guesses(probability: f64) -> Result<u64, BoundError> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(BoundError::Probability { found: probability });
    }
    let (mut low, mut over) = (0, 1 << 30);
    while over - low > 1 {
        let middle: u64 = low + (over - low) / 2;
        match graded(0, &[middle.into(); 4], 4)?.at_most(probability) {
            true => low = middle,
            false => over = middle,
        }
    }
    Ok(low)
}

/// A UMAC of 1999 with grades, [`Umac99Graded`](crate::Umac99Graded): as [`graded`], with as many words
/// as `attempts` has numbers. A stream collides with 2^-b and a word has `word_bits` bits, so e is
/// 2^-b + 2^-`word_bits`. On top comes what the words of q + q_v messages tell the PRFs, one for each
/// stream, from random functions.
///
/// # Errors
///
/// [`BoundError::TagBits`] unless `grade` is that of a word and words have 1 to 256 bits, and as
/// [`mac_1999`].
///
/// ```
/// use tagmac::bounds::umac;
/// // Streams of UMAC-MMX-60, and words of 32 bits.
/// assert_eq!(umac::graded_1999(15, 32, 1, &[0, 0, 0, 1], 4)?.log2().ceil(), -59.0);
/// assert_eq!(umac::graded_1999(15, 32, 1, &[1, 0, 0, 0], 1)?.log2().ceil(), -14.0);
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn graded_1999(
    b: u32,
    word_bits: u32,
    q: u128,
    attempts: &[u128],
    grade: usize,
) -> Result<Bound, BoundError> {
    let v = attempts.iter().fold(0u128, |sum, v| sum.saturating_add(*v));
    let each = mac_1999(b, word_bits, q, 1)?.value;
    let terms = mac_1999(b, word_bits, q, v)?.terms;
    let streams = attempts.len() as u32;
    let terms = terms.into_iter().map(|term| Term { times: streams * term.times, ..term });
    Ok(Bound::new(chain(each, attempts, grade)?, terms.collect()))
}

/// The sum of [`graded`].
fn chain(each: UpperFloat, attempts: &[u128], grade: usize) -> Result<UpperFloat, BoundError> {
    let bits = |words: usize| 32u32.saturating_mul(u32::try_from(words).unwrap_or(u32::MAX));
    if !(1..=attempts.len()).contains(&grade) {
        let (max, found) = (bits(attempts.len()), bits(grade));
        return Err(BoundError::TagBits { min: 32, max, found });
    }
    let one = UpperFloat::from(1);
    let (mut reached, mut jumps, mut sum) = (one, UpperFloat::ZERO, UpperFloat::ZERO);
    for (h, &v) in (1..).zip(attempts) {
        // From each level below `grade`, or below h.
        if h <= grade {
            jumps = jumps.plus(reached);
        }
        jumps = jumps.times(each);
        let tried = UpperFloat::from(v).times(jumps);
        reached = tried.min(one);
        if h >= grade {
            sum = sum.plus(tried);
        }
    }
    Ok(sum)
}

/// UMAC 1999, section 8.3: the same without a nonce, tag = F(hash). q tagged messages and attempts in all
/// forge with a probability of at most
///
/// ```text
/// q^2 2^-b + 2^-tau
/// ```
///
/// plus what q queries tell the PRF from a random function. Nothing here is such a MAC. That this bound
/// says nothing from q = 2^(b/2) on is why UMAC has nonces: equal tags then show a collision of hashes.
///
/// # Errors
///
/// [`BoundError::TagBits`] unless tau is 1 to 256, [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac::bounds::umac;
/// // The paper: a hash of 2^-32 lets one authenticate fewer than 2^16 messages.
/// assert_eq!(umac::without_nonce(32, 160, 1 << 16)?.log2().floor(), 0.0);
/// # Ok::<(), tagmac::bounds::BoundError>(())
/// ```
pub fn without_nonce(b: u32, tau: u32, q: u128) -> Result<Bound, BoundError> {
    tag_bits(tau, 256)?;
    // As in `mac_1999`.
    let b = b.min(1 << 16) as i32;
    let value = UpperFloat::from(some(q)?).square().scaled(-b);
    let term = Term { notion: "prf", ..Term::prp("F", q) };
    Ok(Bound::new(value.plus(UpperFloat::new(1, -(tau as i32))), vec![term]))
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
