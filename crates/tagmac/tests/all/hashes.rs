//! Compares the hashes inside the MACs with the MACs.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use tagmac::hashes::{HashValue, Poly1305Hash, Uhash32, Uhash64, Uhash96, Uhash128, Universal};
use tagmac::hazmat::Construction;
use tagmac::isa::Level;
use tagmac::{Bits, EliMac, Error, LightMacAes128, Mac, PmacAes128, Poly1305};
use tagmac::{Umac32, Umac64, Umac96, Umac128, UmacNonce};

const K1: [u8; 16] = *b"sixteen key byte";
const K2: [u8; 16] = *b"sixteen others!!";

fn messages() -> impl Iterator<Item = Vec<u8>> {
    let byte = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8;
    [0, 1, 15, 16, 17, 64, 100, 1024, 1025, 5000]
        .into_iter()
        .map(move |n| (0..n).map(byte).collect())
}

/// AES of another library.
fn aes(key: &[u8; 16], block: &HashValue) -> Vec<u8> {
    let mut block = aes::Block::try_from(block.as_bytes()).expect("16 bytes");
    aes::Aes128::new(key.into()).encrypt_block(&mut block);
    block.to_vec()
}

#[test]
fn the_xor_macs_encrypt_their_hash() {
    for level in Level::all() {
        let pmac = PmacAes128::with_level(&K1, level);
        let light = LightMacAes128::with_level(&K1, &K2, 32, level).expect("s = 32");
        let odd = LightMacAes128::with_level(&K1, &K2, 13, level).expect("s = 13");
        let eli = EliMac::with_level(&K1, &K2, level);
        for message in messages() {
            let tag = |mac: Result<tagmac::Tag, Error>| mac.expect("short").as_bytes().to_vec();
            let hash = |hash: Result<HashValue, Error>| hash.expect("short");
            assert_eq!(aes(&K1, &hash(pmac.value(&message))), tag(pmac.tag(&message)));
            assert_eq!(aes(&K2, &hash(light.value(&message))), tag(light.tag(&message)));
            assert_eq!(aes(&K2, &hash(odd.value(&message))), tag(odd.tag(&message)));
            assert_eq!(aes(&K2, &hash(eli.hash().value(&message))), tag(eli.tag(&message)));
        }
    }
}

#[test]
fn poly1305_adds_a_pad_to_its_hash() {
    for level in Level::all() {
        let hash = Poly1305Hash::with_level(&K1, level);
        let mac = Poly1305::with_level(&[K1, K2].concat().try_into().expect("32 bytes"), level);
        for message in messages() {
            let value = hash.value(&message).expect("bytes");
            let number = u128::from_le_bytes(value.as_bytes().try_into().expect("16 bytes"));
            let sum = number.wrapping_add(u128::from_le_bytes(K2)).to_le_bytes();
            assert_eq!(mac.tag(&message).expect("bytes").as_bytes(), sum);
        }
    }
}

#[test]
fn umac_xors_a_pad_to_its_hash() {
    fn check<M: Mac<Nonce = UmacNonce>>(mac: &M, hash: &impl Universal) {
        let xor = |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).map(|(a, b)| a ^ b).collect() };
        let nonce = UmacNonce::from(3);
        // The pad is the same for all messages.
        let pad = |message: &[u8]| {
            let tag = mac.tag_with(&nonce, message).expect("bytes");
            let hash = hash.value(message).expect("bytes");
            xor(tag.as_bytes(), hash.as_bytes())
        };
        let first = pad(b"");
        assert!(messages().all(|message| pad(&message) == first));
    }
    for level in Level::all() {
        check(&Umac32::with_level(&K1, level), &Uhash32::with_level(&K1, level));
        check(&Umac64::with_level(&K1, level), &Uhash64::with_level(&K1, level));
        check(&Umac96::with_level(&K1, level), &Uhash96::with_level(&K1, level));
        check(&Umac128::with_level(&K1, level), &Uhash128::with_level(&K1, level));
    }
}

#[test]
fn values_are_equal_by_their_bytes_and_their_length() {
    let (pmac, poly) = (PmacAes128::new(&K1), Poly1305Hash::new(&K1));
    let (four, eight) = (Uhash32::new(&K1), Uhash64::new(&K1));
    for message in messages() {
        let equal = |one: &dyn Fn() -> Result<HashValue, Error>, other: &HashValue| {
            let one = one().expect("short");
            assert_eq!(one == *other, one.as_bytes() == other.as_bytes());
            one == *other
        };
        let value = pmac.value(&message).expect("short");
        assert!(equal(&|| pmac.value(&message), &value) && equal(&|| Ok(value.clone()), &value));
        assert!(!equal(&|| pmac.value(b"another"), &value));
        assert!(!equal(&|| poly.value(&message), &value));
        // The first word is one, and no words follow it.
        let value = four.value(&message).expect("short");
        assert_eq!(value.as_bytes(), &eight.value(&message).expect("short").as_bytes()[..4]);
        assert!(!equal(&|| eight.value(&message), &value));
    }
}

#[test]
fn what_no_hash_takes() {
    let short = LightMacAes128::new(&K1, &K2, 8).expect("s = 8");
    let limit_bits = 256 * 120;
    assert!(short.value(&vec![0; limit_bits / 8]).is_ok());
    let long = short.value(&vec![0; limit_bits / 8 + 1]).map(|_| ());
    assert_eq!(long, Err(Error::TooLong { limit_bits: limit_bits as u64 }));
    let bits = Bits::new(&[0x80], 1).expect("one bit");
    let poly1305 = Poly1305Hash::new(&K1).value(bits).map(|_| ());
    assert_eq!(poly1305, Err(Error::PartialByte { found: 1 }));
    assert_eq!(format!("{:?}", short.value(b"secret")), "Ok(HashValue(16 bytes))");
}
