//! The laws, for all MACs on all levels: any split, as a stream or joined from parts, has the
//! one-shot tag, and all levels have the same tag.

use tagmac::cipher::{Aes128, Cipher};
use tagmac::hazmat::{Construction, Hash, Part, PartError};
use tagmac::isa::Level;
use tagmac::threads;
use tagmac::{
    Bits, EliMac, Error, LightMac, LightMacAes128, Mac, PmacAes128, Poly1305Aes, Tag, Umac32,
    Umac64, Umac96, Umac128, UmacNonce,
};

use crate::every_mac::{Laws, each_mac, under};

/// Lengths around every edge: blocks, vectors, eight vectors and periods, and one off each of them.
fn lengths(block: usize) -> Vec<usize> {
    if block > 2048 {
        // UMAC of 1999: groups, blocks of the first level, and a few blocks.
        let edges = [16, 64, 128, 256, 512, 1024, 4096, 5120, 8192, 10_240, 20_480];
        let mut lengths: Vec<usize> = (0..=34).collect();
        lengths.extend(edges.into_iter().flat_map(|edge| [edge - 8, edge - 1, edge, edge + 1]));
        return lengths;
    }
    if block > 16 {
        // UMAC: NH's units and chunks, and a few blocks.
        let edges = [16, 32, 48, 64, 128, 256, 512, 992, 1024, 1056, 1536, 2016, 2048, 3072];
        let edges = edges.into_iter().chain((2..10).map(|chunks| 1024 * chunks)).chain([33 * 2048]);
        let mut lengths: Vec<usize> = (0..=34).collect();
        lengths.extend(edges.flat_map(|edge| [edge - 1, edge, edge + 1]));
        lengths.sort();
        lengths.dedup();
        return lengths;
    }
    let edges = [1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 33, 63, 64, 65, 96, 127, 128, 200, 300, 520];
    let mut lengths: Vec<usize> = (0..=4 * block + 1).collect();
    for edge in edges.into_iter().chain(254..=258).map(|blocks| blocks * block) {
        lengths.extend([edge - 1, edge, edge + 1]);
    }
    lengths.sort();
    lengths.dedup();
    lengths
}

fn message(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

#[test]
fn any_cut_gives_the_one_shot_tag() {
    for level in Level::all() {
        each_mac(level, &mut |name, mac| {
            for length in lengths(mac.block()).into_iter().filter(|n| *n as u64 <= mac.limit()) {
                let message = message(length);
                let at = || format!("{name} on {level}, {length} bytes");
                let tag = mac.tag((&message).into()).unwrap_or_else(|e| panic!("{}: {e}", at()));
                let block = mac.block();
                for cut in [0, 1, block - 1, block, block + 1, length / 2, length - length.min(1)] {
                    let (left, right) = message.split_at(cut.min(length));
                    assert!(mac.streamed(&[left, right]) == Ok(tag), "{} cut at {cut}", at());
                }
                for piece in [1, 3, block, 5 * block + 1] {
                    let pieces: Vec<&[u8]> = message.chunks(piece).collect();
                    assert!(mac.streamed(&pieces) == Ok(tag), "{} by {piece}", at());
                }
                let blocks = length.saturating_sub(1) / block;
                for cuts in
                    [vec![], vec![0], vec![1, 2], vec![blocks / 2], vec![blocks / 3, blocks]]
                {
                    let mut ends: Vec<usize> =
                        cuts.iter().map(|c| c.min(&blocks) * block).collect();
                    ends.sort();
                    for from_the_right in [false, true] {
                        let joined = mac.joined(&message, &ends, from_the_right);
                        assert!(joined == Ok(tag), "{} joined at {ends:?}", at());
                    }
                }
            }
        });
    }
}

#[test]
fn every_cut_of_some_messages() {
    for level in Level::all() {
        each_mac(level, &mut |name, mac| {
            let longer = 2 * mac.block() + 33;
            for length in
                [33 * 16, 34 * 16 - 3, longer].into_iter().filter(|n| *n as u64 <= mac.limit())
            {
                let message = message(length);
                let tag = mac.tag((&message).into()).expect("within the limit");
                for cut in 0..=length {
                    let (left, right) = message.split_at(cut);
                    assert!(mac.streamed(&[left, right]) == Ok(tag), "{name} on {level} at {cut}");
                    if cut % mac.block() == 0 && cut < length {
                        let joined = mac.joined(&message, &[cut], false);
                        assert!(joined == Ok(tag), "{name} on {level} joined at {cut}");
                    }
                }
            }
        });
    }
}

#[test]
fn all_rungs_agree() {
    let mut expected: Vec<(String, Vec<Tag>)> = Vec::new();
    for (place, level) in Level::all().enumerate() {
        let mut row = 0;
        each_mac(level, &mut |name, mac| {
            let mut lengths = lengths(mac.block());
            lengths.extend([4096, 5000, 70_000].into_iter().filter(|n| *n as u64 <= mac.limit()));
            let tags: Vec<Tag> = lengths
                .into_iter()
                .filter(|n| *n as u64 <= mac.limit())
                .map(|length| mac.tag((&message(length)).into()).expect("within the limit"))
                .collect();
            if place == 0 {
                expected.push((name.into(), tags));
            } else {
                assert!(expected[row].1 == tags, "{name}: {level} is unlike the portable level");
            }
            row += 1;
        });
        assert_eq!(row, expected.len());
    }
}

#[test]
fn a_cached_subkey_changes_no_tag() {
    let mac = EliMac::with_level(&[5; 16], &[6; 16], Level::best());
    let message = message(3000);
    let cached = mac.clone().with_cache(1000);
    for length in 0..message.len() {
        assert!(mac.tag(&message[..length]) == cached.tag(&message[..length]), "{length} bytes");
    }
}

#[test]
fn bits_count_one_by_one() {
    // Bits after the last one do not matter, and each length has a different tag.
    for level in Level::all() {
        each_mac(level, &mut |name, mac| {
            if mac.block() > mac.limit() as usize {
                return;
            }
            let bytes = message(40);
            if !mac.bits() {
                for bits in (0..=8 * bytes.len()).filter(|bits| bits % 8 != 0) {
                    let upto = Bits::new(&bytes[..bits.div_ceil(8)], bits).expect("as many bytes");
                    let refused = Err(Error::PartialByte { found: bits as u64 });
                    assert!(mac.tag(upto) == refused, "{name} on {level}: {bits} bits");
                }
                return;
            }
            let mut tags = Vec::new();
            for bits in 0..=8 * bytes.len() {
                let mut upto = bytes[..bits.div_ceil(8)].to_vec();
                let tag = |bytes: &[u8]| {
                    mac.tag(Bits::new(bytes, bits).expect("as many bytes as bits need"))
                };
                let once = tag(&upto).expect("within the limit");
                if bits % 8 != 0 {
                    *upto.last_mut().expect("a byte") ^= 0xff >> (bits % 8);
                    assert!(tag(&upto) == Ok(once), "{name} on {level}: {bits} bits");
                } else {
                    assert!(mac.tag((&upto).into()) == Ok(once), "{name} on {level}: {bits} bits");
                }
                assert!(!tags.contains(&once), "{name} on {level}: {bits} bits repeat a tag");
                tags.push(once);
            }
        });
    }
}

#[test]
fn a_flipped_bit_in_any_byte_changes_the_tag() {
    // Two periods of PMAC, the widest level's batch twice, and a block.
    const BLOCKS: usize = 2 * 32 + 8 * 16 + 1;
    for level in Level::all() {
        each_mac(level, &mut |name, mac| {
            let mut message = message(if mac.block() > 16 { 6149 } else { BLOCKS * mac.block() });
            let tag = mac.tag((&message).into()).expect("within the limit");
            for place in 0..message.len() {
                let bit = 0x80 >> (place % 8);
                message[place] ^= bit;
                let flipped = mac.tag((&message).into()).expect("within the limit");
                assert!(flipped != tag, "{name} on {level}: byte {place} does not count");
                message[place] ^= bit;
            }
        });
    }
}

#[test]
fn limits_are_refused_one_past_and_not_at() {
    let mac = LightMac::<Aes128>::with_level(&[1; 16], &[2; 16], 8, Level::best()).expect("s = 8");
    let limit = 256 * 15;
    let message = vec![7; limit + 1];
    let over = Err(Error::TooLong { limit_bits: 8 * limit as u64 });
    let tag = mac.tag(&message[..limit]).expect("exactly the limit is fine");
    assert!(mac.tag(&message) == over);
    assert!(mac.verify(&message, &tag).is_err());
    let mut stream = mac.stream();
    stream.update(&message[..limit]);
    stream.update(&[]);
    assert!(stream.tag() == Ok(tag));
    let mut stream = mac.stream();
    stream.update(&message[..limit]).update(&[0]);
    assert!(stream.fork().verify(&tag).is_err());
    assert!(stream.tag() == over);
    let part = Part::new(&mac, 0, &message[..limit]).expect("exactly the limit");
    let over = over.map_err(PartError::from);
    assert!(part.finish(&mac, &(), &[0]) == over);
    assert!(Part::new(&mac, limit as u64, &[0; 15]).map(|_| ()) == over.map(|_| ()));
    let mac = EliMac::new(&[1; 16], &[2; 16]);
    let start = (1 << 36) - 16;
    assert!(Part::new(mac.hash(), start, &[0; 16]).is_err(), "block 2^32 has no subkey");
    assert!(Part::new(mac.hash(), start - 16, &[0; 16]).is_ok());
}

#[test]
fn wrong_ranges_do_not_join() {
    let mac = PmacAes128::new(&[7; 16]);
    let part = |start: u64, blocks: usize| Part::new(&mac, start, &vec![1; 16 * blocks]);
    let left = part(0, 2).expect("aligned");
    let gap = left.join(&mac, &part(48, 1).expect("aligned")).map(|_| ());
    assert_eq!(gap, Err(PartError::Gap { expected: 32, found: 48 }));
    assert_eq!(part(8, 1).map(|_| ()), Err(PartError::Unaligned { block: 16, found: 8 }));
    let short = Part::new(&mac, 0, &[0; 15]).map(|_| ());
    assert_eq!(short, Err(PartError::Unaligned { block: 16, found: 15 }));
    let middle = part(16, 1).expect("aligned").finish(&mac, &(), b"end");
    assert!(middle == Err(PartError::Gap { expected: 0, found: 16 }));
    let ended = part(0, 1).expect("aligned").finish(&mac, &(), b"");
    assert!(ended == Err(PartError::NoLastBlock));
}

#[test]
fn tag_lengths_are_prefixes() {
    let key = [7; 16];
    let full = PmacAes128::new(&key).tag(b"message").expect("short");
    for bits in 1..=128 {
        let mac = PmacAes128::new(&key).with_tag_bits(bits).expect("1 to 128 bits");
        assert_eq!(mac.tag_bits(), bits);
        let tag = mac.tag(b"message").expect("short");
        let mut expected = full.as_bytes()[..bits.div_ceil(8)].to_vec();
        if bits % 8 != 0 {
            *expected.last_mut().expect("a byte") &= 0xff << (8 - bits % 8);
        }
        assert_eq!(tag.as_bytes(), expected);
        assert!(mac.verify(b"message", &tag).is_ok());
        assert!(mac.verify(b"message", &full).is_err() || bits == 128, "{bits} bits took 128");
    }
    for bits in [0, 129] {
        let wrong = Error::TagBits { min: 1, max: 128, step: 1, found: bits };
        assert_eq!(PmacAes128::new(&key).with_tag_bits(bits).map(|_| ()).unwrap_err(), wrong);
    }
}

#[test]
fn counters_of_no_such_length() {
    for s in [0, 65, 72, 128, usize::MAX] {
        let mac = LightMacAes128::new(&[1; 16], &[2; 16], s).map(|_| ());
        assert_eq!(mac.unwrap_err(), Error::CounterBits { max: 64, found: s });
    }
    assert_eq!(<Aes128 as Cipher>::KEY_BYTES, 16);
}

#[test]
fn any_number_of_threads_gives_the_same_tag() {
    let (pmac, light) = (PmacAes128::new(&[7; 16]), LightMacAes128::new(&[1; 16], &[2; 16], 40));
    let light = light.expect("s = 40");
    for length in [0, 100, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9_000_000] {
        let message = message(length);
        let (p, l) = (pmac.tag(&message), light.tag(&message));
        for count in [0, 1, 2, 3, 7] {
            assert!(threads::tag(&pmac, &(), &message, count) == p, "{length} on {count}");
            assert!(threads::tag(&light, &(), &message, count) == l, "{length} on {count}");
        }
        let tag = p.expect("no limit in reach");
        assert!(threads::verify(&pmac, &(), &message, &tag, 2).is_ok());
        assert!(threads::verify(&light, &(), &message, &tag, 2).is_err());
    }
    let short = LightMacAes128::new(&[1; 16], &[2; 16], 16).expect("s = 16");
    let over = threads::tag(&short, &(), &vec![0; 65536 * 14 + 1], 2);
    assert!(over == Err(Error::TooLong { limit_bits: 65536 * 14 * 8 }));
}

/// From byte 2^24 on, UMAC continues with another polynomial.
#[test]
fn any_cut_around_the_end_of_poly64() {
    const END: usize = 1 << 24;
    fn holds<M: Mac>(mac: M, nonce: M::Nonce, length: usize) {
        let (message, level) = (message(length), mac.hash().level());
        let law = under(mac, nonce);
        let tag = law.tag((&message).into()).expect("no limit");
        for cut in [END - 2048, END - 1, END, END + 1, END + 1024, END + 2048] {
            let (left, right) = message.split_at(cut.min(length));
            assert!(law.streamed(&[left, right]) == Ok(tag), "{length} cut at {cut} on {level}");
        }
        let most = length / 2048 * 2048;
        for ends in [
            vec![END],
            vec![END - 2048],
            vec![END - 2048, END],
            vec![2048, END - 2048, END, END + 2048],
            vec![END / 2, END + 2048],
            vec![most],
        ] {
            let ends: Vec<usize> = ends.into_iter().map(|end| end.min(most)).collect();
            for from_the_right in [false, true] {
                let joined = law.joined(&message, &ends, from_the_right);
                assert!(joined == Ok(tag), "{length} joined at {ends:?} on {level}");
            }
        }
        for count in [2, 3] {
            let threads = threads::tag(&law.mac, &law.nonce, &message, count);
            assert!(threads == Ok(tag), "{length} on {count} threads on {level}");
        }
    }
    let (key, nonce) = ([0x31; 16], UmacNonce::from(9));
    for length in [END - 1, END, END + 1, END + 1024, END + 1025, END + 2048, END + 5000] {
        holds(Umac128::new(&key), nonce, length);
        holds(Umac32::new(&key), nonce, length);
    }
    for level in Level::all() {
        holds(Umac64::with_level(&key, level), nonce, END + 3073);
        holds(Umac96::with_level(&key, level), nonce, END + 2047);
        holds(Poly1305Aes::with_level(&[0x32; 32], level), [1; 16], END + 2047);
    }
}

#[test]
fn a_stream_writes_until_the_limit() {
    use std::io::Write;
    let mac = LightMacAes128::new(&[1; 16], &[2; 16], 8).expect("s = 8");
    let mut stream = mac.stream();
    stream.write_all(&[5; 3840]).expect("exactly the limit");
    assert!(stream.write_all(&[5]).is_err(), "one byte over the limit");
    let mut stream = mac.stream();
    std::io::copy(&mut &[5; 3840][..], &mut stream).expect("exactly the limit");
    assert!(stream.verify(&mac.tag(&[5; 3840]).expect("the limit")).is_ok());
}

#[test]
fn secrets_are_silent() {
    let mac = PmacAes128::new(&[7; 16]);
    let part = Part::new(&mac, 0, &[1; 32]).expect("aligned");
    assert_eq!(format!("{part:?}"), "Part(0..32)");
}
