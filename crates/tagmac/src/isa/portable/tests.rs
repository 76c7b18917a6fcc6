//! Tests both portable levels against FIPS-197 and other definitions on bytes.

use super::sbox::tests::{sub_byte, times};
use super::*;

fn xor(a: Block, b: Block) -> Block {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// FIPS-197, sections 5.1.1 and 5.1.2, on bytes.
fn sub_shift(a: Block) -> Block {
    core::array::from_fn(|i| sub_byte(a[(i + 4 * (i % 4)) % 16]))
}

/// Section 5.1.3.
fn mix_columns(a: Block) -> Block {
    core::array::from_fn(|i| {
        let row = |by: usize| a[i / 4 * 4 + (i + by) % 4];
        times(2, row(0)) ^ times(3, row(1)) ^ row(2) ^ row(3)
    })
}

/// Pseudorandom blocks.
fn blocks(seed: u64) -> [u8; 16 * LANES] {
    let mut state = seed;
    core::array::from_fn(|_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    })
}

fn block(p: &[u8], j: usize) -> Block {
    p[16 * j..][..16].try_into().unwrap()
}

/// Asserts that lane j of `a` is `expected(j)`.
fn assert_lanes<I: Isa>(isa: I, a: I::V, expected: impl Fn(usize) -> Block) {
    let mut p = [0; 16 * LANES];
    isa.store_lanes(a, &mut p[..16 * I::LANES]);
    for j in 0..I::LANES {
        assert_eq!(block(&p, j), expected(j), "lane {j}");
    }
}

fn rounds<I: Isa>(isa: I) {
    let key = block(&blocks(1), 0);
    let p = blocks(2);
    let (a, k) = (isa.load(&p[..16 * I::LANES]), isa.splat(&key));
    assert_lanes(isa, a, |j| block(&p, j));
    assert_lanes(isa, k, |_| key);
    assert_lanes(isa, isa.xor(a, k), |j| xor(block(&p, j), key));
    assert_lanes(isa, isa.aes_last(a, k), |j| xor(sub_shift(block(&p, j)), key));
    assert_lanes(isa, isa.aes(a, k), |j| xor(mix_columns(sub_shift(block(&p, j))), key));
    // Keys that differ between lanes.
    let q = blocks(3);
    let k = isa.load(&q[..16 * I::LANES]);
    assert_lanes(isa, isa.aes(a, k), |j| xor(mix_columns(sub_shift(block(&p, j))), block(&q, j)));
    assert_eq!(isa.lane0(a), block(&p, 0));
    let sum = (0..I::LANES).fold([0; 16], |sum, j| xor(sum, block(&p, j)));
    assert_eq!(isa.narrow().lane0(isa.xor_lanes(a)), sum);
}

#[test]
fn rounds_match_bytes() {
    rounds(PortableWide(()));
    rounds(PortableNarrow(()));
}

/// FIPS-197, section 5.2.
fn round_keys(key: &[u8]) -> [Block; 15] {
    let nk = key.len() / 4;
    let mut words = [[0u8; 4]; 60];
    words[..nk].copy_from_slice(key.as_chunks().0);
    let mut rcon = 1;
    for i in nk..60 {
        let mut word = words[i - 1];
        if i % nk == 0 {
            word.rotate_left(1);
            word = word.map(sub_byte);
            word[0] ^= rcon;
            rcon = times(2, rcon);
        } else if nk > 6 && i % nk == 4 {
            word = word.map(sub_byte);
        }
        words[i] = core::array::from_fn(|b| words[i - nk][b] ^ word[b]);
    }
    core::array::from_fn(|r| block(words.as_flattened(), r))
}

fn ciphers<I: Isa>(isa: I) {
    // FIPS-197, appendix C: the bytes of the key of 16, 24 or 32 bytes count from 0.
    let key: [u8; 32] = core::array::from_fn(|i| i as u8);
    let plain = 0x00112233445566778899aabbccddeeffu128.to_be_bytes();
    for (length, rounds, cipher) in [
        (16, 10, 0x69c4e0d86a7b0430d8cdb78070b4c55au128),
        (24, 12, 0xdda97ca4864cdfe06eaf70a0ec0d7191),
        (32, 14, 0x8ea2b7ca516745bfeafc49904b496089),
    ] {
        let keys = round_keys(&key[..length]);
        let prepared = isa.keys(&keys);
        let mut x = isa.xor(isa.splat(&plain), isa.key(&prepared, 0));
        for r in 1..rounds {
            x = isa.aes(x, isa.key(&prepared, r));
        }
        x = isa.aes_last(x, isa.key(&prepared, rounds));
        assert_lanes(isa, x, |_| cipher.to_be_bytes());
    }
}

#[test]
fn fips_197() {
    ciphers(PortableWide(()));
    ciphers(PortableNarrow(()));
}

fn some_lanes<I: Isa>(isa: I) {
    let p = blocks(4);
    let whole = isa.load(&p[..16 * I::LANES]);
    for n in 0..=I::LANES {
        let first = |j| if j < n { block(&p, j) } else { [0; 16] };
        assert_lanes(isa, isa.load_lanes(&p[..16 * n]), first);
        assert_lanes(isa, isa.keep_lanes(whole, n), first);
        // Stores only whole blocks, and no byte more.
        let mut stored = [0xee; 16 * LANES + 16];
        isa.store_lanes(whole, &mut stored[..16 * n + 15 * (n < I::LANES) as usize]);
        assert_eq!(stored[..16 * n], p[..16 * n]);
        assert!(stored[16 * n..].iter().all(|byte| *byte == 0xee));
    }
    let b = block(&p, 0);
    let last = I::LANES - 1;
    assert_lanes(isa, isa.set_last_lane(&b), |j| if j == last { b } else { [0; 16] });
}

#[test]
fn lanes_beyond_are_zero() {
    some_lanes(PortableWide(()));
    some_lanes(PortableNarrow(()));
}

fn counters<I: Isa>(isa: I) {
    const LAYOUTS: [Block; 3] = [
        [3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0],
        [7, 6, 5, 4, 3, 2, 1, 0, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO],
        [ZERO, 5, ZERO, 0, 7, 1, ZERO, 2, ZERO, ZERO, 4, 3, 6, ZERO, ZERO, 0],
    ];
    let edges = [0, 0xff, 0xffff_ffff, 0x0123_4567_89ab_cdef, u64::MAX];
    for first in
        edges.into_iter().flat_map(|e| (0..34).map(move |i| e.wrapping_add(i).wrapping_sub(17)))
    {
        for layout in LAYOUTS {
            let lane = |first: u64, j: usize| {
                let c = first.wrapping_add(j as u64).to_le_bytes();
                layout.map(|i| if i == ZERO { 0 } else { c[i as usize] })
            };
            let (counter, prepared) = (isa.counter(first), isa.counter_layout(&layout));
            assert_lanes(isa, isa.encode_counter(counter, prepared), |j| lane(first, j));
            let next = first.wrapping_add(I::LANES as u64);
            assert_lanes(isa, isa.encode_counter(isa.advance(counter), prepared), |j| {
                lane(next, j)
            });
        }
    }
}

#[test]
fn counters_in_forms() {
    counters(PortableWide(()));
    counters(PortableNarrow(()));
}

fn spreads<I: Isa>(isa: I) {
    let data: [u8; 3 * 16 * LANES] = core::array::from_fn(|i| (i * 167 + i / 256 + 1) as u8);
    for step in 8..=16 {
        let stride = isa.stride(step);
        for at in [16 - step, 16] {
            let piece = |j: usize| {
                let mut b = [0; 16];
                b[16 - step..].copy_from_slice(&data[at + j * step..][..step]);
                b
            };
            for (v, a) in isa.load_strided::<2>(&data, at, stride).into_iter().enumerate() {
                assert_lanes(isa, a, |j| piece(v * I::LANES + j));
            }
            for n in 0..=I::LANES {
                let a = isa.load_strided_lanes(&data[..at + n * step], at, n, stride);
                assert_lanes(isa, a, |j| if j < n { piece(j) } else { [0; 16] });
            }
        }
    }
}

#[test]
fn pieces_end_blocks() {
    spreads(PortableWide(()));
    spreads(PortableNarrow(()));
}
