//! Compares CMAC with RustCrypto's, with its formula for bit strings, and with itself: in pieces,
//! and in batches.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use tagmac::cipher::{Aes128, Aes192, Aes256, Cipher, Field, Present80};
use tagmac::isa::Level;
use tagmac::{Bits, Cmac, Error, Mismatch, Tag};

/// Pseudorandom bytes.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn make<C: Cipher<Block: Field>>(level: Level) -> Cmac<C> {
    let key = C::Key::try_from(&bytes(C::KEY_BYTES, 1)).ok().expect("a key");
    Cmac::with_level(&key, level)
}

/// Asserts that one call, pieces and a fork agree with `expected` under the same key.
fn agrees<C: Cipher<Block: Field>>(expected: impl Fn(&[u8], &[u8]) -> Vec<u8>) {
    for mac in Level::all().map(make::<C>) {
        for length in (0..100).chain([127, 128, 129, 1000, 4096]) {
            let message = bytes(length, length as u64);
            let tag = mac.tag(&message);
            assert!(
                tag.as_bytes() == expected(&bytes(C::KEY_BYTES, 1), &message),
                "{length} bytes"
            );
            for cut in [0, 1, 15, 16, 17, 32, 33, 64, length].into_iter().filter(|c| *c <= length) {
                let mut stream = mac.stream();
                let mut fork = stream.update(&message[..cut]).clone();
                message[cut..].chunks(21).for_each(|piece| _ = stream.update(piece));
                assert!(stream.verify(&tag).is_ok(), "{length} bytes, cut at {cut}");
                fork.update(&message[cut..]);
                assert!(fork.tag() == tag, "{length} bytes, forked at {cut}");
            }
        }
    }
}

#[test]
fn agrees_with_rust_crypto() {
    fn tag<M: cmac::Mac + cmac::KeyInit>(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mac = <M as cmac::KeyInit>::new_from_slice(key).expect("a key");
        mac.chain_update(message).finalize().into_bytes().to_vec()
    }
    agrees::<Aes128>(tag::<cmac::Cmac<aes::Aes128>>);
    agrees::<Aes192>(tag::<cmac::Cmac<aes::Aes192>>);
    agrees::<Aes256>(tag::<cmac::Cmac<aes::Aes256>>);
    #[cfg(feature = "rustcrypto")]
    agrees::<tagmac::cipher::RustCrypto<des::TdesEde3>>(tag::<cmac::Cmac<des::TdesEde3>>);
}

/// The formula of SP 800-38B on integers.
fn of_bits(cipher: &aes::Aes128, message: &[u8], bits: usize) -> u128 {
    let encrypt = |x: u128| {
        let mut block = aes::Block::from(x.to_be_bytes());
        cipher.encrypt_block(&mut block);
        u128::from_be_bytes(block.into())
    };
    let double = |x: u128| (x << 1) ^ ((x >> 127) * 0x87);
    let k1 = double(encrypt(0));
    let mut padded = message.to_vec();
    padded.resize(message.len() / 16 * 16 + 16, 0);
    let number = |i: usize| u128::from_be_bytes(*padded[16 * i..].first_chunk().expect("a block"));
    let before = bits.saturating_sub(1) / 128;
    let c = (0..before).fold(0, |c, i| encrypt(c ^ number(i)));
    let last = match bits - 128 * before {
        128 => number(before) ^ k1,
        rest => (number(before) & !(u128::MAX >> rest)) ^ 1 << (127 - rest) ^ double(k1),
    };
    encrypt(c ^ last)
}

#[test]
fn bit_strings() {
    let oracle = aes::Aes128::new_from_slice(&bytes(16, 1)).expect("a key");
    for mac in Level::all().map(make::<Aes128>) {
        for bits in 0..520_usize {
            let message = bytes(bits.div_ceil(8), bits as u64);
            let tag = mac.tag(Bits::new(&message, bits).expect("as many bytes as bits need"));
            let expected = of_bits(&oracle, &message, bits).to_be_bytes();
            assert!(tag.as_bytes() == expected, "{bits} bits");
        }
    }
}

#[test]
fn tags_of_other_lengths() {
    let mac = make::<Aes128>(Level::best());
    let full = mac.tag(b"abc");
    let short = mac.clone().with_tag_bits(12).expect("12 bits").tag(b"abc");
    assert_eq!((short.bits(), short.as_bytes()[0]), (12, full.as_bytes()[0]));
    assert_eq!(short.as_bytes()[1], full.as_bytes()[1] & 0xf0);
    for found in [0, 129] {
        let refused = mac.clone().with_tag_bits(found).map(|_| ());
        assert_eq!(refused, Err(Error::TagBits { min: 1, max: 128, step: 1, found }));
    }
}

/// Compares batches of any size, with messages of any length, with single tags.
fn many<C: Cipher<Block: Field>>() {
    for mac in Level::all().map(make::<C>) {
        for count in (0..40).chain([63, 64, 65, 100, 256, 257, 300]) {
            for shape in 0..5 {
                let messages: Vec<Vec<u8>> = (0..count)
                    .map(|i| match shape {
                        0 => bytes(i % 3, i as u64),
                        1 => bytes(16 * (i % 5), i as u64),
                        2 => bytes(i * i % 331, i as u64),
                        3 => bytes(i * 997 % 2500, i as u64),
                        _ => bytes(if i == count / 2 { 3000 } else { 40 }, i as u64),
                    })
                    .collect();
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let mut tags = vec![Tag::default(); count];
                mac.tag_many(&messages, &mut tags);
                for (message, tag) in messages.iter().zip(&tags) {
                    assert!(mac.tag(*message) == *tag, "{} of {count}", message.len());
                }
                let mut verdicts = vec![Err(Mismatch); count];
                assert_eq!(mac.verify_many(&messages, &tags, &mut verdicts), Ok(()));
                if count > 0 {
                    tags[count / 2] = mac.tag(b"another message");
                    assert_eq!(mac.verify_many(&messages, &tags, &mut verdicts), Err(Mismatch));
                    let wrong: Vec<usize> =
                        (0..count).filter(|i| verdicts[*i] == Err(Mismatch)).collect();
                    assert_eq!(wrong, [count / 2]);
                }
            }
        }
    }
}

#[test]
fn many_at_once() {
    many::<Aes128>();
    many::<Aes256>();
    many::<Present80>();
}

#[test]
#[should_panic(expected = "an input that fits in a block")]
fn a_chain_begins_with_a_block_at_most() {
    let _ = tagmac::hazmat::Chain::<[u8; 16]>::new(&[0; 17]);
}
