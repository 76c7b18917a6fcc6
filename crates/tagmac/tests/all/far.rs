//! Sums far into a message, which tests cannot reach block by block. Compares every level with a
//! slow model of the papers' formulas, one block at a time, around powers of two and up to the
//! limits.

use tagmac::cipher::Aes128;
use tagmac::hazmat::{Construction, Hash, Part};
use tagmac::isa::{Isa, Kernel, Level};
use tagmac::{Bits, EliMac, Error, LightMac, Mac, Pmac, Tag};

/// AES-128 with `rounds` rounds, from FIPS-197, one byte at a time.
struct SlowAes {
    s_box: [u8; 256],
    keys: [[u8; 16]; 11],
}

fn times_two(a: u8) -> u8 {
    a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 }
}

impl SlowAes {
    fn new(key: &[u8; 16]) -> SlowAes {
        // p runs through the powers of 3, and q through those of 1/3.
        let (mut s_box, mut p, mut q) = ([0x63; 256], 1u8, 1u8);
        loop {
            p ^= times_two(p);
            q ^= q << 1;
            q ^= q << 2;
            q ^= q << 4;
            q ^= if q >> 7 == 1 { 0x09 } else { 0 };
            let turned = (1..5).fold(q, |all, bits| all ^ q.rotate_left(bits));
            s_box[p as usize] = turned ^ 0x63;
            if p == 1 {
                break;
            }
        }
        let mut words = [[0; 4]; 44];
        words[..4].copy_from_slice(key.as_chunks().0);
        let mut constant = 1;
        for i in 4..44 {
            let mut word = words[i - 1];
            if i % 4 == 0 {
                word.rotate_left(1);
                word = word.map(|byte| s_box[byte as usize]);
                word[0] ^= constant;
                constant = times_two(constant);
            }
            words[i] = std::array::from_fn(|byte| word[byte] ^ words[i - 4][byte]);
        }
        let keys = std::array::from_fn(|r| {
            *words.as_flattened()[16 * r..].first_chunk().expect("44 words")
        });
        SlowAes { s_box, keys }
    }

    fn rounds(&self, rounds: usize, block: u128) -> u128 {
        let key = |r: usize| u128::from_be_bytes(self.keys[r]);
        let mut state = (block ^ key(0)).to_be_bytes();
        for r in 1..=rounds {
            // SubBytes and ShiftRows; byte row + 4 column.
            state = std::array::from_fn(|i| self.s_box[state[(i + 4 * (i % 4)) % 16] as usize]);
            if r < rounds {
                let before = state;
                for (i, byte) in state.iter_mut().enumerate() {
                    let at = |row: usize| before[i / 4 * 4 + (i + row) % 4];
                    *byte = times_two(at(0) ^ at(1)) ^ at(1) ^ at(2) ^ at(3);
                }
            }
            state = (u128::from_be_bytes(state) ^ key(r)).to_be_bytes();
        }
        u128::from_be_bytes(state)
    }

    fn encrypt(&self, block: u128) -> u128 {
        self.rounds(10, block)
    }
}

/// Random numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 1) % limit
    }

    fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| (self.next() >> 56) as u8).collect()
    }
}

/// Ranges to test, as (blocks before the range, blocks of the range), with at most `most` blocks in
/// all.
fn ranges(random: &mut Random, most: u64) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    // At the limit, and near every power of two.
    for blocks in (0..=140).filter(|blocks| *blocks <= most) {
        ranges.push((most - blocks, blocks));
    }
    for power in 0..64 {
        for before in [0, 1, 31, 32, 33, 127, 128, 129, random.below(150), random.below(150)] {
            ranges.push(((1 << power) - before.min(1 << power), random.below(140)));
        }
    }
    // At random positions of any magnitude.
    for shift in 0..64 {
        for _ in 0..4 {
            ranges.push((random.next() >> shift, random.below(140)));
        }
    }
    ranges.retain(|(first, blocks)| first.checked_add(*blocks).is_some_and(|end| end <= most));
    ranges
}

/// The tag of blocks from byte `at` and a tail, as if nothing came before them.
struct Far<'a, M> {
    mac: &'a M,
    at: u64,
    blocks: &'a [u8],
    tail: &'a [u8],
}

impl<M: Mac<Nonce = ()>> Kernel for Far<'_, M> {
    type Out = Tag;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Tag {
        let hash = self.mac.hash();
        let mut sum = hash.empty();
        hash.absorb(isa, &mut sum, self.at, self.blocks);
        let end = self.at + self.blocks.len() as u64;
        let digest = hash.finish(isa, &sum, end, self.tail.into());
        self.mac.finalize_tag(isa, &(), &mut M::PadCache::default(), digest)
    }
}

/// Checks ranges of one MAC on all levels. `term` is the term of the block with that number, from
/// 1.
fn check<M: Mac<Nonce = ()>>(
    name: &str,
    macs: &[M],
    ranges: &[(u64, u64)],
    random: &mut Random,
    term: impl Fn(u64, &[u8]) -> u128,
    last: &SlowAes,
) {
    assert!(ranges.len() > 100, "{name}: only {} ranges", ranges.len());
    let step = macs[0].hash().block();
    let tail = [0x5c; 3];
    let padded = 0x5c5c_5c80 << 96;
    for &(first, count) in ranges {
        let blocks = random.bytes(count * step as u64);
        let numbered = (first..).zip(blocks.chunks(step));
        let sum = numbered.fold(0, |sum, (before, block)| sum ^ term(before + 1, block));
        let expected = Tag::new(&last.encrypt(sum ^ padded).to_be_bytes(), 128).expect("a block");
        for mac in macs {
            let (level, at) = (mac.hash().level(), first * step as u64);
            let tag = level.run(Far { mac, at, blocks: &blocks, tail: &tail });
            assert!(tag == expected, "{name} on {level}: {count} blocks after {first}");
            let part = Part::new(mac.hash(), at, &blocks).expect("within the limit");
            assert_eq!((part.start(), part.end()), (at, at + blocks.len() as u64));
        }
    }
}

#[test]
fn the_model_is_aes() {
    let key: [u8; 16] = std::array::from_fn(|i| i as u8);
    let block = SlowAes::new(&key).encrypt(0x00112233445566778899aabbccddeeff);
    assert_eq!(block, 0x69c4e0d86a7b0430d8cdb78070b4c55a, "FIPS-197, appendix C.1");
}

#[test]
fn pmac_at_any_offset() {
    /// Fewer than 2^64 bits.
    const MAX_BLOCKS: u64 = (1 << 57) - 1;
    let (mut random, key) = (Random(1), [0x5a; 16]);
    let aes = SlowAes::new(&key);
    let macs: Vec<_> = Level::all().map(|level| Pmac::<Aes128>::with_level(&key, level)).collect();
    let l = aes.encrypt(0);
    // The i-th word of the Gray code times L, bit by bit.
    let term = |i: u64, block: &[u8]| {
        let (mut offset, mut power) = (0, l);
        for bit in 0..64 {
            if (i ^ i >> 1) >> bit & 1 == 1 {
                offset ^= power;
            }
            power = power << 1 ^ if power >> 127 == 1 { 0x87 } else { 0 };
        }
        aes.encrypt(u128::from_be_bytes(block.try_into().expect("16 bytes")) ^ offset)
    };
    let mut ranges = ranges(&mut random, MAX_BLOCKS);
    // From every position in a period, up to its end and beyond, at a power of two.
    for place in 0..32 {
        for power in 5..57 {
            for over in [0, 1, 33, random.below(100)] {
                let first = (1 << power) - 32 + place;
                ranges.push((first, (32 - place + over).min(MAX_BLOCKS - first)));
            }
        }
    }
    check("PMAC", &macs, &ranges, &mut random, term, &aes);
    for mac in &macs {
        assert!(Part::new(mac, 16 * MAX_BLOCKS, &[]).is_ok());
        assert!(Part::new(mac, 16 * MAX_BLOCKS, &[0; 16]).is_err());
        for start in [1 << 61, 1 << 63, u64::MAX - 15] {
            assert!(Part::new(mac, start, &[]).is_err(), "a start at byte {start}");
            assert!(Part::new(mac, start, &[0; 16]).is_err(), "a start at byte {start}");
        }
    }
}

#[test]
fn lightmac_at_any_offset() {
    let (k1, k2) = ([0x5b; 16], [0x5d; 16]);
    let (aes, last) = (SlowAes::new(&k1), SlowAes::new(&k2));
    for s in (8..=64).step_by(8) {
        let mut random = Random(s as u64);
        let mac = |level| LightMac::<Aes128>::with_level(&k1, &k2, s, level).expect("8 to 64 bits");
        let macs: Vec<_> = Level::all().map(mac).collect();
        let step = 16 - s / 8;
        let term = |i: u64, block: &[u8]| {
            let message = block.iter().fold(0, |all, byte| all << 8 | *byte as u128);
            // Block 2^s is encoded as 0^s, as by this shift.
            aes.encrypt((i as u128) << (128 - s) | message)
        };
        // 2^s blocks, or the number that fits in fewer than 2^64 bits.
        let most = if s < 64 { 1 << s } else { u64::MAX / 64 };
        let ranges = ranges(&mut random, most);
        assert!(s == 64 || ranges.contains(&(most - 1, 1)), "the block that is written 0^s");
        check(&format!("LightMAC, s = {s}"), &macs, &ranges, &mut random, term, &last);
        for mac in &macs {
            let end = most * step as u64;
            assert!(Part::new(mac, end, &[]).is_ok(), "s = {s}");
            assert!(Part::new(mac, end, &vec![0; step]).is_err(), "s = {s}");
        }
    }
}

#[test]
fn elimac_at_any_offset() {
    /// The largest i.
    const MAX_BLOCKS: u64 = u32::MAX as u64;
    let (k1, k2) = ([0x5e; 16], [0x5f; 16]);
    let (h, i, last) = (SlowAes::new(&k1), SlowAes::new(&[0; 16]), SlowAes::new(&k2));
    let term = |number: u64, block: &[u8]| {
        let four_times = number as u128 * 0x00000001_00000001_00000001_00000001;
        let subkey = h.rounds(7, four_times);
        i.rounds(4, subkey ^ u128::from_be_bytes(block.try_into().expect("16 bytes")))
    };
    let mut macs = Vec::new();
    for cached in [0, 16, 17, 160, 1000, 5000] {
        macs.extend(
            Level::all().map(|level| EliMac::with_level(&k1, &k2, level).with_cache(cached)),
        );
    }
    let mut random = Random(3);
    let mut ranges = ranges(&mut random, MAX_BLOCKS);
    // Around the end of the cache.
    for _ in 0..400 {
        ranges.push((random.below(330), random.below(140)));
    }
    check("EliMAC", &macs, &ranges, &mut random, term, &last);
}

type EliHash = <EliMac as Construction>::Hash;

/// EliMAC without its blocks: a message of any length takes no time.
struct Hollow(EliMac);

impl Hash for Hollow {
    type Sum = <EliHash as Hash>::Sum;
    type Digest = <EliHash as Hash>::Digest;
    type BlockBuffer = <EliHash as Hash>::BlockBuffer;
    const LAST_BLOCK_DISTINCT: bool = <EliHash as Hash>::LAST_BLOCK_DISTINCT;
    const ACCEPTS_BIT_STRINGS: bool = <EliHash as Hash>::ACCEPTS_BIT_STRINGS;

    fn level(&self) -> Level {
        self.0.hash().level()
    }

    fn block(&self) -> usize {
        self.0.hash().block()
    }

    fn limit_bits(&self) -> u64 {
        self.0.hash().limit_bits()
    }

    fn empty(&self) -> Self::Sum {
        self.0.hash().empty()
    }

    fn new_buffer(&self) -> Self::BlockBuffer {
        self.0.hash().new_buffer()
    }

    fn absorb<I: Isa>(&self, _isa: I, _sum: &mut Self::Sum, _at: u64, _blocks: &[u8]) {}

    fn join(&self, left: &mut Self::Sum, right: &Self::Sum) {
        self.0.hash().join(left, right);
    }

    fn ct_eq(&self, one: &Self::Sum, other: &Self::Sum) -> bool {
        self.0.hash().ct_eq(one, other)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, sum: &Self::Sum, at: u64, tail: Bits<'_>) -> Self::Digest {
        self.0.hash().finish(isa, sum, at, tail)
    }
}

impl Construction for Hollow {
    type Hash = Self;
    type Nonce = ();
    type PadCache = ();

    fn hash(&self) -> &Self {
        self
    }

    fn output_bits(&self) -> usize {
        Mac::tag_bits(&self.0)
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        _nonce: &(),
        pad: &mut (),
        digest: <Self as Hash>::Digest,
    ) -> Tag {
        self.0.finalize_tag(isa, &(), pad, digest)
    }
}

#[test]
fn elimac_ends_at_its_limit() {
    const END: u64 = (1 << 36) - 16;
    let zeros = vec![0; 1 << 26];
    for level in Level::all() {
        let mac = Hollow(EliMac::with_level(&[1; 16], &[2; 16], level));
        let part = || {
            let mut part = Part::new(&mac, 0, &[]).expect("aligned");
            while part.end() < END {
                let bytes = (END - part.end()).min(1 << 26) as usize;
                let next = Part::new(&mac, part.end(), &zeros[..bytes]).expect("within the limit");
                part = part.join(&mac, &next).expect("neighbours");
            }
            part
        };
        assert_eq!((part().start(), part().end()), (0, END));
        for bits in [0, 8, 120, 121, 127] {
            let rest = vec![0x77; usize::div_ceil(bits, 8)];
            let rest = Bits::new(&rest, bits).expect("as many bytes");
            // Without the blocks, the tag is that of the rest alone.
            assert!(
                part().finish(&mac, &(), rest) == Ok(mac.0.tag(rest).expect("short")),
                "{bits} bits on {level}"
            );
        }
        let over = Err(Error::TooLong { limit_bits: (1 << 39) - 1 }.into());
        for bytes in [16, 17, 32] {
            assert!(part().finish(&mac, &(), &vec![0; bytes]) == over, "{bytes} bytes on {level}");
        }
        assert!(Part::new(&mac, END, &[]).is_ok());
        assert!(Part::new(&mac, END, &[0; 16]).map(|_| ()) == over.map(|_: Tag| ()));
    }
}
