//! Counted nonces, random nonces, and UMAC-128's graded verification.

use tagmac::isa::Level;
use tagmac::{Assurance, Bits, Error, Mac, Nonce, NonceSequence, Poly1305Aes, Tag, random_nonce};
use tagmac::{Umac32, Umac64, Umac96, Umac128, UmacNonce};

const KEY: [u8; 16] = [0x4b; 16];

/// The big-endian nonce of a number.
fn nonce<M: Mac>(number: u128, bytes: usize) -> M::Nonce {
    Nonce::from_slice(&number.to_be_bytes()[16 - bytes..]).expect("a length that there is")
}

/// Asserts that a sequence's tags depend only on their own nonces, not on earlier ones.
fn counts<M: Mac>(mac: &M, bytes: usize) {
    let tagged = |number: u128, message: &[u8]| mac.tag_with(&nonce::<M>(number, bytes), message);
    let mut sequence = NonceSequence::new(mac, bytes).expect("a length that there is");
    let mut expected = 0;
    for jump in [0, 0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 0, 1] {
        expected += jump;
        sequence.skip_to(&nonce::<M>(expected, bytes)).expect("not before the next");
        for _ in 0..9 {
            let message = expected.to_le_bytes();
            let next = sequence.peek().expect("there are more");
            let (used, tag) = sequence.tag(&message).expect("short");
            assert_eq!(used.as_bytes(), nonce::<M>(expected, bytes).as_bytes());
            assert_eq!(used.as_bytes(), next.as_bytes());
            assert!(tagged(expected, &message) == Ok(tag), "number {expected} of {bytes} bytes");
            expected += 1;
        }
        // A nonce that was taken is used up.
        let taken = sequence.take().expect("there are more");
        assert_eq!(taken.as_bytes(), nonce::<M>(expected, bytes).as_bytes());
        expected += 1;
    }
    assert_eq!(sequence.skip_to(&nonce::<M>(0, bytes)), Err(Error::NonceReused));
    let before = nonce::<M>(expected - 1, bytes);
    assert_eq!(sequence.skip_to(&before), Err(Error::NonceReused));
    let saved = sequence.peek().expect("there are more");
    let mut resumed = NonceSequence::resume(mac, &saved).expect("its own nonce");
    assert!(resumed.tag(b"on").expect("short").1 == tagged(expected, b"on").expect("short"));

    // Carries into higher bytes, and the last nonce.
    let last = u128::MAX >> (128 - 8 * bytes);
    for first in [last - 2, last / 2 - 1, last / 256 * 128 + 126] {
        let first = first.max(expected);
        let mut sequence = NonceSequence::resume(mac, &nonce::<M>(first, bytes)).expect("its own");
        for number in (first..=last).take(5) {
            let (used, tag) = sequence.tag(b"end").expect("short");
            assert_eq!(used.as_bytes(), nonce::<M>(number, bytes).as_bytes());
            assert!(tagged(number, b"end") == Ok(tag), "number {number} of {bytes} bytes");
        }
        if last - first < 5 {
            let none = Error::NoncesUsedUp { bytes };
            assert!(sequence.tag(b"none").map(|_| ()) == Err(none));
            assert!(sequence.peek().map(|_| ()) == Err(none));
            assert!(sequence.take().map(|_| ()) == Err(none));
            let skipped = sequence.skip_to(&nonce::<M>(last, bytes));
            assert_eq!(skipped, Err(Error::NonceReused));
        }
    }
}

#[test]
fn a_sequence_counts_and_its_tags_are_those_of_its_nonces() {
    for level in Level::all() {
        for bytes in [2, 3, 7, 8, 12, 15, 16] {
            counts(&Umac32::with_level(&KEY, level), bytes);
            counts(&Umac64::with_level(&KEY, level), bytes);
            counts(&Umac96::with_level(&KEY, level), bytes);
            counts(&Umac128::with_level(&KEY, level), bytes);
        }
        counts(&Poly1305Aes::with_level(&[0x4b; 32], level), 16);
    }
}

#[test]
fn one_byte_is_256_nonces() {
    fn all<M: Mac>(mac: &M) {
        let mut sequence = NonceSequence::new(mac, 1).expect("one byte");
        for number in 0..=255 {
            let (used, tag) = sequence.tag(b"message").expect("one of 256");
            assert_eq!(used.as_bytes(), [number]);
            assert!(mac.tag_with(&used, b"message") == Ok(tag), "nonce {number}");
        }
        let none = Error::NoncesUsedUp { bytes: 1 };
        assert!(sequence.tag(b"message").map(|_| ()) == Err(none));
        assert!(sequence.tag(b"message").map(|_| ()) == Err(none), "and it stays so");
    }
    all(&Umac32::new(&KEY));
    all(&Umac64::new(&KEY));
    all(&Umac96::new(&KEY));
    all(&Umac128::new(&KEY));
}

/// A refused message may have been seen, so its nonce is used up.
#[test]
fn a_refused_message_uses_up_its_nonce() {
    let umac = Umac64::new(&KEY);
    let mut sequence = NonceSequence::new(&umac, 8).expect("8 bytes");
    let bits = Bits::new(&[0x80], 1).expect("one bit");
    let refused = sequence.tag(bits).map(|_| ());
    assert_eq!(refused, Err(Error::PartialByte { found: 1 }));
    assert_eq!(sequence.peek(), Ok(UmacNonce::from(1)));
    assert_eq!(format!("{sequence:?}"), "NonceSequence(..)");
}

#[test]
fn lengths_that_there_are_not() {
    let (umac, poly) = (Umac64::new(&KEY), Poly1305Aes::new(&[1; 32]));
    for found in [0, 17, 18, 1000] {
        let wrong = Error::NonceLength { min: 1, max: 16, found };
        assert_eq!(NonceSequence::new(&umac, found).map(|_| ()), Err(wrong));
        assert_eq!(UmacNonce::from_slice(&vec![0; found]), Err(wrong));
    }
    for found in [0, 1, 8, 15, 17] {
        let wrong = Error::NonceLength { min: 16, max: 16, found };
        assert_eq!(NonceSequence::new(&poly, found).map(|_| ()), Err(wrong));
        assert_eq!(<[u8; 16]>::from_slice(&vec![0; found]), Err(wrong));
    }
    let mut sequence = NonceSequence::new(&umac, 8).expect("8 bytes");
    for found in [1, 7, 9, 16] {
        let other = UmacNonce::from_slice(&vec![0xff; found]).expect("1 to 16 bytes");
        let wrong = Error::NonceLength { min: 8, max: 8, found };
        assert_eq!(sequence.skip_to(&other), Err(wrong));
    }
    assert_eq!(sequence.peek(), Ok(UmacNonce::from(0)), "and nothing has moved");
}

#[test]
fn numbers_are_big_endian_nonces() {
    for number in [0, 1, 255, 256, 0x0123_4567_89ab_cdef, u64::MAX] {
        let nonce = UmacNonce::from_slice(&number.to_be_bytes());
        assert_eq!(nonce, Ok(UmacNonce::from(number)));
        assert_eq!(UmacNonce::from(number).as_bytes(), number.to_be_bytes());
    }
    let long = [0x2a; 16];
    assert_eq!(UmacNonce::from_slice(&long), Ok(UmacNonce::from(long)));
}

#[test]
fn random_nonces_differ() {
    let (umac, poly) = (Umac32::new(&KEY), Poly1305Aes::new(&[1; 32]));
    let mut umacs: Vec<_> = (0..64).map(|_| random_nonce(&umac).expect("random bytes")).collect();
    let mut polys: Vec<_> = (0..64).map(|_| random_nonce(&poly).expect("random bytes")).collect();
    assert!(umacs.iter().all(|nonce| nonce.as_bytes().len() == 16));
    umacs.sort_by_key(|nonce| <[u8; 16]>::try_from(nonce.as_bytes()).expect("16 bytes"));
    umacs.dedup();
    polys.sort();
    polys.dedup();
    assert_eq!((umacs.len(), polys.len()), (64, 64));
}

#[test]
fn a_grade_checks_its_words_and_no_others() {
    let grades = [Assurance::Bits30, Assurance::Bits60, Assurance::Bits90, Assurance::Bits120];
    let nonces = [UmacNonce::from(5), UmacNonce::from(6), UmacNonce::from([0xff; 16])];
    let lengths = [0, 1, 31, 32, 33, 1023, 1024, 1025, 2048, 2049, 5000, (1 << 24) + 2049];
    for level in Level::all() {
        let mac = Umac128::with_level(&KEY, level);
        for (i, length) in lengths.into_iter().enumerate() {
            let message: Vec<u8> =
                (0..length as u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
            let nonce = &nonces[i % nonces.len()];
            let tag = mac.tag_with(nonce, &message).expect("no limit");
            let bits = if length < 1 << 24 { 1 } else { 31 };
            for (words, grade) in (1..).zip(grades) {
                let at = |bit| format!("{grade:?} on {level}, {length} bytes, bit {bit}");
                let check = |tag: &Tag| mac.verify_prefix(nonce, &message, tag, grade);
                assert!(check(&tag).is_ok(), "{}", at(128));
                for bit in (0..128).step_by(bits) {
                    let mut bytes: [u8; 16] = tag.as_bytes().try_into().expect("16 bytes");
                    bytes[bit / 8] ^= 0x80 >> (bit % 8);
                    let flipped = Tag::try_from(&bytes[..]).expect("16 bytes");
                    assert_eq!(check(&flipped).is_ok(), bit >= 32 * words, "{}", at(bit));
                }
            }
        }
        let tag = mac.tag_with(&nonces[0], b"message").expect("no limit");
        for grade in grades {
            for bytes in [4, 8, 12, 15] {
                let short = Tag::try_from(&tag.as_bytes()[..bytes]).expect("some bytes");
                let checked = mac.verify_prefix(&nonces[0], b"message", &short, grade);
                assert!(checked.is_err(), "{grade:?} took {bytes} bytes");
            }
            let long = [tag.as_bytes(), &[0]].concat();
            let long = Tag::try_from(&long[..]).expect("17 bytes");
            assert!(mac.verify_prefix(&nonces[0], b"message", &long, grade).is_err());
            assert!(mac.verify_prefix(&nonces[1], b"message", &tag, grade).is_err());
            assert!(mac.verify_prefix(&nonces[0], b"massage", &tag, grade).is_err());
        }
    }
}
