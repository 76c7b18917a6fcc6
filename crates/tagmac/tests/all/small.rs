//! The laws of levels, pieces, parts and batches, a MAC and a law at a time, at the edges alone: of blocks, of
//! vectors, and of what goes side by side. `laws` and `batch` go through all lengths, which takes minutes where
//! nothing is optimised.

use tagmac::batch::RawKeys;
use tagmac::cipher::{Aes128, Aes256};
use tagmac::dynamic::{Algorithm, AnyMac};
use tagmac::hashes::Poly1305Hash;
use tagmac::hazmat::{Construction, Hash};
use tagmac::isa::Level;
use tagmac::save::{Reader, Writer};
use tagmac::{Assurance, Umac128, UmacNonce};
use tagmac::{Bits, Cbc3, Cmac, EliMac, Error, LightMac, Mac, Mismatch, Pmac, Poly1305, Tag};

use crate::{batch, common};

/// Blocks at the edges of vectors, of eight of them, and of what takes another way.
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

/// Lengths of a few blocks and of these many, each with its neighbours.
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
                // What was forked from goes elsewhere.
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
        // The longest ones that go side by side, with each MAC's block.
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
            // As many blocks and other lengths, then all kinds.
            batch::check(&mac, &(0..count).map(|i| 33 + i % 15).collect::<Vec<_>>());
            batch::check(&mac, &(0..count).map(|i| i * 29 % 83).collect::<Vec<_>>());
        }
        batch::check(&mac, &(0..600).rev().step_by(9).collect::<Vec<_>>());
        batch::check(&mac, &(0..130).map(|i| i * 89 % 310).collect::<Vec<_>>());
        batch::check(&mac, &[0, 1100, 2, 2047, 64, 64, 64, 64, 64, 3, 5, 700, 1023, 1024, 1025]);
    }
}

/// A batch of more than a call checks at once, with a wrong tag at the ends of what goes together.
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

/// What is over a limit by a byte has no tag, whole, in pieces or in parts, and what is not has one.
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

/// Verifies a tag, the same with another bit, a part of it, and that of another message.
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
        let cbc3 = Cbc3::<Aes128>::with_level(&[1; 16], &[2; 16], &[3; 16], level);
        let [tag, other] = [b"a message", b"a massage"].map(|message| cbc3.tag(message));
        refuses(&tag, &other, &|tag| cbc3.verify(b"a message", tag));
    }
}

/// Numbers 1 to 2^s, the last one written as 0, in another order: the same terms where blocks are equal.
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

/// Messages that come from memory take a loop of their own, which asks for them ahead.
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

/// The first words of a tag are checked, all of them, and no others.
#[test]
fn a_grade_of_umac_checks_its_words() {
    use Assurance::{Bits30, Bits60, Bits90, Bits120};
    for level in Level::all() {
        let (mac, nonce) = (Umac128::with_level(&[9; 16], level), UmacNonce::from(5));
        for length in [0, 1, 33, 1024, 1025, 3000] {
            let message = message(length);
            let tag = mac.tag_with(&nonce, &message).expect("no limit in reach");
            for (words, grade) in [(1, Bits30), (2, Bits60), (3, Bits90), (4, Bits120)] {
                let check = |tag: &Tag| mac.verify_prefix(&nonce, &message, tag, grade);
                assert_eq!(check(&tag), Ok(()), "{level}, {length} bytes, {grade:?}");
                for byte in 0..16 {
                    let mut bytes = tag.as_bytes().to_vec();
                    bytes[byte] ^= 1 << (byte % 8);
                    let other = Tag::try_from(&bytes[..]).expect("as long");
                    let expected = if byte < 4 * words { Err(Mismatch) } else { Ok(()) };
                    assert_eq!(check(&other), expected, "{level}, {grade:?}, byte {byte}");
                }
                let part = Tag::try_from(&tag.as_bytes()[..4 * words.min(3)]).expect("4 bytes");
                assert_eq!(check(&part), Err(Mismatch), "{level}, {grade:?}");
                let other = mac.verify_prefix(&UmacNonce::from(6), &message, &tag, grade);
                assert_eq!(other, Err(Mismatch), "{level}, {grade:?}");
            }
        }
    }
}

/// What is loaded is what was saved, on both sides of where POLY-128 begins, and joins as it did.
#[test]
fn parts_of_umac_are_saved_with_their_words() {
    const END: usize = 1 << 24;
    let mac = macs("UMAC-64").pop().expect("the best level");
    let parts = mac.parts().expect("it has parts");
    let blocks = message(6144);
    for (start, length) in [(0, 4096), (END - 4096, 4096), (END - 2048, 6144), (END, 4096)] {
        let blocks = &blocks[..length];
        let part = || parts.new_part(start as u64, blocks).expect("whole blocks");
        let mut saved = Writer::with_capacity(200);
        parts.save(&part(), &mut saved).expect("its own");
        let load = || parts.load(&mut Reader::new(saved.as_bytes())).expect("as it was saved");
        parts.check(&load(), blocks).expect("the same part");
        let before = |part| {
            let left = start.saturating_sub(2048);
            let left = parts.new_part(left as u64, &message(start - left)).expect("a block");
            let whole = parts.join(left, &part).expect("neighbours");
            let mut saved = Writer::with_capacity(200);
            parts.save(&whole, &mut saved).expect("its own");
            saved.as_bytes().to_vec()
        };
        assert_eq!(before(load()), before(part()), "from {start}");
    }
    let part = |from: usize, to: usize| {
        let from_end = END - 4096 + from;
        parts.new_part(from_end as u64, &message(10_240)[from..to]).expect("whole blocks")
    };
    let join = |left, right| parts.join(left, &right).expect("neighbours");
    let all = join(join(part(0, 2048), part(2048, 6144)), part(6144, 10_240));
    parts.check(&all, &message(10_240)).expect("from the left");
    let all = join(part(0, 2048), join(part(2048, 6144), part(6144, 10_240)));
    parts.check(&all, &message(10_240)).expect("from the right");
}

/// Rows of `vectors/umac.json` on the best level: the long ones, which nothing shorter takes the place of.
fn long_rows(wanted: impl Fn(&str, u64) -> bool, least: usize) {
    let mut checked = 0;
    for row in common::rows("umac.json") {
        let bytes = row["msg"]["total_bytes"].as_u64().unwrap_or(0);
        if !wanted(row["msg"]["repeat"].as_str().unwrap_or(""), bytes) {
            continue;
        }
        let name = common::text(&row, "algorithm");
        if name != "UMAC-32" && bytes != 1 << 25 || name == "UMAC-64" || name == "UMAC-96" {
            continue;
        }
        // Misprints of the RFC.
        if row["valid"] == false {
            continue;
        }
        let algorithm = Algorithm::from_name(name).expect("a name");
        let key = common::hex(common::text(&row, "key"));
        let mac = AnyMac::new(algorithm, &key).expect("its own key");
        let (nonce, message) =
            (common::hex(common::text(&row, "nonce")), common::string(&row, "msg"));
        let tag = mac.tag(&nonce, message.bits()).expect("no limit in reach");
        assert_eq!(tag.as_bytes(), common::hex(common::text(&row, "tag")), "{name}, {bytes}");
        checked += 1;
    }
    assert!(checked >= least, "expected {least} rows, found {checked}");
}

#[test]
fn umac_of_the_longest_message_of_the_rfc() {
    long_rows(|text, bytes| text == "61" && bytes == 1 << 25, 2);
}

#[test]
fn umac_around_where_poly_128_begins() {
    let lengths = [1 << 24, (1 << 24) + 1, (1 << 24) + 1024, (1 << 24) + 1025];
    long_rows(|text, bytes| text.starts_with("6465666") && lengths.contains(&bytes), 4);
}

#[test]
fn umac_with_words_of_poly_128_that_take_two_steps() {
    long_rows(|text, bytes| text.starts_with("bbd66b70") && bytes > 1 << 24, 5);
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

/// A key for one message takes powers of r that it makes in passing. As in `registry`, a wrong answer would bring it
/// to a lower level.
#[test]
fn a_key_for_one_message_is_the_same_on_all_levels() {
    let key: [u8; 32] = std::array::from_fn(|i| (11 * i + 3) as u8);
    let on = |level| Poly1305::with_level(&key, level);
    let portable = on(Level::all().next().expect("the portable level"));
    for level in Level::all() {
        assert!(on(level).hash().level() == level, "{level}");
        let r = key.first_chunk().expect("16 of 32 bytes");
        assert!(Poly1305Hash::with_level(r, level).level() == level, "{level}");
        for blocks in (0..24).chain([31, 32, 33, 39, 40, 41, 63, 64, 65, 71, 72, 73, 80, 129, 260])
        {
            for length in [16 * blocks, 16 * blocks + 1, 16 * blocks + 15] {
                let message = message(length);
                let expected = portable.tag(&message).expect("whole bytes");
                assert!(on(level).tag(&message) == Ok(expected), "{level}, {length} bytes");
                let mac = on(level);
                let mut stream = mac.stream();
                message.chunks(16 * 37 + 3).for_each(|piece| _ = stream.update(piece));
                assert!(stream.tag() == Ok(expected), "{level}, {length} bytes in pieces");
            }
        }
    }
}

/// Sums are numbers mod p that need not be below it, and parts compare by what they stand for.
#[test]
fn a_sum_above_the_prime_is_the_same() {
    let mac = macs("POLY1305-AES").pop().expect("the best level");
    let parts = mac.parts().expect("it has parts");
    for blocks in [0, 1, 2, 3, 8, 40] {
        let blocks = message(16 * blocks);
        let part = parts.new_part(0, &blocks).expect("whole blocks");
        let mut saved = Writer::with_capacity(100);
        parts.save(&part, &mut saved).expect("its own");
        let mut limbs: Vec<u64> = (saved.as_bytes().len() - 24..saved.as_bytes().len())
            .step_by(8)
            .map(|at| u64::from_le_bytes(saved.as_bytes()[at..][..8].try_into().expect("8 bytes")))
            .collect();
        let is_same = |limbs: &[u64]| {
            let mut bytes = saved.as_bytes()[..saved.as_bytes().len() - 24].to_vec();
            limbs.iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
            let load = || parts.load(&mut Reader::new(&bytes)).expect("a number below 2^131");
            let part = parts.new_part(0, &blocks).expect("whole blocks");
            let tags = [part, load()].map(|part| parts.finish(part, &[7; 16], b""));
            let is_same = tags[0] == tags[1];
            assert_eq!(parts.check(&load(), &blocks).is_ok(), is_same);
            is_same
        };
        assert!(is_same(&limbs) && limbs[2] < 4);
        // p is 2^130 - 5.
        let (low, carry) = limbs[0].overflowing_add(u64::MAX - 4);
        let (middle, more) = limbs[1].overflowing_add(u64::MAX);
        let (middle, again) = middle.overflowing_add(carry as u64);
        limbs = vec![low, middle, limbs[2] + 3 + more as u64 + again as u64];
        assert!(is_same(&limbs), "{} bytes", blocks.len());
        limbs[0] ^= 1;
        assert!(!is_same(&limbs), "{} bytes", blocks.len());
        // From 2^131 on, nobody has saved it.
        let length = saved.as_bytes().len();
        let mut bytes = saved.as_bytes().to_vec();
        bytes[length - 8..].copy_from_slice(&8u64.to_le_bytes());
        assert!(parts.load(&mut Reader::new(&bytes)).is_err());
    }
}

/// With r = 1 the hash is the sum of the blocks: here from some below p to some above it, and to what is above 2^130.
#[test]
fn hashes_around_the_prime_are_reduced() {
    let algorithm = Algorithm::from_name("POLY1305-AES").expect("a name");
    let mut key = [7; 32];
    key[16..].copy_from_slice(&1u128.to_le_bytes());
    let macs = Level::all()
        .map(|level| AnyMac::with_options(algorithm, &key, 128, level).expect("its own key"));
    let macs: Vec<AnyMac> = macs.collect();
    let pad = |mac: &AnyMac, nonce: &[u8]| {
        let tag = mac.tag(nonce, b"").expect("the empty message");
        u128::from_le_bytes(tag.as_bytes().try_into().expect("16 bytes"))
    };
    // c_1 + c_2 = 2^130 - 2 - less = p + 3 - less, and a block of `more` and a one after it.
    for (less, more) in (0..16).flat_map(|less| [(less, None), (less, Some(0u8)), (less, Some(9))])
    {
        let mut message = u128::MAX.to_le_bytes().to_vec();
        message.extend((u128::MAX - less).to_le_bytes());
        message.extend(more);
        // Mod p, and then mod 2^128: the sum is below 2p.
        let above = 3 - less as i128 + more.map_or(0, |more| 256 + more as i128);
        let expected = if above < 0 { (above - 5) as u128 } else { above as u128 };
        for mac in &macs {
            for count in [1, 4, 8, 9, 16, 17] {
                let nonces: Vec<_> = (0..count).map(|i| [i as u8; 16]).collect();
                let nonces: Vec<&[u8]> = nonces.iter().map(<[u8; 16]>::as_slice).collect();
                let mut tags = vec![Tag::default(); count];
                mac.tag_many(&nonces, &vec![&message[..]; count], &mut tags).expect("short");
                for (tag, nonce) in tags.iter().zip(nonces) {
                    let expected = expected.wrapping_add(pad(mac, nonce)).to_le_bytes();
                    let on = mac.level();
                    assert!(tag.as_bytes() == expected, "{on:?}: {count} of {less}, {more:?}");
                    assert!(mac.tag(nonce, &message) == Ok(*tag), "{on:?}: {less}, {more:?}");
                }
            }
        }
    }
}

/// A stream is the hash under the key from where that stream's begins, whichever way several go at once.
#[cfg(feature = "umac99")]
#[test]
fn streams_of_nh_are_hashes_of_their_own() {
    use tagmac::NhShape;
    use tagmac::hashes::{Nh, NhError};
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

/// Words of four bits: (m_1 + k_1 mod 16) (m_2 + k_2 mod 16), low digit first.
#[cfg(feature = "umac99")]
#[test]
fn nh_of_nibbles_is_its_formula() {
    let shape = tagmac::NhShape::with_nibbles(2).expect("a pair");
    for (k1, k2) in [(0, 0), (1, 15), (9, 7), (15, 15), (3, 8)] {
        let nh = tagmac::hashes::Nh::new(shape, &[k1, k2], &[]).expect("a key");
        for (m1, m2) in (0..16).flat_map(|m1| (0..16).map(move |m2| (m1, m2))) {
            let mut found = [0; 2];
            nh.block(&[m1, m2], &mut found).expect("a block");
            let product = (m1 + k1) % 16 * ((m2 + k2) % 16);
            assert_eq!(found, [product % 16, product / 16], "{k1} {k2} {m1} {m2}");
        }
    }
}

#[cfg(feature = "umac99")]
#[test]
fn blocks_and_shifts_of_nh_end_at_their_limits() {
    use tagmac::NhShape;
    use tagmac::hashes::NhError;
    assert_eq!(NhShape::new(16_384, 32).expect("the longest block").block_bytes(), 65_536);
    let longer = Err(NhError::HashWords { step: 2, max: 16_384, found: 16_386 });
    assert_eq!(NhShape::new(16_386, 32), longer);
    let shape = NhShape::new(64, 32).expect("a block");
    assert!(shape.toeplitz(2, 4096).is_ok() && shape.toeplitz(16, 2).is_ok());
    let shift = Err(NhError::KeyShift { max: 4096, found: 4098 });
    assert_eq!(shape.toeplitz(2, 4098), shift);
    assert_eq!(shape.toeplitz(17, 2), Err(NhError::Streams { max: 16, found: 17 }));
}

/// More hashes of blocks than go to the PRF at once.
#[cfg(feature = "umac99")]
#[test]
fn many_blocks_of_the_first_umac_are_its_pieces() {
    let mac = macs("UMAC99-STD-60").pop().expect("the best level");
    let message = message(300_000);
    let tag = mac.tag(&[3; 8], &message).expect("no limit in reach");
    let mut stream = mac.stream(&[3; 8]).expect("a nonce");
    message.chunks(9001).for_each(|piece| stream.update(piece));
    assert!(stream.tag() == Ok(tag));
}

#[cfg(feature = "umac99")]
#[test]
fn keys_of_the_first_umac_come_from_the_prf_that_is_asked_for() {
    use tagmac::{NhShape, Umac99Parameters, Umac99Prf};
    let shape = NhShape::new(64, 32).expect("a block");
    let by = |prf| Umac99Parameters::new(shape, Umac99Prf::HmacSha1).keys_by(prf).key(&[7; 16]);
    let tags = [Umac99Prf::HmacSha1, Umac99Prf::Cbc3Rc6, Umac99Prf::Cbc3Aes128]
        .map(|prf| by(prf).tag_with(&[1; 8], b"a message").expect("no limit in reach"));
    let own = Umac99Parameters::new(shape, Umac99Prf::HmacSha1).key(&[7; 16]);
    assert!(own.tag_with(&[1; 8], b"a message") == Ok(tags[0]));
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2]);
}

/// Short tags are cut in batches as they are alone: `tags` makes those of a batch, and `tag` one.
fn short_tags(tags: impl Fn(&[&[u8]], &mut [Tag]), tag: impl Fn(&[u8]) -> Tag) {
    let messages: Vec<_> = (0..40).map(message).collect();
    for messages in [messages.iter().collect::<Vec<_>>(), vec![&messages[33]; 20]] {
        let messages: Vec<&[u8]> = messages.into_iter().map(Vec::as_slice).collect();
        let mut found = vec![Tag::default(); messages.len()];
        tags(&messages, &mut found);
        for (found, message) in found.iter().zip(messages) {
            let expected = tag(message);
            assert!(*found == expected && found.as_bytes() == expected.as_bytes());
        }
    }
}

#[test]
fn short_tags_are_cut_in_batches() {
    for level in Level::all() {
        for bits in [1, 8, 13, 20, 61, 64, 127, 128] {
            let pmac = Pmac::<Aes128>::with_level(&[1; 16], level).with_tag_bits(bits);
            let pmac = pmac.expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| pmac.tag_many(all, tags).expect("short");
            short_tags(tags, |message| pmac.tag(message).expect("short"));
            let light = LightMac::<Aes128>::with_level(&[1; 16], &[2; 16], 32, level);
            let light = light.and_then(|mac| mac.with_tag_bits(bits)).expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| light.tag_many(all, tags).expect("short");
            short_tags(tags, |message| light.tag(message).expect("short"));
            let eli = EliMac::with_level(&[1; 16], &[2; 16], level).with_tag_bits(bits);
            let eli = eli.expect("a length");
            let tags = |all: &[&[u8]], tags: &mut [Tag]| eli.tag_many(all, tags).expect("short");
            short_tags(tags, |message| eli.tag(message).expect("short"));
            let cmac = Cmac::<Aes128>::with_level(&[1; 16], level).with_tag_bits(bits);
            let cmac = cmac.expect("a length");
            short_tags(|all, tags| cmac.tag_many(all, tags), |message| cmac.tag(message));
        }
    }
}

/// Messages under raw keys, beside each under a MAC of its own.
macro_rules! raw_keys {
    ($set:expr, $make:expr, $key:expr) => {{
        let (set, make, key) = ($set, $make, $key);
        let check = |lengths: &[usize]| {
            let keys: Vec<_> = (0..lengths.len()).map(|i| key(i as u8)).collect();
            let keys: Vec<_> = keys.iter().collect();
            let messages: Vec<_> = lengths.iter().map(|length| message(*length)).collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let mut tags = vec![Tag::default(); lengths.len()];
            set.tag_many(&keys, &messages, &mut tags).expect("within the limit");
            for (i, tag) in tags.iter().enumerate() {
                let one = make(keys[i]).tag(messages[i]).expect("within the limit");
                assert!(*tag == one, "{i} of {lengths:?}");
            }
            let mut verdicts = vec![Err(Mismatch); lengths.len()];
            assert_eq!(set.verify_many(&keys, &messages, &tags, &mut verdicts), Ok(()));
            if let Some(last) = tags.last_mut() {
                *last = make(keys[0]).tag(b"another").expect("short");
                let all = set.verify_many(&keys, &messages, &tags, &mut verdicts);
                assert_eq!(all, Err(Mismatch));
                assert_eq!(verdicts.iter().position(Result::is_err), Some(lengths.len() - 1));
            }
        };
        for count in [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 15, 16, 17, 18, 19, 20, 33, 64, 65, 67] {
            check(&vec![3 * count % 49; count]);
            check(&(0..count).map(|i| i * 29 % 83).collect::<Vec<_>>());
            check(&(0..count).map(|i| 33 + i % 15).collect::<Vec<_>>());
        }
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 513] {
            check(&[length; 17]);
        }
        // The longest that goes side by side, and longer ones among others.
        for length in [263, 264, 265, 395, 396, 397, 494, 495, 496, 527, 528, 529, 600] {
            check(&[5, length, 7, length, length, 9, length, length, 40]);
        }
    }};
}

#[test]
fn raw_keys_of_pmac_are_its_keys() {
    for level in Level::all() {
        let set = RawKeys::<Pmac<Aes128>>::with_level(level);
        let make = |key: &[u8; 16]| Pmac::<Aes128>::with_level(key, level);
        raw_keys!(set, make, |i: u8| [i.wrapping_mul(7); 16]);
        let set = RawKeys::<Pmac<Aes256>>::with_level(level);
        let make = |key: &[u8; 32]| Pmac::<Aes256>::with_level(key, level);
        raw_keys!(set, make, |i: u8| [i.wrapping_mul(7); 32]);
    }
}

#[test]
fn raw_keys_of_lightmac_are_its_keys() {
    for level in Level::all() {
        for s in [8, 12, 32, 64] {
            let set = RawKeys::<LightMac<Aes128>>::with_level(s, level).expect("a counter");
            let make = |[k1, k2]: &[[u8; 16]; 2]| {
                LightMac::<Aes128>::with_level(k1, k2, s, level).expect("a counter")
            };
            raw_keys!(set, make, |i: u8| [[i; 16], [!i; 16]]);
        }
    }
}
