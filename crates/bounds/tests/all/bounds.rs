//! The bounds against exact rational arithmetic, and against the papers' own numbers.

use num_bigint::BigUint;
use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{Bound, BoundError, NonceKind, Theorem, Workload, per_key};
use tagmac_bounds::{elimac, lightmac, pmac, poly1305, umac};

use crate::exact::*;

#[test]
fn pmac_is_exact() {
    let (mut source, mut linear) = (Source(1), 0);
    for _ in 0..ROUNDS {
        let n = source.n();
        let t = source.t(n);
        let (q, sigma) = (source.some(128), source.number(128));
        let (v, l) = (source.number(128), source.some(128));
        let bound = pmac::prf(n, q, sigma).unwrap();
        agrees(&bound, &pmac_exact(n, n, (q, sigma), 0, 1));
        let bound = pmac::mac(n, t, (q, sigma), v, l).unwrap();
        agrees(&bound, &pmac_exact(n, t, (q, sigma), v, l));
        // Numbers for which attempts are linear.
        let bits = (n.min(128) / 3).max(1);
        let (q, l) = (source.number(bits), source.some(bits));
        let sigma = q * (1 + source.below(8) as u128 * l / 8);
        match pmac_attempts(n, t, (q, sigma), 1, l) {
            Some(each) => {
                linear += 1;
                agrees(&pmac::attempt(n, t, (q, sigma), l).unwrap(), &each);
            }
            None => assert_eq!(pmac::attempt(n, t, (q, sigma), l).unwrap().value(), 1.0),
        }
    }
    assert!(linear > ROUNDS / 2, "{linear}");
}

#[test]
fn lightmac_is_exact() {
    let mut source = Source(2);
    for _ in 0..ROUNDS {
        let n = source.n();
        let (t, s) = (source.t(n), 1 + source.below(n as u64 / 2) as u32);
        let (q, v) = (source.some(128), source.number(128));
        agrees(&lightmac::prf(n, s, q, u128::MAX).unwrap(), &light_prf(n, q));
        let bound = lightmac::mac(n, s, t, (q, u128::MAX), (v, u128::MAX)).unwrap();
        agrees(&bound, &light_mac(n, t, q, v));
        // Proposition 1.
        let (l1, l2) = (source.some(127), source.number(127));
        let left = two(n.into()) - int(l1) - int(l2) + int(1);
        match lightmac::collision(n, l1, l2) {
            Ok(bound) => agrees(&bound, &left.recip()),
            Err(error) => {
                assert_eq!(error, BoundError::Blocks { n, found: l1 + l2 });
                assert!(left <= int(0));
            }
        }
    }
    // Near the end of the numbers.
    for n in [126, 128, 130, 254, 256] {
        for q in [1, 2, 3, u128::MAX - 1, u128::MAX] {
            let left = two(n) - int(q) + int(1);
            if left > int(0) {
                agrees(&lightmac::collision(n as u32, q, 0).unwrap(), &left.recip());
            }
        }
    }
}

#[test]
fn elimac_is_exact() {
    let mut source = Source(3);
    for _ in 0..ROUNDS {
        let (n, e) = (source.n(), source.e());
        let t = source.t(n);
        let (q, f) = (source.some(128), source.number(128));
        let exact = of_f64(e);
        agrees(&elimac::prf(n, t, e, q).unwrap(), &eli_prf(n, t, &exact, q));
        match elimac::mac(n, t, e, q, f) {
            Ok(bound) => agrees(&bound, &eli_mac(n, t, &exact, q, f)),
            Err(BoundError::Messages { max, found }) => {
                assert!(found == q && int(q) >= two(n.into()));
                assert_eq!(int(max) + int(1), two(n.into()));
            }
            Err(error) => panic!("{error}"),
        }
        // EliMAC-AES with the paper's own eps, not the `f64` next to it.
        let (t, e) = (source.t(128), eli_aes());
        agrees(&elimac::aes_prf(t, elimac::AES4, q).unwrap(), &eli_prf(128, t, &e, q));
        agrees(&elimac::aes_mac(t, elimac::AES4, q, f).unwrap(), &eli_mac(128, t, &e, q, f));
    }
}

#[test]
fn umac_and_poly1305_are_exact() {
    let mut source = Source(4);
    for _ in 0..ROUNDS {
        let (q, v, nonces) = (source.number(68), source.some(128), source.nonces(128));
        let factor = pads(q);
        let t = 32 * (1 + source.below(4) as u32);
        let hash = int(v) * two(-30 * (t as i64 / 32));
        let exact = equal_pairs(nonces, q) + hash * &factor;
        agrees(&umac::mac(t, q, v, nonces).unwrap(), &exact);
        let l = source.number(64) as u64;
        let blocks = (BigUint::from(l.max(1)) + 15u8) >> 4u8;
        let hash = int(8) * int(v) * int(blocks) * two(-106);
        let exact = equal_pairs(nonces, q) + hash * factor;
        agrees(&poly1305::mac(q, v, l, nonces).unwrap(), &exact);
    }
    // With no attempt nothing passes, under nonces that do not repeat.
    agrees(&umac::mac(64, 5, 0, NonceKind::Counted).unwrap(), &int(0));
    agrees(&poly1305::mac(5, 0, 0, NonceKind::Counted).unwrap(), &int(0));
}

#[test]
fn umac_of_1999_is_exact() {
    let mut source = Source(8);
    for _ in 0..ROUNDS {
        let (q, v, length) = (source.number(64), source.some(100), source.number(50) as u64);
        let nonces = source.nonces(64);
        let b = source.below(100) as u32;
        let mac = match source.below(2) {
            0 => {
                let t = 1 + source.below(256) as u32;
                Umac1999 { b, t, prf: Prf1999::Named, nonces }
            }
            _ => {
                let n = [128, 130, 256][source.below(3) as usize];
                let (block_bytes, hash_bytes) =
                    (1 + source.below(1 << 14) as u32, 1 + source.below(300) as u32);
                let prf = Prf1999::Cbc3 { n, block_bytes, hash_bytes };
                Umac1999 { b, t: source.t(n), prf, nonces }
            }
        };
        // Fewer inner blocks than the cipher has values.
        let blocks = mac.prf.blocks(length);
        let q = if blocks > 1 { q.min((1 << 127) / blocks) } else { q };
        let exact = umac_1999_tags(&mac, length, q) + umac_1999_attempts(&mac, length, q, v);
        agrees(&umac::mac_1999(&mac, length, q, v).unwrap(), &exact);
        if q > 0 {
            let sigma = q * blocks;
            let counted = Umac1999 { nonces: NonceKind::Counted, ..mac };
            if let Prf1999::Cbc3 { n, .. } = mac.prf {
                let exact = umac_1999_tags(&counted, length, q);
                agrees(&umac::cbc3_prf(n, q, sigma).unwrap(), &exact);
            }
        }
    }
}

#[test]
fn other_modes_are_exact() {
    let mut source = Source(5);
    let (mut emac, mut sums) = (0, 0);
    for _ in 0..ROUNDS {
        let (n, q, l) = (source.n(), source.some(128), source.some(64));
        let generic = square(q) * int(l) * two(-(n as i64));
        agrees(&lightmac::generic(n, q, l).unwrap(), &generic);
        let (eighth, fifth) = (int(l).pow(8), int(l).pow(5));
        let exact = int(16) * square(q) * two(-(n as i64))
            + int(128) * square(q) * &eighth * two(-2 * n as i64);
        let bound = lightmac::emac(n, q, l).unwrap();
        assert_eq!(bound.is_some(), eighth <= two(n.into()) && int(q) >= square(l));
        if let Some(bound) = bound {
            agrees(&bound, &exact);
            emac += 1;
        }
        let exact = int(40) * int(l).pow(3) * int(q).pow(3) * two(-2 * n as i64);
        let bound = lightmac::sum_of_cbcs(n, q, l).unwrap();
        assert_eq!(bound.is_some(), fifth <= two(2 * n as i64));
        if let Some(bound) = bound {
            agrees(&bound, &exact);
            sums += 1;
        }
    }
    assert!(emac > 100 && sums > 100, "{emac} {sums}");
}

#[test]
fn numbers_are_the_largest_within_the_probability() {
    let mut source = Source(6);
    // The next number is over, or under by less than what is rounded.
    let over = |bound: Exact, limit: &Exact| bound > limit * (int(1) - two(-40));
    for theorem in theorems() {
        for _ in 0..60 {
            let length = (source.number(64) as u64).min(theorem.limit());
            let length = if source.below(2) == 0 { length % 4096 } else { length };
            let length = length.min(theorem.limit());
            let probability = match source.below(3) {
                0 => 2f64.powi(-1 - source.below(128) as i32),
                1 => source.e().min(0.99) / 2.0,
                _ => (1.0 - source.e() / 4.0).min(1f64.next_down()),
            };
            let limit = of_f64(probability);
            let q = theorem.messages(length, probability).unwrap();
            let (tags, _) = exact(theorem, q, length, 0);
            assert!(q == 0 || tags <= limit, "{theorem:?} {length} {probability}: {q}");
            let all = theorem.nonces().is_some() && q == 1 << 64;
            if !all {
                let (more, _) = exact(theorem, q + 1, length, 0);
                assert!(over(more, &limit), "{theorem:?} {length} {probability}: {q}");
            }
            let bytes = theorem.bytes(length, probability).unwrap();
            assert_eq!(bytes, q.saturating_mul(length.into()));

            let v = theorem.guesses(length, probability).unwrap();
            let pads = matches!(theorem, Theorem::Umac { .. } | Theorem::Poly1305Aes { .. });
            if v > 0 {
                let messages = if pads { 1 << 64 } else { q };
                let load = Workload { messages, length, attempts: v };
                agrees(&theorem.guessing(&load).unwrap(), &exact(theorem, q, length, v).1);
            }
            assert!(exact(theorem, q, length, v).1 <= limit);
            // No more can be counted.
            if v < u128::MAX - 1 {
                let (_, more) = exact(theorem, q, length, v + 1);
                assert!(over(more, &limit), "{theorem:?} {length} {probability}: {v}");
            }

            // Both together: at most the sum.
            let load = Workload { messages: q, length, attempts: v };
            match theorem.forgery(&load) {
                Ok(bound) => assert!(bound.at_most(2.0 * probability * (1.0 + 2f64.powi(-50)))),
                Err(error) => assert_eq!((error, q, v), (BoundError::Nothing, 0, 0)),
            }
        }
    }
}

#[test]
fn loads_are_the_functions() {
    let load = Workload { messages: 1 << 20, length: 1000, attempts: 1 << 10 };
    let of = |theorem: Theorem| (theorem.tags(&load).unwrap(), theorem.forgery(&load).unwrap());
    // 1000 bytes: 63 blocks of 16, 125 of 8; 83 full ones of 12 and 166 of 6.
    let (q, v) = (1 << 20, 1 << 10);
    let (tags, forgery) = of(Theorem::Pmac { n: 128, t: 64 });
    assert_eq!(tags, pmac::prf(128, q, 63 * q).unwrap());
    assert_eq!(forgery, pmac::mac(128, 64, (q, 63 * q), v, 63).unwrap());
    let (tags, forgery) = of(Theorem::LightMac { n: 64, s: 16, t: 64 });
    assert_eq!(tags, lightmac::prf(64, 16, q, 166 * q).unwrap());
    assert_eq!(forgery, lightmac::mac(64, 16, 64, (q, 166 * q), (v, 166 * v)).unwrap());
    assert_eq!(tags.to_string(), "2^-23.99 + Adv^prp_E1(2^27.38) + Adv^prp_E2(2^20)");
    let (tags, forgery) = of(Theorem::EliMacAes { t: 128 });
    assert_eq!(tags, elimac::aes_prf(128, elimac::AES4, q).unwrap());
    assert_eq!(forgery, elimac::aes_mac(128, elimac::AES4, q, v).unwrap());
    let nonces = NonceKind::Counted;
    let (tags, forgery) = of(Theorem::Poly1305Aes { nonces });
    assert_eq!(tags, poly1305::mac(q, 0, 1000, nonces).unwrap());
    assert_eq!(forgery, poly1305::mac(q, v, 1000, nonces).unwrap());
    assert_eq!(tags.to_string(), "0 + Adv^prp_AES(2^20)");
    let nonces = NonceKind::Random { bits: 128 };
    let (tags, forgery) = of(Theorem::Umac { t: 96, nonces });
    assert_eq!(tags, umac::mac(96, q, 0, nonces).unwrap());
    assert_eq!(forgery, umac::mac(96, q, v, nonces).unwrap());
    assert_eq!(tags.to_string(), "2^-89 + 3 Adv^prp_AES(2^20)");
    let (_, forgery) = of(Theorem::Umac1999(STD));
    assert_eq!(forgery, umac::mac_1999(&STD, 1000, q, v).unwrap());
}

/// The queries under K1 that the terms have.
fn queries(bound: &Bound, primitive: &str) -> u128 {
    let term = bound.terms().iter().find(|term| term.primitive == primitive);
    term.map_or(0, |term| term.queries)
}

#[test]
fn lightmac_calls_its_cipher_so_often() {
    // A message has floor(bits / (n - s)) full blocks, each of which is a call under K1, and an empty
    // last one if it ends there: 256 calls for the longest with a counter of 8 bits, not 255.
    for (n, s) in [(64, 8), (64, 16), (32, 16), (128, 8), (128, 32)] {
        let theorem = Theorem::LightMac { n, s, t: n };
        let limit = theorem.limit();
        let lengths = [0, 1, 6, 7, 8, limit / 2, limit - 1, limit].into_iter();
        for length in lengths.filter(|length| *length <= limit) {
            let calls = 8 * length as u128 / (n - s) as u128;
            let load = Workload { messages: 3, length, attempts: 5 };
            assert_eq!(queries(&theorem.tags(&load).unwrap(), "E1"), 3 * calls, "{n} {s} {length}");
            let forgery = theorem.forgery(&load).unwrap();
            assert_eq!(queries(&forgery, "E1"), 8 * calls, "{n} {s} {length}");
            assert_eq!(queries(&forgery, "E2"), 8, "{n} {s} {length}");
        }
        // Lengths that nobody tells.
        let bound = lightmac::mac(n, s, n, (3, u128::MAX), (5, u128::MAX)).unwrap();
        assert_eq!(queries(&bound, "E1"), 8 << s);
        assert_eq!(queries(&bound, "E2"), 8);
    }
}

#[test]
fn the_papers_numbers() {
    let millionth = 2f64.powi(-20);
    // LightMAC, section 1.1: "roughly 64" messages at n = 32; theorem 1 has 63.
    let light = Theorem::LightMac { n: 32, s: 16, t: 32 };
    assert_eq!(light.messages(light.limit(), millionth), Ok(63));
    assert_eq!(light.messages(0, millionth), Ok(63));
    // 2^16 blocks of 16 bits.
    assert_eq!(light.limit(), 128 << 10);
    // Section 1: q^2 l <= 2^12.
    for (messages, blocks) in [(64, 1), (32, 4), (16, 16)] {
        assert!(lightmac::generic(32, messages, blocks).unwrap().at_most(millionth));
        assert!(!lightmac::generic(32, messages + 1, blocks).unwrap().at_most(millionth));
    }
    // EliMAC, section 5.1: "security up to q about 2^56". Corollary 1 as printed gives nearly a half
    // there; half of that is needed, and no root for whole tags.
    for (log2, printed, value) in [
        (40, "4.23e-8", "5.48e-11"),
        (55, "1.19e-1", "5.88e-2"),
        (56, "4.73e-1", "2.35e-1"),
        (57, "1.89e0", "9.41e-1"),
    ] {
        let bound = elimac::aes_prf(128, elimac::AES4, 1 << log2).unwrap();
        assert_eq!(format!("{:.2e}", bound.value()), value, "2^{log2}");
        let pairs = 2f64.powi(2 * log2 - 1);
        let corollary = pairs * 2.0 * elimac::AES4 + (pairs / 2f64.powi(128)).sqrt();
        assert_eq!(format!("{corollary:.2e}"), printed, "2^{log2}");
    }
    // Poly1305-AES: L = 1536, D = 2^64. The slide prints 0.999999999999998 for the probability that all
    // are rejected, with a delta of 2^-40. Its formula gives less.
    // 14 is 8 times the factor of pads, 13.19, rounded up.
    let forged = 14.0 * 96.0 * 2f64.powi(64 - 106);
    assert!((3.055e-10..3.056e-10).contains(&forged), "{forged:e}");
    let bound = poly1305::mac(1 << 64, 1 << 64, 1536, NonceKind::Counted).unwrap().value();
    assert_eq!(format!("{:.4}", bound / forged * 14.0), "13.1898");
    let rejected = 1.0 - 2f64.powi(-40) - forged;
    assert_eq!(format!("{rejected:.12}"), "0.999999999694");
    assert!(rejected < 0.999999999999998);
    // PMAC, docs/theory.md: in whatever messages the blocks are.
    for (n, blocks, shown) in [(128, 40, "2^-47.99"), (64, 20, "2^-23.99"), (64, 24, "2^-15.99")] {
        let bound = |q| pmac::prf(n, q, 1 << blocks).unwrap().to_string();
        for q in [1 << blocks, (1 << blocks) - 1, 1 << (blocks - 1)] {
            assert_eq!(bound(q).split(' ').next(), Some(shown));
        }
    }
    assert!(pmac::prf(64, 1 << 32, 1 << 32).unwrap().log2() > 0.0);
    // More blocks than can be counted are not taken for 2^128.
    assert!(pmac::prf(256, 1, u128::MAX).unwrap().log2() >= 0.0);
    assert!(Theorem::Pmac { n: 256, t: 256 }.messages(1 << 40, 0.5).unwrap() < 1 << 111);
    // 128 messages of 1 MiB: 3 * 2^7 * 2^24 / 2^64.
    assert!(pmac::prf(64, 1 << 7, 1 << 24).unwrap().to_string().starts_with("2^-31.41 "));
    assert!(pmac::prf(128, 1 << 32, 1 << 48).unwrap().to_string().starts_with("2^-46.41 "));
    // RFC 4418: N attempts at 8 bytes pass with N / 2^60.
    let umac = umac::mac(64, 1, 1 << 10, NonceKind::Counted).unwrap().log2();
    assert!((-50.0..-49.999_999_999).contains(&umac), "{umac}");
}

/// UMAC99-STD-60 with tags of 64 bits.
const STD: Umac1999 = Umac1999 { b: 60, t: 64, prf: Prf1999::Named, nonces: NonceKind::Counted };

#[test]
fn the_hashes_of_1999_have_these_bits() {
    assert_eq!([umac::nh(32, 1), umac::nh(16, 4), umac::nhs(16, 1)], [32, 64, 15]);
    assert_eq!([umac::nhs(0, 1), umac::nh_t2(0), umac::nhs_t2(1)], [0, 0, 0]);
    let sure = Umac1999 { b: u32::MAX, t: 256, ..STD };
    assert!(umac::mac_1999(&sure, 0, 1, 1).unwrap().log2() > -256.1);
    assert_eq!([umac::nhs(16, 4), umac::nh_t2(32), umac::nhs_t2(32)], [60, 62, 60]);
}

/// Whether a theorem's numbers of blocks have 128 bits. Those of PMAC with blocks of 256 bits have more, and
/// where they end there, no attempt is allowed.
fn numbers_suffice(theorem: &Theorem) -> bool {
    !matches!(theorem, Theorem::Pmac { n: 256, .. })
}

#[test]
fn bounds_grow() {
    let mut source = Source(7);
    for theorem in theorems() {
        for _ in 0..200 {
            let length = (source.number(64) as u64).min(theorem.limit());
            let load = Workload { messages: source.some(63), length, attempts: source.number(100) };
            let worse = [
                Workload { messages: load.messages + source.number(63), ..load },
                Workload { attempts: load.attempts + source.number(100), ..load },
                Workload {
                    length: length.saturating_add(length / 3 + 1).min(theorem.limit()),
                    ..load
                },
            ];
            let values = |load: &Workload| {
                [theorem.tags(load).unwrap().log2(), theorem.forgery(load).unwrap().log2()]
            };
            for worse in worse {
                let [before, after] = [load, worse].map(|load| values(&load));
                assert!(before[0] <= after[0] && before[1] <= after[1], "{theorem:?} {load:?}");
            }
            // More trust, more messages; longer messages, fewer.
            let probability = source.e().min(0.5) / 2.0;
            let messages = |length, probability| theorem.messages(length, probability).unwrap();
            assert!(messages(length, probability) <= messages(length, 2.0 * probability));
            assert!(messages(length, probability) <= messages(length / 2, probability));
            let guesses = |length, probability| theorem.guesses(length, probability).unwrap();
            if numbers_suffice(&theorem) {
                assert!(guesses(length, probability) <= guesses(length, 2.0 * probability));
            }
            // Shorter messages are more, and an attempt passes with more after more of them: PMAC's meets
            // one of their sums, and random nonces are shared.
            let grows = match theorem {
                Theorem::Pmac { .. } => true,
                Theorem::Umac1999(mac) => {
                    mac.prf != Prf1999::Named && mac.nonces != NonceKind::Counted
                }
                _ => false,
            };
            let shorter = guesses(length / 2, probability);
            assert!(grows || guesses(length, probability) <= shorter);
        }
    }
}

#[test]
fn what_no_theorem_speaks_of_is_refused() {
    use BoundError::*;
    let pmac = Theorem::Pmac { n: 128, t: 128 };
    let light = Theorem::LightMac { n: 64, s: 8, t: 64 };
    let none = Workload::default();
    for theorem in theorems() {
        assert_eq!(theorem.tags(&none), Err(Nothing));
        assert_eq!(theorem.forgery(&none), Err(Nothing));
        assert_eq!(theorem.guessing(&none), Err(Nothing));
        for found in [0.0, -1.0, 1.0, 2.0, f64::INFINITY, -0.0] {
            assert_eq!(theorem.messages(0, found), Err(Probability { found }));
            assert_eq!(theorem.guesses(0, found), Err(Probability { found }));
        }
        assert!(matches!(theorem.messages(0, f64::NAN), Err(Probability { .. })));
        assert!(theorem.messages(0, f64::from_bits(1)).is_ok());
        let limit = theorem.limit();
        if let Some(found) = limit.checked_add(1) {
            assert_eq!(theorem.messages(found, 0.5), Err(TooLong { limit, found }));
            let load = Workload { messages: 1, length: found, attempts: 0 };
            assert_eq!(theorem.tags(&load), Err(TooLong { limit, found }));
            assert_eq!(theorem.forgery(&load), Err(TooLong { limit, found }));
            assert_eq!(theorem.guessing(&load), Err(TooLong { limit, found }));
        }
    }
    assert_eq!(light.limit(), 1792);
    assert_eq!(pmac.limit(), u64::MAX);
    for n in [0, 1, 3, 127, 257, 258, u32::MAX] {
        let wrong = BlockBits { found: n };
        assert_eq!(pmac::prf(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::prf(n, 1, 1, 1), Err(wrong));
        assert_eq!(elimac::prf(n, 1, 0.5, 1), Err(wrong));
        assert_eq!(lightmac::mac(n, 1, 1, (1, 1), (0, 0)), Err(wrong));
        assert_eq!(lightmac::collision(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::generic(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::emac(n, 1, 1), Err(wrong));
        assert_eq!(lightmac::sum_of_cbcs(n, 1, 1), Err(wrong));
        assert_eq!(elimac::mac(n, 1, 0.5, 1, 0), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.messages(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.bytes(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n, t: 1 }.guesses(1 << 40, 0.5), Err(wrong));
        assert_eq!(Theorem::LightMac { n, s: 1, t: 1 }.messages(0, 0.5), Err(wrong));
    }
    for s in [0, 33, 64, u32::MAX] {
        assert_eq!(lightmac::prf(64, s, 1, 1), Err(CounterBits { max: 32, found: s }));
    }
    for t in [0, 129, u32::MAX] {
        let wrong = TagBits { min: 1, max: 128, found: t };
        assert_eq!(pmac::mac(128, t, (1, 1), 0, 1), Err(wrong));
        assert_eq!(lightmac::mac(128, 64, t, (1, 1), (0, 0)), Err(wrong));
        assert_eq!(elimac::aes_prf(t, elimac::AES4, 1), Err(wrong));
        assert_eq!(umac::mac(t, 1, 0, NonceKind::Counted), Err(wrong));
        // The bound on tags as random bits has no length, that on forging has.
        assert_eq!(Theorem::Pmac { n: 128, t }.messages(0, 0.5), Err(wrong));
        assert_eq!(Theorem::Pmac { n: 128, t }.guesses(0, 0.5), Err(wrong));
    }
    let wrong = TagBits { min: 1, max: 256, found: 0 };
    assert_eq!(umac::mac_1999(&Umac1999 { t: 0, ..STD }, 0, 1, 0), Err(wrong));
    for (q, l) in [(0, 1), (1, 0)] {
        assert_eq!(lightmac::generic(128, q, l), Err(Nothing));
        assert_eq!(lightmac::emac(128, q, l), Err(Nothing));
        assert_eq!(lightmac::sum_of_cbcs(128, q, l), Err(Nothing));
    }
    assert_eq!(lightmac::collision(128, 0, 0), Err(Nothing));
    let all = 1 << 16;
    assert_eq!(lightmac::collision(16, all, 1), Err(Blocks { n: 16, found: all + 1 }));
    assert_eq!(elimac::mac(16, 16, 0.5, all, 0), Err(Messages { max: all - 1, found: all }));
    assert_eq!(
        umac::mac(48, 1, 0, NonceKind::Counted),
        Err(TagBits { min: 32, max: 128, found: 48 })
    );
    for found in [0.0, -0.5, f64::INFINITY] {
        assert_eq!(elimac::prf(128, 128, found, 1), Err(Epsilon { found }));
    }
    let (max, found) = (1 << 68, (1 << 68) + 1);
    let counted = NonceKind::Counted;
    assert_eq!(poly1305::mac(found, 0, 16, counted), Err(Messages { max, found }));
    assert_eq!(umac::mac(64, found, 0, counted), Err(Messages { max, found }));
    let (max, found) = (1 << 64, (1 << 64) + 1);
    assert_eq!(umac::mac_1999(&STD, 0, found, 0), Err(Messages { max, found }));
    for found in [0, 129] {
        let (nonces, wrong) = (NonceKind::Random { bits: found }, NonceBits { max: 128, found });
        assert_eq!(poly1305::mac(1, 0, 16, nonces), Err(wrong));
        assert_eq!(umac::mac(64, 1, 0, nonces), Err(wrong));
    }
    let (nonces, wrong) = (NonceKind::Random { bits: 65 }, NonceBits { max: 64, found: 65 });
    assert_eq!(umac::mac_1999(&Umac1999 { nonces, ..STD }, 0, 1, 0), Err(wrong));
    let cbc3 = |n| Prf1999::Cbc3 { n, block_bytes: 4096, hash_bytes: 16 };
    let wrong = TagBits { min: 1, max: 64, found: 65 };
    let mac = Umac1999 { t: 65, prf: cbc3(64), ..STD };
    assert_eq!(umac::mac_1999(&mac, 0, 1, 0), Err(wrong));
    assert_eq!(Theorem::Umac1999(mac).with_tag_bits(65), Err(wrong));
    assert_eq!(
        umac::mac_1999(&Umac1999 { prf: cbc3(7), ..STD }, 0, 1, 0),
        Err(BlockBits { found: 7 })
    );
    assert_eq!(umac::cbc3_prf(128, 0, 5), Err(Nothing));
    assert_eq!(per_key(0.5, 0), Err(NoKeys));
    assert_eq!(poly1305::mac(1, 1, 1, counted).unwrap().of_keys(0), Err(NoKeys));
    for found in [0.0, 1.0, -1.0, f64::INFINITY] {
        assert_eq!(per_key(found, 2), Err(Probability { found }));
    }
    assert!(matches!(per_key(f64::MIN_POSITIVE, 2), Err(Probability { .. })));
    // One clear line each.
    let lines = [Nothing, NoKeys, wrong, Messages { max, found }];
    for error in lines.into_iter().chain([TooLong { limit: 1792, found: 1793 }]) {
        assert!(!error.to_string().contains('\n'));
    }
}

#[test]
fn random_nonces_cost_what_they_repeat() {
    let probability = 2f64.powi(-32);
    let random = |bits| NonceKind::Random { bits };
    let limits = |theorem: Theorem| {
        [theorem, theorem.with_nonces(NonceKind::Counted)].map(|theorem| {
            let messages = theorem.messages(1 << 20, probability).unwrap();
            let guesses = theorem.guesses(1 << 20, probability).unwrap();
            [messages, guesses].map(|count| format!("{:.2}", (count as f64).log2()))
        })
    };
    // q^2 / 2^129 for nonces of 16 bytes.
    for (theorem, guesses) in [
        (Theorem::Poly1305Aes { nonces: random(128) }, "54.28"),
        (Theorem::Umac { t: 64, nonces: random(128) }, "27.28"),
        (Theorem::Umac { t: 128, nonces: random(128) }, "87.28"),
    ] {
        assert_eq!(limits(theorem), [["48.50", guesses], ["64.00", guesses]], "{theorem:?}");
    }
    // With 8 bytes 92 682 messages would reach it.
    let umac = Theorem::Umac { t: 64, nonces: random(64) };
    assert_eq!(umac.messages(0, probability), Ok(92_682));
    // UMAC of 1999: a repeat costs a collision of two hashes.
    let std =
        |b| Theorem::Umac1999(Umac1999 { b, t: 160, prf: Prf1999::Named, nonces: random(64) });
    assert_eq!(limits(std(60)), [["46.50", "26.41"], ["64.00", "28.00"]]);
    assert_eq!(limits(std(30))[0][0], "31.50");
}

#[test]
fn cbc3_limits_umac_mmx() {
    let probability = 2f64.powi(-32);
    let prf = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: 16 };
    let mmx = Theorem::Umac1999(Umac1999 { b: 60, t: 128, prf, nonces: NonceKind::Counted });
    // Two blocks each, and 257.
    let messages = |length| mmx.messages(length, probability).unwrap() as f64;
    assert_eq!(format!("{:.2}", messages(4096).log2()), "47.71");
    assert_eq!(format!("{:.2}", (messages(1 << 20) * 257.0).log2()), "48.51");
    let blocks = [0, 1, 4096, 4097, 1 << 20].map(|length| prf.blocks(length));
    assert_eq!(blocks, [1, 2, 2, 3, 257]);
    // Nothing is left after 2^64 blocks: the cipher's values run out.
    assert!(umac::cbc3_prf(128, 1 << 64, 1 << 64).unwrap().log2() >= 0.0);
    assert!(umac::cbc3_prf(128, 1 << 20, 1 << 65).unwrap().log2() >= 0.0);
    assert!(umac::cbc3_prf(8, 1, 1 << 20).unwrap().log2() >= 0.0);
}

/// All permutations of 0..8 (Heap's algorithm).
fn permutations() -> Vec<[u8; 8]> {
    let (mut all, mut p, mut c) =
        (vec![[0, 1, 2, 3, 4, 5, 6, 7]], [0, 1, 2, 3, 4, 5, 6, 7], [0; 8]);
    let mut i = 0;
    while i < 8 {
        if c[i] < i {
            p.swap(if i % 2 == 0 { 0 } else { c[i] }, i);
            all.push(p);
            c[i] += 1;
            i = 0;
        } else {
            c[i] = 0;
            i += 1;
        }
    }
    all
}

#[test]
fn the_proof_for_cbc3_holds_for_blocks_of_three_bits() {
    let all = permutations();
    assert_eq!(all.len(), 40_320);
    let mut source = Source(10);
    let mut reached = 0.0f64;
    for _ in 0..300 {
        let mut input = |most: u64| -> Vec<u8> {
            (0..1 + source.below(most)).map(|_| source.below(8) as u8).collect()
        };
        let (one, other) = (input(3), input(2));
        if one == other {
            continue;
        }
        // The last cipher inputs of both, under every pi_1.
        let last = |pi: &[u8; 8], input: &[u8]| {
            input[1..].iter().fold(input[0], |chain, block| block ^ pi[usize::from(chain)])
        };
        let equal = all.iter().filter(|pi| last(pi, &one) == last(pi, &other)).count();
        let found = equal as f64 / all.len() as f64;
        let (d, l) = (one.len() - 1, other.len() - 1);
        let pairs = |n: usize| (n * n.saturating_sub(1) / 2) as f64;
        // As two inputs of a key, and as one and an attempt.
        let both = (pairs(d + l) + 1.0) / (8 - d - l) as f64;
        let attempt = ((l * d) as f64 + pairs(l) + 1.0 + pairs(d)) / (8 - d - l) as f64;
        assert!(found <= both && found <= attempt, "{one:?} {other:?}: {found}");
        reached = reached.max(found / both);
    }
    assert!(reached > 0.5, "{reached}");
}

#[test]
fn pads_of_a_permutation_end_in_a_cliff() {
    // What an attempt passes with, against a hash's own 2^-120.
    let factor =
        |log2: u32| umac::mac(128, 1 << log2, 1, NonceKind::Counted).unwrap().log2() + 120.0;
    let shown = [32, 63, 64, 65, 66, 67, 68].map(|log2| format!("{:.2}", factor(log2)));
    assert_eq!(shown, ["0.00", "0.18", "0.72", "2.89", "11.54", "46.17", "184.66"]);
    assert!(factor(0) >= 0.0 && factor(32) > 0.0);
}

#[test]
fn elimac_is_limited_by_its_hash() {
    let (eli, probability) = (Theorem::EliMacAes { t: 128 }, 2f64.powi(-32));
    let log2 = |count: u128| format!("{:.2}", (count as f64).log2());
    let of = |t| eli.with_tag_bits(t).unwrap();
    let messages = of(128).messages(1500, probability).unwrap();
    assert_eq!(log2(messages), "41.04");
    for t in 1..128 {
        assert_eq!(of(t).messages(1500, probability), Ok(messages), "{t}");
    }
    // A tag of 64 bits is guessed with about 2^-64, whatever the hash does.
    let guesses = of(64).guesses(1500, probability).unwrap();
    assert!(guesses < 1 << 32 && guesses > (1 << 32) - (1 << 10), "{guesses}");
    assert_eq!(log2(of(128).guesses(1500, probability).unwrap()), "81.09");
}

#[test]
fn limits_never_grow_where_they_should_fall() {
    let mut source = Source(9);
    let mut theorems = theorems();
    theorems.retain(numbers_suffice);
    for round in 0..100_000usize {
        let mut theorem = theorems[round % theorems.len()];
        // Nonces of whole bytes; those of UMAC of 1999 have eight.
        let (least, bytes) = if matches!(theorem, Theorem::Umac1999(_)) { (8, 8) } else { (1, 16) };
        let mut nonces = || match source.below(3) {
            0 => NonceKind::Counted,
            _ => NonceKind::Random { bits: 8 * (least + source.below(bytes - least + 1)) as u32 },
        };
        if theorem.nonces().is_some() {
            theorem = theorem.with_nonces(nonces());
        }
        let extreme = source.below(4) == 0;
        let length = match (extreme, source.below(3)) {
            (true, 0) => 0,
            (true, 1) => 1,
            (true, _) => theorem.limit(),
            (false, 0) => (source.number(64) as u64).min(theorem.limit()),
            (false, _) => (source.number(24) as u64).min(theorem.limit()),
        };
        let probability = match source.below(4) {
            0 => 2f64.powi(-1 - source.below(128) as i32),
            1 => source.e().min(0.99) / 2.0,
            2 => 2f64.powi(-32),
            _ => (1.0 - source.e() / 4.0).clamp(0.25, 1f64.next_down()),
        };
        let limits = |theorem: Theorem, probability| {
            let messages = theorem.messages(length, probability).unwrap();
            [messages, theorem.guesses(length, probability).unwrap()]
        };
        let at_most = |less: [u128; 2], more: [u128; 2]| less[0] <= more[0] && less[1] <= more[1];
        let context = format!("{theorem:?} {length} {probability:e}");
        let own = limits(theorem, probability);

        // Exactly: each limit keeps to the probability, and both to twice of it.
        let (tags, attempts) = exact(theorem, own[0], length, own[1]);
        let limit = of_f64(probability);
        assert!(own[0] == 0 || tags <= limit, "{context}: {own:?}");
        assert!(attempts <= limit, "{context}: {own:?}");
        if own != [0, 0] {
            let load = Workload { messages: own[0], length, attempts: own[1] };
            let both = 2.0 * probability * (1.0 + 2f64.powi(-40));
            assert!(theorem.forgery(&load).unwrap().at_most(both), "{context}: {own:?}");
        }
        match round / theorems.len() % 3 {
            0 => {
                // Shorter tags.
                let own_tag = |t: &u32| theorem.with_tag_bits(*t) == Ok(theorem);
                let full = (1..=256).find(own_tag).expect("a tag of its length");
                let tags: Vec<u32> =
                    (1..=full).filter(|t| theorem.with_tag_bits(*t).is_ok()).collect();
                let t = tags[source.below(tags.len() as u64) as usize];
                let cut = limits(theorem.with_tag_bits(t).unwrap(), probability);
                assert!(at_most(cut, own), "{context}: {t} {cut:?} {own:?}");
            }
            1 => {
                // More keys, and still more.
                let keys = source.some(40);
                let (few, many) = (source.some(20).min(keys), keys);
                let each = |keys| per_key(probability, keys).unwrap();
                assert!(of_f64(each(many)) * int(many) <= limit);
                let [few, many] = [few, many].map(|keys| limits(theorem, each(keys)));
                assert!(at_most(few, own) && at_most(many, few), "{context}: {keys} {many:?}");
            }
            _ => {
                // A counter, and longer nonces.
                let counted = limits(theorem.with_nonces(NonceKind::Counted), probability);
                assert!(at_most(own, counted), "{context}: {own:?} {counted:?}");
                if let Some(NonceKind::Random { bits }) = theorem.nonces() {
                    let bytes = u64::from(bits / 8);
                    let bits = 8 * (least + source.below(bytes - least + 1)) as u32;
                    let short = theorem.with_nonces(NonceKind::Random { bits });
                    let short = limits(short, probability);
                    assert!(at_most(short, own), "{context}: {bits} {short:?} {own:?}");
                }
            }
        }
    }
}
