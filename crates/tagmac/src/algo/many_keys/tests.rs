use super::*;
use crate::{Cmac, EliMac, LightMac, Pmac, Poly1305Aes};
use crate::{LightMacAes128, PmacAes128, Umac32, Umac64, Umac96, Umac128};

/// A source of pseudorandom bytes.
struct Bytes(u64);

impl Bytes {
    fn next(&mut self) -> u8 {
        // The multiplier of MMIX by Knuth.
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 56) as u8
    }

    fn block<const N: usize>(&mut self) -> [u8; N] {
        array::from_fn(|_| self.next())
    }

    fn message(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|_| self.next()).collect()
    }
}

/// Compares the tags of messages with these lengths, each under its key, with those of single MACs.
fn agree<M: ManyKeys>(set: &RawKeys<M>, lengths: &[usize]) {
    let mut random = Bytes(lengths.iter().sum::<usize>() as u64);
    let keys: Vec<[u8; 64]> = lengths.iter().map(|_| random.block()).collect();
    let messages: Vec<_> = lengths.iter().map(|bytes| random.message(*bytes)).collect();
    let keys: Vec<_> = keys.iter().map(M::key_from_bytes).collect();
    let messages: Vec<_> = messages.iter().map(|message| &message[..]).collect();
    let mut tags = vec![Tag::default(); lengths.len()];
    set.tag_many(&keys, &messages, &mut tags).expect("messages within the limit");
    for i in 0..lengths.len() {
        let whole = M::tag_one(set, keys[i], messages[i]).expect("a message within the limit");
        let bits = set.truncation.bits();
        let mut expected = whole.as_bytes()[..bits.div_ceil(8)].to_vec();
        if !bits.is_multiple_of(8) {
            *expected.last_mut().expect("a byte") &= 0xff << (8 - bits % 8);
        }
        let expected = Tag::new(&expected, bits).expect("a tag");
        assert!(tags[i] == expected, "{}, {i} of {lengths:?}", set.level);
    }
    let mut verdicts = vec![Ok(()); tags.len()];
    assert_eq!(set.verify_many(&keys, &messages, &tags, &mut verdicts), Ok(()));
    if let Some(last) = lengths.len().checked_sub(1) {
        let mut wrong = tags[last].as_bytes().to_vec();
        wrong[0] ^= 0x80;
        tags[last] = Tag::new(&wrong, set.truncation.bits()).expect("a tag");
        assert_eq!(set.verify_many(&keys, &messages, &tags, &mut verdicts), Err(Mismatch));
        assert!(verdicts[..last].iter().all(Result::is_ok) && verdicts[last].is_err());
    }
}

/// Tests all lengths and numbers of messages.
fn agree_everywhere<M: ManyKeys>(set: &RawKeys<M>) {
    assert!(set.passes());
    for bytes in 0..=200 {
        agree(set, &vec![bytes; bytes % 41]);
        agree(set, &vec![bytes; 40 - bytes % 41]);
    }
    for bytes in [255, 256, 257, 495, 496, 511, 512, 513, 527, 528, 529, 1000, 1024, 1025] {
        agree(set, &[bytes; 20]);
    }
    let mut random = Bytes(1);
    for n in 0..=40 {
        for most in [3, 65, 201] {
            let lengths: Vec<_> = (0..n).map(|_| random.next() as usize % most).collect();
            agree(set, &lengths);
        }
    }
    // With long messages, and more messages than a window holds.
    for n in [64, 65, 130, 300] {
        let lengths: Vec<_> = (0..n).map(|_| 5 * random.next() as usize / 2).collect();
        agree(set, &lengths);
    }
    agree(set, &[600; 70]);
}

#[test]
fn pmac_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<PmacAes128>::with_level(level));
        agree_everywhere(&RawKeys::<Pmac<Aes256>>::with_level(level));
    }
}

#[test]
fn lightmac_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<LightMacAes128>::with_level(32, level).expect("32 bits"));
        for s in [8, 12, 16, 40, 64] {
            let set = RawKeys::<LightMac<Aes256>>::with_level(s, level).expect("1 to 64 bits");
            agree(&set, &(0..100).collect::<Vec<_>>());
            agree(&set, &[64; 33]);
        }
    }
    for s in [0, 65] {
        let refused = RawKeys::<LightMacAes128>::new(s).map(|_| ());
        assert_eq!(refused, Err(Error::CounterBits { max: 64, found: s }));
    }
}

#[test]
fn cmac_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<Cmac<Aes128>>::with_level(level));
        agree_everywhere(&RawKeys::<Cmac<Aes256>>::with_level(level));
    }
}

#[test]
fn elimac_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<EliMac>::with_level(level));
    }
}

#[test]
fn poly1305_aes_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<Poly1305Aes>::with_level(level));
    }
}

#[test]
fn umac_is_the_same_one_by_one() {
    for level in Level::all() {
        agree_everywhere(&RawKeys::<Umac32>::with_level(level));
        agree_everywhere(&RawKeys::<Umac64>::with_level(level));
        agree_everywhere(&RawKeys::<Umac96>::with_level(level));
        agree_everywhere(&RawKeys::<Umac128>::with_level(level));
        // Up to one chunk and beyond, in one group.
        let set = RawKeys::<Umac64>::with_level(level);
        agree(&set, &(0..60).map(|i| 1025 - i).collect::<Vec<_>>());
        agree(&set, &(0..60).map(|i| 97 * i % 1300).collect::<Vec<_>>());
    }
}

/// A set with a wrong answer on a level would run on a lower one, where all tags are right.
#[test]
fn they_run_on_the_level_that_they_are_given() {
    for level in Level::all() {
        assert!(RawKeys::<PmacAes128>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Pmac<Aes256>>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Cmac<Aes128>>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Cmac<Aes256>>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<EliMac>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Poly1305Aes>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Umac32>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Umac64>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Umac96>::with_level(level).level == level, "{level}");
        assert!(RawKeys::<Umac128>::with_level(level).level == level, "{level}");
        let set = RawKeys::<LightMacAes128>::with_level(16, level).expect("a counter");
        assert!(set.level == level, "{level}");
        let set = RawKeys::<LightMac<Aes256>>::with_level(64, level).expect("a counter");
        assert!(set.level == level, "{level}");
    }
}

#[test]
fn tags_of_any_length() {
    for bits in [1, 13, 64, 128] {
        let set = RawKeys::<PmacAes128>::new().with_tag_bits(bits).expect("1 to 128 bits");
        agree(&set, &(0..30).map(|i| 20 * i).collect::<Vec<_>>());
        let set = RawKeys::<Cmac<Aes128>>::new().with_tag_bits(bits).expect("1 to 128 bits");
        agree(&set, &(0..30).map(|i| 20 * i).collect::<Vec<_>>());
        let set = RawKeys::<EliMac>::new().with_tag_bits(bits).expect("1 to 128 bits");
        agree(&set, &(0..30).map(|i| 20 * i).collect::<Vec<_>>());
    }
    assert!(RawKeys::<PmacAes128>::new().with_tag_bits(129).is_err());
    agree(&RawKeys::<Pmac<Aes256>>::default(), &[20; 30]);
}

#[test]
fn a_message_over_the_limit_is_refused_and_those_before_have_tags() {
    let set = RawKeys::<LightMacAes128>::new(8).expect("8 bits");
    let (long, key) = ([0; 3841], [[1; 16], [2; 16]]);
    let mut messages = [&long[..5]; 12];
    messages[7] = &long;
    let mut tags = [Tag::default(); 12];
    let refused = set.tag_many(&[&key; 12], &messages, &mut tags);
    assert_eq!(
        refused,
        Err(BatchError { index: 7, error: Error::TooLong { limit_bits: 8 * 3840 } })
    );
    assert!(tags[..7].iter().all(|tag| tag.bits() == 128) && tags[7].bits() == 0);
    let mut verdicts = [Ok(()); 12];
    let mut right = tags;
    right[8..].fill(tags[0]);
    assert!(set.verify_many(&[&key; 12], &messages, &right, &mut verdicts).is_err());
    assert!(verdicts.iter().enumerate().all(|(i, verdict)| verdict.is_ok() == (i != 7)));
}
