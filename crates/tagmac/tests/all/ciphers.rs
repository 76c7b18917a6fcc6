//! RustCrypto's ciphers in PMAC and LightMAC.

use des::TdesEde3;
use tagmac::cipher::{Aes128, Aes192, Aes256, BlockCipher, Cipher, RustCrypto};
use tagmac::isa::Level;
use tagmac::{Bits, LightMac, Pmac, Tag};

/// Pseudorandom bytes.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

fn key<C: Cipher>(seed: u64) -> C::Key {
    C::Key::try_from(&bytes(C::KEY_BYTES, seed)).ok().expect("a key")
}

/// Lengths in bits around blocks, vectors and periods of offsets.
fn lengths(n: usize) -> impl Iterator<Item = usize> {
    let around = move |m: usize| [m * n - 8, m * n - 1, m * n, m * n + 1, m * n + 8];
    [0, 1, 7, 8]
        .into_iter()
        .chain([1, 2, 3, 4, 8, 9, 16, 31, 32, 33, 64, 100].into_iter().flat_map(around))
}

/// Asserts that modes over the ciphers A and B have the same tags.
fn equal<A, B>()
where
    A: Cipher<Block = [u8; 16]>,
    B: Cipher<Block = [u8; 16]>,
{
    let (pmac_a, pmac_b) = (Pmac::<A>::new(&key::<A>(1)), Pmac::<B>::new(&key::<B>(1)));
    let light_a = LightMac::<A>::new(&key::<A>(1), &key::<A>(2), 32).expect("a counter");
    let light_b = LightMac::<B>::new(&key::<B>(1), &key::<B>(2), 32).expect("a counter");
    for bits in lengths(128) {
        let data = bytes(bits.div_ceil(8), bits as u64);
        let message = Bits::new(&data, bits).expect("bits");
        assert_eq!(pmac_a.tag(message), pmac_b.tag(message), "PMAC of {bits} bits");
        assert_eq!(light_a.tag(message), light_b.tag(message), "LightMAC of {bits} bits");
    }
}

#[test]
fn aes_of_rust_crypto() {
    equal::<RustCrypto<aes::Aes128>, Aes128>();
    equal::<RustCrypto<aes::Aes192>, Aes192>();
    equal::<RustCrypto<aes::Aes256>, Aes256>();
}

/// E_K of a block as a number.
fn encrypt(cipher: &TdesEde3, block: u64) -> u64 {
    use des::cipher::BlockCipherEncrypt;
    let mut block = block.to_be_bytes().into();
    cipher.encrypt_block(&mut block);
    u64::from_be_bytes(block.into())
}

/// The bits as blocks of up to `r` bits, in the high bits of a `u64`. All but the last block are
/// full.
fn blocks(data: &[u8], bits: usize, r: usize, count: usize) -> Vec<u64> {
    let bit = |i: usize| if i < bits { (data[i / 8] >> (7 - i % 8) & 1) as u64 } else { 0 };
    let block = |b: usize| (0..r).fold(0, |block, i| block << 1 | bit(r * b + i)) << (64 - r);
    (0..count).map(block).collect()
}

/// `1 0*` after the first `bits` bits of a block.
fn one_behind(bits: usize) -> u64 {
    1 << (63 - bits)
}

/// PMAC with n = 64, from Figure 1 of the paper.
fn pmac_of_the_paper(cipher: &TdesEde3, data: &[u8], bits: usize) -> u64 {
    let double = |a: u64| (a << 1) ^ ((a >> 63) * 0x1b);
    let halve = |a: u64| (a >> 1) ^ ((a & 1) * 0x8000_0000_0000_000d);
    let l = encrypt(cipher, 0);
    let m = bits.div_ceil(64).max(1);
    let blocks = blocks(data, bits, 64, m);
    let (mut offset, mut sigma) = (0, 0);
    for i in 1..m {
        offset ^= (0..i.trailing_zeros()).fold(l, |l, _| double(l));
        sigma ^= encrypt(cipher, blocks[i - 1] ^ offset);
    }
    let last = bits - 64 * (m - 1);
    sigma ^= blocks[m - 1] ^ if last == 64 { halve(l) } else { one_behind(last) };
    encrypt(cipher, sigma)
}

/// LightMAC with n = 64, from equation (8) of the paper.
fn lightmac_of_the_paper(k1: &TdesEde3, k2: &TdesEde3, s: usize, data: &[u8], bits: usize) -> u64 {
    let r = 64 - s;
    let l = bits / r + 1;
    let blocks = blocks(data, bits, r, l);
    let mut v = 0;
    for i in 1..l {
        v ^= encrypt(k1, (i as u64) << r | blocks[i - 1] >> s);
    }
    encrypt(k2, v ^ blocks[l - 1] ^ one_behind(bits - r * (l - 1)))
}

#[test]
fn triple_des_as_in_the_papers() {
    use des::cipher::KeyInit;
    type Tdes = RustCrypto<TdesEde3>;
    let keys = [key::<Tdes>(1), key::<Tdes>(2)];
    let [k1, k2] = &keys;
    let [des1, des2] = [TdesEde3::new(k1.into()), TdesEde3::new(k2.into())];
    for level in Level::all() {
        let pmac = Pmac::<Tdes>::with_level(k1, level);
        let light = [8, 13, 16, 32]
            .map(|s| (s, LightMac::<Tdes>::with_level(k1, k2, s, level).expect("a counter")));
        for bits in lengths(64) {
            let data = bytes(bits.div_ceil(8), bits as u64);
            let message = Bits::new(&data, bits).expect("bits");
            let tag = pmac.tag(message).expect("a tag");
            let expected = pmac_of_the_paper(&des1, &data, bits).to_be_bytes();
            assert_eq!(tag.as_bytes(), expected, "PMAC of {bits} bits on {level}");
            for (s, light) in &light {
                let tag = light.tag(message).expect("a tag");
                let expected = lightmac_of_the_paper(&des1, &des2, *s, &data, bits).to_be_bytes();
                assert_eq!(tag.as_bytes(), expected, "LightMAC, {s}, {bits} bits on {level}");
            }
        }
    }
}

/// A permutation of 16 bits.
#[derive(Clone)]
struct Tiny(u16);

impl BlockCipher for Tiny {
    const NAME: &'static str = "TINY";
    const KEY_BYTES: usize = 2;
    type Block = [u8; 2];
    type Key = [u8; 2];

    fn new(key: &[u8; 2]) -> Self {
        Tiny(u16::from_be_bytes(*key))
    }

    fn encrypt(&self, blocks: &mut [[u8; 2]]) {
        for block in blocks {
            let x = u16::from_be_bytes(*block).wrapping_mul(0x9e37) ^ self.0;
            *block = (x ^ x >> 7).wrapping_mul(0x6d2b).to_be_bytes();
        }
    }
}

/// The shortest possible message blocks, of one byte: n = 16, s = 8.
#[test]
fn lightmac_on_sixteen_bits() {
    let [k1, k2] = [[1, 2], [3, 4]];
    let e = |key: &[u8; 2], block: u16| {
        let mut blocks = [block.to_be_bytes()];
        <Tiny as BlockCipher>::new(key).encrypt(&mut blocks);
        u16::from_be_bytes(blocks[0])
    };
    for level in Level::all() {
        let mac = LightMac::<Tiny>::with_level(&k1, &k2, 8, level).expect("a counter");
        for length in 0..=256 {
            let message = bytes(length, length as u64);
            let sum = (1u16..)
                .zip(&message)
                .fold(0x8000, |sum, (i, byte)| sum ^ e(&k1, i << 8 | *byte as u16));
            let expected = e(&k2, sum).to_be_bytes();
            assert_eq!(mac.tag(&message).expect("a tag").as_bytes(), expected, "{length}, {level}");
            let mut stream = mac.stream();
            message.chunks(7).for_each(|piece| {
                stream.update(piece);
            });
            assert_eq!(stream.tag().expect("a tag").as_bytes(), expected, "{length}, {level}");
            let mut many = [Tag::default(); 2];
            mac.tag_many(&[&message, &message], &mut many).expect("tags");
            assert_eq!(many[1].as_bytes(), expected, "{length}, {level}");
        }
        assert!(mac.tag(&[0; 257]).is_err());
    }
}
