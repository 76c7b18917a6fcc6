//! S of PRESENT (CHES 2007, section 3) as a circuit of `S ^ 0xc`, see [`super`].
//!
//! Thirteen gates: the fourteen of Courtois, Hulme and Mourouzis, "Solving Circuit Optimisation
//! Problems in Cryptography and Cryptanalysis" (2011), less the one NOT, which moves to the outputs
//! and becomes the 0xc that they miss.
//!
//! Where a CPU has an instruction for tables of three inputs, compilers merge gates into it, and a
//! box with its four keys is twelve instructions instead of seventeen. Nine such tables do it all
//! (five, and four that add two of them and a key), yet are slower on Zen 4: half as many
//! instructions with three operands from registers go through as with two.

use crate::isa::Words;

/// The circuit, with gates given as functions.
#[inline(always)]
fn circuit<T: Copy>(
    [x0, x1, x2, x3]: [T; 4],
    xor: impl Fn(T, T) -> T,
    and: impl Fn(T, T) -> T,
    or: impl Fn(T, T) -> T,
    and_not: impl Fn(T, T) -> T,
) -> [T; 4] {
    let t0 = xor(x2, x1);
    let t1 = xor(x3, and(x2, t0));
    let y0 = xor(x0, t1);
    let t2 = xor(x2, and(t0, t1));
    let t3 = xor(t0, y0);
    let y1 = xor(t3, or(x0, t2));
    let t4 = xor(t2, x0);
    let y3 = xor(y1, t4);
    let y2 = xor(t1, and_not(t4, t3));
    [y0, y1, y2, y3]
}

/// `S(x) ^ 0xc`, bit by bit of the words.
#[inline(always)]
pub(super) fn on_words(x: [u64; 4]) -> [u64; 4] {
    circuit(
        x,
        #[inline(always)]
        |a, b| a ^ b,
        #[inline(always)]
        |a, b| a & b,
        #[inline(always)]
        |a, b| a | b,
        #[inline(always)]
        |a, b| a & !b,
    )
}

/// `S(x) ^ 0xc ^ k`, bit by bit of the vectors.
#[inline(always)]
pub(super) fn on_vectors<W: Words>(words: W, x: [W::W; 4], k: [W::W; 4]) -> [W::W; 4] {
    let [y0, y1, y2, y3] = circuit(
        x,
        #[inline(always)]
        |a, b| words.xor(a, b),
        #[inline(always)]
        |a, b| words.and(a, b),
        #[inline(always)]
        |a, b| words.or(a, b),
        #[inline(always)]
        |a, b| words.and_not(a, b),
    );
    [words.xor(y0, k[0]), words.xor(y1, k[1]), words.xor(y2, k[2]), words.xor(y3, k[3])]
}

/// S as it is printed.
pub(super) const S: [u8; 16] = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];
