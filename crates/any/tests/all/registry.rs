//! The registry's facts match the MACs that it makes.

use tagmac::batch::BatchError;
use tagmac::hazmat::PartError;
use tagmac::isa::Level;
use tagmac::save::Writer;
use tagmac::{Error, Mismatch, Nonce as _, Tag};
use tagmac_any::bounds::umac::{Prf1999, Umac1999};
use tagmac_any::bounds::{BoundError, NonceKind, Theorem};
use tagmac_any::{Algorithm, AnyMac, AnyNonce, Parts, UnknownAlgorithm};

use crate::common::family;

/// A nonce of the longest length.
fn nonce(algorithm: Algorithm) -> Vec<u8> {
    (1..=*algorithm.nonce_bytes().end() as u8).collect()
}

#[test]
fn rows_say_what_the_macs_do() {
    for algorithm in Algorithm::all() {
        let key = vec![9; algorithm.new_key_bytes()];
        for bits in [*algorithm.tag_bits().start(), algorithm.default_tag_bits()] {
            let mac =
                AnyMac::with_options(algorithm, &key, bits, Level::best()).expect("its own key");
            assert_eq!(mac.tag_bits(), bits, "{algorithm}");
            assert_eq!(mac.max_message_bytes(), algorithm.max_message_bytes(), "{algorithm}");
            assert_eq!(mac.parts().map(|parts| parts.block()), algorithm.block(), "{algorithm}");
            assert_eq!(mac.parts().is_some(), algorithm.capabilities().parts, "{algorithm}");
            assert_eq!(
                mac.tag(&nonce(algorithm), b"abc").expect("short").bits(),
                bits,
                "{algorithm}"
            );
        }
        assert!(algorithm.key_bytes().contains(&key.len()), "{algorithm}");
        for bits in [0, *algorithm.tag_bits().start() - 1, algorithm.default_tag_bits() + 1] {
            assert!(
                AnyMac::with_options(algorithm, &key, bits, Level::best()).is_err(),
                "{algorithm}"
            );
        }
        for bytes in [0, *algorithm.key_bytes().start() - 1, *algorithm.key_bytes().end() + 1] {
            let refused = AnyMac::new(algorithm, &vec![0; bytes]).map(|_| ());
            let is_length =
                matches!(refused, Err(Error::KeyLength { found, .. }) if found == bytes);
            assert!(is_length, "{algorithm} with {bytes} bytes of key: {refused:?}");
        }
    }
}

/// Any split, on any level, as a stream or in parts, has the same tag.
#[test]
fn one_tag_whatever_the_way() {
    let mut state = 1u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % (limit + 1)
    };
    for algorithm in Algorithm::all() {
        let key: Vec<u8> = (0..algorithm.new_key_bytes()).map(|_| below(255) as u8).collect();
        let nonce = nonce(algorithm);
        let make = |level| {
            AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level)
                .expect("its own key")
        };
        let macs: Vec<AnyMac> = Level::all().map(make).collect();
        let block = algorithm.block().unwrap_or(16);
        let longest = algorithm.max_message_bytes().unwrap_or(u64::MAX);
        let longest = longest.min(1300 * block as u64).min(1 << 18) as usize;
        for round in 0..24 {
            // A few blocks, some hundreds, or any length.
            let most = [3 * block, 40 * block, 600 * block, longest][round % 4].min(longest);
            let message: Vec<u8> = (0..below(most)).map(|_| below(255) as u8).collect();
            let expected = macs[0].tag(&nonce, &message).expect("short");
            for mac in &macs {
                let at = format!("{algorithm} on {:?}, {} bytes", mac.level(), message.len());
                assert!(mac.tag(&nonce, &message) == Ok(expected), "{at}");
                let mut stream = mac.stream(&nonce).expect("a nonce");
                let mut rest = &message[..];
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(1 + below(rest.len() - 1));
                    // The original continues with another message.
                    let fork = stream.fork();
                    stream.update(b"elsewhere");
                    stream = fork;
                    stream.update(now);
                    rest = later;
                }
                assert!(stream.fork().verify(&expected).is_ok(), "forked, {at}");
                assert!(stream.tag() == Ok(expected), "streamed, {at}");
                let (begin, end) = message.split_at(below(message.len()));
                let mut stream = mac.stream(&nonce).expect("a nonce");
                stream.update(begin);
                assert!(stream.tag_with_end(end) == Ok(expected), "with an end, {at}");
                assert!(stream.tag_with_end(end) == Ok(expected), "unchanged, {at}");
                let Some(parts) = mac.parts() else { continue };
                // If the last block is distinct, leave at least one byte for the finish.
                let blocks = message.len().saturating_sub(1) / block;
                let (a, b) = (below(blocks), below(blocks));
                let (a, b) = (block * a.min(b), block * a.max(b));
                let part = |from: usize, to: usize| parts.new_part(from as u64, &message[from..to]);
                let (left, right) = (part(0, a).expect("whole"), part(a, b).expect("whole"));
                let (mut both, mut next) = (part(0, a).expect("whole"), part(a, b).expect("whole"));
                let mut saved = [Writer::default(), Writer::default()];
                parts.save(&next, &mut saved[0]).expect("its own");
                parts.save_new(a as u64, &message[a..b], &mut saved[1]).expect("whole");
                assert_eq!(saved[0].as_bytes(), saved[1].as_bytes(), "saved, {at}");
                parts.append(&mut both, &mut next).expect("neighbours");
                assert_eq!((both.end(), next.start(), next.end()), (b as u64, b as u64, b as u64));
                if a > 0 {
                    let gap = parts.append(&mut part(0, a).expect("whole"), &mut both);
                    assert!(gap.is_err(), "a gap, {at}");
                }
                let tag = parts.finish(both, &nonce, &message[b..]);
                assert!(tag == Ok(expected), "appended, {at}");
                let both = parts.join(left, &right).expect("neighbours");
                assert!(parts.finish(both, &nonce, &message[b..]) == Ok(expected), "parts, {at}");
            }
        }
    }
}

#[test]
fn names_are_found_in_any_case() {
    for algorithm in Algorithm::all() {
        assert_eq!(Algorithm::from_name(&algorithm.name().to_lowercase()), Ok(algorithm));
    }
    assert_eq!(
        Algorithm::from_name("lightmac-aes256").map(|a| a.name()),
        Ok("LIGHTMAC-AES256-S32")
    );
    let present = Algorithm::from_name("LightMAC-PRESENT80").map(|a| a.name());
    assert_eq!(present, Ok("LIGHTMAC-PRESENT80-S32"));
    for name in ["", "PMAC", "PMAC-AES128-S32", "-S32", "HMAC-MD5"] {
        assert_eq!(Algorithm::from_name(name), Err(UnknownAlgorithm::Name(name.into())));
    }
    for name in ["LIGHTMAC-AES128-S72", "lightmac-aes128-s4", "LIGHTMAC-PRESENT80-S40"] {
        assert_eq!(Algorithm::from_name(name), Err(UnknownAlgorithm::CounterBits(name.into())));
    }
}

#[test]
fn names_have_the_parts_of_their_rows() {
    for algorithm in Algorithm::all() {
        let (name, stem, counter) = (algorithm.name(), algorithm.stem(), algorithm.counter_bits());
        assert_eq!(algorithm.family(), family(name));
        assert_eq!(name, counter.map_or(stem.into(), |bits| format!("{stem}-S{bits}")));
        if let Some(cipher) = algorithm.cipher() {
            assert_eq!(stem, format!("{}-{cipher}", algorithm.family()));
            assert_eq!(
                algorithm.cipher_key_bits().to_string(),
                match cipher {
                    "RC6" => "128",
                    cipher => cipher.trim_start_matches(char::is_alphabetic),
                }
            );
        }
    }
    // If the name contains a cipher, `cipher` returns it.
    let ciphers: Vec<&str> = Algorithm::all().filter_map(Algorithm::cipher).collect();
    for algorithm in Algorithm::all().filter(|one| one.cipher().is_none()) {
        let has_one = algorithm.name().split('-').any(|part| ciphers.contains(&part));
        assert!(!has_one, "{algorithm}: expected its cipher in its row, found none");
    }
}

#[test]
fn names_are_read_and_shown() {
    for algorithm in Algorithm::all() {
        let name = algorithm.name();
        assert_eq!(name.parse(), Ok(algorithm));
        assert_eq!(
            (algorithm.to_string(), format!("{algorithm:?}")),
            (name.into(), format!("Algorithm({name})"))
        );
    }
    let refused = |name: &str| name.parse::<Algorithm>().expect_err("no such name").to_string();
    assert_eq!(refused("HMAC-MD5"), "unknown algorithm 'HMAC-MD5'");
    assert_eq!(
        refused("LIGHTMAC-AES128-S4"),
        "unknown algorithm 'LIGHTMAC-AES128-S4': LightMAC's counter length is S8 to S64 in steps \
         of 8, with PRESENT up to S32"
    );
}

#[test]
fn nonces_of_any_mac_are_their_bytes() {
    let long = [0x5a; 17];
    for length in 0..=16 {
        let nonce = AnyNonce::from_slice(&long[..length]).expect("0 to 16 bytes");
        assert_eq!((nonce.as_bytes(), nonce.as_ref()), (&long[..length], &long[..length]));
        assert_eq!(format!("{nonce:?}"), format!("AnyNonce({})", "5a".repeat(length)));
    }
    let wrong = |found| Err(Error::NonceLength { min: 0, max: 16, found });
    assert_eq!(AnyNonce::from_slice(&long), wrong(17));
    // MACs with nonces of one length.
    let wrong = Err(Error::NonceLength { min: 8, max: 8, found: 9 });
    assert_eq!(<[u8; 8]>::from_number(1, 9), wrong);
    assert_eq!(<[u8; 8]>::from_block([0; 16], 9), wrong);
}

/// All calls refuse the same messages, and the error names the message.
#[test]
fn refusals_are_the_same_in_every_call() {
    for algorithm in Algorithm::all() {
        let mac = AnyMac::new(algorithm, &vec![3; algorithm.new_key_bytes()]).expect("its own key");
        let (good, (min, max)) = (nonce(algorithm), algorithm.nonce_bytes().into_inner());
        let (bad, error) = ([0; 17], Error::NonceLength { min, max, found: 17 });
        let messages = [&b"one"[..], b"two", b"three"];
        let tag = |i: usize| mac.tag(&good, messages[i]).expect("short");
        let (mut tags, mut verdicts) = ([tag(0), tag(1), tag(2)], [Err(Mismatch); 3]);
        let mixed: [&[u8]; 3] = [&good, &bad, &good];
        let verified = mac.verify_many(&mixed, &messages, &tags, &mut verdicts);
        assert_eq!(verified, Err(Mismatch), "{algorithm}");
        assert_eq!(verdicts, [Ok(()), Err(Mismatch), Ok(())], "{algorithm}");
        let refused = mac.tag_many(&mixed, &messages, &mut tags);
        assert_eq!(refused, Err(BatchError { index: 1, error }), "{algorithm}");
        assert!(mac.stream(&bad).map(|_| ()) == Err(error), "{algorithm}");
        let Some(parts) = mac.parts() else { continue };
        let (block, key) = (parts.block(), vec![4; algorithm.new_key_bytes()]);
        let blocks = vec![5; 2 * block];
        let part = || parts.new_part(0, &blocks).expect("aligned");
        assert_eq!(format!("{:?}", part()), format!("AnyPart(0..{})", 2 * block));
        let other = AnyMac::new(algorithm, &key).expect("its own key");
        let others = other.parts().expect("as the first");
        let mut own = part();
        assert_eq!(others.extend(&mut own, &blocks), Err(PartError::ForeignPart), "{algorithm}");
        assert_eq!(others.check(&own, &blocks), Err(PartError::ForeignPart), "{algorithm}");
        let unaligned = PartError::Unaligned { block, found: 1 };
        assert_eq!(parts.extend(&mut own, b"a"), Err(unaligned), "{algorithm}");
        assert_eq!(parts.check(&own, &blocks), Ok(()), "{algorithm}: it is as it was");
        let gap = PartError::Gap { expected: 2 * block as u64, found: 0 };
        assert_eq!(parts.join(own, &part()).map(|_| ()), Err(gap), "{algorithm}");
    }
}

#[test]
fn parts_of_every_mac_that_has_them() {
    for algorithm in Algorithm::all() {
        let mac = AnyMac::new(algorithm, &vec![3; algorithm.new_key_bytes()]).expect("its own key");
        let Some(parts) = mac.parts() else { continue };
        let (cut, nonce) = (20 * parts.block(), nonce(algorithm));
        let message: Vec<u8> = (0..2 * cut as u32 + 25).map(|i| i.wrapping_mul(i) as u8).collect();
        let left = parts.new_part(0, &message[..cut]).expect("aligned");
        let right = parts.new_part(cut as u64, &message[cut..2 * cut]).expect("aligned");
        let both = parts.join(left, &right).expect("neighbours");
        assert_eq!((both.start(), both.end()), (0, 2 * cut as u64));
        let tag = parts.finish(both, &nonce, &message[2 * cut..]);
        assert!(tag == mac.tag(&nonce, &message).map_err(PartError::from), "{algorithm}");
        assert!(parts.new_part(0, &message[..1]).is_err());
    }
}

#[test]
fn nonces_of_other_lengths_are_refused_and_other_nonces_mismatch() {
    for algorithm in Algorithm::all() {
        let mac = AnyMac::new(algorithm, &vec![3; algorithm.new_key_bytes()]).expect("its own key");
        let (min, max) = algorithm.nonce_bytes().into_inner();
        for found in (0..40).filter(|found| !(min..=max).contains(found)) {
            let (nonce, wrong) = (vec![0; found], Error::NonceLength { min, max, found });
            let at = format!("{algorithm}, a nonce of {found} bytes");
            assert_eq!(algorithm.check_nonce(found), Err(wrong), "{at}");
            assert!(mac.tag(&nonce, b"abc") == Err(wrong), "{at}");
            assert!(mac.stream(&nonce).map(|_| ()) == Err(wrong), "{at}");
            if let Some(parts) = mac.parts() {
                let part = parts.new_part(0, &[]).expect("aligned");
                assert!(parts.finish(part, &nonce, b"abc") == Err(wrong.into()), "{at}");
            }
        }
        for length in min.max(1)..=max {
            let nonce = vec![0x55; length];
            let tag = mac.tag(&nonce, b"abc").expect("its own length");
            assert!(mac.verify(&nonce, b"abc", &tag).is_ok(), "{algorithm}, {length} bytes");
            for bit in 0..8 * length {
                let mut other = nonce.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                let at = format!("{algorithm}, bit {bit} of a nonce of {length} bytes");
                assert!(mac.verify(&other, b"abc", &tag).is_err(), "{at}");
                assert!(mac.tag(&other, b"abc") != Ok(tag), "{at}");
            }
        }
        let random = algorithm.random_nonce().expect("random bytes");
        assert_eq!(random.len(), max, "{algorithm}");
        assert!(max == 0 || algorithm.random_nonce() != Ok(random), "{algorithm}");
    }
    assert!(Algorithm::all().any(Algorithm::takes_nonce));
}

#[test]
fn parts_of_another_kind_are_refused() {
    let make =
        |name| AnyMac::new(Algorithm::from_name(name).expect("known"), &[1; 16]).expect("16 bytes");
    let (pmac, cmac) = (make("PMAC-AES128"), make("CMAC-AES128"));
    assert!(cmac.parts().is_none());
    let elimac = AnyMac::new(Algorithm::from_name("ELIMAC-AES128").expect("known"), &[1; 32]);
    let elimac = elimac.expect("32 bytes");
    let parts = |mac: &AnyMac| mac.parts().expect("parts").new_part(0, &[0; 16]).expect("aligned");
    let mixed = pmac.parts().expect("parts").join(parts(&pmac), &parts(&elimac));
    assert_eq!(mixed.map(|_| ()), Err(PartError::ForeignPart));
}

#[test]
fn parts_of_another_key_or_counter_length_are_refused() {
    let make = |name: &str, byte| {
        let algorithm = Algorithm::from_name(name).expect("known");
        AnyMac::new(algorithm, &vec![byte; algorithm.new_key_bytes()]).expect("its own key")
    };
    let pairs = [
        (make("LIGHTMAC-AES128-S32", 1), make("LIGHTMAC-AES128-S24", 1)),
        (make("LIGHTMAC-AES128-S8", 1), make("LIGHTMAC-AES128-S64", 1)),
        (make("LIGHTMAC-AES128-S32", 1), make("LIGHTMAC-AES256-S32", 1)),
        (make("LIGHTMAC-AES256-S32", 1), make("LIGHTMAC-AES256-S32", 2)),
        (make("PMAC-AES128", 1), make("PMAC-AES128", 2)),
        (make("PMAC-AES128", 1), make("PMAC-AES256", 1)),
        (make("ELIMAC-AES128", 1), make("ELIMAC-AES128", 2)),
        (make("POLY1305-AES", 1), make("POLY1305-AES", 2)),
        (make("POLY1305-AES", 1), make("ELIMAC-AES128", 1)),
        (make("UMAC-64", 1), make("UMAC-64", 2)),
        (make("UMAC-64", 1), make("UMAC-32", 1)),
        (make("UMAC-96", 1), make("UMAC-128", 1)),
        (make("UMAC99-STD-30", 1), make("UMAC99-STD-30", 2)),
        (make("UMAC99-STD-60", 1), make("UMAC99-MMX-60", 1)),
    ];
    for (one, other) in pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
        let at = format!("a part of {} for {}", other.algorithm(), one.algorithm());
        let (parts, others) = (one.parts().expect("parts"), other.parts().expect("parts"));
        // A multiple of either block, so that the only error is the foreign part.
        let bytes = parts.block() * others.block();
        let message = vec![7; bytes];
        let left = |parts: Parts<'_>| parts.new_part(0, &message).expect("aligned");
        let right = |parts: Parts<'_>| parts.new_part(bytes as u64, &message).expect("aligned");
        let joined = parts.join(left(parts), &right(others)).map(|_| ());
        assert_eq!(joined, Err(PartError::ForeignPart), "{at}, on the right");
        let joined = parts.join(left(others), &right(parts)).map(|_| ());
        assert_eq!(joined, Err(PartError::ForeignPart), "{at}, on the left");
        let joined = parts.join(left(others), &right(others)).map(|_| ());
        assert_eq!(joined, Err(PartError::ForeignPart), "{at}, on both sides");
        let nonce = nonce(one.algorithm());
        let finished = parts.finish(left(others), &nonce, b"end").map(|_| ());
        assert_eq!(finished, Err(PartError::ForeignPart), "{at}, at the end");
        // A clone is the same MAC.
        let (clone, whole) = (one.clone(), [&message[..], &message, b"end"].concat());
        let clones = clone.parts().expect("parts");
        let joined = parts.join(left(clones), &right(parts)).expect("neighbours");
        let tag = clones.finish(joined, &nonce, b"end");
        let expected = one.tag(&nonce, &whole).map_err(PartError::from);
        assert!(tag == expected, "{}", one.algorithm());
    }
}

#[test]
fn tags_compare_by_all_their_bits() {
    let tag = Tag::new(&[0xab, 0xc0], 12).expect("12 bits");
    assert_eq!(tag.to_string(), "abc0");
    assert_eq!(format!("{tag:?}"), "Tag(12 bits)");
    assert!(tag != Tag::new(&[0xab, 0xc0], 16).expect("16 bits"));
    assert!(tag != Tag::new(&[0xab, 0xd0], 12).expect("12 bits"));
    for (bytes, bits) in [(&[0xff][..], 7), (&[][..], 0), (&[0; 33][..], 264), (&[0; 2][..], 8)] {
        assert!(Tag::new(bytes, bits).is_err(), "{bits} bits in {} bytes", bytes.len());
    }
}

#[test]
fn a_wrong_tag_of_the_empty_message_is_refused() {
    for algorithm in Algorithm::all() {
        let key = vec![9; algorithm.new_key_bytes()];
        let mac = AnyMac::new(algorithm, &key).expect("its own key");
        let nonce = nonce(algorithm);
        let tag = mac.tag(&nonce, b"").expect("short");
        assert!(mac.verify(&nonce, b"", &tag).is_ok(), "{algorithm}");
        for byte in 0..tag.as_bytes().len() {
            let mut wrong = tag.as_bytes().to_vec();
            wrong[byte] ^= 0x80;
            let wrong = Tag::new(&wrong, tag.bits()).expect("as many bits");
            assert!(mac.verify(&nonce, b"", &wrong).is_err(), "{algorithm}: byte {byte}");
        }
    }
}

/// A MAC that fails its self-test on a level runs on a lower one, and all tags stay right.
#[test]
fn every_mac_runs_on_the_level_that_it_is_given() {
    for algorithm in Algorithm::all() {
        let (key, bits) = (vec![7; algorithm.new_key_bytes()], algorithm.default_tag_bits());
        for level in Level::all() {
            let mac = AnyMac::with_options(algorithm, &key, bits, level).expect("its own key");
            let on = mac.level();
            assert!(on.is_none_or(|on| on == level), "{algorithm} on {level}: runs on {on:?}");
        }
    }
}

#[test]
fn all_macs_of_the_papers_have_a_theorem() {
    for algorithm in Algorithm::all() {
        let name = algorithm.name();
        let papers = ["PMAC", "LIGHTMAC", "ELIMAC", "POLY1305", "UMAC", "UMAC99"];
        let Some(theorem) = algorithm.theorem() else {
            let bounded = papers.contains(&algorithm.family());
            assert!(!bounded, "{name}: expected a theorem in its row, found none");
            continue;
        };
        // The limit is that of the MAC, in whole bytes.
        let limit = algorithm.max_message_bytes();
        assert_eq!(limit, algorithm.max_message_bits().map(|bits| bits / 8), "{name}");
        match theorem {
            Theorem::LightMac { s: 64, .. } => assert_eq!(limit, None),
            _ => assert_eq!(theorem.limit(), limit.unwrap_or(u64::MAX), "{name}"),
        }
        let tag_bits = algorithm.default_tag_bits() as u32;
        assert_eq!(theorem.with_tag_bits(tag_bits), Ok(theorem), "{name}");
        let short = theorem.with_tag_bits(tag_bits - 1).is_ok();
        assert_eq!(short, algorithm.tag_bits().count() > 1, "{name}");
        for found in [0, 257] {
            let error = theorem.with_tag_bits(found).unwrap_err();
            assert!(matches!(error, BoundError::TagBits { .. }), "{name}");
        }
        let words = match name {
            "PMAC-AES256" => Some(Theorem::Pmac { n: 128, t: 128 }),
            "PMAC-PRESENT80" => Some(Theorem::Pmac { n: 64, t: 64 }),
            "PMAC-RC6" => Some(Theorem::Pmac { n: 128, t: 128 }),
            "LIGHTMAC-AES128-S24" => Some(Theorem::LightMac { n: 128, s: 24, t: 128 }),
            "LIGHTMAC-PRESENT128-S8" => Some(Theorem::LightMac { n: 64, s: 8, t: 64 }),
            "UMAC-96" => Some(Theorem::Umac { t: 96, nonces: NonceKind::Random { bits: 128 } }),
            _ => None,
        };
        assert!(words.is_none_or(|words| words == theorem), "{name}");
    }
}

#[test]
fn the_sets_of_1999_have_the_bits_of_their_shapes() {
    use tagmac_papers::{Umac99Prf, Umac99Set as Set};
    let sets = [
        ("UMAC99-STD-30", Set::Std30),
        ("UMAC99-STD-60", Set::Std60),
        ("UMAC99-MMX-15", Set::Mmx15),
        ("UMAC99-MMX-30", Set::Mmx30),
        ("UMAC99-MMX-60", Set::Mmx60),
    ];
    for (name, set) in sets {
        let t = 8 * set.prf().output_bytes() as u32;
        let b = set.shape().collision_bits() as u32;
        let theorem = Algorithm::from_name(name).unwrap().theorem();
        let prf = match set.prf() {
            Umac99Prf::HmacSha1 => Prf1999::Named,
            _ => Prf1999::Cbc3 {
                n: 128,
                block_bytes: set.shape().block_bytes() as u32,
                hash_bytes: set.shape().hash_bytes() as u32,
            },
        };
        let nonces = NonceKind::Random { bits: 64 };
        let expected = Theorem::Umac1999(Umac1999 { b, t, prf, nonces });
        assert_eq!(theorem, Some(expected), "{name}");
    }
}
