//! HMAC-SHA256 of the registry compared with its definition (RFC 2104), with keys of all lengths.

use sha2::{Digest, Sha256};
use tagmac::Error;
use tagmac_any::{Algorithm, AnyMac};

fn hmac() -> Algorithm {
    Algorithm::from_name("HMAC-SHA256").expect("known")
}

fn mac(key: &[u8]) -> AnyMac {
    AnyMac::new(hmac(), key).expect("a key that HMAC takes")
}

/// H(K ^ opad || H(K ^ ipad || M)), where K is padded with zeros, and hashed first if longer than
/// 64 bytes.
fn by_definition(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = if key.len() > 64 { Sha256::digest(key).to_vec() } else { key.to_vec() };
    block.resize(64, 0);
    let pad = |byte: u8| block.iter().map(|k| k ^ byte).collect::<Vec<u8>>();
    let inner = Sha256::digest([&pad(0x36)[..], message].concat());
    Sha256::digest([&pad(0x5c)[..], &inner].concat()).to_vec()
}

#[test]
fn keys_of_every_length() {
    let longest = *hmac().key_bytes().end();
    let key: Vec<u8> = (0..longest as u32).map(|i| ((i * i) >> 3) as u8 | 1).collect();
    for length in (1..=200).chain([1000, longest - 1, longest]) {
        let key = &key[..length];
        for message in [&b""[..], b"abc", &[0xa5; 200]] {
            let expected = by_definition(key, message);
            let tag = mac(key).tag(&[], message).expect("short");
            assert!(tag.as_bytes() == expected, "a key of {length} bytes");
            let mut stream = mac(key).stream(&[]).expect("no nonce");
            message.chunks(7).for_each(|piece| stream.update(piece));
            assert!(stream.verify(&tag).is_ok(), "streamed, a key of {length} bytes");
        }
    }
    for found in [0, longest + 1] {
        let refused = AnyMac::new(hmac(), &vec![1; found]).map(|_| ());
        assert_eq!(refused, Err(Error::KeyLength { min: 1, max: longest, found }));
    }
}

/// As `docs/formats/key-file.md` says, different keys may make the same tags, and their ids differ.
#[test]
fn keys_that_hmac_takes_for_one() {
    let long = [0xaa; 131];
    let hashed = Sha256::digest(long);
    let padded = [b"Jefe", &[0; 60][..]].concat();
    for (one, other) in [(&long[..], &hashed[..]), (b"Jefe", &padded), (b"Jefe", &padded[..5])] {
        let (one, other) = (mac(one), mac(other));
        assert!(one.tag(&[], b"abc") == other.tag(&[], b"abc"));
        assert_ne!(one.key_id(), other.key_id());
    }
    let cut = mac(&padded[..3]);
    assert!(cut.tag(&[], b"abc") != mac(b"Jefe").tag(&[], b"abc"));
}
