//! S of PRESENT (CHES 2007, section 3) as a circuit of `S ^ 0xc`, see [`super`].
//!
//! Thirteen gates: the fourteen of Courtois, Hulme and Mourouzis, "Solving Circuit Optimisation
//! Problems in Cryptography and Cryptanalysis" (2011), without the one NOT. It moves to the outputs
//! and becomes their missing 0xc.
//!
//! If a CPU has an instruction for truth tables of three inputs, compilers merge gates into it: a
//! box and its four keys are then twelve instructions instead of seventeen. Nine such tables would
//! suffice (five, and four that add two of them and a key), but they are slower on Zen 4. Its
//! throughput of instructions with three register operands is half of that with two.

use crate::isa::Words;

/// The operations of the circuits.
pub(super) trait Gates: Copy {
    /// A vector of bits.
    type T: Copy;
    /// `x` repeated in all 64-bit words.
    fn splat(self, x: u64) -> Self::T;
    /// `a ^ b`.
    fn xor(self, a: Self::T, b: Self::T) -> Self::T;
    /// `a & b`.
    fn and(self, a: Self::T, b: Self::T) -> Self::T;
    /// `a | b`.
    fn or(self, a: Self::T, b: Self::T) -> Self::T;
    /// `a & !b`.
    fn and_not(self, a: Self::T, b: Self::T) -> Self::T;
    /// Shifts each 64-bit word up by n, which is constant.
    fn shl(self, a: Self::T, n: u32) -> Self::T;
    /// Shifts each 64-bit word down by n, which is constant.
    fn shr(self, a: Self::T, n: u32) -> Self::T;
}

/// Gates on 64 bits.
#[derive(Clone, Copy)]
pub(super) struct One;

macro_rules! gates {
    ($self:ident, $t:ty; $($name:ident($($x:ident: $of:ty),+) $result:expr;)+) => {
        type T = $t;
        $(
            #[inline(always)]
            fn $name($self, $($x: $of),+) -> $t {
                $result
            }
        )+
    };
}

impl Gates for One {
    gates!(
        self, u64;
        splat(x: u64) x;
        xor(a: u64, b: u64) a ^ b;
        and(a: u64, b: u64) a & b;
        or(a: u64, b: u64) a | b;
        and_not(a: u64, b: u64) a & !b;
        shl(a: u64, n: u32) a << n;
        shr(a: u64, n: u32) a >> n;
    );
}

impl<W: Words> Gates for W {
    gates!(
        self, W::W;
        splat(x: u64) Words::splat(self, x);
        xor(a: W::W, b: W::W) Words::xor(self, a, b);
        and(a: W::W, b: W::W) Words::and(self, a, b);
        or(a: W::W, b: W::W) Words::or(self, a, b);
        and_not(a: W::W, b: W::W) Words::and_not(self, a, b);
        shl(a: W::W, n: u32) Words::shl(self, a, n);
        shr(a: W::W, n: u32) Words::shr(self, a, n);
    );
}

/// `S(x) ^ 0xc`, bit by bit.
#[inline(always)]
pub(super) fn sub<G: Gates>(g: G, [x0, x1, x2, x3]: [G::T; 4]) -> [G::T; 4] {
    let t0 = g.xor(x2, x1);
    let t1 = g.xor(x3, g.and(x2, t0));
    let y0 = g.xor(x0, t1);
    let t2 = g.xor(x2, g.and(t0, t1));
    let t3 = g.xor(t0, y0);
    let y1 = g.xor(t3, g.or(x0, t2));
    let t4 = g.xor(t2, x0);
    let y3 = g.xor(y1, t4);
    let y2 = g.xor(t1, g.and_not(t4, t3));
    [y0, y1, y2, y3]
}

/// The xor of words, one by one.
#[inline(always)]
pub(super) fn xor<G: Gates>(g: G, x: [G::T; 4], k: [G::T; 4]) -> [G::T; 4] {
    let ([x0, x1, x2, x3], [k0, k1, k2, k3]) = (x, k);
    [g.xor(x0, k0), g.xor(x1, k1), g.xor(x2, k2), g.xor(x3, k3)]
}

/// S as printed in the paper.
pub(super) const S: [u8; 16] = [12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2];

/// A packed table of S: nibble n is S of n.
pub(super) const PACKED: u64 = {
    let (mut packed, mut n) = (0, 0);
    while n < 16 {
        packed |= (S[n] as u64) << (4 * n);
        n += 1;
    }
    packed
};
