//! What a rung could do at most: the cost of an AES round when nothing else stands in its way.

use std::hint::black_box;

use tagmac::isa::{Isa, Kernel, Level};

use crate::clock::best_ns;

/// Independent vectors, enough to cover the latency of a round.
const CHAINS: usize = 12;
const ROUNDS: usize = 1000;

struct Rounds;

impl Kernel for Rounds {
    /// Blocks that go through the rounds.
    type Out = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let key = isa.splat(black_box(&[7; 16]));
        let mut x: [I::V; CHAINS] = core::array::from_fn(
            #[inline(always)]
            |i| isa.splat(&[i as u8; 16]),
        );
        // A rung that has one vector in flight is busy with one.
        let chains = if I::VECTORS == 1 { 1 } else { CHAINS };
        for _ in 0..ROUNDS {
            for x in &mut x[..chains] {
                *x = isa.aes(*x, key);
            }
        }
        let all = x.into_iter().reduce(|a, b| isa.xor(a, b)).expect("some vectors");
        black_box(isa.narrow().first_lane(isa.fold(all)));
        chains * I::LANES
    }
}

/// Nanoseconds of an AES round of one block.
pub fn round_ns(level: Level) -> f64 {
    let blocks = level.run(Rounds);
    let ns = best_ns(9, 2e5, || {
        black_box(level.run(Rounds));
    });
    ns / (ROUNDS * blocks) as f64
}
