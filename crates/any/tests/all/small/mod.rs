//! The laws of levels, pieces, parts and batches, for one MAC and law at a time, and only at the
//! edges of blocks, vectors and batches. `laws` and `batch` try all lengths, which takes minutes
//! without optimisation.

use tagmac::batch::RawKeys;
use tagmac::cipher::{Aes128, Aes256};
use tagmac::hashes::Poly1305Hash;
use tagmac::hazmat::{Construction, Hash};
use tagmac::isa::Level;
use tagmac::save::{Reader, Writer};
use tagmac::{Assurance, Nonce, Umac, Umac128, UmacNonce};
use tagmac::{
    Bits, Cmac, EliMac, Error, LightMac, Mac, Mismatch, Pmac, Poly1305, Poly1305Aes, Tag,
};
use tagmac_any::{Algorithm, AnyMac};

use crate::{batch, common};

mod around_the_prime;
mod batches;
mod umac_words;

/// Numbers of blocks at the edges of vectors, of eight vectors, and of other code paths.
const BLOCKS: [usize; 23] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 39, 40, 47, 63, 64, 65, 129];
/// Numbers of messages at the edges of vectors.
const COUNTS: [usize; 18] = [4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65];

/// The MAC on each level, lowest first.
fn macs(name: &str) -> Vec<AnyMac> {
    let algorithm = Algorithm::from_name(name).expect("a name");
    let key: Vec<u8> = (0..algorithm.new_key_bytes()).map(|i| (7 * i + 5) as u8).collect();
    let bits = algorithm.default_tag_bits();
    let on = |level| AnyMac::with_options(algorithm, &key, bits, level).expect("its own key");
    Level::all().map(on).collect()
}

fn nonce(mac: &AnyMac) -> Vec<u8> {
    vec![0x6e; *mac.algorithm().nonce_bytes().end()]
}

fn message(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as u8).collect()
}

/// Lengths of a few blocks and of these numbers of blocks, each with its neighbours.
fn lengths(mac: &AnyMac) -> Vec<usize> {
    let block = mac.algorithm().block().unwrap_or(16).min(64);
    let longest = mac.max_message_bytes().unwrap_or(u64::MAX);
    let edges = BLOCKS.iter().flat_map(|blocks| {
        let bytes = blocks * block;
        [bytes.saturating_sub(1), bytes, bytes + 1, bytes + block / 2]
    });
    // UMAC's chunks and blocks of the first level, and groups of hashes of the UMAC of 1999.
    let chunks = [1023, 1024, 1025, 2047, 2048, 2049, 3100, 4095, 4096, 4097, 9000];
    edges.chain(chunks).filter(|length| *length as u64 <= longest).collect()
}

fn levels_agree(name: &str) {
    let macs = macs(name);
    for length in lengths(&macs[0]) {
        let (nonce, message) = (nonce(&macs[0]), message(length));
        let expected = macs[0].tag(&nonce, &message).expect("within the limit");
        for mac in &macs[1..] {
            let at = format!("{name} on {:?}, {length} bytes", mac.level());
            assert!(mac.tag(&nonce, &message) == Ok(expected), "{at}");
        }
    }
}

fn pieces_are_the_whole(name: &str) {
    for mac in macs(name) {
        let (nonce, block) = (nonce(&mac), mac.algorithm().block().unwrap_or(16));
        for length in lengths(&mac) {
            let message = message(length);
            let tag = mac.tag(&nonce, &message).expect("within the limit");
            for first in [1, block - 1, block, block + 1, length / 2] {
                let (left, right) = message.split_at(first.min(length));
                let mut stream = mac.stream(&nonce).expect("a nonce");
                stream.update(left);
                let fork = stream.fork();
                stream.update(right);
                let at = format!("{name} on {:?}, {length} bytes at {first}", mac.level());
                assert!(stream.tag() == Ok(tag), "{at}");
                // The original continues with another message.
                assert!(fork.verify(&tag).is_ok() == right.is_empty(), "{at}");
            }
            let Some(parts) = mac.parts() else { continue };
            let blocks = length.saturating_sub(1) / block;
            for (a, b) in [(0, blocks), (blocks / 2, blocks), (blocks / 3, blocks / 2)] {
                let (a, b) = (a * block, b * block);
                let part = |from: usize, to: usize| {
                    parts.new_part(from as u64, &message[from..to]).expect("whole blocks")
                };
                let both = parts.join(part(0, a), &part(a, b)).expect("neighbours");
                parts.check(&both, &message[..b]).expect("its blocks");
                for flipped in [0, b / 2, b.max(1) - 1].into_iter().filter(|at| *at < b) {
                    let mut other = message[..b].to_vec();
                    other[flipped] ^= 4;
                    assert!(parts.check(&both, &other).is_err(), "{name}: {flipped} of {b}");
                }
                let joined = parts.finish(both, &nonce, &message[b..]);
                assert!(joined == Ok(tag), "{name} on {:?}, {length} at {a}, {b}", mac.level());
            }
        }
    }
}

fn batches_are_one_by_one(name: &str) {
    for mac in macs(name) {
        // The longest messages that are batched, for each MAC's block.
        let lengths = [
            0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 127, 128, 129, 130,
        ]
        .into_iter()
        .chain([131, 132, 133, 255, 256, 257, 395, 396, 397, 511, 512, 513, 527, 528, 529]);
        for (i, length) in lengths.enumerate() {
            batch::check(&mac, &[length; 65][..COUNTS[i * 5 % COUNTS.len()]]);
        }
        for count in COUNTS {
            batch::check(&mac, &vec![2 * count % 67; count]);
            // The same number of blocks with other lengths, then all kinds.
            batch::check(&mac, &(0..count).map(|i| 33 + i % 15).collect::<Vec<_>>());
            batch::check(&mac, &(0..count).map(|i| i * 29 % 83).collect::<Vec<_>>());
        }
        batch::check(&mac, &(0..600).rev().step_by(9).collect::<Vec<_>>());
        batch::check(&mac, &(0..130).map(|i| i * 89 % 310).collect::<Vec<_>>());
        batch::check(&mac, &[0, 1100, 2, 2047, 64, 64, 64, 64, 64, 3, 5, 700, 1023, 1024, 1025]);
    }
}

/// A batch larger than a call checks at once, with a wrong tag at the ends of each group.
fn a_wrong_tag_is_found_in_a_batch(name: &str) {
    for mac in macs(name) {
        let nonce = nonce(&mac);
        let messages: Vec<_> = (0..260).map(|i| message(i % 50)).collect();
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let nonces: Vec<&[u8]> = messages.iter().map(|_| &nonce[..]).collect();
        let mut tags = vec![Tag::default(); messages.len()];
        mac.tag_many(&nonces, &messages, &mut tags).expect("short messages");
        let mut verdicts = vec![Err(Mismatch); messages.len()];
        assert_eq!(mac.verify_many(&nonces, &messages, &tags, &mut verdicts), Ok(()));
        for wrong in [0, 31, 255, 259] {
            let right = tags[wrong];
            let mut bytes = right.as_bytes().to_vec();
            bytes[wrong % right.as_bytes().len()] ^= 0x80;
            tags[wrong] = Tag::new(&bytes, right.bits()).expect("as many bits");
            let all = mac.verify_many(&nonces, &messages, &tags, &mut verdicts);
            assert_eq!(all, Err(Mismatch), "{name}: {wrong}");
            let found = verdicts.iter().position(Result::is_err);
            assert!(found == Some(wrong) && verdicts[wrong + 1..].iter().all(Result::is_ok));
            tags[wrong] = right;
        }
    }
}

/// The tests of each MAC.
macro_rules! laws {
    ($($module:ident: $name:literal),+) => {
        $(mod $module {
            #[test]
            fn levels_agree() {
                super::levels_agree($name);
            }

            #[test]
            fn pieces_are_the_whole() {
                super::pieces_are_the_whole($name);
            }

            #[test]
            fn batches_are_one_by_one() {
                super::batches_are_one_by_one($name);
            }

            #[test]
            fn a_wrong_tag_is_found_in_a_batch() {
                super::a_wrong_tag_is_found_in_a_batch($name);
            }
        })+
    };
}

laws! {
    pmac: "PMAC-AES128",
    pmac_present: "PMAC-PRESENT80",
    lightmac: "LIGHTMAC-AES128-S32",
    lightmac_8: "LIGHTMAC-AES256-S8",
    lightmac_64: "LIGHTMAC-AES128-S64",
    lightmac_present: "LIGHTMAC-PRESENT80-S32",
    elimac: "ELIMAC-AES128",
    poly1305: "POLY1305-AES",
    umac_32: "UMAC-32",
    umac_64: "UMAC-64",
    umac_96: "UMAC-96",
    umac_128: "UMAC-128",
    cmac: "CMAC-AES128",
    umac99_std: "UMAC99-STD-60",
    umac99_mmx: "UMAC99-MMX-60"
}

/// One byte over the limit there is no tag, in one call, in pieces or in parts; at the limit there
/// is.
#[test]
fn limits_are_kept_to_the_byte() {
    for name in ["LIGHTMAC-AES128-S8", "LIGHTMAC-PRESENT80-S8"] {
        for mac in macs(name) {
            let most = mac.max_message_bytes().expect("a limit") as usize;
            let message = message(most + 1);
            assert!(mac.tag(&[], &message[..most]).is_ok());
            let refused = Error::TooLong { limit_bits: 8 * most as u64 };
            assert_eq!(mac.tag(&[], &message), Err(refused));
            let mut stream = mac.stream(&[]).expect("no nonce");
            stream.update(&message[..most]);
            assert!(stream.fork().tag() == mac.tag(&[], &message[..most]));
            stream.update(&message[most..]);
            assert_eq!(stream.tag(), Err(refused), "{name}");
        }
    }
}

/// Verifies a tag, the same tag with one bit changed, a prefix of it, and that of another message.
fn refuses(tag: &Tag, other: &Tag, verify: &dyn Fn(&Tag) -> Result<(), Mismatch>) {
    assert_eq!(verify(tag), Ok(()));
    let mut bytes = tag.as_bytes().to_vec();
    bytes[7] ^= 1;
    let flipped = Tag::new(&bytes, tag.bits()).expect("as many bits");
    let part = Tag::try_from(&tag.as_bytes()[..4]).expect("4 bytes");
    for wrong in [&flipped, &part, other, &Tag::default()] {
        assert_eq!(verify(wrong), Err(Mismatch), "{wrong:?}");
    }
}

#[test]
fn macs_of_one_chain_refuse_wrong_tags() {
    for level in Level::all() {
        let cmac = Cmac::<Aes128>::with_level(&[7; 16], level);
        let [tag, other] = [b"a message", b"a massage"].map(|message| cmac.tag(message));
        refuses(&tag, &other, &|tag| cmac.verify(b"a message", tag));
        refuses(&tag, &other, &|tag| {
            let mut stream = cmac.stream();
            stream.update(b"a mess").update(b"age");
            stream.verify(tag)
        });
        refuses(&tag, &other, &|tag| {
            let mut verdicts = [Ok(()); 5];
            let all = cmac.verify_many(&[&b"a message"[..]; 5], &[*tag; 5], &mut verdicts);
            assert!(verdicts.iter().all(|one| *one == all));
            all
        });
    }
}

/// The numbers 1 to 2^s, the last one written as 0, in another order. With equal blocks the terms
/// are the same.
#[test]
fn in_gray_code_all_numbers_of_blocks_are_there() {
    for s in 1..=9 {
        let mac = LightMac::<Aes128>::new(&[1; 16], &[2; 16], s).expect("a counter");
        let (gray, bits) = (mac.clone().with_gray_code(), (128 - s) << s);
        let zeros = vec![0; bits.div_ceil(8)];
        let all = |bits: usize| Bits::new(&zeros[..bits.div_ceil(8)], bits).expect("as many bytes");
        assert!(mac.tag(all(bits)).expect("the longest") == gray.tag(all(bits)).expect("as long"));
        if s > 1 {
            // The first numbers are 1, 2, 3 and 1, 3, 2.
            let fewer = (128 - s) * ((1 << (s - 1)) - 1);
            assert!(mac.tag(all(fewer)) == gray.tag(all(fewer)), "{s}: nearly half of them");
            let two = 2 * (128 - s);
            assert!(mac.tag(all(two)) != gray.tag(all(two)), "{s}: the first two");
        }
        assert_eq!(mac.s(), s);
    }
}

/// Messages that are not in cache take a separate loop, which prefetches them.
fn far(name: &str) {
    let bytes = (1 << 25) + 33_333;
    let message: Vec<u8> = (0..bytes as u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
    for mac in macs(name).into_iter().rev().take(2) {
        let (nonce, parts) = (nonce(&mac), mac.parts().expect("it has parts"));
        let half = bytes / 2 / parts.block() * parts.block();
        let end = (bytes - 1) / parts.block() * parts.block();
        let part = |from: usize, to: usize| {
            parts.new_part(from as u64, &message[from..to]).expect("whole blocks")
        };
        let both = parts.join(part(0, half), &part(half, end)).expect("neighbours");
        let joined = parts.finish(both, &nonce, &message[end..]).expect("the rest");
        assert!(mac.tag(&nonce, &message) == Ok(joined), "{name} on {:?}", mac.level());
    }
}

#[test]
fn long_messages_of_pmac_are_their_halves() {
    far("PMAC-AES128");
}

#[test]
fn long_messages_of_umac_are_their_halves() {
    far("UMAC-64");
}

#[test]
fn as_many_subkeys_are_kept_as_there_is_room_for() {
    for level in Level::all() {
        let mac = EliMac::with_level(&[1; 16], &[2; 16], level);
        for (bytes, kept) in [(0, 0), (15, 0), (16, 16), (165, 160), (1600, 1600)] {
            let cached = mac.clone().with_cache(bytes);
            assert_eq!(cached.cached_bytes(), kept, "{level}");
            for length in [0, 1, 15, 16, 17, 159, 160, 161, 176, 300, 1599, 1600, 1601, 5000] {
                let message = message(length);
                assert!(cached.tag(&message) == mac.tag(&message), "{level}, {length}, {kept}");
            }
        }
    }
}
