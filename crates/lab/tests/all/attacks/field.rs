//! Products of numbers in GF(2^16) and GF(2^128).

use tagmac_lab::attacks::field::{LOW_16, product16, product128};

/// Returns the product over x^16 + low.
fn product(low: u128, a: u128, b: u128) -> u128 {
    (0..16).rev().fold(0, |sum: u128, bit| {
        let doubled = (sum << 1 & 0xffff) ^ ((sum >> 15) * low);
        doubled ^ ((b >> bit & 1) * a)
    })
}

/// Two ways to multiply agree. The polynomial is the first: no trinomial and no earlier one of five
/// terms is irreducible.
#[test]
fn sixteen_bits() {
    for a in (1..=u16::MAX).step_by(97) {
        for b in (0..=u16::MAX).step_by(1013) {
            let expected = product(LOW_16 as u128, a as u128, b as u128);
            assert_eq!(product16(a, b) as u128, expected);
        }
    }
    assert!(irreducible(LOW_16 as u128));
    let pentanomials = (3..16u32).flat_map(|a| (2..a).map(move |b| (a, b)));
    let all = pentanomials.flat_map(|(a, b)| (1..b).map(move |c| [a, b, c]));
    let mut first: Vec<[u32; 3]> =
        all.filter(|e| irreducible(e.iter().fold(1, |low, e| low | 1 << e))).collect();
    first.sort_unstable();
    assert_eq!(first[0], [5, 3, 1]);
    assert!((1..16).all(|a| !irreducible(1 | 1 << a)));
}

/// Returns true if x^16 + low is irreducible: x^(2^16) = x, and x^(2^8) - x has no common divisor
/// with it. The only prime divisor of 16 is 2 (Rabin).
fn irreducible(low: u128) -> bool {
    let square = |a| product(low, a, a);
    let at = |times| (0..times).fold(2u128, |a, _| square(a));
    let (mut a, mut b) = (1u128 << 16 | low, at(8) ^ 2);
    while b != 0 {
        while a != 0 && a.ilog2() >= b.ilog2() {
            a ^= b << (a.ilog2() - b.ilog2());
        }
        (a, b) = (b, a);
    }
    at(16) == 2 && a == 1
}

#[test]
fn a_hundred_and_twenty_eight_bits() {
    assert_eq!(product128(1 << 127, 2), 0x87);
    assert_eq!(product128(3, 5), 15);
}
