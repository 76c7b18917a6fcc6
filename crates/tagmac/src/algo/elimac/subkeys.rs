//! Subkeys H(K, i), computed or read from a table.

use super::families::{Families, V};
use crate::cipher::CipherBlock;
use crate::isa::{Isa, Lanes};

/// Computes the subkeys from H(K, 1), vector by vector.
#[inline(always)]
pub(super) fn first_subkeys<I: Isa, F: Families>(isa: I, families: &F, subkeys: &mut [F::Block]) {
    let (lanes, keys) = (F::lanes(isa), families.keys(isa));
    let mut source = Computed { i: 1 };
    for subkeys in subkeys.chunks_mut(F::Lanes::<I>::LANES) {
        let [next] = Subkeys::<F>::next(&mut source, isa, &keys);
        lanes.store_lanes(next, F::Block::flatten_mut(subkeys));
    }
}

/// The source of subkeys.
pub(super) trait Subkeys<F: Families> {
    /// The subkeys of the next `N * LANES` blocks.
    fn next<I: Isa, const N: usize>(&mut self, isa: I, keys: &F::Keys<'_, I>) -> [V<F, I>; N];
    /// The subkeys of the next `n` blocks, at most `LANES`. The other lanes are arbitrary.
    fn next_lanes<I: Isa>(&mut self, isa: I, keys: &F::Keys<'_, I>, n: usize) -> V<F, I>;
}

/// Computes H(K, i) when needed.
pub(super) struct Computed {
    pub(super) i: u64,
}

impl<F: Families> Subkeys<F> for Computed {
    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, keys: &F::Keys<'_, I>) -> [V<F, I>; N] {
        let (lanes, layout) = (F::lanes(isa), F::counter_layout(isa));
        let mut counter = lanes.counter(self.i);
        let mut x = [lanes.splat(&F::Block::ZERO); N];
        for x in &mut x {
            *x = F::whiten(isa, keys, lanes.encode_counter(counter, layout));
            counter = lanes.advance(counter);
        }
        self.i += (N * F::Lanes::<I>::LANES) as u64;
        F::subkeys(isa, keys, x)
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, keys: &F::Keys<'_, I>, n: usize) -> V<F, I> {
        let first = self.i;
        let [subkeys] = Subkeys::<F>::next(self, isa, keys);
        self.i = first + n as u64;
        subkeys
    }
}

/// Reads H(K, i) from the cache.
#[cfg(feature = "alloc")]
pub(super) struct Cached<'a, B>(pub(super) &'a [B]);

#[cfg(feature = "alloc")]
impl<F: Families> Subkeys<F> for Cached<'_, F::Block> {
    #[inline(always)]
    fn next<I: Isa, const N: usize>(&mut self, isa: I, _keys: &F::Keys<'_, I>) -> [V<F, I>; N] {
        let (now, rest) = self.0.split_at(F::Lanes::<I>::LANES * N);
        self.0 = rest;
        load(F::lanes(isa), F::Block::flatten(now))
    }

    #[inline(always)]
    fn next_lanes<I: Isa>(&mut self, isa: I, _keys: &F::Keys<'_, I>, n: usize) -> V<F, I> {
        let (now, rest) = self.0.split_at(n);
        self.0 = rest;
        F::lanes(isa).load_lanes(F::Block::flatten(now))
    }
}

/// `N` vectors of blocks.
#[inline(always)]
pub(super) fn load<L: Lanes, const N: usize>(lanes: L, data: &[u8]) -> [L::V; N] {
    let bytes = L::Block::BYTES * L::LANES;
    let mut x = [lanes.splat(&L::Block::ZERO); N];
    for (v, x) in x.iter_mut().enumerate() {
        *x = lanes.load(&data[bytes * v..][..bytes]);
    }
    x
}
