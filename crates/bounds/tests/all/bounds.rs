//! Compares the bounds with exact rational arithmetic and with the papers' numbers.

use num_bigint::BigUint;
use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{Bound, BoundError, NonceKind, Theorem, Workload};
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
        // Numbers in the range where attempts are linear.
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
    // Near the limits of the numbers.
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
        // EliMAC-AES with the paper's exact eps, not the nearest `f64`.
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
    // Without attempts nothing passes, if nonces do not repeat.
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

/// The number of queries under K1 in the terms.
fn queries(bound: &Bound, primitive: &str) -> u128 {
    let term = bound.terms().iter().find(|term| term.primitive == primitive);
    term.map_or(0, |term| term.queries)
}

#[test]
fn lightmac_calls_its_cipher_so_often() {
    // A message has floor(bits / (n - s)) full blocks, with a call under K1 for each. If it ends
    // with a full block, it also has an empty last block: 256 calls for the longest with a counter
    // of 8 bits, not 255.
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
        // Unknown lengths.
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
    // EliMAC, section 5.1: "security up to q about 2^56". Corollary 1 as printed is almost 1/2
    // there; half of that suffices, and no square root for whole tags.
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
    // Poly1305-AES: L = 1536, D = 2^64. The slide prints 0.999999999999998 for the probability that
    // all are rejected, with a delta of 2^-40. Its formula results in less. 14 is 8 times the
    // factor of pads, 13.19, rounded up.
    let forged = 14.0 * 96.0 * 2f64.powi(64 - 106);
    assert!((3.055e-10..3.056e-10).contains(&forged), "{forged:e}");
    let bound = poly1305::mac(1 << 64, 1 << 64, 1536, NonceKind::Counted).unwrap().value();
    assert_eq!(format!("{:.4}", bound / forged * 14.0), "13.1898");
    let rejected = 1.0 - 2f64.powi(-40) - forged;
    assert_eq!(format!("{rejected:.12}"), "0.999999999694");
    assert!(rejected < 0.999999999999998);
    // PMAC, docs/design/theory.md: for any distribution of the blocks over messages.
    for (n, blocks, shown) in [(128, 40, "2^-47.99"), (64, 20, "2^-23.99"), (64, 24, "2^-15.99")] {
        let bound = |q| pmac::prf(n, q, 1 << blocks).unwrap().to_string();
        for q in [1 << blocks, (1 << blocks) - 1, 1 << (blocks - 1)] {
            assert_eq!(bound(q).split(' ').next(), Some(shown));
        }
    }
    assert!(pmac::prf(64, 1 << 32, 1 << 32).unwrap().log2() > 0.0);
    // More blocks than can be counted are not treated as 2^128.
    assert!(pmac::prf(256, 1, u128::MAX).unwrap().log2() >= 0.0);
    assert!(Theorem::Pmac { n: 256, t: 256 }.messages(1 << 40, 0.5).unwrap() < 1 << 111);
    // 128 messages of 1 MiB: 3 * 2^7 * 2^24 / 2^64.
    assert!(pmac::prf(64, 1 << 7, 1 << 24).unwrap().to_string().starts_with("2^-31.41 "));
    assert!(pmac::prf(128, 1 << 32, 1 << 48).unwrap().to_string().starts_with("2^-46.41 "));
    // RFC 4418: N attempts at 8 bytes pass with N / 2^60.
    let umac = umac::mac(64, 1, 1 << 10, NonceKind::Counted).unwrap().log2();
    assert!((-50.0..-49.999_999_999).contains(&umac), "{umac}");
}

#[test]
fn the_hashes_of_1999_have_these_bits() {
    assert_eq!([umac::nh(32, 1), umac::nh(16, 4), umac::nhs(16, 1)], [32, 64, 15]);
    assert_eq!([umac::nhs(0, 1), umac::nh_t2(0), umac::nhs_t2(1)], [0, 0, 0]);
    let sure = Umac1999 { b: u32::MAX, t: 256, ..STD };
    assert!(umac::mac_1999(&sure, 0, 1, 1).unwrap().log2() > -256.1);
    assert_eq!([umac::nhs(16, 4), umac::nh_t2(32), umac::nhs_t2(32)], [60, 62, 60]);
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
            // A larger probability allows more messages; longer messages allow fewer.
            let probability = source.e().min(0.5) / 2.0;
            let messages = |length, probability| theorem.messages(length, probability).unwrap();
            assert!(messages(length, probability) <= messages(length, 2.0 * probability));
            assert!(messages(length, probability) <= messages(length / 2, probability));
            let guesses = |length, probability| theorem.guesses(length, probability).unwrap();
            if numbers_suffice(&theorem) {
                assert!(guesses(length, probability) <= guesses(length, 2.0 * probability));
            }
            // The limit for shorter messages is higher, and an attempt is more likely to pass after
            // more messages: PMAC's meets one of their sums, and random nonces are shared.
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
        // As two inputs of a key, and as one input and an attempt.
        let both = (pairs(d + l) + 1.0) / (8 - d - l) as f64;
        let attempt = ((l * d) as f64 + pairs(l) + 1.0 + pairs(d)) / (8 - d - l) as f64;
        assert!(found <= both && found <= attempt, "{one:?} {other:?}: {found}");
        reached = reached.max(found / both);
    }
    assert!(reached > 0.5, "{reached}");
}

#[test]
fn pads_of_a_permutation_end_in_a_cliff() {
    // The probability of an attempt, relative to the hash's own 2^-120.
    let factor =
        |log2: u32| umac::mac(128, 1 << log2, 1, NonceKind::Counted).unwrap().log2() + 120.0;
    let shown = [32, 63, 64, 65, 66, 67, 68].map(|log2| format!("{:.2}", factor(log2)));
    assert_eq!(shown, ["0.00", "0.18", "0.72", "2.89", "11.54", "46.17", "184.66"]);
    assert!(factor(0) >= 0.0 && factor(32) > 0.0);
}
