//! The registry against the MACs that it makes.

use tagmac::any::{Algorithm, AnyMac, UnknownAlgorithm};
use tagmac::isa::Level;
use tagmac::{Error, Tag};

#[test]
fn rows_say_what_the_macs_do() {
    for algorithm in Algorithm::all() {
        let key = vec![9; algorithm.new_key_bytes()];
        for bits in [*algorithm.tag_bits().start(), *algorithm.tag_bits().end()] {
            let mac = AnyMac::with(algorithm, &key, bits, Level::best()).expect("its own key");
            assert_eq!(mac.tag_bits(), bits, "{algorithm}");
            assert_eq!(mac.limit_bits(), algorithm.limit_bits(), "{algorithm}");
            assert_eq!(mac.parts().map(|parts| parts.block()), algorithm.block(), "{algorithm}");
            assert_eq!(mac.parts().is_some(), algorithm.capabilities().parts, "{algorithm}");
            assert_eq!(mac.tag(&[], b"abc").expect("short").bits(), bits, "{algorithm}");
        }
        assert!(algorithm.key_bytes().contains(&key.len()), "{algorithm}");
        for bits in [0, *algorithm.tag_bits().start() - 1, *algorithm.tag_bits().end() + 1] {
            assert!(AnyMac::with(algorithm, &key, bits, Level::best()).is_err(), "{algorithm}");
        }
        for bytes in [0, *algorithm.key_bytes().start() - 1, *algorithm.key_bytes().end() + 1] {
            let refused = AnyMac::new(algorithm, &vec![0; bytes]).map(|_| ());
            let is_length =
                matches!(refused, Err(Error::KeyLength { found, .. }) if found == bytes);
            assert!(is_length, "{algorithm} with {bytes} bytes of key: {refused:?}");
        }
    }
}

#[test]
fn names_are_found_in_any_case() {
    for algorithm in Algorithm::all() {
        assert_eq!(Algorithm::named(&algorithm.name().to_lowercase()), Ok(algorithm));
    }
    assert_eq!(Algorithm::named("lightmac-aes256").map(|a| a.name()), Ok("LIGHTMAC-AES256-S32"));
    for name in ["", "PMAC", "PMAC-AES128-S32", "-S32", "HMAC-MD5"] {
        assert_eq!(Algorithm::named(name), Err(UnknownAlgorithm::Name(name.into())));
    }
    for name in ["LIGHTMAC-AES128-S72", "lightmac-aes128-s4", "LIGHTMAC-AES192-S0"] {
        assert_eq!(Algorithm::named(name), Err(UnknownAlgorithm::CounterBits(name.into())));
    }
}

#[test]
fn parts_of_every_mac_that_has_them() {
    for algorithm in Algorithm::all() {
        let mac = AnyMac::new(algorithm, &vec![3; algorithm.new_key_bytes()]).expect("its own key");
        let Some(parts) = mac.parts() else { continue };
        let message: Vec<u8> = (0..1000u32).map(|i| (i * i) as u8).collect();
        let cut = 20 * parts.block();
        let left = parts.of(0, &message[..cut]).expect("aligned");
        let right = parts.of(cut as u64, &message[cut..2 * cut]).expect("aligned");
        let both = parts.join(left, &right).expect("neighbours");
        assert_eq!((both.start(), both.end()), (0, 2 * cut as u64));
        let tag = parts.finish(both, &[], &message[2 * cut..]);
        assert!(tag == mac.tag(&[], &message), "{algorithm}");
        assert!(parts.of(0, &message[..1]).is_err());
        assert!(mac.tag(&[0], &message) == Err(Error::NonceLength { expected: 0, found: 1 }));
    }
}

#[test]
fn parts_of_another_kind_are_refused() {
    let make =
        |name| AnyMac::new(Algorithm::named(name).expect("known"), &[1; 16]).expect("16 bytes");
    let (pmac, cmac) = (make("PMAC-AES128"), make("CMAC-AES128"));
    assert!(cmac.parts().is_none());
    let elimac = AnyMac::new(Algorithm::named("ELIMAC-AES128").expect("known"), &[1; 32]);
    let elimac = elimac.expect("32 bytes");
    let parts = |mac: &AnyMac| mac.parts().expect("parts").of(0, &[0; 16]).expect("aligned");
    let mixed = pmac.parts().expect("parts").join(parts(&pmac), &parts(&elimac));
    assert_eq!(mixed.map(|_| ()), Err(Error::ForeignPart));
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
