use super::sbox::S;
use super::*;
use crate::isa::{Isa, Kernel, Level, Words};

/// Key, block, E_K of the block: appendix I of the paper.
const ROWS_80: [([u8; 10], u64, u64); 4] = [
    ([0; 10], 0, 0x5579c1387b228445),
    ([0; 10], u64::MAX, 0xa112ffc72f68417b),
    ([0xff; 10], 0, 0xe72c46c0f5945049),
    ([0xff; 10], u64::MAX, 0x3333dcd3213210d2),
];
/// 128-bit keys, from LightMAC's authors (KULeuven-COSIC/lightmac, test_present128.c).
const ROWS_128: [([u8; 16], u64, u64); 4] = [
    ([0; 16], 0, 0x96db702a2e6900af),
    ([0; 16], u64::MAX, 0x3c6019e5e5edd563),
    ([0xff; 16], 0, 0x13238c710272a5d8),
    ([0xff; 16], u64::MAX, 0x628d9fbd4218e5b4),
];

struct Total<'a, const K: usize> {
    cipher: &'a Present<K>,
    blocks: &'a [u64],
}

impl<const K: usize> Kernel for Total<'_, K> {
    type Out = u64;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u64 {
        let mut adder = PresentAdder::new(isa, &self.cipher.0);
        push(isa, &mut adder, self.blocks);
        adder.total()
    }
}

/// Pushes blocks by four vectors, and then by one.
#[inline(always)]
fn push<I: Isa>(isa: I, adder: &mut PresentAdder<'_, I>, mut blocks: &[u64]) {
    let (words, width) = (isa.words(), 2 * I::Words::LANES);
    let vector = |blocks: &[u64]| {
        let mut vector = [0; 8];
        for (word, block) in vector.iter_mut().zip(blocks) {
            *word = block.swap_bytes();
        }
        words.load(&vector[..width])
    };
    while let Some((four, rest)) = blocks.split_at_checked(4 * width) {
        let x = |v: usize| vector(&four[v * width..][..width]);
        adder.push([x(0), x(1), x(2), x(3)]);
        blocks = rest;
    }
    for lanes in blocks.chunks(width) {
        adder.push_lanes(vector(lanes), lanes.len());
    }
}

/// Different blocks.
fn blocks(count: usize) -> Vec<u64> {
    (1..=count as u64).map(|i| i.wrapping_mul(0x9e3779b97f4a7c15)).collect()
}

fn encrypt<const K: usize>(cipher: &Present<K>, blocks: &mut [u64]) {
    for blocks in blocks.chunks_mut(4) {
        let mut x = [0; 4];
        x[..blocks.len()].copy_from_slice(blocks);
        blocks.copy_from_slice(&cipher.0.encrypt_four(x)[..blocks.len()]);
    }
}

fn narrow_total<const K: usize>(cipher: &Present<K>, blocks: &[u64]) -> u64 {
    let mut blocks = blocks.to_vec();
    encrypt(cipher, &mut blocks);
    blocks.iter().fold(0, |total, block| total ^ block)
}

struct One<'a, const K: usize>(&'a Present<K>, u64);

impl<const K: usize> Kernel for One<'_, K> {
    type Out = u64;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> u64 {
        u64::from_be_bytes(self.0.encrypt_one(isa, &self.1.to_be_bytes()))
    }
}

fn vector<const K: usize>((key, block, expected): &([u8; K], u64, u64)) {
    // A key works on every level, whichever level it was made for.
    for made_for in Level::all() {
        let cipher = Present::expand(key, made_for);
        for count in 1..=9 {
            let mut several = vec![*block; count];
            encrypt(&cipher, &mut several);
            assert_eq!(several, vec![*expected; count]);
        }
        assert_eq!(cipher.0.decrypt(*expected), *block);
        // In a batch, at every position. The other blocks come in pairs and cancel out.
        for level in Level::all() {
            let one = level.run(One(&cipher, *block));
            assert_eq!(one, *expected, "{level}, made for {made_for}");
            for place in 0..600 {
                let mut many = blocks(300).repeat(2);
                many.insert(place, *block);
                let total = Total { cipher: &cipher, blocks: &many }.on(level);
                assert_eq!(total, *expected, "{level}, made for {made_for}");
            }
        }
    }
}

impl<const K: usize> Total<'_, K> {
    fn on(self, level: Level) -> u64 {
        level.run(self)
    }
}

#[test]
fn official_vectors() {
    ROWS_80.iter().for_each(vector);
    ROWS_128.iter().for_each(vector);
}

#[test]
fn narrow_inverts() {
    let cipher = Present::<10>::expand(b"0123456789", Level::best());
    let mut encrypted = blocks(50);
    encrypt(&cipher, &mut encrypted);
    for (block, expected) in encrypted.iter().zip(blocks(50)) {
        assert_eq!(cipher.0.decrypt(*block), expected);
    }
}

struct Twice<'a>(&'a Present<10>, &'a [u64]);

impl Kernel for Twice<'_> {
    type Out = [u64; 2];
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [u64; 2] {
        let mut adder = PresentAdder::new(isa, &self.0.0);
        let mut totals = [0; 2];
        for total in &mut totals {
            push(isa, &mut adder, self.1);
            *total = adder.total();
        }
        totals
    }
}

#[test]
fn sums_begin_anew() {
    let cipher = Present::expand(b"0123456789", Level::best());
    for level in Level::all() {
        for count in [0, 3, 50, 200, 600] {
            let blocks = blocks(count);
            let total = narrow_total(&cipher, &blocks);
            assert_eq!(level.run(Twice(&cipher, &blocks)), [total; 2], "{level}, {count} blocks");
        }
    }
}

#[test]
fn sums_on_every_rung() {
    let cipher = Present::<16>::expand(b"0123456789abcdef", Level::best());
    let blocks = blocks(1200);
    for level in Level::all() {
        for count in 0..=1200 {
            let blocks = &blocks[..count];
            let total = Total { cipher: &cipher, blocks }.on(level);
            assert_eq!(total, narrow_total(&cipher, blocks), "{level}, {count} blocks");
        }
    }
}

struct Boxes;

impl Kernel for Boxes {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        fn planes<T>(x: u64, splat: impl Fn(u64) -> T) -> [T; 4] {
            [0, 1, 2, 3].map(|b| splat((x >> b & 1).wrapping_neg()))
        }
        let words = isa.words();
        for (x, s) in S.iter().enumerate() {
            let expected = planes(*s as u64 ^ 0xc, |x| x);
            assert_eq!(sbox::sub(sbox::One, planes(x as u64, |x| x)), expected);
            for k in 0..16 {
                let found = sbox::sub(words, planes(x as u64, |x| words.splat(x)));
                let found = sbox::xor(words, found, planes(k, |x| words.splat(x)));
                for (b, found) in found.into_iter().enumerate() {
                    let mut all = [0; 16];
                    let all = &mut all[..2 * I::Words::LANES];
                    words.store(found, all);
                    let expected = expected[b] ^ (k >> b & 1).wrapping_neg();
                    assert!(all.iter().all(|word| *word == expected));
                }
            }
        }
    }
}

#[test]
fn boxes() {
    Level::all().for_each(|level| level.run(Boxes));
}

/// A conversion costs more than a block, so keys have the form that the kernels of their level use.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[test]
fn no_call_converts_keys() {
    use super::round_keys::CONVERSIONS;
    use crate::{Cmac, LightMac, Pmac, Tag};

    let before = CONVERSIONS.get();
    for level in Level::all() {
        let pmac = Pmac::<Present80>::with_level(&[1; 10], level);
        let lightmac = LightMac::<Present80>::with_level(&[1; 10], &[2; 10], 16, level);
        let (lightmac, cmac) =
            (lightmac.expect("16 bits"), Cmac::<Present80>::with_level(&[3; 10], level));
        for length in (0..40).chain([1600, 5000]) {
            let message = &vec![7; length][..];
            let tag = pmac.tag(message);
            let mut stream = pmac.stream();
            stream.update(message);
            assert_eq!(stream.tag(), tag);
            let tag = lightmac.tag(message).expect("short");
            assert!(lightmac.verify(message, &tag).is_ok());
            assert_eq!(cmac.tag(message), cmac.tag(message));
            let mut tags = vec![Tag::default(); 20];
            pmac.tag_many(&[message; 20], &mut tags).expect("as many tags");
        }
        assert_eq!(CONVERSIONS.get(), before, "{level}");
    }
}
