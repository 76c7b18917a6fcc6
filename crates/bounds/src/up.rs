//! Positive numbers with 64 significant bits and a large exponent, rounded upward, for the
//! computation of bounds.
//!
//! The result of each operation is at least the exact result, and above it by less than one part in
//! 2^61. A bound is never too small, and too large by less than one part in 2^44, because each
//! result is computed in at most some thousand operations. ([`exp`](UpperFloat::exp) squares nine
//! times, and a tail of multiplicities has up to 500 factors.) `f64` would round to nearest and end
//! at 2^-1074.

/// m 2^e with the high bit of m set; or 0, which is smaller than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UpperFloat {
    // In this order for comparisons.
    e: i32,
    m: u64,
}

impl UpperFloat {
    pub(super) const ZERO: UpperFloat = UpperFloat { e: i32::MIN, m: 0 };

    /// m 2^e.
    pub(super) fn new(m: u128, e: i32) -> UpperFloat {
        if m == 0 {
            return UpperFloat::ZERO;
        }
        let zeros = m.leading_zeros();
        let m = m << zeros;
        let (high, low) = ((m >> 64) as u64, m as u64);
        let e = e + 64 - zeros as i32;
        match high.checked_add((low != 0) as u64) {
            Some(m) => UpperFloat { e, m },
            None => UpperFloat { e: e + 1, m: 1 << 63 },
        }
    }

    /// A positive finite number, exactly.
    pub(super) fn from_f64(x: f64) -> UpperFloat {
        let (exponent, fraction) = (x.to_bits() >> 52 & 0x7ff, x.to_bits() & ((1 << 52) - 1));
        let m = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        UpperFloat::new(m.into(), exponent.max(1) as i32 - 1075)
    }

    /// 1 / (2^n - q), for n of 1 to 256; `None` unless q is below 2^n.
    pub(super) fn one_below(n: u32, q: u128) -> Option<UpperFloat> {
        if q == 0 {
            return Some(UpperFloat::new(1, -(n as i32)));
        }
        let (left, scale) = match n {
            // Scaled by 2^scale, the difference has 127 bits: one of them does not matter.
            129.. => ((1 << 127) - q.div_ceil(1 << (n - 127).min(127)), n as i32 - 127),
            128 => (q.wrapping_neg(), 0),
            _ => ((1u128 << n).checked_sub(q)?, 0),
        };
        (left > 0).then(|| UpperFloat::from(1).over(left).scaled(-scale))
    }

    pub(super) fn plus(self, other: UpperFloat) -> UpperFloat {
        let (a, b) = (self.max(other), self.min(other));
        if b == UpperFloat::ZERO {
            return a;
        }
        // Room for a carry above, and 63 bits below.
        let (high, low) = ((a.m as u128) << 63, (b.m as u128) << 63);
        let far = (a.e - b.e) as u32;
        let low = if far > 127 { 1 } else { low.div_ceil(1 << far) };
        UpperFloat::new(high + low, a.e - 63)
    }

    pub(super) fn times(self, other: UpperFloat) -> UpperFloat {
        match self.min(other) {
            UpperFloat::ZERO => UpperFloat::ZERO,
            _ => UpperFloat::new(self.m as u128 * other.m as u128, self.e + other.e),
        }
    }

    pub(super) fn square(self) -> UpperFloat {
        self.times(self)
    }

    /// Divides by a positive number.
    pub(super) fn over(self, divisor: u128) -> UpperFloat {
        // The divisor's first 64 bits are at most the divisor.
        let zeros = divisor.leading_zeros();
        let high = divisor << zeros >> 64;
        let quotient = UpperFloat::new(((self.m as u128) << 64).div_ceil(high), zeros as i32 - 128);
        if self == UpperFloat::ZERO { self } else { quotient.scaled(self.e) }
    }

    /// The square root.
    pub(super) fn root(self) -> UpperFloat {
        if self == UpperFloat::ZERO {
            return UpperFloat::ZERO;
        }
        // The remaining exponent must be even.
        let shift = 63 + (self.e - 63).rem_euclid(2);
        let square = (self.m as u128) << shift;
        let root = square.isqrt();
        UpperFloat::new(root + (root * root < square) as u128, (self.e - shift) / 2)
    }

    /// e to the power of this number, which is at most 2^8.
    pub(super) fn exp(self) -> UpperFloat {
        const HALVINGS: i32 = 9;
        let small = self.scaled(-HALVINGS);
        debug_assert!(small <= UpperFloat::new(1, -1));
        // Each term is at most half of the previous one, so the omitted ones are at most the last.
        let (mut sum, mut term) = (UpperFloat::from(1), UpperFloat::from(1));
        for k in 1..=24 {
            term = term.times(small).over(k);
            sum = sum.plus(term);
        }
        sum = sum.plus(term);
        for _ in 0..HALVINGS {
            sum = sum.square();
        }
        sum
    }

    /// Multiplies by 2^by.
    pub(super) fn scaled(self, by: i32) -> UpperFloat {
        if self == UpperFloat::ZERO { self } else { UpperFloat { e: self.e + by, m: self.m } }
    }

    /// The logarithm to base 2, rounded upward, exact for powers of 2; minus infinity for 0.
    pub(super) fn log2(self) -> f64 {
        if self == UpperFloat::ZERO {
            return f64::NEG_INFINITY;
        }
        if self.m == 1 << 63 {
            return (self.e + 63) as f64;
        }
        // Exceeds the exact logarithm by the possible errors of `log2` and the conversion to `f64`,
        // and a last bit for the sum. This is less than 2^-42 in all for exponents of up to 10
        // bits, and less than two steps of an `f64` beyond. The next power of 2 is the maximum, so
        // that larger numbers never have smaller logarithms.
        let (above, fraction) = ((self.e + 64) as f64, (self.m as f64 / 2f64.powi(64)).log2());
        (above + fraction + 2f64.powi(-50)).next_up().min(above)
    }

    /// The number rounded up to an `f64`.
    pub(super) fn to_f64(self) -> f64 {
        if self == UpperFloat::ZERO {
            return 0.0;
        }
        let m = (self.m >> 11) + (self.m & 0x7ff != 0) as u64;
        match self.e + 11 {
            e if e > 1023 - 52 => f64::INFINITY,
            // Numbers below 2^-1022 have fewer bits: round up to the next normal number.
            e if e < -1022 - 52 => f64::MIN_POSITIVE,
            e if e < -1022 => m as f64 * f64::from_bits(1 << (e + 1022 + 52)),
            e => m as f64 * f64::from_bits(((e + 1023) as u64) << 52),
        }
    }
}

impl From<u128> for UpperFloat {
    fn from(m: u128) -> UpperFloat {
        UpperFloat::new(m, 0)
    }
}

/// q (q - 1) / 2: the pairs of q messages.
pub(super) fn pairs(q: u128) -> UpperFloat {
    UpperFloat::from(q).times(UpperFloat::from(q.saturating_sub(1))).scaled(-1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_bound_is_not_below_itself() {
        // Each m 2^e, and the `f64` that is the next one, or 2^-1022.
        for e in -1022..1024 {
            let power = UpperFloat::new(1, e);
            assert_eq!(power.to_f64(), f64::from_bits(((e + 1023) as u64) << 52), "2^{e}");
            // One bit more is rounded upward; values that fit are not rounded.
            let more = UpperFloat::new((1 << 60) + 1, e - 60);
            assert_eq!(more.to_f64(), power.to_f64().next_up(), "2^{e} and more");
            let full = UpperFloat::new((1 << 53) - 1, e - 52);
            assert_eq!(full.to_f64(), (power.to_f64() * 2.0).next_down().min(f64::MAX), "2^{e}");
        }
        for e in [-1023, -1024, -1074, -1075, -1100, -3000] {
            assert_eq!(UpperFloat::new(1, e).to_f64(), f64::MIN_POSITIVE, "2^{e}");
            assert_eq!(UpperFloat::new((1 << 60) + 1, e - 60).to_f64(), f64::MIN_POSITIVE);
        }
        for e in [1024, 1025, 1077, 1128, 2000] {
            assert_eq!(UpperFloat::new(1, e).to_f64(), f64::INFINITY, "2^{e}");
        }
        assert_eq!(UpperFloat::new((1 << 54) - 1, 970).to_f64(), f64::INFINITY);
        assert_eq!(UpperFloat::ZERO.to_f64(), 0.0);
        assert_eq!(UpperFloat::ZERO.over(3), UpperFloat::ZERO);
    }

    #[test]
    fn an_f64_is_taken_as_it_is() {
        for bits in [
            1,
            2,
            (1 << 52) - 1,
            1 << 52,
            (1 << 52) + 1,
            0x3ff0_0000_0000_0000,
            0x3ff8_0000_0000_0001,
        ] {
            let x = f64::from_bits(bits);
            let exact = match bits >> 52 {
                0 => UpperFloat::new(bits.into(), -1074),
                exponent => UpperFloat::new(
                    (bits as u128 & ((1 << 52) - 1)) + (1 << 52),
                    exponent as i32 - 1075,
                ),
            };
            assert_eq!(UpperFloat::from_f64(x), exact, "{x:e}");
            assert_eq!(UpperFloat::from_f64(x).to_f64(), x.max(f64::MIN_POSITIVE));
        }
        assert_eq!(UpperFloat::from_f64(f64::MAX).to_f64(), f64::MAX);
        assert_eq!(UpperFloat::from_f64(0.0), UpperFloat::ZERO);
    }

    #[test]
    fn one_below_a_power() {
        let one = UpperFloat::from(1);
        for q in [0, 1, 2, 3, 1 << 20, (1 << 62) + 1, 1 << 127, u128::MAX - 1, u128::MAX] {
            for n in 1..=256u32 {
                let found = UpperFloat::one_below(n, q);
                // 2^n - q is from left 2^e to (left + 1) 2^e.
                let (left, e) = match n {
                    _ if q == 0 => {
                        assert_eq!(found, Some(UpperFloat::new(1, -(n as i32))));
                        continue;
                    }
                    ..128 if q >= 1 << n => {
                        assert_eq!(found, None, "2^{n} - {q}");
                        continue;
                    }
                    ..128 => ((1 << n) - q, 0),
                    128 => (q.wrapping_neg(), 0),
                    129..192 => ((((1 << (n - 128)) - 1) << 63) | (q.wrapping_neg() >> 65), 65),
                    _ => {
                        let power = UpperFloat::new(1, -(n as i32));
                        let next = UpperFloat { m: power.m + 8, ..power };
                        assert!(
                            found > Some(power) && found < Some(next),
                            "2^{n} - {q}: {found:?}"
                        );
                        continue;
                    }
                };
                let (most, least) =
                    (one.over(left).scaled(-e), one.over(left.saturating_add(1)).scaled(-e));
                let found = found.unwrap();
                let most = most.plus(most.scaled(-60));
                assert!(
                    found <= most && least <= found.plus(found.scaled(-60)),
                    "2^{n} - {q}: {found:?}"
                );
            }
        }
        assert_eq!(UpperFloat::one_below(7, 5), Some(one.over(123)));
        assert_eq!(UpperFloat::one_below(1, 1), Some(one));
    }

    #[test]
    fn sums_are_rounded_upward() {
        let one = UpperFloat::from(1);
        for far in 1..200 {
            let sum = one.plus(UpperFloat::new(1, -far));
            let next = UpperFloat { m: (1 << 63) + 1, ..one };
            let exact = if far <= 63 {
                UpperFloat { m: (1 << 63) + (1 << (63 - far)), ..one }
            } else {
                next
            };
            assert_eq!(sum, exact, "1 + 2^-{far}");
            assert_eq!(UpperFloat::new(1, -far).plus(one), exact);
        }
        assert_eq!(one.plus(UpperFloat::ZERO), one);
        assert_eq!(one.plus(one), UpperFloat::from(2));
        assert_eq!(one.times(UpperFloat::ZERO), UpperFloat::ZERO);
        assert_eq!(UpperFloat::ZERO.times(one), UpperFloat::ZERO);
        assert_eq!(UpperFloat::from(6).times(UpperFloat::from(7)), UpperFloat::from(42));
    }

    #[test]
    fn roots_are_rounded_upward() {
        for (number, root) in [(1, 1), (4, 2), (9, 3), (49, 7), (1 << 40, 1 << 20)] {
            for e in [-200, -2, 0, 2, 100] {
                assert_eq!(
                    UpperFloat::new(number, e).root(),
                    UpperFloat::new(root, e / 2),
                    "{number} 2^{e}"
                );
            }
        }
        for number in [2u128, 3, 5, 1 << 41, u128::from(u64::MAX)] {
            for e in [-201, -2, -1, 0, 1, 2, 101] {
                let number = UpperFloat::new(number, e);
                let root = number.root();
                let before = UpperFloat { m: root.m - 2, ..root };
                assert!(number <= root.square() && before.square() < number, "{number:?} {root:?}");
            }
        }
        assert_eq!(UpperFloat::ZERO.root(), UpperFloat::ZERO);
    }

    #[test]
    fn logarithms_are_rounded_upward() {
        for e in [-3000, -1074, -1, 0, 1, 64, 2000] {
            assert_eq!(UpperFloat::new(1, e).log2(), e as f64);
            for (number, exact) in [(3, 1.584_962_500_721_156), (5, 2.321_928_094_887_362)] {
                let (found, exact) = (UpperFloat::new(number, e).log2(), exact + e as f64);
                assert!(found >= exact && found < exact + 2f64.powi(-40));
            }
            // Just below a power of 2, the result is not above it.
            let below = UpperFloat { m: u64::MAX, ..UpperFloat::new(1, e - 1) };
            assert_eq!(below.log2(), e as f64);
        }
        assert_eq!(UpperFloat::ZERO.log2(), f64::NEG_INFINITY);
    }

    #[test]
    fn powers_of_e_are_rounded_upward() {
        assert_eq!(UpperFloat::ZERO.exp(), UpperFloat::from(1));
        // x in units of 2^-10, and e^x rounded downward.
        for (x, exact) in [
            (1, 1.000_977_039_492_416_5),
            (1 << 9, 1.648_721_270_700_128),
            (1 << 10, core::f64::consts::E),
            (1 << 13, 2_980.957_987_041_728),
            (1 << 17, 3.887_708_405_994_595e55),
            (1 << 18, 1.511_427_665_004_103_5e111),
        ] {
            let found = UpperFloat::new(x, -10).exp();
            let (low, high) = (exact * (1.0 - 2f64.powi(-50)), exact * (1.0 + 2f64.powi(-44)));
            let within = UpperFloat::from_f64(low) < found && found < UpperFloat::from_f64(high);
            assert!(within, "e^({x}/1024): {found:?}");
        }
        // More than 1 for the smallest exponent, and never smaller for a larger one.
        let tiny = UpperFloat::new(1, -300).exp();
        assert!(tiny > UpperFloat::from(1) && tiny < UpperFloat::new(1, -50).exp());
    }

    #[test]
    fn pairs_are_counted() {
        for (count, expected) in
            [(0, 0), (1, 0), (2, 1), (3, 3), (5, 10), (1 << 32, (1 << 63) - (1 << 31))]
        {
            assert_eq!(pairs(count), UpperFloat::from(expected));
        }
    }
}
