//! The offsets gamma_i L of PMAC: a table for one period, and the powers of x for the step to the
//! next period, see [`super`].

use crate::cipher::Field;
use crate::wipe::wipe;

/// The number of blocks whose offsets share a base.
pub(super) const PERIOD: usize = 32;
/// log2 of [`PERIOD`].
pub(super) const PERIOD_LOG: usize = 5;
/// The number of blocks whose offsets are computed with the key. Messages up to this length have
/// their own kernel on the one-block level. A key's first message has periods of this length.
pub(super) const SHORT_PERIOD: usize = 8;
/// The number of powers of x stored with the key. Higher ones are needed once in 2^STORED blocks
/// and recomputed.
const STORED: usize = 12;

/// A key's first message of up to this many blocks is faster in short periods than with tables made
/// for it. If a vector has 16 blocks, it has tables, on the stack.
#[cfg(feature = "std")]
pub(super) const ONCE_MAX_BLOCKS: usize = 384;

/// Multiples of L.
#[derive(Clone)]
pub(super) struct Offsets<B: Field> {
    /// L(i) = L x^i.
    pub(super) l: [B; STORED],
    /// gamma_j L for j = 1..=32.
    pub(super) gamma_l: [B; PERIOD],
}

impl<B: Field> Drop for Offsets<B> {
    fn drop(&mut self) {
        wipe(&mut self.l, B::ZERO);
        wipe(&mut self.gamma_l, B::ZERO);
    }
}

/// gamma_j L from j = 1.
#[inline(always)]
pub(super) fn gray<B: Field, const N: usize>(l: &[B]) -> [B; N] {
    let mut gamma_l = [B::ZERO; N];
    // In registers, because each step depends on the previous one.
    let mut offset = B::ZERO;
    for (j, gamma_l) in (1usize..).zip(&mut gamma_l) {
        offset = offset.xor(&l[j.trailing_zeros() as usize]);
        *gamma_l = offset;
    }
    gamma_l
}

impl<B: Field> Offsets<B> {
    /// Empty tables.
    pub(super) const ZERO: Self = Offsets { l: [B::ZERO; STORED], gamma_l: [B::ZERO; PERIOD] };

    /// The tables for L.
    #[cfg(not(feature = "std"))]
    pub(super) fn new(l: &B) -> Self {
        let mut offsets = Offsets::ZERO;
        offsets.make(l);
        offsets
    }

    /// Computes the tables for L in place, so that no copy stays on the stack.
    #[inline(never)]
    pub(super) fn make(&mut self, l: &B) {
        self.l[0] = *l;
        for i in 1..STORED {
            self.l[i] = self.l[i - 1].times_x();
        }
        self.gamma_l = gray(&self.l);
    }

    /// L(i) = L x^i. Inlined, because a call would save all vectors.
    #[inline(always)]
    pub(super) fn l(&self, i: usize) -> B {
        let mut l = self.l[i.min(STORED - 1)];
        for _ in STORED..=i {
            l = l.times_x();
        }
        l
    }

    /// gamma_i L for i = `number`.
    #[inline(always)]
    pub(super) fn gamma_l(&self, number: u64) -> B {
        let mut offset = B::ZERO;
        let mut left = number ^ number >> 1;
        while left != 0 {
            offset = offset.xor(&self.l(left.trailing_zeros() as usize));
            left &= left - 1;
        }
        offset
    }
}
