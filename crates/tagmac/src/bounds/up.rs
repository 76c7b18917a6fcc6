//! Positive numbers of 64 bits and any size, rounded upward: what a bound is computed in.
//!
//! Each operation gives a number that is at least the exact result, and over it by less than one
//! part in 2^61. A bound takes fewer than 30 of them, so it is never too small, and too large by
//! less than one part in 2^56. `f64` alone would round to nearest, and end at 2^-1074.

/// m 2^e with the high bit of m set; or 0, which is below all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UpperFloat {
    // In the order of comparison.
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
            // By 2^scale, what is left has 127 bits: one of them does not matter.
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

    /// This number by a positive divisor.
    pub(super) fn over(self, divisor: u128) -> UpperFloat {
        // The divisor's first 64 bits are at most the divisor.
        let zeros = divisor.leading_zeros();
        let high = divisor << zeros >> 64;
        let quotient = UpperFloat::new(((self.m as u128) << 64).div_ceil(high), zeros as i32 - 128);
        if self == UpperFloat::ZERO { self } else { quotient.scaled(self.e) }
    }

    /// The root.
    pub(super) fn root(self) -> UpperFloat {
        if self == UpperFloat::ZERO {
            return UpperFloat::ZERO;
        }
        // What is left of the exponent must be even.
        let shift = 63 + (self.e - 63).rem_euclid(2);
        let square = (self.m as u128) << shift;
        let root = square.isqrt();
        UpperFloat::new(root + (root * root < square) as u128, (self.e - shift) / 2)
    }

    /// This number times 2^by.
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
        // Over the exact one by what `log2` and the conversion to `f64` may lack, and a last bit
        // for the sum: less than 2^-42 in all for exponents of up to 11 bits. The next power of 2
        // ends it, so that larger numbers never have smaller logarithms.
        let (above, fraction) = ((self.e + 64) as f64, (self.m as f64 / 2f64.powi(64)).log2());
        (above + fraction + 2f64.powi(-50)).next_up().min(above)
    }

    /// The next `f64`.
    pub(super) fn to_f64(self) -> f64 {
        if self == UpperFloat::ZERO {
            return 0.0;
        }
        let m = (self.m >> 11) + (self.m & 0x7ff != 0) as u64;
        match self.e + 11 {
            e if e > 1023 - 53 => f64::INFINITY,
            e if e < -1022 => f64::MIN_POSITIVE,
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
