//! A batch has the same tags as its messages one by one, whatever the other messages are.

use proptest::prelude::*;
use tagmac::batch::{BatchError, Job, tag_many_keys};
use tagmac::cipher::{Aes128, BlockCipher};
use tagmac::hashes::AesFamilies;
use tagmac::isa::Level;
use tagmac::{EliMac, Error, LightMac, LightMacAes128, Mac, Mismatch, Pmac, PmacAes128, Tag};
use tagmac::{Umac64, UmacNonce};
use tagmac_any::{Algorithm, AnyMac};

fn message(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (((i + 1) * (2 * seed + 1) * 167) >> 3) as u8).collect()
}

/// A different nonce for each message.
fn nonce(algorithm: Algorithm, place: usize) -> Vec<u8> {
    let bytes = *algorithm.nonce_bytes().end();
    (place as u128).to_be_bytes()[16 - bytes..].to_vec()
}

/// Tags messages of these lengths in a batch and one by one.
pub fn check(mac: &AnyMac, lengths: &[usize]) {
    let limit = mac.max_message_bytes().unwrap_or(u64::MAX);
    let lengths: Vec<_> = lengths.iter().map(|n| (*n).min(limit as usize)).collect();
    let messages: Vec<_> = lengths.iter().enumerate().map(|(i, n)| message(*n, i)).collect();
    let nonces: Vec<_> = (0..lengths.len()).map(|i| nonce(mac.algorithm(), i)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let nonces: Vec<&[u8]> = nonces.iter().map(Vec::as_slice).collect();
    let mut tags = vec![Tag::default(); lengths.len()];
    mac.tag_many(&nonces, &messages, &mut tags).expect("short messages");
    for (i, tag) in tags.iter().enumerate() {
        let one = mac.tag(nonces[i], messages[i]).expect("a short message");
        let n = lengths[i];
        assert_eq!(tag, &one, "{} {:?}: {n} bytes at {i}", mac.algorithm(), mac.level());
    }
    let mut verdicts = vec![Err(Mismatch); lengths.len()];
    let verified = mac.verify_many(&nonces, &messages, &tags, &mut verdicts);
    assert_eq!(verified, Ok(()), "{}", mac.algorithm());
}

fn every_mac() -> impl Iterator<Item = AnyMac> {
    Level::all().flat_map(|level| {
        Algorithm::all().flat_map(move |algorithm| {
            let key: Vec<u8> = (0..algorithm.new_key_bytes()).map(|i| 3 * i as u8 + 1).collect();
            let tags = [*algorithm.tag_bits().start(), algorithm.default_tag_bits()];
            tags.map(|bits| {
                AnyMac::with_options(algorithm, &key, bits, level).expect("a length it has")
            })
        })
    })
}

#[test]
fn batches_of_every_size_and_length() {
    for mac in every_mac() {
        // One length for all.
        for length in
            [0, 1, 8, 15, 16, 17, 64, 128, 520, 528, 783, 784, 1024, 1025, 2063, 2065, 4100]
        {
            check(&mac, &[length; 70]);
        }
        // Each length next to its neighbours, up to and past the longest that is batched.
        check(&mac, &(0..700).collect::<Vec<_>>());
        check(&mac, &(0..600).rev().step_by(7).collect::<Vec<_>>());
        check(&mac, &(500..2200).step_by(13).collect::<Vec<_>>());
        check(&mac, &(2030..9000).step_by(501).collect::<Vec<_>>());
        check(&mac, &[0, 1100, 2, 2047, 64, 64, 64, 64, 64, 2049, 3, 5, 700, 1023, 1024, 1025]);
        // Enough bytes for EliMAC to cache subkeys, and more than it caches.
        check(&mac, &[3000, 20, 3000, 16, 2000, 5]);
        check(&mac, &[64, 64, 70_000, 3, 66_001, 80_000]);
        // Vectors of one length after vectors of many, and the reverse.
        let mut lengths: Vec<_> = (40..56).chain([20; 16]).chain([3; 16]).chain(1..17).collect();
        lengths.extend([64; 16]);
        check(&mac, &lengths);
        // Few and many.
        for count in [0, 1, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65] {
            check(&mac, &vec![43; count]);
        }
    }
}

/// One MAC of each kind on each level.
fn each_kind() -> impl Iterator<Item = AnyMac> {
    const NAMES: [&str; 9] = [
        "PMAC-AES128",
        "PMAC-PRESENT80",
        "LIGHTMAC-AES128-S32",
        "LIGHTMAC-PRESENT80-S16",
        "ELIMAC-AES128",
        "POLY1305-AES",
        "UMAC-32",
        "UMAC-64",
        "UMAC-128",
    ];
    Level::all().flat_map(|level| {
        NAMES.map(|name| {
            let algorithm = Algorithm::from_name(name).expect("a name");
            let key: Vec<u8> = (0..algorithm.new_key_bytes()).map(|i| 5 * i as u8 + 2).collect();
            let bits = algorithm.default_tag_bits();
            AnyMac::with_options(algorithm, &key, bits, level).expect("a length it has")
        })
    })
}

/// On levels without AES instructions, all pads are made together, however long the messages are.
#[test]
fn long_messages_share_the_call_of_their_pads() {
    for name in ["POLY1305-AES", "UMAC-32", "UMAC-128"] {
        let algorithm = Algorithm::from_name(name).expect("a name");
        let key = vec![0x3a; algorithm.new_key_bytes()];
        let level = Level::all().next().expect("the portable level");
        let bits = algorithm.default_tag_bits();
        let mac = AnyMac::with_options(algorithm, &key, bits, level).expect("a length it has");
        // Past the end of UMAC's POLY-64, among short messages.
        check(&mac, &[1, 1025, (1 << 24) + 3000, 0, 40_000, (1 << 24) + 1, 70]);
    }
}

/// Vectors of messages of different lengths: some end before the others, and all are reordered and
/// restored.
#[test]
fn neighbours_of_other_lengths_keep_their_places() {
    for mac in each_kind() {
        check(&mac, &(0..43).map(|i| (i * 89 + 7) % 310).collect::<Vec<_>>());
    }
}

#[test]
fn every_length_and_every_count() {
    for mac in each_kind() {
        for length in 0..=600 {
            // Whole vectors and some extra messages.
            check(&mac, &vec![length; 32 + length % 29]);
        }
        for count in 0..=130 {
            check(&mac, &vec![33; count]);
            let mixed = |i: usize| (i * 89 + count * 7) % 310;
            check(&mac, &(0..count).map(mixed).collect::<Vec<_>>());
        }
    }
}

/// Messages of any short lengths, of one length, or of any lengths.
fn run() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        prop::collection::vec(0..400usize, 0..70),
        (0..900usize, 0..40usize).prop_map(|(length, count)| vec![length; count]),
        prop::collection::vec(0..2200usize, 0..20),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn any_company(runs in prop::collection::vec(run(), 0..8)) {
        let lengths = runs.concat();
        for algorithm in ["PMAC-AES128", "LIGHTMAC-AES128-S32", "LIGHTMAC-PRESENT80-S16",
            "ELIMAC-AES128", "POLY1305-AES", "UMAC-32", "UMAC-64", "UMAC-128"] {
            let algorithm = Algorithm::from_name(algorithm).expect("a name");
            let key = vec![0x5c; algorithm.new_key_bytes()];
            check(&AnyMac::new(algorithm, &key).expect("a key"), &lengths);
        }
    }
}

/// A weak cipher with blocks of B bytes.
#[derive(Clone)]
struct Toy<const B: usize>([u8; B]);

impl<const B: usize> BlockCipher for Toy<B> {
    const NAME: &'static str = "TOY";
    const KEY_BYTES: usize = B;
    type Block = [u8; B];
    type Key = [u8; B];

    fn new(key: &[u8; B]) -> Self {
        Toy(*key)
    }

    fn encrypt(&self, blocks: &mut [[u8; B]]) {
        assert!(blocks.len() <= 8);
        for block in blocks {
            for i in 0..3 * B {
                let before = block[(i + B - 1) % B].wrapping_mul(29) ^ self.0[i % B];
                block[i % B] = block[i % B].rotate_left(3).wrapping_add(before);
            }
        }
    }
}

/// Tags messages of many lengths in a batch and one by one.
fn check_typed(mac: impl Mac<Nonce = ()>) {
    let messages: Vec<_> = (0..400).map(|i| message(i % 170, i)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let mut tags = vec![Tag::default(); messages.len()];
    mac.tag_many_with(&vec![(); messages.len()], &messages, &mut tags).expect("short messages");
    for (message, tag) in messages.iter().zip(&tags) {
        assert_eq!(*tag, mac.tag_with(&(), *message).expect("a short message"));
    }
}

#[test]
fn blocks_of_other_sizes() {
    check_typed(Pmac::<Toy<8>>::new(&[5; 8]));
    check_typed(Pmac::<Toy<32>>::new(&[6; 32]));
    check_typed(LightMac::<Toy<24>>::new(&[7; 24], &[8; 24], 16).expect("a counter"));
    check_typed(LightMac::<Toy<8>>::new(&[7; 8], &[8; 8], 32).expect("a counter"));
    check_typed(LightMacAes128::new(&[7; 16], &[8; 16], 13).expect("a counter"));
}

#[test]
fn verdicts_say_which() {
    let mac = Umac64::new(&[7; 16]);
    let messages: Vec<_> = (0..200).map(|i| message(3 * i, i)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let nonces: Vec<_> = (0..200).map(UmacNonce::from).collect();
    let mut tags = vec![Tag::default(); 200];
    mac.tag_many_with(&nonces, &messages, &mut tags).expect("short messages");
    let mut verdicts = vec![Err(Mismatch); 200];
    assert_eq!(mac.verify_many_with(&nonces, &messages, &tags, &mut verdicts), Ok(()));
    let wrong = [0, 63, 64, 137, 199];
    for i in wrong {
        let mut bytes = tags[i].as_bytes().to_vec();
        bytes[i % 8] ^= 1 << (i % 7);
        tags[i] = Tag::try_from(&bytes[..]).expect("as long as before");
    }
    assert_eq!(mac.verify_many_with(&nonces, &messages, &tags, &mut verdicts), Err(Mismatch));
    for (i, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict.is_err(), wrong.contains(&i), "message {i}");
    }
}

#[test]
fn a_message_over_the_limit_is_named() {
    // Messages of at most 2^8 blocks of 15 bytes.
    let mac = LightMacAes128::new(&[1; 16], &[2; 16], 8).expect("a counter");
    let long = vec![0; 256 * 15 + 1];
    let messages = [&b"one"[..], b"two", b"three", b"four", &long, b"six"];
    let mut tags = [Tag::default(); 6];
    let error = Error::TooLong { limit_bits: 8 * 256 * 15 };
    assert_eq!(mac.tag_many(&messages, &mut tags), Err(BatchError { index: 4, error }));
    assert_eq!(tags[3], mac.tag(b"four").expect("short"));
    // The others are checked anyway.
    tags[5] = mac.tag(b"six").expect("short");
    let mut verdicts = [Err(Mismatch); 6];
    assert_eq!(mac.verify_many(&messages, &tags, &mut verdicts), Err(Mismatch));
    assert_eq!(verdicts, [Ok(()), Ok(()), Ok(()), Ok(()), Err(Mismatch), Ok(())]);
    let jobs = messages.map(|message| Job { mac: &mac, nonce: (), message });
    assert_eq!(tag_many_keys(&jobs, &mut tags), Err(BatchError { index: 4, error }));
    // After neighbours that were tagged together, alone and under another key.
    let (valid, other) =
        (vec![7; 3000], LightMacAes128::new(&[3; 16], &[4; 16], 8).expect("a counter"));
    let mut many = vec![&b"short"[..]; 70];
    many.extend([&valid[..]; 80]);
    many.push(&long);
    many.extend([&b"short"[..]; 49]);
    let mut tags = vec![Tag::default(); many.len()];
    assert_eq!(mac.tag_many(&many, &mut tags), Err(BatchError { index: 150, error }));
    assert_eq!(tags[149], mac.tag(&valid).expect("within the limit"));
    let job = |(i, message)| Job { mac: if i < 100 { &other } else { &mac }, nonce: (), message };
    let jobs: Vec<_> = many.iter().copied().enumerate().map(job).collect();
    assert_eq!(tag_many_keys(&jobs, &mut tags), Err(BatchError { index: 150, error }));
    // In a batch too small to share vectors.
    let jobs = messages.map(|message| Job { mac: &mac, nonce: (), message });
    let mut tags = [Tag::default(); 6];
    let refused = tag_many_keys(&jobs[3..], &mut tags[3..]).expect_err("a long one");
    assert_eq!(refused, BatchError { index: 1, error });
    let said = "message 1: the message is over this MAC's limit of 30720 bits (3840 bytes)";
    assert_eq!(refused.to_string(), said);
}

#[test]
fn a_refused_message_among_longer_ones_is_named() {
    let messages: Vec<_> = [vec![100; 40], vec![5000], vec![200; 30]].concat();
    let messages: Vec<_> = messages.iter().enumerate().map(|(i, n)| message(*n, i)).collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    for level in Level::all() {
        // Messages of less than 17 blocks. Caches subkeys in the middle of the batch.
        let families = AesFamilies::<6, 4>::new(&[1; 16], level);
        let mac = EliMac::<_, Aes128>::from_families_with_level(families, &[2; 16], level);
        let mut tags = vec![Tag::default(); messages.len()];
        let error = Error::TooLong { limit_bits: 17 * 128 - 1 };
        assert_eq!(mac.tag_many(&messages, &mut tags), Err(BatchError { index: 40, error }));
        for (message, tag) in messages.iter().zip(&tags[..40]) {
            assert_eq!(*tag, mac.tag(message).expect("within the limit"));
        }
    }
}

#[test]
fn a_job_shows_no_message() {
    let job = Job { mac: &PmacAes128::new(&[7; 16]), nonce: (), message: b"secret" };
    assert_eq!(format!("{:?}", Clone::clone(&job)), "Job(6 bytes)");
}

#[test]
fn each_job_is_under_its_own_key() {
    let macs: Vec<_> = (0..50).map(|i| PmacAes128::new(&[i; 16])).collect();
    let messages: Vec<_> = (0..600).map(|i| message(i, i)).collect();
    // Runs of one key, of every length: within a vector, and longer than one batch.
    let key = |i: usize| if i < 200 { i % 50 } else { i / 90 };
    let job = |i: usize| Job { mac: &macs[key(i)], nonce: (), message: &messages[i] };
    let jobs: Vec<_> = (0..600).map(job).collect();
    let mut tags = vec![Tag::default(); 600];
    tag_many_keys(&jobs, &mut tags).expect("short messages");
    for (i, tag) in tags.iter().enumerate() {
        assert_eq!(*tag, macs[key(i)].tag(&messages[i]).expect("short"), "job {i}");
    }
}

#[test]
#[should_panic(expected = "a tag for each message")]
fn slices_of_different_lengths() {
    let _ = PmacAes128::new(&[1; 16]).tag_many(&[b"one", b"two"], &mut [Tag::default()]);
}
