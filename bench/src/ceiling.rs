//! Measures the ceilings of a level: the cost of AES rounds, and of multiplications, with no other
//! work.

use core::fmt;
use std::hint::black_box;

use tagmac::isa::{Isa, Kernel, Lanes, Level, Words};

use crate::clock::best_ns;

/// Independent vectors: enough to hide the latency of a round or a product.
const CHAINS: usize = 12;
const ROUNDS: usize = 1000;

/// Core cycles per 16 bytes of vector.
pub struct Costs {
    /// An AES round.
    pub aes: f64,
    /// An AES round that waits for the previous one.
    pub aes_chained: f64,
    /// A 32-bit product in each word.
    pub mul32: f64,
    /// Half a 52-bit product in each word, on levels that have the instruction.
    pub mul52: Option<f64>,
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Costs { aes, aes_chained, mul32, mul52 } = self;
        write!(
            f,
            "cycles per 16 bytes: AES round {aes:.3}, chained {aes_chained:.3}, 32-bit products \
             {mul32:.3}"
        )?;
        mul52.map_or(Ok(()), |mul52| write!(f, ", 52-bit half products {mul52:.3}"))
    }
}

/// Measures a level. `clock` is in cycles per nanosecond.
pub fn costs(level: Level, clock: f64) -> Costs {
    Costs {
        aes: clock * ns(|| level.run(Rounds)),
        aes_chained: clock * ns(|| level.run(ChainedRounds)),
        mul32: clock * ns(|| level.run(Products32)),
        mul52: level
            .run(Products52)
            .map(|_| clock * ns(|| level.run(Products52).expect("there are some"))),
    }
}

/// Returns the nanoseconds of an operation on 16 bytes; `f` returns the number of operations done.
fn ns(f: impl Fn() -> usize) -> f64 {
    let operations = f();
    best_ns(9, 2e5, || {
        black_box(f());
    }) / operations as f64
}

struct Rounds;

impl Kernel for Rounds {
    type Out = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let key = isa.splat(black_box(&[7; 16]));
        let mut x: [I::V; CHAINS] = core::array::from_fn(
            #[inline(always)]
            |i| isa.splat(&[i as u8; 16]),
        );
        // A level without unrolling works on one vector at a time.
        let chains = if I::UNROLL == 1 { 1 } else { CHAINS };
        for _ in 0..ROUNDS {
            for x in &mut x[..chains] {
                *x = isa.aes(*x, key);
            }
        }
        let all = x.into_iter().reduce(|a, b| isa.xor(a, b)).expect("some vectors");
        black_box(isa.narrow().lane0(isa.xor_lanes(all)));
        ROUNDS * chains * I::LANES
    }
}

struct ChainedRounds;

impl Kernel for ChainedRounds {
    type Out = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let isa = isa.narrow();
        let key = isa.splat(black_box(&[7; 16]));
        let mut x = isa.splat(black_box(&[3; 16]));
        for _ in 0..ROUNDS {
            x = isa.aes(x, key);
        }
        black_box(isa.lane0(x));
        ROUNDS
    }
}

struct Products32;

impl Kernel for Products32 {
    type Out = usize;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> usize {
        let a = isa.words();
        let factor = a.splat(black_box(0x9e37_79b9));
        let mut x: [<I::Words as Words>::W; CHAINS] = core::array::from_fn(
            #[inline(always)]
            |i| a.splat(black_box(i as u64 + 3)),
        );
        for _ in 0..ROUNDS {
            for x in &mut x {
                *x = a.mul32(*x, factor);
            }
        }
        for x in x {
            black_box(a.sum(x));
        }
        ROUNDS * CHAINS * <I::Words as Words>::LANES
    }
}

struct Products52;

impl Kernel for Products52 {
    type Out = Option<usize>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<usize> {
        if !<I::Words as Words>::MUL52 {
            return None;
        }
        let a = isa.words();
        let factor = a.splat(black_box(0x9e37_79b9));
        let mut x: [[<I::Words as Words>::W; 2]; CHAINS] = core::array::from_fn(
            #[inline(always)]
            |i| [a.splat(black_box(i as u64 + 3)); 2],
        );
        for _ in 0..ROUNDS {
            for x in &mut x {
                *x = a.mul52(*x, factor, factor);
            }
        }
        for [low, high] in x {
            black_box(a.sum(a.add(low, high)));
        }
        Some(ROUNDS * CHAINS * 2 * <I::Words as Words>::LANES)
    }
}
