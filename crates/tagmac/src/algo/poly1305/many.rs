//! Many short messages under one r. Each word of the vectors holds one message's hash, so no powers
//! of r are needed.
//!
//! All messages end in the same row. One with fewer blocks starts later: blocks of zeros without
//! their 2^128 leave its hash at zero.

use core::ops::Range;

use super::field::{ClampedR, FieldElement};
use super::horner::{LIMBS, Radix};
use crate::algo::many::have_equal_lengths;
use crate::isa::{MAX_WORDS, Words, zero_filled};

/// The maximum number of blocks of messages of one length. Longer ones fill vectors by themselves.
pub(super) const MAX_BLOCKS: usize = 32;
/// The same for messages of different lengths, which are staged first.
pub(super) const MAX_STAGED_BLOCKS: usize = 8;

/// The number of vectors of messages at once, because a step depends on the previous one.
const VECTORS: usize = 2;
/// The maximum number of messages at once.
pub(super) const MAX_MESSAGES: usize = VECTORS * MAX_WORDS;

/// The number of messages at once, one for each word of the vectors.
pub(super) const fn messages<A: Words>() -> usize {
    VECTORS * 2 * A::LANES
}

/// The blocks of messages, one message per column.
pub(super) struct BlockMatrix {
    rows: [[u128; MAX_MESSAGES]; MAX_STAGED_BLOCKS],
    /// All ones for each block that has a 2^128.
    tops: [[u128; MAX_MESSAGES]; MAX_STAGED_BLOCKS],
}

/// Returns whether messages are faster in a batch than one by one where AES is an instruction. Those
/// of different lengths are staged, so more are needed.
pub(super) fn helps(messages: &[&[u8]]) -> bool {
    let n = messages.len();
    n >= 2 * MAX_MESSAGES || n >= MAX_MESSAGES && have_equal_lengths(messages)
}

/// The next messages of `len`, at most `most`, after the first `done`. A vector takes as long for few
/// messages as for all. So if the last ones almost fill vectors, some that are done join them, which
/// the group before leaves them to.
#[inline(always)]
pub(super) fn next<A: Words>(done: usize, len: usize, most: usize) -> Range<usize> {
    let (n, left) = (messages::<A>(), len - done);
    let almost_fill = |count: usize| count < n && count >= n - n / 8;
    if done > 0 && almost_fill(left) {
        return len - n..len;
    }
    if left > n && left < most && almost_fill(left - n) {
        return done..done + n;
    }
    done..len.min(done + most)
}

/// Returns whether some vectors of these messages are not full.
#[inline(always)]
pub(super) fn leaves_gaps<A: Words>(messages: &[&[u8]]) -> bool {
    !messages.len().is_multiple_of(2 * A::LANES)
}

impl BlockMatrix {
    pub(super) const EMPTY: BlockMatrix = BlockMatrix {
        rows: [[0; MAX_MESSAGES]; MAX_STAGED_BLOCKS],
        tops: [[0; MAX_MESSAGES]; MAX_STAGED_BLOCKS],
    };

    /// The hashes of messages that fill one or all vectors, plus `s`, mod 2^128.
    #[inline(always)]
    pub(super) fn tags<A: Words, R: Radix<A>>(
        &mut self,
        a: A,
        r: ClampedR,
        messages: &[&[u8]],
        s: &[u128; MAX_MESSAGES],
    ) -> [u128; MAX_MESSAGES] {
        if messages.len() > 2 * A::LANES {
            self.tags_in_vectors::<A, R, VECTORS>(a, r, messages, s)
        } else {
            self.tags_in_vectors::<A, R, 1>(a, r, messages, s)
        }
    }

    #[inline(always)]
    fn tags_in_vectors<A: Words, R: Radix<A>, const N: usize>(
        &mut self,
        a: A,
        r: ClampedR,
        messages: &[&[u8]],
        s: &[u128; MAX_MESSAGES],
    ) -> [u128; MAX_MESSAGES] {
        let (n, bytes) = (2 * A::LANES, messages[0].len());
        assert!(messages.len() == N * n, "full vectors");
        let same = have_equal_lengths(messages);
        let rows = self.lay(messages, same);
        // Whole blocks of messages of equal length are read in place.
        let whole = if same { bytes / 16 } else { 0 };
        let mut texts = [&[][..]; MAX_MESSAGES];
        if same {
            for (text, message) in texts.iter_mut().zip(messages) {
                *text = &message[..16 * whole];
            }
        }
        let (once, twice) = (factor::<A, R>(a, r.number()), factor::<A, R>(a, r.square()));
        let zero = R::limbs(
            #[inline(always)]
            |_| a.splat(0),
        );
        let (mut h, laid) = ([zero; N], (&*self, &texts, whole, same));
        // Two rows at once, h = (h + m_0) r^2 + m_1 r, after the first row if their number is odd.
        let mut next = rows % 2;
        if next == 1 {
            for (v, h) in h.iter_mut().enumerate() {
                let m = row::<A, R>(a, laid, 0, v);
                *h = R::carry(a, R::add_product(a, R::no_sums(a), m, &once));
            }
        }
        while next < rows {
            for (v, h) in h.iter_mut().enumerate() {
                let sums = R::no_sums(a);
                let sums = R::add_product(a, sums, row::<A, R>(a, laid, next + 1, v), &once);
                let m = R::plus(a, *h, row::<A, R>(a, laid, next, v));
                *h = R::carry(a, R::add_product(a, sums, m, &twice));
            }
            next += 2;
        }
        let mut tags = [0; MAX_MESSAGES];
        for (v, h) in h.into_iter().enumerate() {
            let now = n * v..n * (v + 1);
            let s = a.deinterleave_numbers(&s[now.clone()]);
            a.interleave_numbers(sum(a, residues::<A, R>(a, h), s), &mut tags[now]);
        }
        tags
    }

    /// Stages messages in columns and returns the number of rows. If `same`, all have equal length,
    /// and only the bytes after whole blocks are staged, in row 0.
    #[inline(always)]
    fn lay(&mut self, messages: &[&[u8]], same: bool) -> usize {
        let blocks = |message: &[u8]| message.len().div_ceil(16);
        let rows = match same {
            true => blocks(messages[0]),
            false => messages.iter().fold(0, |most, message| most.max(blocks(message))),
        };
        if same && messages[0].len().is_multiple_of(16) {
            return rows;
        }
        let last = if same { 0 } else { rows.saturating_sub(1) };
        if !same {
            for row in self.rows[..rows].iter_mut().chain(&mut self.tops[..rows]) {
                row[..messages.len()].fill(0);
            }
        }
        for (j, message) in messages.iter().enumerate() {
            let (whole, rest) = message.as_chunks();
            let late = rows - blocks(message);
            if !same {
                for (row, block) in self.rows[late..].iter_mut().zip(whole) {
                    row[j] = u128::from_le_bytes(*block);
                }
                for top in &mut self.tops[late..late + whole.len()] {
                    top[j] = u128::MAX;
                }
            }
            if !rest.is_empty() {
                let one = 1 << (8 * rest.len());
                self.rows[last][j] = u128::from_le_bytes(zero_filled(rest)) | one;
            }
        }
        rows
    }
}

/// A number in every word, prepared as a factor.
#[inline(always)]
fn factor<A: Words, R: Radix<A>>(a: A, x: FieldElement) -> R::Power {
    let limbs = x.limbs(R::LIMBS, R::BITS);
    let factor = R::limbs(
        #[inline(always)]
        |l| a.splat(limbs[l]),
    );
    R::power(a, factor)
}

/// Staged messages; whole blocks to read in place, if all messages have one length; the number of
/// these; and whether all messages have one length.
type Laid<'a> = (&'a BlockMatrix, &'a [&'a [u8]; MAX_MESSAGES], usize, bool);

/// Row `i` of vector `v`, with the blocks' 2^128.
#[inline(always)]
fn row<A: Words, R: Radix<A>>(
    a: A,
    (matrix, texts, whole, same): Laid<'_>,
    i: usize,
    v: usize,
) -> R::Limbs {
    let n = 2 * A::LANES;
    if i < whole {
        let (first, second) = texts[n * v..][..n].split_at(A::LANES);
        let block = 16 * i..16 * i + 16;
        let first = a.gather(
            #[inline(always)]
            |j| &first[j][block.clone()],
        );
        let second = a.gather(
            #[inline(always)]
            |j| &second[j][block.clone()],
        );
        return R::from_columns(a, a.deinterleave_pair(first, second), a.splat(u64::MAX));
    }
    let (i, top) = match same {
        true => (0, a.splat(0)),
        false => (i, a.deinterleave_numbers(&matrix.tops[i][n * v..][..n]).0),
    };
    R::from_columns(a, a.deinterleave_numbers(&matrix.rows[i][n * v..][..n]), top)
}

/// The sums of numbers in columns, mod 2^128.
#[inline(always)]
fn sum<A: Words>(a: A, x: (A::W, A::W), y: (A::W, A::W)) -> (A::W, A::W) {
    let low = a.add(x.0, y.0);
    // The carry out of the highest bit: both bits are set, or one is and the sum's is not.
    let carry = a.or(a.and(x.0, y.0), a.and_not(a.or(x.0, y.0), low));
    (low, a.add(a.add(x.1, y.1), a.shr(carry, 63)))
}

/// The number of bits of limb `l`. The top limb has the rest of 130.
#[inline(always)]
fn bits<A: Words, R: Radix<A>>(l: usize) -> u32 {
    if l + 1 < R::LIMBS { R::BITS as u32 } else { (130 - R::BITS * (R::LIMBS - 1)) as u32 }
}

/// Adds `carry` to the lowest limb, carries, and returns the part from bit 130.
#[inline(always)]
fn carried<A: Words, R: Radix<A>>(a: A, h: &mut [A::W], mut carry: A::W) -> A::W {
    for (l, h) in h.iter_mut().enumerate() {
        let sum = a.add(*h, carry);
        carry = a.shr(sum, bits::<A, R>(l));
        *h = a.and(sum, a.splat((1 << bits::<A, R>(l)) - 1));
    }
    carry
}

/// The numbers mod p, mod 2^128, in columns.
#[inline(always)]
fn residues<A: Words, R: Radix<A>>(a: A, mut h: R::Limbs) -> (A::W, A::W) {
    let h = h.as_mut();
    // The part from bit 130 is multiplied by 5. If that overflows again, the rest is small.
    let over = carried::<A, R>(a, h, a.splat(0));
    let over = carried::<A, R>(a, h, a.add(over, a.shl(over, 2)));
    h[0] = a.add(h[0], a.add(over, a.shl(over, 2)));
    // h + 5 - 2^130 = h - p, if that is not negative.
    let mut less_p = [a.splat(0); LIMBS];
    less_p[..R::LIMBS].copy_from_slice(h);
    let over = carried::<A, R>(a, &mut less_p[..R::LIMBS], a.splat(5));
    // Turns 1 into all ones.
    let over = a.add(a.xor(over, a.splat(u64::MAX)), a.splat(1));
    let (mut low, mut high) = (a.splat(0), a.splat(0));
    for (l, (h, less_p)) in h.iter().zip(less_p).enumerate() {
        let limb = a.or(a.and_not(*h, over), a.and(less_p, over));
        let at = (R::BITS * l) as u32;
        if at < 64 {
            low = a.or(low, a.shl(limb, at));
            if at + bits::<A, R>(l) > 64 {
                high = a.or(high, a.shr(limb, 64 - at));
            }
        } else {
            high = a.or(high, a.shl(limb, at - 64));
        }
    }
    (low, high)
}
