//! The bounds for words of a tag that are checked by grades, and for tags without a nonce.

use tagmac_bounds::umac::{self, Prf1999, Umac1999};
use tagmac_bounds::{BoundError, NonceKind};

use crate::exact::{Exact, Source, agrees, int, two};

/// v_1 e + v_2 e^2 and so on.
fn by_grade(e: &Exact, attempts: &[u128]) -> Exact {
    let power = |k: usize| (0..k).fold(int(1), |product, _| product * e);
    (1..).zip(attempts).fold(int(0), |sum, (h, v)| sum + int(*v) * power(h))
}

#[test]
fn the_bound_by_grades_is_exact() {
    let mut source = Source(5);
    for _ in 0..500 {
        let attempts: [u128; 4] = core::array::from_fn(|_| source.some(64));
        let (b, bits) = (1 + source.below(40) as u32, 1 + source.below(32) as u32);
        let streams = 1 + source.below(8) as usize;
        let longer: Vec<u128> = attempts.iter().chain(&attempts).copied().take(streams).collect();
        let bound = umac::graded(1, &attempts).expect("a message");
        agrees(&bound, &by_grade(&two(-30), &attempts));
        let word = Umac1999 { b, t: bits, prf: Prf1999::Named, nonces: NonceKind::Counted };
        // The advantage against F is a term, whatever the messages.
        for q in [0, 1] {
            let bound = umac::graded_1999(&word, 0, q, &longer).expect("an attempt");
            let each = two(-i64::from(b)) + two(-i64::from(bits));
            agrees(&bound, &by_grade(&each, &longer));
        }
        let random = Umac1999 { nonces: NonceKind::Random { bits: 64 }, ..word };
        let refused = umac::graded_1999(&random, 0, 1, &longer);
        let wrong = BoundError::NonceBits { max: 0, found: 64 };
        assert_eq!(refused, Err(wrong));
    }
}

/// The advantage against each stream's ciphers is in the value.
#[test]
fn a_prf_costs_as_often_as_there_are_streams() {
    let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: 4 };
    let word = Umac1999 { b: 15, t: 32, prf, nonces: NonceKind::Counted };
    let q = 1 << 50;
    let one = umac::mac_1999(&word, 4096, q, 0).expect("a message");
    for streams in [1, 2, 4] {
        let bound = umac::graded_1999(&word, 4096, q, &vec![0; streams]).expect("a message");
        assert_eq!(bound.value(), streams as f64 * one.value());
        assert!(bound.value() > 0.0);
        for (of_all, of_one) in bound.terms().iter().zip(one.terms()) {
            assert_eq!(of_all.times, streams as u32 * of_one.times);
        }
    }
}

/// The maximum number of failures at each grade within a probability, never a whole word's.
#[test]
fn failures_by_grades_keep_to_a_probability() {
    for log in 1..=40 {
        let probability = 2f64.powi(-log);
        let most = u128::from(umac::graded_guesses(probability).expect("a probability"));
        let bound = |v| umac::graded(1 << 64, &[v; 4]).expect("a message");
        assert!(most == 0 || bound(most).at_most(probability));
        assert!(!bound(most + 1).at_most(probability) && most < 1 << 30);
    }
    for found in [0.0, 1.0, f64::NAN] {
        let refused = umac::graded_guesses(found);
        assert!(matches!(refused, Err(BoundError::Probability { .. })));
    }
}

/// Section 8.3: without a nonce, a hash with 2^-32 authenticates fewer than 2^16 messages.
#[test]
fn without_a_nonce_collisions_count_by_pairs() {
    let mut source = Source(9);
    for _ in 0..500 {
        let (b, tau) = (1 + source.below(90) as u32, 1 + source.below(256) as u32);
        let q = source.some(44);
        let bound = umac::without_nonce(b, tau, q).expect("a message");
        agrees(&bound, &(int(q) * int(q) * two(-i64::from(b)) + two(-i64::from(tau))));
        assert_eq!(bound.terms()[0].queries, q);
    }
    assert!(umac::without_nonce(32, 160, 1 << 16).unwrap().value() >= 1.0);
    assert_eq!(umac::without_nonce(60, 64, 0), Err(BoundError::Nothing));
    assert!(umac::without_nonce(60, 0, 1).is_err() && umac::without_nonce(60, 257, 1).is_err());
    assert!(umac::without_nonce(u32::MAX, 256, 1).is_ok());
}

/// Section 8.3 states its bound for every adversary, but it is for one attempt. Over all 16
/// functions F from a hash of two bits to a tag of one bit, which never collides, one attempt
/// passes with the probability of the bound, and one of two always passes.
#[test]
fn attempts_without_a_nonce_count_each() {
    let bound = umac::without_nonce(64, 1, 1).expect("a message").value();
    let passing = |attempts: &[(u32, u32)]| {
        let passes = |f: &u32| attempts.iter().any(|(hash, tag)| f >> hash & 1 == *tag);
        (0..16).filter(passes).count() as f64 / 16.0
    };
    for hash in 0..4 {
        assert_eq!([passing(&[(hash, 0)]), passing(&[(hash, 0), (hash, 1)])], [0.5, 1.0]);
    }
    assert!((0.5..0.6).contains(&bound));
}

#[test]
fn grades_bound_what_they_should() {
    let log = |attempts: [u128; 4]| umac::graded(1, &attempts).unwrap().log2();
    // No lower grade: as UMAC-128 alone.
    assert!((log([0, 0, 0, 1 << 88]) + 32.0).abs() < 1e-9);
    let whole = umac::mac(128, 9, 7, NonceKind::Counted).unwrap();
    let grades = umac::graded(9, &[0, 0, 0, 7]).unwrap();
    assert!((grades.log2() - whole.log2()).abs() < 1e-9 && grades.terms() == whole.terms());
    // Only one word: as UMAC-32 alone, for any number of attempts at more words.
    assert!((log([1 << 20, 0, 0, 0]) + 10.0).abs() < 1e-9);
    assert!((log([1 << 20; 4]) + 10.0).abs() < 1e-8);
    // The cost of pads from a permutation.
    let after = umac::graded(1 << 64, &[0, 0, 0, 1 << 88]).unwrap().value();
    assert!((after * 2f64.powi(32) - 0.5f64.exp()).abs() < 1e-9, "{after}");
    // If each word may be guessed, the bound is useless.
    assert!(log([1 << 32, 0, 0, 0]) >= 0.0);
    // More attempts at any grade never have a smaller bound.
    let before = log([100; 4]);
    for word in 0..4 {
        let mut more = [100; 4];
        more[word] += 1;
        assert!(log(more) >= before);
    }
    assert_eq!(umac::graded(0, &[0; 4]), Err(BoundError::Nothing));
    assert!(matches!(umac::graded((1 << 68) + 1, &[0; 4]), Err(BoundError::Messages { .. })));
}
