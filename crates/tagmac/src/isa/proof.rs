//! What every rung must get right before its first use: one AES round and one last round from
//! FIPS-197 (appendix C.1), and each lane operation against its definition on bytes.

use super::{Block, Isa, ZERO};

/// Rounds 1 and 10 of FIPS-197, appendix C.1: state, round key, next state.
const ROUND: [Block; 3] = [
    0x00102030405060708090a0b0c0d0e0f0u128.to_be_bytes(),
    0xd6aa74fdd2af72fadaa678f1d6ab76feu128.to_be_bytes(),
    0x89d810e8855ace682d1843d8cb128fe4u128.to_be_bytes(),
];
const LAST_ROUND: [Block; 3] = [
    0xbd6e7c3df2b5779e0b61216e8b10b689u128.to_be_bytes(),
    0x13111d7fe3944a17f307a78b4d2b30c5u128.to_be_bytes(),
    0x69c4e0d86a7b0430d8cdb78070b4c55au128.to_be_bytes(),
];

/// The widest rung's blocks.
const MOST: usize = 16;

fn xor(a: Block, b: Block) -> Block {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// The xor of the lanes as bytes.
#[inline(always)]
fn folded<I: Isa>(isa: I, a: I::V) -> Block {
    isa.narrow().first_lane(isa.fold(a))
}

/// Whether the rung computes what [`Isa`] says.
#[inline(always)]
pub(super) fn holds<I: Isa>(isa: I) -> bool {
    let narrow = isa.narrow();
    let round = narrow.first_lane(narrow.aes(narrow.splat(&ROUND[0]), narrow.splat(&ROUND[1])));
    let last = narrow
        .first_lane(narrow.aes_last(narrow.splat(&LAST_ROUND[0]), narrow.splat(&LAST_ROUND[1])));
    let mut holds = round == ROUND[2] && last == LAST_ROUND[2];

    // Blocks unlike each other in every byte, and what the narrow rung makes of each.
    let mut message = [0; 16 * MOST];
    for (i, byte) in message.iter_mut().enumerate() {
        *byte = (i * 167 + i / 16 + 1) as u8;
    }
    let block = |j: usize| -> Block { core::array::from_fn(|i| message[16 * j + i]) };
    let whole = &message[..16 * I::LANES];
    let (a, k) = (isa.load(whole), isa.splat(&ROUND[1]));
    let found = [
        folded(isa, isa.aes(a, k)),
        folded(isa, isa.aes_last(a, k)),
        folded(isa, isa.xor3(isa.aes(a, k), a, isa.xor(a, k))),
    ];
    let mut expected = [[0; 16]; 3];
    for j in 0..I::LANES {
        let (a, k) = (narrow.splat(&block(j)), narrow.splat(&ROUND[1]));
        expected[0] = xor(expected[0], narrow.first_lane(narrow.aes(a, k)));
        expected[1] = xor(expected[1], narrow.first_lane(narrow.aes_last(a, k)));
        expected[2] = xor(expected[2], xor(narrow.first_lane(narrow.aes(a, k)), ROUND[1]));
    }
    holds &= found == expected;
    holds &= isa.first_lane(a) == block(0);
    for n in 0..=I::LANES {
        holds &= lanes_hold(isa, &message, n);
    }
    holds
}

/// Partial loads, counters and spread pieces, seen through the xor of the lanes.
#[inline(always)]
fn lanes_hold<I: Isa>(isa: I, message: &[u8; 16 * MOST], n: usize) -> bool {
    const FORM: Block = {
        let mut form = [ZERO; 16];
        let mut byte = 0;
        while byte < 8 {
            form[byte + 3] = 7 - byte as u8;
            byte += 1;
        }
        form
    };
    const STEP: usize = 11;
    const AT: usize = 6;
    let first = u64::MAX - 1;
    let counter = isa.counter(first.wrapping_sub(I::LANES as u64));
    let encoded = isa.encode(isa.advance(counter), isa.form(&FORM));
    let spread = isa.spread(STEP);
    let mut blocks = [0; 16];
    let mut counters = [0; 16];
    let mut pieces = [0; 16];
    for j in 0..n {
        blocks = xor(blocks, core::array::from_fn(|i| message[16 * j + i]));
        let count = first.wrapping_add(j as u64).to_le_bytes();
        counters = xor(
            counters,
            core::array::from_fn(|i| if FORM[i] == ZERO { 0 } else { count[FORM[i] as usize] }),
        );
        pieces = xor(
            pieces,
            core::array::from_fn(|i| match i.checked_sub(16 - STEP) {
                Some(byte) => message[AT + STEP * j + byte],
                None => 0,
            }),
        );
    }
    let whole = isa.load(&message[..16 * I::LANES]);
    let last = isa.last_lane(&ROUND[0]);
    folded(isa, isa.load_lanes(&message[..16 * n])) == blocks
        && folded(isa, isa.keep_lanes(whole, n)) == blocks
        && folded(isa, isa.keep_lanes(encoded, n)) == counters
        && folded(isa, isa.load_spread_lanes(message, AT, n, spread)) == pieces
        && (n < I::LANES || folded(isa, isa.load_spread::<1>(message, AT, spread)[0]) == pieces)
        && folded(isa, isa.keep_lanes(last, n)) == if n == I::LANES { ROUND[0] } else { [0; 16] }
        && isa.narrow().first_lane(isa.tail(&message[..n])) == super::zero_filled(&message[..n])
}
