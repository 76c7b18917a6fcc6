//! What every rung must get right before its first use: one AES round and one last round from
//! FIPS-197 (appendix C.1), each lane operation against its definition on bytes, and each operation
//! on words against its definition on plain words.

use super::{Block, Isa, Lanes, Words, ZERO};

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
    let words = isa.words();
    holds && words_hold(words, &message) && words_hold(words.narrow(), &message)
}

/// A vector's words; zeros after them.
#[inline(always)]
fn stored<A: Words>(a: A, w: A::W) -> [u64; MOST] {
    let mut words = [0; MOST];
    a.store(w, &mut words[..2 * A::LANES]);
    words
}

/// All operations on words.
#[inline(always)]
fn words_hold<A: Words>(a: A, message: &[u8; 16 * MOST]) -> bool {
    const LOW: u64 = u32::MAX as u64;
    const LOW52: u64 = (1 << 52) - 1;
    let n = 2 * A::LANES;
    // Words x and y of two vectors, and all words of 2 LANES blocks.
    let (mut x, mut y, mut all) = ([0; MOST], [0; MOST], [0; 2 * MOST]);
    for (word, bytes) in all.iter_mut().zip(message.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    x[..n].copy_from_slice(&all[..n]);
    y[..n].copy_from_slice(&all[n..2 * n]);
    let (v, w) = (a.blocks(&message[..8 * n]), a.blocks(&message[8 * n..16 * n]));
    let mut holds = stored(a, v) == x && stored(a, w) == y;

    let low52 = a.splat(LOW52);
    let (v52, w52) = (a.and(v, low52), a.and(w, low52));
    let [sum0, sum1] = a.mul52([w, v], v52, w52);
    // Ones and zeros: the greatest products, and carries out of both halves.
    let ones = a.splat(u64::MAX);
    let [most0, most1] = a.mul52([w, v], low52, low52);
    let found = [
        stored(a, a.and(v, w)),
        stored(a, a.or(v, w)),
        stored(a, a.add(v, w)),
        stored(a, a.add32(v, w)),
        stored(a, a.mul32(v, w)),
        stored(a, a.mul32(ones, ones)),
        stored(a, a.add32(v, ones)),
        stored(a, a.and(a.high32(v), a.splat(LOW))),
        stored(a, a.shl(v, 26)),
        stored(a, a.shr(v, 26)),
        stored(a, a.shl(v, 63)),
        stored(a, a.shr(v, 63)),
        stored(a, a.shr_pair(v, w, 44)),
        stored(a, sum0),
        stored(a, sum1),
        stored(a, most0),
        stored(a, most1),
        stored(a, ones),
        stored(a, a.xor(v, w)),
        stored(a, a.and_not(v, w)),
        stored(a, a.splat32(u32::MAX)),
        stored(a, a.splat32(0)),
        stored(a, a.load(&y[..n])),
        stored(a, a.swap_bytes(v)),
        stored(a, a.first(x[1])),
    ];
    let mut expected = [[0; MOST]; 25];
    for j in 0..n {
        let (x, y) = (x[j], y[j]);
        let product = (x & LOW52) as u128 * (y & LOW52) as u128;
        let most = LOW52 as u128 * LOW52 as u128;
        let words = [
            x & y,
            x | y,
            x.wrapping_add(y),
            ((x & LOW) + (y & LOW)) & LOW | ((x >> 32) + (y >> 32)) << 32,
            (x & LOW) * (y & LOW),
            LOW * LOW,
            (x & LOW).wrapping_sub(1) & LOW | (x >> 32).wrapping_sub(1) << 32,
            x >> 32,
            x << 26,
            x >> 26,
            x << 63,
            x >> 63,
            (((y as u128) << 64 | x as u128) >> 44) as u64,
            y.wrapping_add(product as u64 & LOW52),
            x.wrapping_add((product >> 52) as u64),
            y.wrapping_add(most as u64 & LOW52),
            x.wrapping_add((most >> 52) as u64),
            u64::MAX,
            x ^ y,
            x & !y,
            u64::MAX,
            0,
            y,
            x.swap_bytes(),
            0,
        ];
        for (row, word) in expected.iter_mut().zip(words) {
            row[j] = word;
        }
    }
    expected[24][0] = x[1];
    holds &= found == expected;
    holds &= signed_hold(a, v, w, &x, &y);

    // The sums of the lanes and of all words.
    let mut sums = [0u64; 2];
    for j in 0..n {
        sums[j % 2] = sums[j % 2].wrapping_add(x[j]);
    }
    let narrow = a.narrow();
    let mut folded = [0; 2];
    narrow.store(a.fold(v), &mut folded);
    holds &= folded == sums && a.sum(v) == sums[0].wrapping_add(sums[1]);

    holds &= planes_hold(a, x[0]);
    for step in 4..=8 {
        let mut pieces = [0; MOST];
        for (j, word) in pieces[..n].iter_mut().enumerate() {
            let (piece, mut bytes) = (&message[8 + j * step..][..step], [0; 8]);
            bytes[8 - step..].copy_from_slice(piece);
            *word = u64::from_le_bytes(bytes);
        }
        holds &= stored(a, a.pieces(message, 8, step)) == pieces;
    }

    // Blocks of each half or word by word: all of them once, in one order.
    let blocks = &message[..16 * n];
    let (even, odd) = a.even_odd(blocks);
    let (even, odd) = (stored(a, even), stored(a, odd));
    let (first, second) = a.columns(blocks);
    let (first, second) = (stored(a, first), stored(a, second));
    let mut numbers = [0; MOST];
    for (number, bytes) in numbers.iter_mut().zip(message.as_chunks().0) {
        *number = u128::from_le_bytes(*bytes);
    }
    let (again, too) = a.columns_of(&numbers[..n]);
    holds &= stored(a, again) == first && stored(a, too) == second && first[0] == all[0];
    for j in 0..n {
        let pair = [all[2 * j], all[2 * j + 1]];
        let mut seen = 0;
        for place in 0..n {
            seen += ([first[place], second[place]] == pair) as u32;
        }
        holds &= seen == 1;
    }
    for j in 0..A::LANES {
        let four = [all[4 * j], all[4 * j + 1], all[4 * j + 2], all[4 * j + 3]];
        let mut seen = 0;
        for lane in 0..A::LANES {
            let (l, h) = (2 * lane, 2 * lane + 1);
            seen += ([even[l], even[h], odd[l], odd[h]] == four) as u32;
        }
        holds &= seen == 1;
    }
    holds
}

/// The operations on signed fields of words.
#[inline(always)]
fn signed_hold<A: Words>(a: A, v: A::W, w: A::W, x: &[u64; MOST], y: &[u64; MOST]) -> bool {
    // The least numbers: their products, and sums of products that wrap around.
    const LEAST16: u64 = 0x8000_8000_8000_8000;
    const LEAST32: u64 = 1 << 31;
    let ones = a.splat(u64::MAX);
    let (least16, least32) = (a.splat(LEAST16), a.splat(LEAST32));
    let found = [
        stored(a, a.add16(v, w)),
        stored(a, a.add16(v, ones)),
        stored(a, a.madd16(v, w)),
        stored(a, a.madd16(v, ones)),
        stored(a, a.madd16(least16, least16)),
        stored(a, a.mul32_signed(v, w)),
        stored(a, a.mul32_signed(v, ones)),
        stored(a, a.mul32_signed(least32, least32)),
    ];
    let add16 = |x: u64, y: u64| {
        let field = |n: u32| (((x >> n) as u16).wrapping_add((y >> n) as u16) as u64) << n;
        field(0) | field(16) | field(32) | field(48)
    };
    let madd16 = |x: u64, y: u64| {
        let product = |n: u32| (x >> n) as i16 as i64 * (y >> n) as i16 as i64;
        let half = |n: u32| (product(n) + product(n + 16)) as u32 as u64;
        half(0) | half(32) << 32
    };
    let mul32 = |x: u64, y: u64| (x as i32 as i128 * y as i32 as i128) as u64;
    let mut expected = [[0; MOST]; 8];
    for j in 0..2 * A::LANES {
        let (x, y) = (x[j], y[j]);
        let words = [
            add16(x, y),
            add16(x, u64::MAX),
            madd16(x, y),
            madd16(x, u64::MAX),
            madd16(LEAST16, LEAST16),
            mul32(x, y),
            mul32(x, u64::MAX),
            1 << 62,
        ];
        for (row, word) in expected.iter_mut().zip(words) {
            row[j] = word;
        }
    }
    found == expected
}

/// Rows whose bits are all different turned into planes, and all bits of those planes.
#[inline(always)]
fn planes_hold<A: Words>(a: A, key: u64) -> bool {
    let n = 2 * A::LANES;
    let (mut rows, mut planes, mut expected) = ([0; 64 * MOST], [0; 64 * MOST], [0; 64 * MOST]);
    let mut word = 1u64;
    for (place, row) in rows[..64 * n].iter_mut().enumerate() {
        // Knuth's multiplier, MMIX.
        word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *row = word;
        for p in 0..64 {
            let number = word.swap_bytes() ^ key;
            expected[n * p + place % n] |= (number >> p & 1) << (place / n);
        }
    }
    a.planes(&rows[..64 * n], key, &mut planes[..64 * n]);
    planes[..64 * n] == expected[..64 * n]
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
