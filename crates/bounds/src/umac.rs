//! UMAC: RFC 4418 (section 6.2), and the paper of 1999 (Black, Halevi, Krawczyk, Krovetz, Rogaway,
//! "UMAC: Fast and Secure Message Authentication", sections 4, 5 and 8).

use super::nonces::NonceKind;
use super::up::{UpperFloat, pairs};
use super::{Bound, BoundError, MAX_UNDER_NONCES, Term, block_bits, permutation, poly1305};
use super::{some, tag_bits};

/// RFC 4418, section 6.2, with Bernstein's factor. After q tags, one of q_v attempts to forge
/// UMAC's tags of t bits, 32, 64, 96 or 128, passes with a probability of at most
///
/// ```text
/// q_v (1 - q/2^128)^(-(q + 1)/2) / 2^(30 t / 32)
/// ```
///
/// plus three times the advantage of distinguishing AES from a random permutation. Messages may
/// have any length. The RFC does not count the queries to AES. Here it is one for each message and
/// attempt, for the pads; fewer than a hundred more derive the keys.
///
/// The RFC says that up to 2^64 messages do not harm "significantly" although AES is a permutation,
/// with reference to a paper of Bernstein, and has no term for it. The factor is from that paper:
/// 1.65 at 2^64 messages, 7.4 at 2^65 and 2^11.5 at 2^66.
///
/// A repeated nonce reveals the xor of two hashes. Random nonces of b bits add q (q - 1) / 2^(b +
/// 1), the probability that two of them are equal.
///
/// # Errors
///
/// [`BoundError::TagBits`], [`BoundError::Messages`] for more than 2^68 messages,
/// [`BoundError::NonceBits`] for random nonces of more than 128 bits, [`BoundError::Nothing`] for
/// q + q_v = 0.
///
/// ```
/// use tagmac_bounds::{NonceKind, umac};
/// let bound = umac::mac(64, 1 << 32, 1 << 10, NonceKind::Counted)?;
/// assert_eq!(bound.to_string(), "2^-49.99 + 3 Adv^prp_AES(2^32)");
/// let bound = umac::mac(64, 1 << 32, 1 << 10, NonceKind::Random { bits: 64 })?;
/// assert_eq!(bound.to_string(), "2^-1 + 3 Adv^prp_AES(2^32)");
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn mac(t: u32, q: u128, q_v: u128, nonces: NonceKind) -> Result<Bound, BoundError> {
    some(q | q_v)?;
    let guess = UpperFloat::from(q_v).times(each(t, q)?);
    let term = Term { times: 3, ..Term::prp("AES", q.saturating_add(q_v)) };
    Ok(Bound::new(poly1305::repeated(q, nonces)?.plus(guess), vec![term]))
}

/// The probability that an attempt passes after q tags.
pub(super) fn each(t: u32, q: u128) -> Result<UpperFloat, BoundError> {
    tag_bits(t, 128)?;
    if !t.is_multiple_of(32) {
        return Err(BoundError::TagBits { min: 32, max: 128, found: t });
    }
    Ok(UpperFloat::new(1, -30 * (t as i32 / 32)).times(permutation::factor(q)?))
}

/// The parameters of the PRF of UMAC 1999 in its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prf1999 {
    /// HMAC-SHA1, or another PRF with an advantage that remains a named term.
    Named,
    /// The CBC MAC with three keys. Its bound depends on the number of blocks that it processes:
    /// the nonce of 8 bytes, the hash of each block of the message, and two bytes of length.
    Cbc3 {
        /// The length of the cipher's block in bits.
        n: u32,
        /// The length of a message block in bytes.
        block_bytes: u32,
        /// The length of its hash in bytes.
        hash_bytes: u32,
    },
}

impl Prf1999 {
    /// Returns the number of blocks that the PRF processes for a message of `length` bytes that is
    /// hashed.
    ///
    /// ```
    /// use tagmac_bounds::umac::Prf1999;
    /// // UMAC-MMX-60 hashes 4096 bytes to 16: 1 MiB is 257 blocks with the nonce and the length.
    /// let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: 16 };
    /// assert_eq!([0, 4096, 1 << 20].map(|length| prf.blocks(length)), [1, 2, 257]);
    /// ```
    pub fn blocks(self, length: u64) -> u128 {
        match self {
            Prf1999::Named => 1,
            Prf1999::Cbc3 { n, block_bytes, hash_bytes } => {
                let hashes = length.div_ceil(block_bytes.max(1).into()) as u128;
                let bytes = 8 + hashes * hash_bytes as u128 + 2;
                (8 * bytes).div_ceil(n.max(1).into())
            }
        }
    }
}

/// The parameters of UMAC 1999 in its bound: the hash and the PRF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Umac1999 {
    /// The hash collides with a probability of at most 2^-b: [`nh`], [`nhs`], [`nh_t2`],
    /// [`nhs_t2`].
    pub b: u32,
    /// The length of a tag in bits.
    pub t: u32,
    /// The PRF.
    pub prf: Prf1999,
    /// The kind of nonces.
    pub nonces: NonceKind,
}

/// UMAC 1999, lemma 8.1 and theorem 8.2, extended to repeated nonces. q messages are tagged, and
/// q_v attempts are made, with messages of up to `length` bytes. One of the attempts passes with a
/// probability of at most
///
/// ```text
/// q_v (2^-b + 2^-tau)                               a counter
/// C(q, 2) 2^-r 2^-b + q_v (m 2^-b + 2^-tau)         r random bits of a nonce
/// m = sum over j of min(1, C(q, j + 1) / 2^(rj))
/// ```
///
/// plus two advantages: of distinguishing the PRF from a random function with q + q_v queries, and
/// of distinguishing the keys that a set derives from its key (KDF) from random ones. m is at least
/// the expected number of messages under the most frequent nonce; where the sum is long, q or 8 q /
/// 2^r + 130 bounds it. A repeated nonce costs only a collision of two hashes, because the PRF
/// hides the hash: `docs/design/theory.md` ("Nonces") has the proof.
///
/// If the PRF is [`Prf1999::Cbc3`], its advantage is not negligible and is included in the value:
/// [`cbc3_prf`] for the tags, and for an attempt of l blocks after d inner blocks
///
/// ```text
/// ((l - 1) d + C(l - 1, 2) + q) / (2^n - d - l + 1) + 2^(n - tau) / (2^n - q)
/// ```
///
/// instead of 2^-tau. Hashes there are a multiple of 4 bytes, so the last block of an input is
/// never full, and K2 is not used.
///
/// **Every message is hashed.** With a minimum length to hash, shorter messages go to the PRF
/// unhashed, and their blocks are not counted here.
///
/// Nonces have 8 bytes, so there are at most 2^64 messages. The paper has no theorem for two levels
/// with one stream, as in UMAC-STD-30. Section 2.2 states 2^-30 for it, and that two levels lose a
/// factor of two, without the analysis. `docs/design/theory.md` ("UMAC of 1999") has a proof.
///
/// # Errors
///
/// [`BoundError::TagBits`] unless tau is 1 to 256, or at most the length of the PRF's block.
/// [`BoundError::BlockBits`]; [`BoundError::NonceBits`] for random nonces of more than 64 bits;
/// [`BoundError::Messages`] for more than 2^64 messages; [`BoundError::Nothing`] for q + q_v = 0.
pub fn mac_1999(mac: &Umac1999, length: u64, q: u128, q_v: u128) -> Result<Bound, BoundError> {
    some(q | q_v)?;
    let guess = UpperFloat::from(q_v).times(mac.each(length, q)?);
    let hashes = mac.nonces.equal_pairs(q).times(mac.epsilon());
    let (prf, terms) = match mac.prf {
        Prf1999::Named => {
            let term = Term { notion: "prf", ..Term::prp("F", q.saturating_add(q_v)) };
            (UpperFloat::ZERO, vec![term])
        }
        Prf1999::Cbc3 { n, .. } => {
            let blocks = mac.prf.blocks(length);
            let [inner, inner_v] = [q, q_v].map(|count| count.saturating_mul(blocks - 1));
            let queries = Term::prp("E1", inner.saturating_add(inner_v));
            let last = Term::prp("E3", q.saturating_add(q_v));
            (cbc3(n, q, inner), vec![queries, last])
        }
    };
    let terms = terms.into_iter().chain([Term { notion: "prg", ..Term::prp("KDF", 1) }]);
    Ok(Bound::new(hashes.plus(prf).plus(guess), terms.collect()))
}

impl Umac1999 {
    /// 2^-b
    fn epsilon(&self) -> UpperFloat {
        // Far beyond any hash, and within the valid exponents.
        UpperFloat::new(1, -(self.b.min(1 << 16) as i32))
    }

    /// The probability that an attempt passes after q tags.
    pub(super) fn each(&self, length: u64, q: u128) -> Result<UpperFloat, BoundError> {
        self.nonces.check(64)?;
        if q > MAX_UNDER_NONCES {
            return Err(BoundError::Messages { max: MAX_UNDER_NONCES, found: q });
        }
        let fresh = match self.prf {
            Prf1999::Named => {
                tag_bits(self.t, 256)?;
                UpperFloat::new(1, -(self.t as i32))
            }
            Prf1999::Cbc3 { n, .. } => {
                block_bits(n)?;
                tag_bits(self.t, n)?;
                let inner = self.prf.blocks(length) - 1;
                let before = q.saturating_mul(inner);
                let meets = UpperFloat::from(inner).times(UpperFloat::from(before));
                let meets = meets.plus(pairs(inner)).plus(UpperFloat::from(q));
                let guess = one_of(n, q).scaled((n - self.t) as i32);
                meets.times(one_of(n, before.saturating_add(inner))).plus(guess)
            }
        };
        Ok(self.nonces.multiplicity(q).times(self.epsilon()).plus(fresh))
    }
}

/// The CBC MAC with three keys, for any inputs of sigma blocks in all. With random permutations for
/// the cipher, an adversary with q queries distinguishes it from a random function with an
/// advantage of at most
///
/// ```text
/// (C(d, 2) + 2 C(q, 2)) / (2^n - d),    d = sigma - q
/// ```
///
/// d is the number of blocks that are not the last of their input. With the cipher itself, add the
/// advantages of distinguishing it from a random permutation, with d queries under K1 and q under
/// K2 and K3. `docs/design/theory.md` ("The CBC MAC with three keys") has the proof. For n = 128
/// the bound is 2^-32 after 2^48 inputs of one block or 2^48.5 blocks of long ones. It bounds
/// nothing after 2^64 to 2^64.8.
///
/// # Errors
///
/// [`BoundError::BlockBits`], [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac_bounds::umac;
/// let bound = umac::cbc3_prf(128, 1 << 40, 1 << 48)?;
/// let terms = "Adv^prp_E1(2^47.99) + Adv^prp_E2(2^40) + Adv^prp_E3(2^40)";
/// assert_eq!(bound.to_string(), format!("2^-33.01 + {terms}"));
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn cbc3_prf(n: u32, q: u128, sigma: u128) -> Result<Bound, BoundError> {
    block_bits(n)?;
    let inner = sigma.saturating_sub(some(q)?);
    let terms = vec![Term::prp("E1", inner), Term::prp("E2", q), Term::prp("E3", q)];
    Ok(Bound::new(cbc3(n, q, inner), terms))
}

fn cbc3(n: u32, q: u128, inner: u128) -> UpperFloat {
    let last = pairs(q).scaled(1);
    pairs(inner).plus(last).times(one_of(n, inner))
}

/// 1 / (2^n - q), or 1 if no values are left.
fn one_of(n: u32, q: u128) -> UpperFloat {
    UpperFloat::one_below(n, q).unwrap_or(UpperFloat::from(1))
}

/// UMAC-128 with checks of the first words of a tag, as in `Umac::verify_prefix`. `attempts[h - 1]`
/// attempts are made at h words. Their messages were not tagged under their nonce: a tagged message
/// with other last words passes at a lower grade, too. **Some attempt ever passes, at any grade,**
/// with a probability of at most
///
/// ```text
/// v_1 e + v_2 e^2 + v_3 e^3 + v_4 e^4,    e = 2^-30
/// ```
///
/// times the cost of pads from a permutation after q messages, as in [`mac`]. Nonces must be
/// counted.
///
/// **Attempts after a first word that passed have no bound here.** The streams share their key, so
/// answers at the first grade alone may reveal enough of it to forge whole tags.
/// `docs/design/theory.md` ("Grades") has the attack, and the conditions for whole tags to keep the
/// bound of [`mac`].
///
/// # Errors
///
/// As [`mac`].
///
/// ```
/// use tagmac_bounds::umac;
/// // A million failures at the first grade.
/// assert_eq!(umac::graded(0, &[1 << 20, 0, 0, 0])?.log2().ceil(), -10.0);
/// // The same number of attempts, only at whole tags.
/// assert_eq!(umac::graded(0, &[0, 0, 0, 1 << 20])?.log2().round(), -100.0);
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn graded(q: u128, attempts: &[u128; 4]) -> Result<Bound, BoundError> {
    let v = attempts.iter().fold(0u128, |sum, v| sum.saturating_add(*v));
    let terms = mac(128, q, v, NonceKind::Counted)?.terms;
    let value = by_grade(UpperFloat::new(1, -30), attempts);
    Ok(Bound::new(value.times(permutation::factor(q)?), terms))
}

/// Returns the maximum number of failures at each of UMAC-128's three lower grades, for which some
/// attempt at any grade passes with at most this probability. It is computed by [`graded`] after
/// 2^64 messages, with the same number of failures at whole tags. Always below 2^30.
///
/// # Errors
///
/// [`BoundError::Probability`] unless it is between 0 and 1.
pub fn graded_guesses(probability: f64) -> Result<u64, BoundError> {
    if !(probability > 0.0 && probability < 1.0) {
        return Err(BoundError::Probability { found: probability });
    }
    let (mut low, mut over) = (0, 1 << 30);
    while over - low > 1 {
        let middle: u64 = low + (over - low) / 2;
        match graded(MAX_UNDER_NONCES, &[middle.into(); 4])?.at_most(probability) {
            true => low = middle,
            false => over = middle,
        }
    }
    Ok(low)
}

/// A UMAC of 1999 with grades, `Umac99Graded`: as [`graded`], for as many words as `attempts` has
/// entries. h streams must collide with 2^-bh, which is proven for all shapes except strides whose
/// shift is not whole groups. `mac` describes one word: one stream with a hash that collides with
/// 2^-b, the length of a word in bits, and the PRF of the stream's hash. e is the probability of an
/// attempt by [`mac_1999`]. In addition there are the advantages of distinguishing the PRFs, one
/// for each stream, from random functions by the words of q + q_v messages. If this is a number, it
/// is included in the value.
///
/// # Errors
///
/// [`BoundError::NonceBits`] unless nonces are counted, and as [`mac_1999`].
///
/// ```
/// use tagmac_bounds::NonceKind;
/// use tagmac_bounds::umac::{Prf1999, Umac1999, graded_1999};
/// // Streams of UMAC-MMX-60: 4096 bytes hash to 4, words have 32 bits.
/// let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: 4 };
/// let word = Umac1999 { b: 15, t: 32, prf, nonces: NonceKind::Counted };
/// assert_eq!(graded_1999(&word, 4096, 1, &[0, 0, 0, 1])?.log2().ceil(), -59.0);
/// assert_eq!(graded_1999(&word, 4096, 1, &[1, 0, 0, 0])?.log2().ceil(), -14.0);
/// # Ok::<(), tagmac_bounds::BoundError>(())
/// ```
pub fn graded_1999(
    mac: &Umac1999,
    length: u64,
    q: u128,
    attempts: &[u128],
) -> Result<Bound, BoundError> {
    if let NonceKind::Random { bits } = mac.nonces {
        return Err(BoundError::NonceBits { max: 0, found: bits });
    }
    let v = attempts.iter().fold(0u128, |sum, v| sum.saturating_add(*v));
    let words = by_grade(mac.each(length, q)?, attempts);
    let streams = attempts.len() as u32;
    let terms = mac_1999(mac, length, q, v)?.terms;
    let terms = terms.into_iter().map(|term| Term { times: streams * term.times, ..term });
    let tags = if q > 0 { mac_1999(mac, length, q, 0)?.value } else { UpperFloat::ZERO };
    let tags = UpperFloat::from(u128::from(streams)).times(tags);
    Ok(Bound::new(words.plus(tags), terms.collect()))
}

/// v_1 e + v_2 e^2 and so on.
fn by_grade(e: UpperFloat, attempts: &[u128]) -> UpperFloat {
    // Horner's rule, from the last word.
    let add = |sum: UpperFloat, v: &u128| sum.plus(UpperFloat::from(*v)).times(e);
    attempts.iter().rev().fold(UpperFloat::ZERO, add)
}

/// UMAC 1999, section 8.3: the bound without a nonce, with tag = F(hash). Of q messages, all but
/// one are tagged. The last is forged in one attempt with a probability of at most
///
/// ```text
/// q^2 2^-b + 2^-tau
/// ```
///
/// plus the advantage of distinguishing the PRF from a random function with q queries. No MAC here
/// works like this. The bound is useless from q = 2^(b/2), since equal tags then reveal a collision
/// of hashes. For this reason UMAC has nonces.
///
/// # Errors
///
/// [`BoundError::TagBits`] unless tau is 1 to 256, [`BoundError::Nothing`] for q = 0.
///
/// ```
/// use tagmac_bounds::umac;
/// // The paper: with a hash of 2^-32, fewer than 2^16 messages can be authenticated.
/// assert_eq!(umac::without_nonce(32, 160, 1 << 16)?.log2().floor(), 0.0);
/// # Ok::<(), tagmac_bounds::BoundError>(())
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

/// Theorems 4.5 and 5.2: NHS, with signed words, collides with 2^-b, b = (w - 1) t.
pub const fn nhs(w: u32, t: u32) -> u32 {
    w.saturating_sub(1).saturating_mul(t)
}

/// Theorem 5.3: NH^T2, with two levels and two streams, collides with 2^-b, b = 2w - 2.
pub const fn nh_t2(w: u32) -> u32 {
    w.saturating_mul(2).saturating_sub(2)
}

/// Theorem 5.4: NHS^T2, signed, collides with 2^-b, b = 2w - 4.
pub const fn nhs_t2(w: u32) -> u32 {
    w.saturating_mul(2).saturating_sub(4)
}
