//! Exact limits, names of primitives, and messages of errors.

use tagmac_bounds::umac::{Prf1999, Umac1999};
use tagmac_bounds::{Bound, BoundError, NonceKind, Theorem, Workload};
use tagmac_bounds::{elimac, lightmac, pmac, poly1305, umac};

use crate::exact::theorems;

#[test]
fn as_many_attempts_as_messages_are_no_less_than_some() {
    for count in [1, 5, 1 << 40] {
        assert!(pmac::mac(128, 64, (count, count), count, 1).is_ok());
        assert!(lightmac::mac(128, 64, 64, (count, count), (count, count)).is_ok());
        assert!(elimac::aes_mac(64, elimac::AES4, count, count).is_ok());
        assert!(umac::mac(64, count, count, NonceKind::Counted).is_ok());
        let std = Umac1999 { b: 60, t: 64, prf: Prf1999::Named, nonces: NonceKind::Counted };
        assert!(umac::mac_1999(&std, 0, count, count).is_ok());
        assert!(poly1305::mac(count, count, 16, NonceKind::Counted).is_ok());
    }
}

#[test]
fn a_bound_is_at_most_a_positive_finite_number() {
    let none = umac::mac(64, 1, 0, NonceKind::Counted).unwrap();
    let some = pmac::prf(128, 1, 1).unwrap();
    assert_eq!((none.value(), some.value()), (0.0, 2f64.powi(-127)));
    assert!(none.at_most(f64::from_bits(1)) && some.at_most(2f64.powi(-127)));
    assert!(!some.at_most(2f64.powi(-127).next_down()));
    for number in [0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert!(!none.at_most(number) && !some.at_most(number), "{number}");
    }
}

#[test]
fn bounds_name_their_primitives() {
    let text = |bound: Result<Bound, BoundError>| bound.unwrap().to_string();
    let found = text(elimac::aes_prf(128, elimac::AES4, 1 << 20));
    assert!(found.ends_with(" + Adv^prp_AES10(2^20) + Adv^prp_AES7(2^32)"), "{found}");
    let nonces = NonceKind::Counted;
    let umac = umac::mac(64, 1 << 32, 1 << 10, nonces);
    assert_eq!(text(umac.clone()), "2^-49.99 + 3 Adv^prp_AES(2^32)");
    let found = text(umac.unwrap().of_keys(1 << 20));
    assert_eq!(found, "2^-29.99 + 3 Adv^prp_AES(2^20 keys, 2^32)");
    let std = Umac1999 { b: 60, t: 64, prf: Prf1999::Named, nonces };
    let found = text(umac::mac_1999(&std, 0, 7, 1));
    assert!(found.ends_with(" + Adv^prf_F(8) + Adv^prg_KDF(1)"), "{found}");
    let mmx = Prf1999::Cbc3 { n: 128, block_bytes: 4096, hash_bytes: 16 };
    let mmx = umac::mac_1999(&Umac1999 { prf: mmx, ..std }, 4096, 7, 1);
    let found = text(mmx.unwrap().of_keys(3));
    let of_keys = ["prp_E1(3 keys, 8)", "prp_E3(3 keys, 8)", "prg_KDF(3 keys, 1)"];
    assert!(found.ends_with(&of_keys.map(|term| format!(" + Adv^{term}")).concat()), "{found}");
    assert!(umac::mac(64, 1 << 64, 0, nonces).is_ok());
    assert!(umac::mac_1999(&std, 0, 1 << 64, 0).is_ok());
}

#[test]
fn guesses_and_tags_are_the_parts_of_a_forgery() {
    for theorem in theorems() {
        for (messages, attempts) in [(1 << 40, 9), (1, 1), (0, 7), (1 << 20, 1 << 60)] {
            let load = Workload { messages, length: 64, attempts };
            let (all, guessing) =
                (theorem.forgery(&load).unwrap(), theorem.guessing(&load).unwrap());
            // PMAC has a second bound, which is smaller for a few attempts.
            let pmac = matches!(theorem, Theorem::Pmac { .. });
            assert!(pmac || guessing.value() <= all.value());
            let tags = Workload { attempts: 0, ..load };
            let tags = theorem.forgery(&tags).map_or(0.0, |bound| bound.value());
            let sum = (guessing.value() + tags) * (1.0 + 2f64.powi(-40));
            assert!(all.value() <= sum, "{theorem:?} {messages} {attempts}");
        }
        for length in [0, 1, 1500].map(|length: u64| length.min(theorem.limit())) {
            let messages = theorem.messages(length, 0.25).unwrap();
            let bytes = theorem.bytes(length, 0.25).unwrap();
            assert_eq!(bytes, messages.saturating_mul(length.into()));
        }
    }
    let load = Workload { messages: 5, length: 64, attempts: 0 };
    let bound = Theorem::Pmac { n: 128, t: 0 }.tags(&load);
    assert_eq!(bound, pmac::prf(128, 5, 20));
}

#[test]
fn the_sum_of_cbcs_is_bounded_up_to_its_length() {
    // 2^(2n/5) blocks, with n = 10.
    for (blocks, is_bounded) in [(15, true), (16, true), (17, false)] {
        assert_eq!(lightmac::sum_of_cbcs(10, 1, blocks).unwrap().is_some(), is_bounded);
    }
}

#[test]
fn one_attempt_one_pair_and_one_message() {
    let attempt = pmac::attempt(64, 64, (1672, 1672 * 512), 512).unwrap();
    assert_eq!(attempt.to_string(), "2^-50.50");
    let pair = lightmac::collision(4, 8, 1).unwrap().value();
    assert!((0.125..0.125001).contains(&pair), "{pair}");
    assert_eq!([0, 1 << 20].map(|length| Prf1999::Named.blocks(length)), [1, 1]);
}

#[test]
fn what_is_wrong_with_a_bound_is_said() {
    let (max, found) = (7, 9);
    let cases = [
        (BoundError::Nothing, "expected at least one message, found 0"),
        (BoundError::Messages { max, found }, "expected at most 7 messages, found 9"),
        (
            BoundError::Blocks { n: 7, found },
            "expected at most 2^7 blocks in two messages, found 9",
        ),
        (
            BoundError::TooLong { limit: 7, found: 9 },
            "expected a message of at most 7 bytes, found 9",
        ),
        (
            BoundError::Probability { found: 2.0 },
            "expected a probability between 0 and 1, such as 2^-32, found 2",
        ),
        (BoundError::Epsilon { found: 0.0 }, "expected a positive probability, found 0"),
        (
            BoundError::BlockBits { found: 3 },
            "expected blocks of an even number of bits, 2 to 256, found 3",
        ),
        (
            BoundError::CounterBits { max: 7, found: 9 },
            "expected a counter of 1 to 7 bits, found 9",
        ),
        (
            BoundError::NonceBits { max: 0, found: 64 },
            "nonces must be counted, found random ones of 64 bits",
        ),
        (
            BoundError::NonceBits { max: 128, found: 129 },
            "expected nonces of 1 to 128 bits, found 129",
        ),
        (BoundError::TagBits { min: 7, max: 7, found: 9 }, "expected tags of 7 bits, found 9"),
        (BoundError::TagBits { min: 1, max: 7, found: 9 }, "expected tags of 1 to 7 bits, found 9"),
    ];
    for (error, expected) in cases {
        assert_eq!(error.to_string(), expected);
    }
}

/// These are evaluated at compile time: with other values this does not build.
const _: () = {
    let each = 53.0 / 17_179_869_184.0;
    assert!(elimac::AES4 == each * each * each * each);
};
