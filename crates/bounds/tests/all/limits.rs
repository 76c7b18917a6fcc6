//! The maximum numbers of messages and attempts for a probability, and changes that lower them.

use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{BoundError, NonceKind, Theorem, Workload, per_key, umac};

use crate::exact::*;

#[test]
fn numbers_are_the_largest_within_the_probability() {
    let mut source = Source(6);
    // The next number exceeds the limit, or is below it by less than the rounding.
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
            // Larger numbers cannot be counted.
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
    // A tag of 64 bits is guessed with about 2^-64, for any hash.
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
        // Nonces of whole bytes; those of UMAC 1999 have eight.
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

        // Exactly: each limit is within the probability, and both are within twice of it.
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
                // More keys, and then even more.
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

#[test]
fn blocks_of_messages_of_any_length() {
    let light = |s| Theorem::LightMac { n: 128, s, t: 128 };
    let pmac = |n| Theorem::Pmac { n, t: n };
    for length in [0, 1, 11, 12, 13, 15, 16, 17, 1500, (1 << 61) - 1, 1 << 61, u64::MAX] {
        let bits = 8 * u128::from(length);
        for n in [64, 100, 128] {
            assert_eq!(pmac(n).blocks(length), bits.div_ceil(n.into()).max(1), "{n}, {length}");
        }
        for s in [0, 8, 32, 120] {
            let expected = bits / u128::from(128 - s);
            assert_eq!(light(s).blocks(length), expected, "{s}, {length}");
        }
        // No bits are left for the message.
        assert_eq!(light(128).blocks(length), bits);
    }
}
