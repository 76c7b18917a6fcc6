//! The kernels that the compiler canary (`canary.rs`) compiles under each level's list. There is
//! one for each kind of code that the library leaves to the optimiser. Kernels are inlined into
//! their callers.

// All kernels have a parameter `V` so that they have one form; only `helper` uses it.
#![allow(clippy::extra_unused_type_parameters)]

use std::hint::black_box;

/// Elements per array: several 512-bit vectors of the narrowest type, and an odd remainder.
pub const N: usize = 203;

/// The input and the results.
pub struct Data {
    b: [u8; N],
    h: [u16; N],
    w: [u32; N],
    q: [u64; N],
    r: [u64; N],
    out8: [u8; N],
    out16: [u16; N],
    out32: [u32; N],
    out64: [u64; N],
    out128: [u128; N],
}

impl Data {
    pub fn new(seed: u64) -> Self {
        // splitmix64, with many values at the edges.
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^= z >> 31;
            match z % 11 {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 63,
                3 => 3,
                4 => z | 0x8000_0000_8000_8080,
                _ => z,
            }
        };
        Data {
            b: std::array::from_fn(|_| next() as u8),
            h: std::array::from_fn(|_| next() as u16),
            w: std::array::from_fn(|_| next() as u32),
            q: std::array::from_fn(|_| next()),
            r: std::array::from_fn(|_| next()),
            out8: [0; N],
            out16: [0; N],
            out32: [0; N],
            out64: [0; N],
            out128: [0; N],
        }
    }

    /// Returns everything that a kernel may have written.
    pub fn results(&self) -> impl PartialEq {
        (&self.out8[..], &self.out16[..], &self.out32[..], &self.out64[..], &self.out128[..])
    }
}

/// Hides a value from the optimiser in the reference (`OPAQUE`). Does nothing in the code under
/// test.
#[inline(always)]
fn o<const OPAQUE: bool, T>(x: T) -> T {
    if OPAQUE { black_box(x) } else { x }
}

/// Issue #158622: a 128-bit result selected by the sign of a narrower input and then by a second
/// test. One variant has a negation, the other a product. 128-bit integers are not a vector type,
/// so the masks of the vectorised tests are split again, bit by bit.
macro_rules! sign {
    ($negation:ident, $product:ident, $input:ident, $signed:ty) => {
        #[inline(always)]
        pub fn $negation<const O: bool, V>(d: &mut Data, n: usize) {
            for i in 0..n {
                let (q, r) = (o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
                let negative = (o::<O, _>(d.$input[i]) as $signed) < 0;
                let wide = u128::from(q & u64::MAX >> 1);
                let wide = if negative { wide.wrapping_neg() } else { wide };
                d.out128[i] = o::<O, _>(if r == 0 { 0 } else { wide });
            }
        }

        #[inline(always)]
        pub fn $product<const O: bool, V>(d: &mut Data, n: usize) {
            for i in 0..n {
                let (q, r) = (o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
                let negative = (o::<O, _>(d.$input[i]) as $signed) < 0;
                let wide = u128::from(r);
                let wide = if negative { 5 * wide } else { wide };
                d.out128[i] = o::<O, _>(if q == 3 { 0 } else { wide });
            }
        }
    };
}

sign!(sign_64, sign_64_product, q, i64);
sign!(sign_32, sign_32_product, w, i32);
sign!(sign_16, sign_16_product, h, i16);
sign!(sign_8, sign_8_product, b, i8);

/// Stores that depend on the sign: masked stores where they exist.
#[inline(always)]
pub fn sign_store<const O: bool, V>(d: &mut Data, n: usize) {
    for i in 0..n {
        if (o::<O, _>(d.q[i]) as i64) < 0 {
            d.out64[i] = o::<O, _>(d.r[i]);
        }
        if (o::<O, _>(d.w[i]) as i32) < 0 {
            d.out32[i] = !o::<O, _>(d.w[i]);
        }
        if (o::<O, _>(d.b[i]) as i8) < 0 {
            d.out8[i] = o::<O, _>(d.b[i]).rotate_left(3);
        }
    }
}

/// Poly1305 in limbs of 26 bits, one message block per lane: products of 32 by 32 to 64 bits, sums
/// of products, a chain of carries (as in #79865).
#[inline(always)]
pub fn limbs_26<const O: bool, V>(d: &mut Data, n: usize) {
    const M: u64 = (1 << 26) - 1;
    for i in 0..n {
        let (q, r) = (o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
        let a = [q & M, q >> 26 & M, q >> 52];
        let k = [r & M, r >> 26 & M, r >> 52 & 0xff];
        let mut c = [
            o::<O, _>(a[0] * k[0]) + o::<O, _>(5 * a[1] * k[2]) + o::<O, _>(5 * a[2] * k[1]),
            o::<O, _>(a[0] * k[1]) + o::<O, _>(a[1] * k[0]) + o::<O, _>(5 * a[2] * k[2]),
            o::<O, _>(a[0] * k[2]) + o::<O, _>(a[1] * k[1]) + o::<O, _>(a[2] * k[0]),
        ];
        c[1] += o::<O, _>(c[0] >> 26);
        c[2] += o::<O, _>(c[1] >> 26);
        c[0] = (c[0] & M) + 5 * o::<O, _>(c[2] >> 26);
        d.out64[i] = o::<O, _>((c[0] ^ (c[1] & M) << 20).wrapping_add((c[2] & M) << 38));
    }
}

/// Products of 52-bit halves, low and high part, like those of the IFMA unit.
#[inline(always)]
pub fn limbs_52<const O: bool, V>(d: &mut Data, n: usize) {
    const M: u64 = (1 << 52) - 1;
    for i in 0..n {
        let p = u128::from(o::<O, _>(d.q[i]) & M) * u128::from(o::<O, _>(d.r[i]) & M);
        let (low, high) = (o::<O, _>(p as u64 & M), o::<O, _>((p >> 52) as u64));
        d.out64[i] = o::<O, _>(low.wrapping_add(high.rotate_left(7)));
    }
}

/// Full 64-bit products: low half, high half, and an accumulator carried from element to element.
#[inline(always)]
pub fn product_64<const O: bool, V>(d: &mut Data, n: usize) {
    let mut sum = 0u128;
    for i in 0..n {
        let (q, r) = (o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
        let low = o::<O, _>(q.wrapping_mul(r));
        let high = o::<O, _>(((u128::from(q) * u128::from(r)) >> 64) as u64);
        sum = o::<O, _>(sum.wrapping_add(u128::from(low ^ high) << (i % 64)));
        d.out64[i] = low.wrapping_sub(high);
        d.out128[i] = sum;
    }
}

/// Rotations and funnel shifts in four widths, by constants and by values. Under VBMI2 without VL,
/// 128- and 256-bit ones are widened to 512 bits.
#[inline(always)]
pub fn shifts<const O: bool, V>(d: &mut Data, n: usize) {
    for i in 0..n {
        let (b, h) = (o::<O, _>(d.b[i]), o::<O, _>(d.h[i]));
        let (w, q, r) = (o::<O, _>(d.w[i]), o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
        d.out8[i] = o::<O, _>(b.rotate_left(3) ^ b >> (h & 7));
        d.out16[i] = o::<O, _>((h << 5 | w as u16 >> 11) ^ h.rotate_right(u32::from(b) & 15));
        d.out32[i] = o::<O, _>(w.rotate_left(h as u32 & 31) ^ (w << 13 | q as u32 >> 19));
        let s = w & 63;
        let funnel = (u128::from(q) << 64 | u128::from(r)) >> s;
        d.out64[i] = o::<O, _>(funnel as u64 ^ q.rotate_left(s) ^ (q << 1 | r >> 63));
    }
}

/// Widening, narrowing, saturating, across all widths at once.
#[inline(always)]
pub fn widths<const O: bool, V>(d: &mut Data, n: usize) {
    for i in 0..n {
        let (b, h) = (o::<O, _>(d.b[i]), o::<O, _>(d.h[i]));
        let (w, q) = (o::<O, _>(d.w[i]), o::<O, _>(d.q[i]));
        d.out64[i] = o::<O, _>((b as i8 as i64 as u64).wrapping_mul(u64::from(w)) ^ q >> 32);
        d.out32[i] = o::<O, _>((h as i16 as i32).wrapping_mul(b as i8 as i32) as u32 ^ q as u32);
        d.out16[i] = o::<O, _>((w >> 16) as u16).saturating_sub(o::<O, _>(h));
        d.out8[i] = o::<O, _>((q >> 24) as u8).saturating_add(o::<O, _>(h as u8));
    }
}

/// Comparisons of one width that select among values of another, and a count of matching bytes, as
/// in a comparison of tags.
#[inline(always)]
pub fn masks<const O: bool, V>(d: &mut Data, n: usize) {
    let mut differ = 0u8;
    let mut count = 0u64;
    for i in 0..n {
        let (b, h) = (o::<O, _>(d.b[i]), o::<O, _>(d.h[i]));
        let (w, q, r) = (o::<O, _>(d.w[i]), o::<O, _>(d.q[i]), o::<O, _>(d.r[i]));
        d.out64[i] = o::<O, _>(if b > h as u8 { q } else { r.wrapping_neg() });
        d.out32[i] = o::<O, _>(if q < r { w } else { u32::from(h).wrapping_mul(w) });
        d.out16[i] = o::<O, _>(if (w as i32) < -1 || r == 0 { h.swap_bytes() } else { !h });
        d.out8[i] = o::<O, _>(if q == r { 1 } else { b & 0x0f });
        differ = o::<O, _>(differ | b ^ h as u8);
        count = o::<O, _>(count + u64::from(b == (q >> 8) as u8));
    }
    d.out128[0] = u128::from(differ) << 64 | u128::from(count);
}

/// Bytes permuted by a fixed pattern: byte shuffles.
#[inline(always)]
pub fn shuffles<const O: bool, V>(d: &mut Data, n: usize) {
    for i in (0..n & !63).step_by(64) {
        for j in 0..64 {
            let b = o::<O, _>(d.b[i + (j % 4 * 16 + j / 4)]);
            d.out8[i + j] = o::<O, _>(b ^ o::<O, _>(d.b[i + (63 - j)]));
        }
    }
    for i in 0..n {
        d.out64[i] = o::<O, _>(o::<O, _>(d.q[i]).swap_bytes() ^ o::<O, _>(d.q[n - 1 - i]));
        d.out32[i] =
            o::<O, _>(o::<O, _>(d.w[i]).swap_bytes().count_ones() + d.w[i].leading_zeros());
    }
}

/// Multiplication in GF(2^128), bit by bit without branches.
#[inline(always)]
pub fn field<const O: bool, V>(d: &mut Data, n: usize) {
    let h = o::<O, _>(u128::from(d.q[0]) << 64 | u128::from(d.r[0]));
    let mut y = 0u128;
    for i in 0..n.min(24) {
        y ^= u128::from(o::<O, _>(d.q[i])) << 64 | u128::from(o::<O, _>(d.r[i]));
        let (mut z, mut v) = (0u128, h);
        for bit in 0..128 {
            z ^= o::<O, _>(v & (y >> (127 - bit) & 1).wrapping_neg());
            v = o::<O, _>(v >> 1 ^ (v & 1).wrapping_neg() & 0xe1 << 120);
        }
        y = z;
        d.out128[i] = o::<O, _>(y);
    }
}

/// A vector of one level, or a plain `u64` for the reference.
pub trait Vector: Copy {
    /// # Safety
    /// The CPU has the vectors.
    unsafe fn xor(self, other: Self) -> Self;
}

impl Vector for u64 {
    unsafe fn xor(self, other: Self) -> Self {
        self ^ other
    }
}

/// The callee in #79865: not inlined and without features, with vectors that the optimiser may turn
/// from references into values.
#[inline(never)]
fn far<V: Vector>(pair: &[V; 2]) -> u64 {
    let mut sum = 0u64;
    // SAFETY: only instantiated for, and called on, CPUs that have `V`.
    let x = unsafe { pair[0].xor(pair[1]) };
    for i in 0..size_of::<V>() / 8 {
        // SAFETY: a vector consists of `u64`s, aligned for them, any bits valid.
        let lane = unsafe { (&raw const x).cast::<u64>().add(i).read() };
        sum = sum.wrapping_add(lane.wrapping_mul(lane | 1));
    }
    sum
}

/// The helper in #79865: inlined into the level's function, but without its features.
#[inline]
fn near<V: Vector>(pair: &[V; 2]) -> u64 {
    far(pair)
}

/// The caller in #79865. The sum does not depend on the size of the vectors.
#[inline(always)]
pub fn helper<const O: bool, V: Vector>(d: &mut Data, n: usize) {
    let per = 64 / size_of::<V>();
    for i in 0..n / 8 {
        let (q, r) = (d.q[8 * i..].as_ptr(), d.r[8 * i..].as_ptr());
        let mut sum = 0u64;
        for j in 0..per {
            // SAFETY: the 64 bytes are in the arrays, as `8 * i + 8 <= n <= N`.
            let pair = unsafe {
                [q.cast::<V>().add(j).read_unaligned(), r.cast::<V>().add(j).read_unaligned()]
            };
            sum = sum.wrapping_add(o::<O, _>(near(&pair)));
        }
        d.out64[i] = sum;
    }
}
