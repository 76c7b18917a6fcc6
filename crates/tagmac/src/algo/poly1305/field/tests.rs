use num_bigint::BigUint;

use super::*;

fn p() -> BigUint {
    (BigUint::from(1u8) << 130) - 5u8
}

fn big(x: FieldElement) -> BigUint {
    x.0.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + *limb)
}

/// Numbers below 2^131 around every edge case: 0, p, 2p, and powers at which limbs carry.
fn numbers() -> Vec<FieldElement> {
    let one = BigUint::from(1u8);
    let mut edges = vec![BigUint::from(8u8), p(), 2u8 * p(), (one.clone() << 131) - 9u8];
    edges.extend([26, 52, 64, 78, 104, 128, 130].map(|power| one.clone() << power));
    let around = edges.iter().flat_map(|edge| (0..=16u8).map(move |i| edge + i - 8u8));
    let below = around.filter(|x| x.bits() <= 131);
    below
        .map(|x| {
            let mut limbs = x.to_u64_digits();
            limbs.resize(3, 0);
            FieldElement(limbs.try_into().expect("three limbs"))
        })
        .collect()
}

#[test]
fn a_number_is_reduced_below_p() {
    for x in numbers() {
        let (expected, reduced) = (big(x) % p(), x.reduced());
        assert_eq!(big(reduced), expected, "{:?}", x.0);
        let low = &expected % (BigUint::from(1u8) << 128);
        assert_eq!(BigUint::from(x.residue()), low, "{:?}", x.0);
        assert!(x.ct_eq(reduced) && reduced.ct_eq(x), "{:?}", x.0);
        assert!(!x.ct_eq(reduced.plus(FieldElement::ONE)), "{:?}", x.0);
    }
}

#[test]
fn sums_and_products_are_those_mod_p() {
    for x in numbers() {
        for y in numbers().into_iter().step_by(5) {
            assert_eq!(big(x.plus(y)) % p(), (big(x) + big(y)) % p(), "{:?} + {:?}", x.0, y.0);
            assert_eq!(big(x.times(y)) % p(), big(x) * big(y) % p(), "{:?} * {:?}", x.0, y.0);
        }
    }
}

/// Limbs as vectors leave them, up to their maximum, also with only some that overlap.
#[test]
fn limbs_that_overlap_carry() {
    let sizes = [0, 1, (1 << 26) - 1, 1 << 26, (1 << 44) - 1, (1 << 48) + 12345, u64::MAX >> 8];
    for (count, bits) in [(5, 26), (3, 44)] {
        for choice in 0..sizes.len().pow(count) {
            let limbs: Vec<u64> = (0..count).map(|l| sizes[choice / 7usize.pow(l) % 7]).collect();
            let value = limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << bits) + *limb);
            assert_eq!(big(FieldElement::from_limbs(&limbs, bits)) % p(), value % p(), "{limbs:?}");
        }
    }
    for x in numbers() {
        for (count, bits) in [(5, 26), (3, 44)] {
            let limbs = x.limbs(count, bits);
            assert!(limbs[..count - 1].iter().all(|limb| *limb < 1 << bits), "{:?}", x.0);
            let again = FieldElement::from_limbs(&limbs[..count], bits);
            assert_eq!(big(again) % p(), big(x) % p(), "{:?}", x.0);
        }
    }
}

#[test]
fn a_step_is_one_of_the_papers() {
    for r in [[0xff; 16], [1; 16], [0x80; 16]] {
        let r = ClampedR::clamped(&r);
        for h in numbers() {
            for (m, top) in [(0, 0), (1, 0), (u128::MAX, 1), (1 << 64, 1)] {
                let sum = big(h) + m + (BigUint::from(top) << 128);
                let expected = sum * big(r.number()) % p();
                assert_eq!(big(r.step(h, m, top)) % p(), expected, "{:?} + {m:#x}", h.0);
            }
        }
    }
}
