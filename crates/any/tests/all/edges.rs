//! Tests of code that mutation testing found untested: error messages, names, and exact limits.

use std::error::Error as _;
use std::time::{Duration, UNIX_EPOCH};

use tagmac::cipher::Aes128;
use tagmac::hashes::{AesFamilies, Families};
use tagmac::hazmat::{Construction, Hash, Part, PartError};
use tagmac::isa::{Level, Status};
use tagmac::save::{Reader, SaveError, Sealer, Writer};
use tagmac::{
    Bits, Error, LightMac, Mac as _, Mismatch, Nonce as _, NonceSequence, PmacAes128, Tag,
};
use tagmac::{Umac64, UmacNonce};
use tagmac_any::{Algorithm, AnyMac, KeyFile, KeyFileError, Partial, PartialError};

#[test]
fn levels_have_names_and_are_what_they_are() {
    let levels: Vec<Level> = Level::all().collect();
    assert_eq!(levels[0].to_string(), "portable");
    for (place, level) in levels.iter().enumerate() {
        assert_eq!(level.to_string(), level.name());
        assert_eq!(format!("{level:?}"), format!("Level({})", level.name()));
        assert_eq!(Level::status(level.name()), Some(Status::Usable));
        for (other, one) in levels.iter().enumerate() {
            assert_eq!(level == one, place == other);
        }
    }
    assert_eq!(Level::status("none"), None);
    let error = Level::from_name("none").unwrap_err().to_string();
    assert_eq!(error, format!("expected one of {}", Level::NAMES.join(", ")));
}

/// Each call's error message, as a user reads it.
#[test]
fn what_a_mac_refuses_is_said() {
    let key = |name: &str, bytes: usize| {
        AnyMac::new(Algorithm::from_name(name).unwrap(), &vec![7; bytes]).map(|_| ())
    };
    let of = |name: &str| {
        let algorithm = Algorithm::from_name(name).unwrap();
        AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).unwrap()
    };
    let tagged =
        |name: &str, nonce: &[u8], message: Bits<'_>| of(name).tag(nonce, message).map(|_| ());
    let bits = |name: &str, found: usize| {
        let algorithm = Algorithm::from_name(name).unwrap();
        let key = vec![7; algorithm.new_key_bytes()];
        AnyMac::with_options(algorithm, &key, found, Level::best()).map(|_| ())
    };
    let umac = Umac64::new(&[7; 16]);
    let mut last = NonceSequence::resume(&umac, &UmacNonce::from_slice(&[255]).unwrap()).unwrap();
    last.take().unwrap();
    let (long, three_bits) = (vec![0; 3841], Bits::new(&[0xe0], 3).unwrap());
    let cases = [
        (key("PMAC-AES128", 15), "expected a key of 16 bytes, found 15"),
        (key("HMAC-SHA256", 0), "expected a key of 1 to 16384 bytes, found 0"),
        (tagged("PMAC-AES128", b"a", b"".into()), "this MAC does not use a nonce, found 1 bytes"),
        (tagged("POLY1305-AES", b"a", b"".into()), "expected a nonce of 16 bytes, found 1"),
        (tagged("UMAC-64", b"", b"".into()), "expected a nonce of 1 to 16 bytes, found 0"),
        (
            last.skip_to(&UmacNonce::from_slice(&[0]).unwrap()),
            "the nonce may have been used; use the sequence's next one or a larger one",
        ),
        (last.take().map(|_| ()), "all 1-byte nonces are used; use a new key"),
        (Err(Error::NoRandomBytes), "the system's random generator failed"),
        (bits("UMAC-64", 32), "expected a tag length of 64 bits, found 32"),
        (bits("PMAC-AES128", 0), "expected a tag length of 1 to 128 bits, found 0"),
        (
            bits("CMAC-AES128", 33),
            "expected a tag length of 32 to 128 bits in steps of 8, found 33",
        ),
        (Tag::new(&[0; 3], 12).map(|_| ()), "expected a tag of 2 bytes, found 3"),
        (Tag::new(&[0xff], 7).map(|_| ()), "the bits after the end of the tag must be zero"),
        (
            Bits::new(&[0; 2], 3).map(|_| ()),
            "a string of 3 bits does not end in the last of its 2 bytes",
        ),
        (tagged("UMAC-64", &[0; 8], three_bits), "expected a message of whole bytes, found 3 bits"),
        (
            LightMac::<Aes128>::new(&[7; 16], &[8; 16], 65).map(|_| ()),
            "expected a counter length s of 1 to 64 bits, found 65",
        ),
        (
            tagged("LIGHTMAC-AES128-S8", b"", long[..].into()),
            "the message is over this MAC's limit of 30720 bits (3840 bytes)",
        ),
    ];
    for (refused, expected) in cases {
        assert_eq!(refused.expect_err(expected).to_string(), expected);
    }
}

#[test]
fn what_is_wrong_with_a_part_is_said() {
    let cases = [
        (
            PartError::Unaligned { block: 16, found: 7 },
            "expected a multiple of the block of 16 bytes, found 7",
        ),
        (
            PartError::Gap { expected: 7, found: 9 },
            "the next part starts at byte 9, expected byte 7",
        ),
        (
            PartError::NoLastBlock,
            "the last block is missing; leave at least one byte for the finish",
        ),
        (
            PartError::LeafChanged { start: 7, end: 9 },
            "bytes 7 to 9 have changed since they were hashed",
        ),
        (
            PartError::OldBytes { expected: 7, found: 9 },
            "expected 7 old bytes of the leaves, found 9",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error.to_string(), expected);
    }
    let long = Error::TooLong { limit_bits: 7 };
    assert_eq!(PartError::Mac(long).to_string(), long.to_string());
    let partial =
        |error: PartialError| (error.to_string(), error.source().map(ToString::to_string));
    let cases = [
        (PartialError::NotAPartial, "not a partial"),
        (PartialError::Version, "the partial has an unknown version; this program reads version 2"),
        (PartialError::Header, "the partial's header is damaged or cut off"),
        (PartialError::Foreign, "the partial belongs to another algorithm or key"),
        (
            PartialError::ObjectName { max: 7, found: 9 },
            "expected an object's name of at most 7 bytes, found 9",
        ),
        (
            PartialError::TailLength { max: 7, found: 9 },
            "expected a tail of at most 7 bytes, found 9",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(partial(error), (expected.into(), None));
    }
    let seal = SaveError::Seal;
    let expected = "the partial is damaged, or was not sealed under this key";
    assert_eq!(partial(seal.into()), (expected.into(), Some(seal.to_string())));
    let saved = SaveError::Saved { expected: "a part" };
    assert!(saved.to_string().contains("a part"));
    assert_eq!(SaveError::NoSavedState.to_string(), "this MAC's state cannot be saved");
    let line = "not enough memory to open the sealed data";
    assert_eq!(SaveError::NoMemory.to_string(), line);
    assert_eq!(SaveError::ForeignPart.to_string(), PartError::ForeignPart.to_string());
    assert_eq!(PartError::ForeignPart.to_string(), "the part belongs to another MAC or key");
    assert_eq!(partial(saved.into()), (saved.to_string(), Some(saved.to_string())));
}

#[test]
fn a_part_is_of_the_bytes_that_it_was_made_of() {
    let mac = PmacAes128::new(&[7; 16]);
    let part = Part::new(mac.hash(), 16, &[1; 32]).unwrap();
    assert_eq!(part.check(mac.hash(), &[1; 32]), Ok(()));
    let changed = PartError::LeafChanged { start: 16, end: 48 };
    for at in [0, 15, 16, 31] {
        let mut bytes = [1; 32];
        bytes[at] ^= 1;
        assert_eq!(part.check(mac.hash(), &bytes), Err(changed));
    }
    for found in [0, 16, 31, 33, 48] {
        let error = PartError::OldBytes { expected: 32, found };
        assert_eq!(part.check(mac.hash(), &vec![1; found as usize]), Err(error));
    }
}

#[test]
fn partials_keep_to_their_limits() {
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.block().is_some()) {
        let block = algorithm.block().unwrap();
        let mac = AnyMac::new(algorithm, &vec![7; *algorithm.key_bytes().start()]).unwrap();
        let sealer = Sealer::new("a MAC", &[7; 16]);
        let parts = mac.parts().unwrap();
        let part = parts.new_part(4 * block as u64, &vec![3; 3 * block]).unwrap();
        let seal = |tail: usize| Partial::seal(&mac, &sealer, b"o", &part, Some(&vec![3; tail]));
        let found = seal(block + 1).unwrap_err();
        assert_eq!(found, PartialError::TailLength { max: block, found: block + 1 });
        let bytes = seal(block).unwrap();
        let checked = Partial::parse(&bytes).unwrap().check(&mac, &sealer).unwrap();
        let range = checked.end() - checked.start();
        let rest = Sealer::OVERHEAD + 8 + block + checked.header_len();
        assert_eq!(checked.max_len(), rest as u64 + algorithm.max_part_len(range).unwrap());
        // The header's fields for the end flag and for the start and end of the range.
        let at = bytes.windows(16).position(|some| {
            some == [checked.start().to_le_bytes(), checked.end().to_le_bytes()].concat()
        });
        let at = at.expect("the range");
        let mut other = bytes.clone();
        other[at + 16] = 2;
        assert_eq!(Partial::parse(&other).err(), Some(PartialError::Header));
        let mut other = bytes.clone();
        other[at..at + 8].copy_from_slice(&(checked.end() + 1).to_le_bytes());
        assert_eq!(Partial::parse(&other).err(), Some(PartialError::Header));
    }
}

/// A repeated nonce would reveal the key of a seal. Random nonces hide a difference, so try many
/// times.
#[test]
fn the_two_seals_of_a_partial_have_two_nonces() {
    let mac = AnyMac::new(Algorithm::from_name("PMAC-AES128").unwrap(), &[7; 16]).unwrap();
    let (sealer, parts) = (Sealer::new("a MAC", &[7; 16]), mac.parts().unwrap());
    for _ in 0..64 {
        let part = parts.new_part(64, &[3; 48]).unwrap();
        let bytes = Partial::seal(&mac, &sealer, b"o", &part, None).unwrap();
        let rest = Partial::parse(&bytes).unwrap().header_len();
        let header = &bytes[rest - Sealer::OVERHEAD..][..24];
        let differ = header.iter().zip(&bytes[rest..]).map(|(one, other)| one ^ other);
        assert_eq!(differ.map(u8::count_ones).sum::<u32>(), 1);
    }
}

/// Sealed under the right key, but not by `Partial::seal`: the content must match the header.
#[test]
fn a_partial_is_what_its_header_says() {
    let mac = AnyMac::new(Algorithm::from_name("PMAC-AES128").unwrap(), &[7; 16]).unwrap();
    let (sealer, parts) = (Sealer::new("a MAC", &[7; 16]), mac.parts().unwrap());
    let part = |from: usize, to: usize| parts.new_part(from as u64, &vec![3; to - from]).unwrap();
    let opens = |of: Vec<u8>, from: usize, to: usize, tail: &[u8], more: &[u8]| {
        let length = Partial::parse(&of).unwrap().header_len() - Sealer::OVERHEAD;
        let header = &of[..length];
        let mut secret = Writer::with_capacity(100);
        parts.save(&part(from, to), &mut secret).unwrap();
        secret.length_prefixed(tail).bytes(more);
        let sealed = [
            sealer.seal(&[b"partial header 2", header], b"").unwrap(),
            sealer.seal(&[b"partial 2", header], secret.as_bytes()).unwrap(),
        ];
        let bytes = [header, &sealed.concat()].concat();
        let checked = Partial::parse(&bytes).unwrap().check(&mac, &sealer).unwrap();
        checked.open().map(|(part, tail)| (part.start(), part.end(), tail.len()))
    };
    let none = SaveError::Saved { expected: "a part and the tail of its object" };
    let refused = Err(PartialError::Save(none));
    let ends = |tail: usize| {
        Partial::seal(&mac, &sealer, b"o", &part(64, 112), Some(&vec![3; tail])).unwrap()
    };
    assert_eq!(opens(ends(5), 64, 112, &[3; 5], b""), Ok((64, 112, 5)));
    assert_eq!(opens(ends(16), 64, 112, &[3; 16], b""), Ok((64, 112, 16)));
    assert_eq!(opens(ends(5), 80, 112, &[3; 5], b""), refused, "it starts elsewhere");
    assert_eq!(opens(ends(5), 64, 112, &[3; 4], b""), refused, "it ends elsewhere");
    assert_eq!(opens(ends(5), 64, 112, &[3; 5], b"a"), refused, "there is more");
    assert_eq!(opens(ends(5), 64, 96, &[3; 21], b""), refused, "the tail has more than a block");
    let goes_on = || Partial::seal(&mac, &sealer, b"o", &part(64, 112), None).unwrap();
    assert_eq!(opens(goes_on(), 64, 112, b"", b""), Ok((64, 112, 0)));
    assert_eq!(opens(goes_on(), 64, 96, &[3; 16], b""), refused, "the object has no end yet");
}

#[test]
fn a_key_file_has_the_key_and_the_day() {
    let algorithm = Algorithm::default();
    let key: Vec<u8> = (1..=16).collect();
    for (second, date) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"),
        (1_700_000_000, "2023-11-14T22:13:20Z"),
        (4_107_456_000, "2100-02-28T00:00:00Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (13_574_563_200, "2400-02-29T00:00:00Z"),
        (13_574_649_600, "2400-03-01T00:00:00Z"),
    ] {
        let file = KeyFile::new(algorithm, &key, UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        assert_eq!((file.key(), file.created()), (&key[..], date));
        let text = file.to_text();
        let read = KeyFile::parse(text.as_bytes()).unwrap();
        assert_eq!((read.key(), read.created()), (&key[..], date));
        let longer = text.replace(date, &format!("{date}Z"));
        let found = KeyFile::parse(longer.as_bytes()).err();
        assert!(matches!(found, Some(KeyFileError::Line { line: 4, .. })), "{found:?}");
        for cut in 0..text.len() {
            let found = KeyFile::parse(&text.as_bytes()[..cut]).err().unwrap();
            let is_one = !matches!(found, KeyFileError::NotAKeyFile);
            assert_eq!(is_one, cut >= "tagmac-key-".len(), "{cut}: {found:?}");
        }
    }
    let id = algorithm.key_id(&key);
    assert!(format!("{id:?}").contains(&id.to_string()));
}

#[test]
fn a_tag_is_its_bytes() {
    let tag = Tag::new(&[7, 8, 9], 24).unwrap();
    assert_eq!(AsRef::<[u8]>::as_ref(&tag), [7, 8, 9]);
    assert_eq!(tag.as_bytes(), [7, 8, 9]);
}

/// A nonce of the longest length.
fn nonce(algorithm: Algorithm) -> Vec<u8> {
    vec![9; *algorithm.nonce_bytes().end()]
}

#[test]
fn every_mac_verifies_its_tags_and_no_others() {
    for algorithm in Algorithm::all() {
        let mac = AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).unwrap();
        let nonce = nonce(algorithm);
        for message in [&b""[..], b"a", b"abc", &[7; 100]] {
            let tag = mac.tag(&nonce, message).unwrap();
            assert_eq!(mac.verify(&nonce, message, &tag), Ok(()), "{algorithm}");
            let mut bytes = tag.as_bytes().to_vec();
            bytes[0] ^= 0x80;
            let other = Tag::new(&bytes, mac.tag_bits()).unwrap();
            assert_eq!(mac.verify(&nonce, message, &other), Err(Mismatch), "{algorithm}");
        }
        // Short messages in a batch.
        let messages = [&b""[..], b"a", b"", b"ab", b"c", b"", b"d", b"e"];
        let nonces = [&nonce[..]; 8];
        let mut tags = vec![Tag::default(); 8];
        mac.tag_many(&nonces, &messages, &mut tags).unwrap();
        for (message, tag) in messages.iter().zip(&tags) {
            assert_eq!(mac.tag(&nonce, *message).as_ref(), Ok(tag), "{algorithm}");
        }
    }
    let mac = PmacAes128::new(&[7; 16]);
    // A partial byte takes another path.
    for (bits, other) in [(3, 4), (24, 23)] {
        let message = |bits: usize| Bits::new(&b"abc"[..bits.div_ceil(8)], bits).unwrap();
        let tag = mac.tag_with(&(), message(bits)).unwrap();
        assert_eq!(mac.verify_with(&(), message(bits), &tag), Ok(()));
        assert_eq!(mac.verify_with(&(), message(other), &tag), Err(Mismatch));
    }
}

#[test]
fn the_last_block_of_a_message_is_not_in_a_part() {
    let mac = PmacAes128::new(&[7; 16]);
    let part = || Part::new(mac.hash(), 0, &[3; 32]).unwrap();
    assert_eq!(format!("{:?}", part()), "Part(0..32)");
    assert_eq!(part().finish(&mac, &(), b""), Err(PartError::NoLastBlock));
    assert_eq!(part().finish(&mac, &(), b"a").ok(), mac.tag(&[&[3; 32][..], b"a"].concat()).ok());
}

#[test]
fn an_empty_part_is_one() {
    for algorithm in Algorithm::all().filter(|algorithm| algorithm.block().is_some()) {
        let mac = AnyMac::new(algorithm, &vec![7; algorithm.new_key_bytes()]).unwrap();
        let (parts, nonce) = (mac.parts().unwrap(), nonce(algorithm));
        let empty = || parts.new_part(0, &[]).unwrap();
        let tag = mac.tag(&nonce, b"").unwrap();
        assert_eq!(parts.finish(empty(), &nonce, b""), Ok(tag), "{algorithm}");
        let mut saved = Writer::with_capacity(100);
        parts.save(&empty(), &mut saved).unwrap();
        let part = parts.load(&mut Reader::new(saved.as_bytes())).unwrap();
        assert_eq!(parts.finish(part, &nonce, b""), Ok(tag), "{algorithm}");
    }
}

#[test]
fn parts_of_other_blocks_do_not_join() {
    let [one, other] = [16, 32].map(|s| LightMac::<Aes128>::new(&[7; 16], &[8; 16], s).unwrap());
    let part = |mac: &LightMac<Aes128>, start| Part::new(mac.hash(), start, &[]).unwrap();
    let one_hash = one.hash();
    let (a, b) = (part(&one, 0), part(&other, 0));
    assert_eq!(part(&one, 0).join(one_hash, &b).err(), Some(PartError::ForeignPart));
    assert_eq!(part(&other, 0).join(one_hash, &a).err(), Some(PartError::ForeignPart));
    assert!(part(&one, 0).join(one_hash, &a).is_ok());
}

/// Constants that are checked at compile time.
const _: () = {
    assert!(Sealer::OVERHEAD == 40 && KeyFile::MAX_BYTES == 65_536 && Tag::MAX_BYTES == 32);
    assert!(Partial::MAX_OBJECT == 65_535);
    // Magic and version, key's id, range, last, algorithm, object, seal.
    let header = 15 + 1 + 8 + 8 + 8 + 1 + 1 + 255 + 2 + 65_535 + 40;
    assert!(Partial::MAX_HEADER == header);
    // A MAC that does not limit it may have tags of any length.
    assert!(<tagmac_papers::Umac99 as Construction>::MAX_TAG_BITS == 256);
    assert!(<PmacAes128 as Construction>::MAX_TAG_BITS == 128);
    assert!(<LightMac<Aes128> as Construction>::MAX_TAG_BITS == 128);
    assert!(<tagmac::EliMac as Construction>::MAX_TAG_BITS == 128);
    assert!(<tagmac::Umac64 as Construction>::MAX_TAG_BITS == 64);
    // Blocks that do not end on a byte boundary are buffered until eight of them do.
    assert!(size_of::<<LightMac<Aes128> as Hash>::BlockBuffer>() == 256);
    assert!(<AesFamilies<4, 4> as Families>::MU == 2 && <AesFamilies<5, 4> as Families>::MU == 2);
    assert!(<AesFamilies<6, 4> as Families>::MU == 16);
    assert!(<AesFamilies<7, 4> as Families>::MU == 0xffff_ffff);
};

#[test]
fn words_of_what_is_shown() {
    let families = AesFamilies::<7, 4>::new(&[1; 16], Level::best());
    assert_eq!(format!("{families:?}"), "AesFamilies(..)");
    let nonce = UmacNonce::from_slice(b"\x0ab").unwrap();
    assert_eq!(format!("{nonce:?}"), "UmacNonce(0a62)");
    let hash = tagmac::hashes::Uhash32::new(&[7; 16]);
    assert_eq!(format!("{hash:?}"), "UmacHash(..)");
}

#[test]
fn constants_are_what_the_formats_have() {
    let mac = AnyMac::new(Algorithm::default(), &[7; 16]).unwrap();
    let sealer = Sealer::new("a MAC", &[7; 16]);
    let part = mac.parts().unwrap().new_part(0, &[3; 16]).unwrap();
    let bytes = Partial::seal(&mac, &sealer, b"o", &part, None).unwrap();
    let partial = Partial::parse(&bytes).unwrap();
    // The length of an algorithm's name is one byte, that of an object's name two.
    let names = partial.algorithm().len() + partial.object().len();
    assert_eq!(Partial::MAX_HEADER, partial.header_len() - names + 255 + 65_535);
    assert!(!Reader::new(b"a").is_empty() && Reader::new(b"").is_empty());
}
