//! The theorem on leaf tags, compared with exact arithmetic.

use tagmac_bounds::{BoundError, Theorem, Workload};

use crate::exact::*;

/// The MACs with leaf tags and whole tags.
const WHOLE: [Theorem; 6] = [
    Theorem::Pmac { n: 128, t: 128 },
    Theorem::Pmac { n: 64, t: 64 },
    Theorem::Pmac { n: 16, t: 16 },
    Theorem::LightMac { n: 128, s: 32, t: 128 },
    Theorem::LightMac { n: 64, s: 16, t: 64 },
    Theorem::EliMacAes { t: 128 },
];

/// The probability of a forgery, from the formulas.
fn forgery(theorem: Theorem, q: u128, length: u64, v: u128) -> Exact {
    let blocks = theorem.blocks(length);
    match theorem {
        Theorem::Pmac { n, t } => pmac_exact(n, t, (q, q.saturating_mul(blocks)), v, blocks),
        Theorem::LightMac { n, t, .. } => light_mac(n, t, q, v),
        Theorem::EliMacAes { t } => eli_mac(128, t, &eli_aes(), q, v),
        _ => unreachable!("no leaf tags"),
    }
}

#[test]
fn leaves_are_attempts_and_guesses() {
    let mut source = Source(38);
    for _ in 0..ROUNDS {
        let theorem = WHOLE[source.below(6) as usize];
        let length = (source.number(40) as u64).min(theorem.limit());
        let (messages, attempts) = (source.some(60), source.number(70));
        let bound = theorem.leaves(&Workload { messages, length, attempts }).expect("a bound");
        let guesses = int(attempts) * two(-128);
        agrees(&bound, &(forgery(theorem, messages, length, attempts) + guesses));
        // The terms of the cipher, and one for the PRF.
        let (hmac, cipher) = bound.terms().split_last().expect("a term");
        if length == 0 && attempts == 0 {
            assert_ne!(hmac.notion, "prf");
            continue;
        }
        let same = theorem.forgery(&Workload { messages, length, attempts }).expect("a bound");
        assert_eq!((hmac.notion, hmac.primitive, cipher), ("prf", "HMAC-SHA256", same.terms()));
        let leaves = hmac.queries - attempts;
        assert!(
            leaves <= messages << 19 && leaves >= messages * u128::from(length >> 20).min(1 << 19)
        );
    }
}

#[test]
fn the_number_of_reads_is_the_largest() {
    for theorem in WHOLE {
        for length in [0, 4096, 1 << 20, 1 << 30].map(|length: u64| length.min(theorem.limit())) {
            for probability in [2f64.powi(-32), 0.25] {
                let reads = theorem.reads(length, probability).expect("a limit");
                let messages = theorem.messages(length, probability).expect("a limit");
                // Never more than of attempts at tags, and half of them where a guess is as likely.
                let guesses = theorem.guesses(length, probability).expect("a limit");
                assert!(reads <= guesses && reads >= (guesses / 2).saturating_sub(1));
                let (_, each) = exact(theorem, messages, length, 1);
                let each = each + two(-128);
                let probability = of_f64(probability);
                assert!(int(reads) * &each <= probability, "{theorem:?} {length}");
                let more = int(reads + 1) * (int(1) + two(-40)) * each;
                assert!(more > probability, "{theorem:?} {length}");
            }
        }
    }
}

#[test]
fn known_limits() {
    let reads = |theorem: Theorem, length| theorem.reads(length, 2f64.powi(-32)).expect("a limit");
    // Half of the guesses at tags of 128 bits; of 64 bits almost all of them.
    assert_eq!(reads(WHOLE[3], 1 << 20).ilog2(), 94);
    assert_eq!(reads(WHOLE[4], 384 << 10), (1 << 32) - 3);
    assert_eq!(reads(WHOLE[0], 1 << 20).ilog2(), 61);
    assert_eq!(reads(WHOLE[1], 1 << 20), 2047);
}

#[test]
fn macs_without_leaf_tags_and_truncated_tags_are_refused() {
    let load = Workload { messages: 1, length: 1, attempts: 1 };
    for theorem in theorems() {
        let refused = match theorem {
            Theorem::Pmac { n, t } | Theorem::LightMac { n, t, .. } if t < n => {
                BoundError::TagBits { min: n, max: n, found: t }
            }
            Theorem::EliMacAes { t } if t < 128 => {
                BoundError::TagBits { min: 128, max: 128, found: t }
            }
            Theorem::Pmac { .. } | Theorem::LightMac { .. } | Theorem::EliMacAes { .. } => continue,
            _ => BoundError::NoLeafTags,
        };
        assert_eq!(theorem.leaves(&load), Err(refused));
        assert_eq!(theorem.reads(1, 0.5), Err(refused));
    }
    assert_eq!(BoundError::NoLeafTags.to_string(), "a MAC with nonces has no leaf tags");
    let whole = WHOLE[0];
    assert_eq!(whole.leaves(&Workload::default()), Err(BoundError::Nothing));
    assert_eq!(whole.reads(1, 1.0), Err(BoundError::Probability { found: 1.0 }));
    let found = WHOLE[4].limit() + 1;
    let long = BoundError::TooLong { limit: found - 1, found };
    assert_eq!(WHOLE[4].reads(found, 0.5), Err(long));
    assert_eq!(WHOLE[4].leaves(&Workload { length: found, ..load }), Err(long));
}
