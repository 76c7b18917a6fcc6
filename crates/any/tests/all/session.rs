//! Sessions: nonces are never reused, and altered states are refused.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use tagmac::Error;
use tagmac_any::meter::{Budget, MeterError, Usage};
use tagmac_any::{Algorithm, AnyMac, Session, SessionError};

fn mac(name: &str) -> AnyMac {
    let algorithm = Algorithm::from_name(name).expect("a name");
    AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).expect("a key")
}

fn budget(mac: &AnyMac, messages: u64) -> Budget {
    let budget = mac.budget(Some(100), None).expect("a budget");
    Budget { messages, ..budget }
}

fn session(name: &str, next: &[u8], messages: u64) -> Session {
    let mac = mac(name);
    let budget = budget(&mac, messages);
    Session::new(mac, next, budget).expect("a session")
}

/// A number below `n`, from a reproducible generator.
fn below(state: &mut u64, n: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 33) % n
}

#[test]
fn every_mac_has_sessions() {
    for algorithm in Algorithm::all() {
        let mac = mac(algorithm.name());
        let budget = mac.budget(None, algorithm.theorem().map(|_| 1e-9)).expect("a budget");
        for bytes in algorithm.nonce_bytes() {
            let mut session = Session::new(mac.clone(), &vec![0; bytes], budget).expect("one");
            for message in [&b""[..], b"message"] {
                let (nonce, tag) = session.tag(message).expect("a tag");
                assert_eq!(nonce.as_bytes().len(), bytes);
                assert!(tag == mac.tag(nonce.as_bytes(), message).expect("a tag"));
            }
            session.reserve(2).expect("a reserve");
            let saved = session.save().expect("a state");
            let again = Session::restore(mac.clone(), &saved, budget).expect("restored");
            assert_eq!((again.used(), again.reserved(), again.nonce_bytes()), (4, 0, bytes));
        }
    }
}

#[test]
fn no_nonce_serves_twice_whenever_a_crash_comes() {
    for (name, bytes) in [("UMAC-64", 2), ("UMAC-32", 16), ("POLY1305-AES", 16)] {
        let (mut seen, mut state) = (HashSet::new(), 5);
        let mut now = session(name, &vec![0; bytes], 1 << 16);
        let (mac, budget) = (now.mac().clone(), budget(now.mac(), 1 << 16));
        let mut disk = now.save().expect("a state");
        let mut tagged = 0;
        for _ in 0..3000 {
            match below(&mut state, 8) {
                0 => {
                    now.reserve(below(&mut state, 20)).expect("a reserve");
                    disk = now.save().expect("a state");
                }
                // It was not saved, so it covers nothing.
                1 => now.reserve(below(&mut state, 3)).expect("a reserve"),
                2 => now = Session::restore(mac.clone(), &disk, budget).expect("restored"),
                _ => match now.tag(b"packet") {
                    Ok((nonce, _)) => {
                        assert!(seen.insert(nonce.as_bytes().to_vec()), "{name}: {nonce:?}");
                        tagged += 1;
                    }
                    Err(error) => assert_eq!(error, SessionError::ReserveUsedUp),
                },
            }
        }
        let last = Session::restore(mac, &disk, budget).expect("restored");
        assert!(tagged > 500 && last.used() >= tagged, "{tagged} of {}", last.used());
    }
}

#[test]
fn a_saved_session_tags_what_is_covered() {
    let mut session = session("PMAC-AES128", &[], 100);
    session.tag(b"before").expect("never saved");
    session.save().expect("a state");
    assert_eq!(session.tag(b"").err(), Some(SessionError::ReserveUsedUp));
    session.reserve(2).expect("a reserve");
    assert_eq!(session.tag(b"").err(), Some(SessionError::ReserveUsedUp));
    session.save().expect("a state");
    session.reserve(3).expect("a reserve");
    assert_eq!((session.used(), session.left(), session.reserved()), (1, 99, 5));
    for _ in 0..2 {
        session.tag(b"covered").expect("a tag");
    }
    assert_eq!(session.tag(b"").err(), Some(SessionError::ReserveUsedUp));
    assert_eq!((session.used(), session.left(), session.reserved()), (3, 97, 3));
}

#[test]
fn without_a_probability_blocks_count_for_a_later_budget() {
    for (name, block) in [("PMAC-AES128", 16), ("PMAC-PRESENT80", 8)] {
        let mac = mac(name);
        let counted = mac.budget(Some(4096), None).expect("a budget");
        let mut session = Session::new(mac.clone(), &[], counted).expect("a session");
        session.reserve(1000).expect("a reserve");
        let saved = session.save().expect("a state");
        let usage = Usage::from_bytes(&saved[40..96]).expect("a usage");
        assert_eq!((usage.messages, usage.blocks), (1000, 1000 * 4096 / block), "{name}");
    }
}

#[test]
fn the_budget_ends() {
    let exhausted = |error: Option<SessionError>| {
        matches!(error, Some(SessionError::Meter(MeterError::BudgetExhausted { .. })))
    };
    let mut two = session("UMAC-64", &[0; 8], 2);
    assert!(exhausted(two.tag(&[0; 101]).err()), "a message of 101 bytes");
    assert!(exhausted(two.reserve(3).err()));
    assert_eq!((two.used(), two.left(), two.reserved()), (0, 2, 0));
    two.reserve(1).expect("a reserve");
    let first = two.tag(b"").expect("the reserve").0;
    assert_eq!(first.as_bytes(), [0; 8]);
    two.tag(b"").expect("the second message");
    assert!(exhausted(two.tag(b"").err()) && exhausted(two.reserve(1).err()));
    let saved = two.save().expect("a state");
    let mac = two.mac().clone();
    let less = budget(&mac, 1);
    assert!(exhausted(Session::restore(mac, &saved, less).err()));

    // PMAC's blocks are counted, and its whole budget can be reserved.
    let mac = mac_of_present();
    let budget = mac.budget(Some(1500), Some(1e-9)).expect("a budget");
    let mut session = Session::new(mac, &[], budget).expect("a session");
    session.reserve(budget.messages).expect("all of it");
    assert!(exhausted(session.reserve(1).err()));
    for _ in 0..budget.messages.min(1000) {
        session.tag(&[0; 1500]).expect("a reserved message");
    }
}

fn mac_of_present() -> AnyMac {
    mac("PMAC-PRESENT128")
}

#[test]
fn nonces_end() {
    let used_up = Some(SessionError::from(Error::NoncesUsedUp { bytes: 1 }));
    let mut short = session("UMAC-64", &[253], 1 << 20);
    assert_eq!(short.left(), 3);
    assert_eq!(short.reserve(3).err(), used_up);
    short.reserve(2).expect("all but the last");
    let saved = short.save().expect("a state");
    let (mac, budget) = (short.mac().clone(), budget(short.mac(), 1 << 20));
    let mut last = Session::restore(mac, &saved, budget).expect("restored");
    assert_eq!((last.left(), last.reserve(1).err()), (1, used_up));
    // An unsaved session can use all of them.
    let mut short = session("UMAC-64", &[254], 1 << 20);
    assert_eq!(short.tag(b"").expect("a tag").0.as_bytes(), [254]);
    assert_eq!(short.tag(b"").expect("a tag").0.as_bytes(), [255]);
    assert_eq!((short.left(), short.tag(b"").err()), (0, used_up));
    assert_eq!((short.reserve(0).err(), short.save().err()), (used_up, used_up));
    // The largest numbers.
    let mut long = session("POLY1305-AES", &[0xff; 16], u64::MAX);
    assert!(long.reserve(1).is_err() && long.reserve(u64::MAX).is_err());
    assert_eq!(long.left(), 1);
    let mut long = session("POLY1305-AES", &[0; 16], u64::MAX);
    long.reserve(u64::MAX).expect("within 2^128");
    assert_eq!((long.used(), long.left(), long.reserved()), (0, u64::MAX, u64::MAX));
    assert_eq!(long.save().expect("a state")[24 + 8..40], [0xff; 8]);
}

#[test]
fn nothing_altered_is_restored() {
    let mut one = session("UMAC-64", &[1; 8], 100);
    let saved = one.save().expect("a state");
    let (mac, budget) = (one.mac().clone(), budget(one.mac(), 100));
    let restore = |saved: &[u8]| Session::restore(mac.clone(), saved, budget).err();
    assert_eq!(restore(&saved), None);
    for length in (0..200).filter(|length| *length != saved.len()) {
        let mut bytes = saved.to_vec();
        bytes.resize(length, 0);
        assert_eq!(
            restore(&bytes),
            Some(SessionError::SavedBytes { expected: 104, found: length })
        );
    }
    for bit in 0..8 * saved.len() {
        let mut bytes = saved;
        bytes[bit / 8] ^= 1 << (bit % 8);
        let expected =
            if bit < 64 { SessionError::SavedMagic } else { SessionError::SavedChecksum };
        assert_eq!(restore(&bytes), Some(expected), "bit {bit}");
    }
    // Any content under a matching checksum.
    let mut state = 9;
    for _ in 0..20_000 {
        let mut bytes = saved;
        for _ in 0..=below(&mut state, 4) {
            bytes[8 + below(&mut state, 88) as usize] = below(&mut state, 256) as u8;
        }
        let sum = Sha256::digest(&bytes[..96]);
        bytes[96..].copy_from_slice(&sum[..8]);
        if let Ok(mut session) = Session::restore(mac.clone(), &bytes, budget) {
            let _ = (session.left(), session.reserve(1), session.save(), session.tag(b""));
        }
    }
}

#[test]
fn another_key_is_refused() {
    let saved = session("UMAC-64", &[0; 8], 100).save().expect("a state");
    let other = AnyMac::new(mac("UMAC-64").algorithm(), &[8; 16]).expect("a key");
    for other in [other, mac("UMAC-32"), mac("PMAC-AES128")] {
        let refused = Session::restore(other.clone(), &saved, budget(&other, 100)).err();
        let (expected, found) = (other.key_id(), mac("UMAC-64").key_id());
        assert_eq!(refused, Some(SessionError::ForeignKey { expected, found }));
    }
}

/// If a budget or a MAC refuses, its error is the source; a session's own refusal has no source.
#[test]
fn errors_have_their_sources() {
    use core::error::Error as _;
    let mac = mac("UMAC-64");
    let source = |error: SessionError| error.source().map(ToString::to_string);
    let bound = mac.budget(None, Some(2.0)).expect_err("no probability");
    assert_eq!(source(bound), Some(bound.to_string()));
    let meter = Session::new(mac.clone(), &[], budget(&mac, 1)).expect_err("no nonce");
    assert_eq!(source(meter), Some(meter.to_string()));
    assert_eq!(source(SessionError::ReserveUsedUp), None);
}

#[test]
fn wrong_arguments_are_refused() {
    for (name, length) in [("UMAC-64", 0), ("UMAC-64", 17), ("PMAC-AES128", 1), ("HMAC-SHA256", 8)]
    {
        let mac = mac(name);
        let budget = budget(&mac, 1);
        let refused = Session::new(mac, &vec![0; length], budget).err();
        let wrong = matches!(
            refused,
            Some(SessionError::Meter(MeterError::Mac(Error::NonceLength { .. })))
        );
        assert!(wrong, "{name}: {length}");
    }
    let algorithm = mac("CMAC-AES128").algorithm();
    let refused = mac("CMAC-AES128").budget(None, Some(0.5)).err();
    assert_eq!(refused, Some(SessionError::NoTheorem { algorithm }));
    let light = mac("LIGHTMAC-AES128-S8");
    assert_eq!(light.budget(None, Some(1e-9)).expect("its limit").length, 3840);
    for wrong in [0.0, 1.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(light.budget(None, Some(wrong)), Err(SessionError::Bound(_))));
    }
    assert!(matches!(light.budget(Some(3841), Some(0.5)), Err(SessionError::Bound(_))));
}
