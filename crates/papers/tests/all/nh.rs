//! NH's streams, nibbles and limits, and the UMAC of 1999.

use tagmac::Mac;
use tagmac::isa::Level;
use tagmac_papers::{Nh, NhError, NhShape, Umac99, Umac99Parameters, Umac99Prf, Umac99Set};

/// Pseudorandom bytes.
fn message(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

/// A stream is the hash under the part of the key from the stream's start, however many streams are
/// computed at once.
#[test]
fn streams_of_nh_are_hashes_of_their_own() {
    let shapes: [fn(usize) -> Result<NhShape, NhError>; 7] = [
        |t| NhShape::new(24, 32)?.signed().toeplitz(t, 2)?.two_level(5),
        |t| NhShape::new(64, 32)?.signed().toeplitz(t, 2)?.two_level(3),
        |t| NhShape::new(70, 32)?.toeplitz(t, 2),
        |t| NhShape::new(70, 32)?.toeplitz(t, 6),
        |t| NhShape::new(264, 16)?.signed().strided()?.toeplitz(t, 8),
        |t| NhShape::new(64, 16)?.strided()?.toeplitz(t, 4)?.two_level(3),
        |t| NhShape::new(16, 64)?.big_endian().toeplitz(t, 2),
    ];
    let key = message(2000);
    for level in Level::all() {
        for shape in shapes {
            let one = shape(1).expect("a shape");
            for streams in [1, 2, 3, 4, 5, 6, 8] {
                let several = shape(streams).expect("a shape");
                let nh = Nh::with_level(several, &key, &key[9..], level).expect("enough key");
                let shift = match streams {
                    1 => 0,
                    _ => (several.key_bytes() - one.key_bytes()) / (streams - 1),
                };
                let block = one.block_bytes();
                for length in [1, 7, 16, 31, 32, 33, 65, block / 2, block - 1, block] {
                    let block = &message(block)[..length.min(block)];
                    let mut found = vec![0; several.hash_bytes()];
                    nh.block(block, &mut found).expect("a block");
                    for (s, found) in found.chunks(one.hash_bytes()).enumerate() {
                        let (k, l) = (&key[s * shift..], &key[9 + s * shift..]);
                        let nh = Nh::with_level(one, k, l, level).expect("enough key");
                        let mut expected = vec![0; one.hash_bytes()];
                        nh.block(block, &mut expected).expect("a block");
                        assert!(found == expected, "{level}, {several:?}, {length}, stream {s}");
                    }
                }
            }
        }
    }
}

/// A message's hash is the hashes of its blocks and two bytes with its length modulo the block.
#[test]
fn nh_of_a_message_is_that_of_its_blocks() {
    let shapes: [fn() -> Result<NhShape, NhError>; 5] = [
        || NhShape::new(24, 32)?.signed().toeplitz(2, 2)?.two_level(5),
        || NhShape::new(264, 16)?.strided(),
        || Ok(NhShape::new(16, 64)?.big_endian()),
        || NhShape::with_nibbles(24)?.signed().toeplitz(3, 2),
        || NhShape::with_nibbles(24)?.strided(),
    ];
    let key = message(2000);
    for shape in shapes {
        let shape = shape().expect("a shape");
        let block = shape.block_bytes();
        for level in Level::all() {
            let nh = Nh::with_level(shape, &key, &key[9..], level).expect("enough key");
            for length in [0, 1, block - 1, block, block + 1, 3 * block + 5] {
                let message = message(length);
                let mut expected = Vec::new();
                for block in message.chunks(block) {
                    let mut hash = vec![0; shape.hash_bytes()];
                    nh.block(block, &mut hash).expect("a block");
                    expected.extend(hash);
                }
                let length = (length % block) as u16;
                let big_endian = shape == shape.big_endian();
                expected.extend(if big_endian {
                    length.to_be_bytes()
                } else {
                    length.to_le_bytes()
                });
                assert!(nh.hash(&message) == expected, "{level}, {shape:?}, {}", message.len());
            }
        }
        let nh = Nh::new(shape, &key, &key[9..]).expect("enough key");
        let (max, hash) = (block, shape.hash_bytes());
        let refused = |block: usize, out: usize| nh.block(&vec![0; block], &mut vec![0; out]).err();
        for found in [0, block + 1] {
            assert_eq!(refused(found, hash), Some(NhError::BlockLength { min: 1, max, found }));
        }
        for found in [hash - 1, hash + 1] {
            let wrong = NhError::BlockLength { min: hash, max: hash, found };
            assert_eq!(refused(block, found), Some(wrong));
        }
        let (expected, found) = (shape.key_bytes(), shape.key_bytes() - 1);
        let short = Nh::new(shape, &key[..found], &key).err();
        assert_eq!(short, Some(NhError::KeyMaterial { expected, found }));
    }
}

/// Words of four bits: (m_1 + k_1 mod 16) (m_2 + k_2 mod 16), low digit first.
#[test]
fn nh_of_nibbles_is_its_formula() {
    let shape = NhShape::with_nibbles(2).expect("a pair");
    for (k1, k2) in [(0, 0), (1, 15), (9, 7), (15, 15), (3, 8)] {
        let nh = Nh::new(shape, &[k1, k2], &[]).expect("a key");
        for (m1, m2) in (0..16).flat_map(|m1| (0..16).map(move |m2| (m1, m2))) {
            let mut found = [0; 2];
            nh.block(&[m1, m2], &mut found).expect("a block");
            let product = (m1 + k1) % 16 * ((m2 + k2) % 16);
            assert_eq!(found, [product % 16, product / 16], "{k1} {k2} {m1} {m2}");
        }
    }
}

#[test]
fn blocks_and_shifts_of_nh_end_at_their_limits() {
    assert_eq!(NhShape::new(16_384, 32).expect("the longest block").block_bytes(), 65_536);
    let longer = Err(NhError::HashWords { step: 2, max: 16_384, found: 16_386 });
    assert_eq!(NhShape::new(16_386, 32), longer);
    let shape = NhShape::new(64, 32).expect("a block");
    assert!(shape.toeplitz(2, 4096).is_ok() && shape.toeplitz(16, 2).is_ok());
    let shift = Err(NhError::KeyShift { max: 4096, found: 4098 });
    assert_eq!(shape.toeplitz(2, 4098), shift);
    assert_eq!(shape.toeplitz(17, 2), Err(NhError::Streams { max: 16, found: 17 }));
}

/// More hashes of blocks than are passed to the PRF at once.
#[test]
fn many_blocks_of_the_first_umac_are_its_pieces() {
    let mac = Umac99::new(Umac99Set::Std60, &[7; 16]);
    let message = message(300_000);
    let tag = mac.tag_with(&[3; 8], &message).expect("no limit in reach");
    let mut stream = mac.stream_with(&[3; 8]);
    message.chunks(9001).for_each(|piece| {
        stream.update(piece);
    });
    assert!(stream.tag() == Ok(tag));
}

#[test]
fn keys_of_the_first_umac_come_from_the_prf_that_is_asked_for() {
    let shape = NhShape::new(64, 32).expect("a block");
    let by = |prf| Umac99Parameters::new(shape, Umac99Prf::HmacSha1).keys_by(prf).key(&[7; 16]);
    let tags = [Umac99Prf::HmacSha1, Umac99Prf::Cbc3Rc6, Umac99Prf::Cbc3Aes128]
        .map(|prf| by(prf).tag_with(&[1; 8], b"a message").expect("no limit in reach"));
    let own = Umac99Parameters::new(shape, Umac99Prf::HmacSha1).key(&[7; 16]);
    assert!(own.tag_with(&[1; 8], b"a message") == Ok(tags[0]));
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2]);
}
