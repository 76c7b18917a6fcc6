//! The self-test of a level, before its first use. It checks AES rounds and key words from FIPS-197
//! (appendices A.3 and C.1), each lane operation against its definition on bytes, and each
//! operation on words against its definition on plain words.
//!
//! The operations under test are in generic functions, compiled for each level. The expected
//! results are in plain functions, compiled once.

use super::gf128::{over_x, times_x};
use super::{BitSlices, Block, Isa, Lanes, MAX_LANES, MAX_WORDS, Nibbles, Words, ZERO};

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

/// Words 0 to 15 of appendix A.3.
const KEY_WORDS: [Block; 4] = [
    0x603deb1015ca71be2b73aef0857d7781u128.to_be_bytes(),
    0x1f352c073b6108d72d9810a30914dff4u128.to_be_bytes(),
    0x9ba354118e6925afa51a8b5f2067fcdeu128.to_be_bytes(),
    0xa8b09c1a93d194cdbe49846eb75d5b9au128.to_be_bytes(),
];

/// Blocks that differ from each other in every byte.
type Message = [u8; 16 * MAX_LANES];
/// The words of a vector, followed by zeros.
type Row = [u64; MAX_LANES];

/// Returns whether the level's operations match the definitions in [`Isa`].
#[inline(always)]
pub(super) fn passes<I: Isa>(isa: I) -> bool {
    const { assert!(I::LANES <= MAX_LANES && 2 * <I::Words as Words>::LANES <= MAX_WORDS) };
    let message = message();
    let words = isa.words();
    rounds_pass(isa, &message)
        && lanes_pass(isa, &message)
        && words_pass(words, &message)
        && words_pass(words.narrow(), &message)
        && bit_slices_pass(words, &message)
}

#[inline(never)]
fn message() -> Message {
    let mut message = [0; 16 * MAX_LANES];
    for (i, byte) in message.iter_mut().enumerate() {
        *byte = (i * 167 + i / 16 + 1) as u8;
    }
    message
}

#[inline(never)]
fn block(message: &Message, j: usize) -> Block {
    message.as_chunks().0[j]
}

#[inline(never)]
fn xor(a: &mut Block, b: &Block) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a ^= b);
}

/// The xor of the lanes, as bytes.
#[inline(always)]
fn folded<I: Isa>(isa: I, a: I::V) -> Block {
    isa.narrow().lane0(isa.xor_lanes(a))
}

/// Tests rounds of one block, and rounds of a vector against these.
#[inline(always)]
fn rounds_pass<I: Isa>(isa: I, message: &Message) -> bool {
    let narrow = isa.narrow();
    let one = |last: bool, state: &Block, key: &Block| {
        let (a, k) = (narrow.splat(state), narrow.splat(key));
        narrow.lane0(if last { narrow.aes_last(a, k) } else { narrow.aes(a, k) })
    };
    let mut passes = one(false, &ROUND[0], &ROUND[1]) == ROUND[2]
        && one(true, &LAST_ROUND[0], &LAST_ROUND[1]) == LAST_ROUND[2];
    let [first, second, third, fourth] = KEY_WORDS;
    let next_words = |before: &Block, last: &Block, rcon| {
        narrow.lane0(narrow.next_key_words(narrow.splat(before), narrow.splat(last), rcon))
    };
    passes &= next_words(&first, &second, Some(1)) == third
        && next_words(&second, &third, None) == fourth;
    let (a, k) = (isa.load(&message[..16 * I::LANES]), isa.splat(&ROUND[1]));
    for last in [false, true] {
        let mut xors = folded(isa, if last { isa.aes_last(a, k) } else { isa.aes(a, k) });
        for j in 0..I::LANES {
            xor(&mut xors, &one(last, &block(message, j), &ROUND[1]));
        }
        passes &= xors == [0; 16];
    }
    for rcon in [None, Some(0x36)] {
        let mut xors = folded(isa, isa.next_key_words(a, isa.aes(a, k), rcon));
        for j in 0..I::LANES {
            let before = block(message, j);
            xor(&mut xors, &next_words(&before, &one(false, &before, &ROUND[1]), rcon));
        }
        passes &= xors == [0; 16];
    }
    let mut xors = [isa.times_x(a), isa.over_x(a), isa.and(a, k)].map(
        #[inline(always)]
        |x| folded(isa, x),
    );
    add_expected(&mut xors, &message[..16 * I::LANES]);
    passes &= xors == [[0; 16]; 3];
    let mut xors = folded(isa, isa.xor3(k, a, isa.xor(a, k)));
    passes &= xors == [0; 16];
    xors = isa.lane0(a);
    xor(&mut xors, &block(message, 0));
    passes && xors == [0; 16]
}

/// Xors expected values of all blocks: times x, divided by x, and the bits also set in a round key.
#[inline(never)]
fn add_expected(xors: &mut [Block; 3], blocks: &[u8]) {
    for block in blocks.as_chunks().0 {
        let common = core::array::from_fn(|i| block[i] & ROUND[1][i]);
        for (xors, expected) in xors.iter_mut().zip([times_x(*block), over_x(*block), common]) {
            xor(xors, &expected);
        }
    }
}

/// A counter layout: the bytes from the last to the first, after leading zeros.
const FORM: Block = {
    let mut layout = [ZERO; 16];
    let mut byte = 0;
    while byte < 8 {
        layout[byte + 3] = 7 - byte as u8;
        byte += 1;
    }
    layout
};
/// The length of pieces, and the position of the first one.
const STEP: usize = 11;
const AT: usize = 6;
/// The first counter, such that some counters carry out of all bytes.
const COUNTER: u64 = u64::MAX - 1;

/// Tests partial loads, counters and pieces, through the xor of the lanes.
#[inline(always)]
fn lanes_pass<I: Isa>(isa: I, message: &Message) -> bool {
    let whole = isa.load(&message[..16 * I::LANES]);
    let counter = isa.counter(COUNTER.wrapping_sub(I::LANES as u64));
    let encoded = isa.encode_counter(isa.advance(counter), isa.counter_layout(&FORM));
    let stride = isa.stride(STEP);
    let last = isa.set_last_lane(&ROUND[0]);
    let mut passes = true;
    for n in 0..=I::LANES {
        let found = [
            folded(isa, isa.load_lanes(&message[..16 * n])),
            folded(isa, isa.keep_lanes(whole, n)),
            folded(isa, isa.keep_lanes(encoded, n)),
            folded(isa, isa.load_strided_lanes(message, AT, n, stride)),
            folded(isa, isa.keep_lanes(last, n)),
            isa.narrow().lane0(isa.tail(&message[..n])),
        ];
        passes &= found == expected_lanes(message, n, I::LANES);
    }
    let [pieces] = isa.load_strided::<1>(message, AT, stride);
    let gathered = isa.gather(
        (STEP, stride),
        #[inline(always)]
        |j| &message[AT + STEP * (j + 1) - 16..][..16],
    );
    let expected = expected_lanes(message, I::LANES, I::LANES)[3];
    passes && folded(isa, pieces) == expected && folded(isa, isa.xor(pieces, gathered)) == [0; 16]
}

#[inline(never)]
fn expected_lanes(message: &Message, n: usize, lanes: usize) -> [Block; 6] {
    let [mut blocks, mut counters, mut pieces] = [[0; 16]; 3];
    for j in 0..n {
        xor(&mut blocks, &block(message, j));
        let count = COUNTER.wrapping_add(j as u64).to_le_bytes();
        for (xors, &i) in counters.iter_mut().zip(&FORM) {
            *xors ^= if i == ZERO { 0 } else { count[i as usize] };
        }
        let piece = &message[AT + STEP * j..][..STEP];
        pieces[16 - STEP..].iter_mut().zip(piece).for_each(|(xors, byte)| *xors ^= byte);
    }
    let last = if n == lanes { ROUND[0] } else { [0; 16] };
    [blocks, blocks, counters, pieces, last, super::zero_filled(&message[..n])]
}

/// The words of a vector.
#[inline(always)]
fn stored<A: Words>(a: A, w: A::W) -> Row {
    let mut words = [0; MAX_LANES];
    a.store(w, &mut words[..2 * A::LANES]);
    words
}

/// The words of a message.
#[inline(never)]
fn message_words(message: &Message) -> [u64; 2 * MAX_LANES] {
    let mut words = [0; 2 * MAX_LANES];
    for (word, bytes) in words.iter_mut().zip(message.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Masks for the low half of a word and for its low 52 bits.
const LOW: u64 = u32::MAX as u64;
const LOW52: u64 = (1 << 52) - 1;
/// The smallest signed numbers of 16 and 32 bits: their products, and sums of products that wrap
/// around.
const MIN_I16: u64 = 0x8000_8000_8000_8000;
const MIN_I32: u64 = 1 << 31;

/// Tests all operations on words.
#[inline(always)]
fn words_pass<A: Words>(a: A, message: &Message) -> bool {
    let n = 2 * A::LANES;
    let all = message_words(message);
    let (v, w) = (a.blocks(&message[..8 * n]), a.blocks(&message[8 * n..16 * n]));
    let low52 = a.splat(LOW52);
    let [sum0, sum1] = a.mul52([w, v], a.and(v, low52), a.and(w, low52));
    // Ones and zeros: the largest products, and carries out of both halves.
    let ones = a.splat(u64::MAX);
    let [most0, most1] = a.mul52([w, v], low52, low52);
    let (least16, least32) = (a.splat(MIN_I16), a.splat(MIN_I32));
    let found = [
        v,
        w,
        a.and(v, w),
        a.or(v, w),
        a.add(v, w),
        a.add32(v, w),
        a.mul32(v, w),
        a.mul32(ones, ones),
        a.add32(v, ones),
        a.and(a.high32(v), a.splat(LOW)),
        a.shl(v, 26),
        a.shr(v, 26),
        a.shl(v, 63),
        a.shr(v, 63),
        a.shr_pair(v, w, 44),
        sum0,
        sum1,
        most0,
        most1,
        ones,
        a.xor(v, w),
        a.and_not(v, w),
        a.load(&all[n..2 * n]),
        a.swap_bytes(v),
        a.add16(v, w),
        a.add16(v, ones),
        a.madd16(v, w),
        a.madd16(v, ones),
        a.madd16(least16, least16),
        a.mul32_signed(v, w),
        a.mul32_signed(v, ones),
        a.mul32_signed(least32, least32),
    ];
    let mut passes = true;
    for (operation, found) in found.into_iter().enumerate() {
        passes &= stored(a, found) == expected_words(operation, &all, n);
    }
    let first = stored(a, a.first(all[1]));
    passes &= first[0] == all[1] && first[1..] == [0; MAX_LANES - 1];

    // The sums of the lanes and of all words.
    let mut sums = [0; 2];
    a.narrow().store(a.sum_lanes(v), &mut sums);
    passes &= sums == expected_sums(&all[..n]);
    passes &= a.sum(v) == sums[0].wrapping_add(sums[1]);
    passes &= a.sum_pair(v, w) == [a.sum(v), a.sum(w)];

    // The blocks by halves or by words, each exactly once, in a consistent order.
    let blocks = &message[..16 * n];
    let (even, odd) = a.even_odd(blocks);
    passes &= are_pairs_of_blocks(&stored(a, even), &stored(a, odd), &all[..2 * n]);
    if A::MASKS {
        for bytes in [1, 16 * n - 15] {
            let mut padded = *message;
            padded[bytes..].fill(0);
            let (even, odd) = a.even_odd(&padded[..16 * n]);
            let (some, others) = a.even_odd_padded(&message[..bytes]);
            passes &= stored(a, some) == stored(a, even) && stored(a, others) == stored(a, odd);
        }
        for lanes in 0..=A::LANES {
            let mut kept = stored(a, v);
            kept[2 * lanes..].fill(0);
            passes &= stored(a, a.keep_lanes(v, lanes)) == kept;
        }
    }
    let gathered = a.gather(
        #[inline(always)]
        |j| &message[16 * j..][..16],
    );
    passes &= stored(a, gathered) == stored(a, v);
    let (first, second) = a.deinterleave(blocks);
    let (first, second) = (stored(a, first), stored(a, second));
    passes &= are_columns(&first, &second, &all[..2 * n]);
    let (again, too) = a.deinterleave_numbers(&numbers(message)[..n]);
    passes && stored(a, again) == first && stored(a, too) == second
}

/// Tests all operations on bit slices.
#[inline(always)]
fn bit_slices_pass<A: BitSlices>(a: A, message: &Message) -> bool {
    let n = 2 * A::LANES;
    let all = message_words(message);
    let v = a.blocks(&message[..8 * n]);
    let mut passes = stored(a, a.splat32(u32::MAX)) == stored(a, a.splat(u64::MAX))
        && stored(a, a.splat32(0)) == [0; MAX_LANES];
    for step in 4..=8 {
        passes &= stored(a, a.pieces(message, 8, step)) == expected_pieces(message, step, n);
    }

    if let Some(nibbles) = A::NIBBLES {
        let (tables, columns) = ([block(message, 0), block(message, 1)], all[2]);
        passes &= stored(a, nibbles.look_up(a, v, &tables)) == looked_up(&all[..n], &tables)
            && stored(a, nibbles.transpose_bytes(a, v, columns)) == transposed(&all[..n], columns)
            && stored(a, nibbles.swap_quarters(a, v)) == with_swapped_quarters(&all[..n]);
    }

    let (mut rows, mut planes) = ([0; 64 * MAX_LANES], [0; 64 * MAX_LANES]);
    fill_rows(&mut rows[..64 * n]);
    a.transpose_bits(&rows[..64 * n], all[0], &mut planes[..64 * n]);
    passes && are_planes(&rows[..64 * n], all[0], &planes[..64 * n])
}

/// Computes [`Nibbles::look_up`].
#[inline(never)]
fn looked_up(words: &[u64], [low, high]: &[Block; 2]) -> Row {
    let mut row = [0; MAX_LANES];
    for (to, word) in row.iter_mut().zip(words) {
        let byte = |byte: u8| low[(byte & 15) as usize] ^ high[(byte >> 4) as usize];
        *to = u64::from_le_bytes(word.to_le_bytes().map(byte));
    }
    row
}

/// Computes [`Nibbles::transpose_bytes`].
#[inline(never)]
fn transposed(words: &[u64], columns: u64) -> Row {
    let mut row = [0; MAX_LANES];
    for (to, word) in row.iter_mut().zip(words) {
        for (place, byte) in word.to_le_bytes().into_iter().enumerate() {
            for (i, column) in columns.to_le_bytes().into_iter().enumerate() {
                *to |= ((byte & column).count_ones() as u64 & 1) << (8 * i + 7 - place);
            }
        }
    }
    row
}

/// Computes [`Nibbles::swap_quarters`].
#[inline(never)]
fn with_swapped_quarters(words: &[u64]) -> Row {
    let mut row = [0; MAX_LANES];
    for (to, word) in row.iter_mut().zip(words) {
        let quarter = |i: u32| word >> (16 * i) & 0xffff;
        *to = quarter(1) | quarter(0) << 16 | quarter(3) << 32 | quarter(2) << 48;
    }
    row
}

/// Computes the operation with this index in [`words_pass`] on vectors x and y of `n` words.
#[inline(never)]
fn expected_words(operation: usize, all: &[u64; 2 * MAX_LANES], n: usize) -> Row {
    let mut row = [0; MAX_LANES];
    for (j, word) in row[..n].iter_mut().enumerate() {
        let (x, y) = (all[j], all[n + j]);
        let product = (x & LOW52) as u128 * (y & LOW52) as u128;
        let most = LOW52 as u128 * LOW52 as u128;
        *word = match operation {
            0 => x,
            1 => y,
            2 => x & y,
            3 => x | y,
            4 => x.wrapping_add(y),
            5 => ((x & LOW) + (y & LOW)) & LOW | ((x >> 32) + (y >> 32)) << 32,
            6 => (x & LOW) * (y & LOW),
            7 => LOW * LOW,
            8 => (x & LOW).wrapping_sub(1) & LOW | (x >> 32).wrapping_sub(1) << 32,
            9 => x >> 32,
            10 => x << 26,
            11 => x >> 26,
            12 => x << 63,
            13 => x >> 63,
            14 => (((y as u128) << 64 | x as u128) >> 44) as u64,
            15 => y.wrapping_add(product as u64 & LOW52),
            16 => x.wrapping_add((product >> 52) as u64),
            17 => y.wrapping_add(most as u64 & LOW52),
            18 => x.wrapping_add((most >> 52) as u64),
            19 => u64::MAX,
            20 => x ^ y,
            21 => x & !y,
            22 => y,
            23 => x.swap_bytes(),
            24 => add16(x, y),
            25 => add16(x, u64::MAX),
            26 => madd16(x, y),
            27 => madd16(x, u64::MAX),
            28 => madd16(MIN_I16, MIN_I16),
            29 => mul32_signed(x, y),
            30 => mul32_signed(x, u64::MAX),
            31 => 1 << 62,
            _ => unreachable!("an operation"),
        };
    }
    row
}

fn add16(x: u64, y: u64) -> u64 {
    let field = |n: u32| (((x >> n) as u16).wrapping_add((y >> n) as u16) as u64) << n;
    field(0) | field(16) | field(32) | field(48)
}

fn madd16(x: u64, y: u64) -> u64 {
    let product = |n: u32| (x >> n) as i16 as i64 * (y >> n) as i16 as i64;
    let half = |n: u32| (product(n) + product(n + 16)) as u32 as u64;
    half(0) | half(32) << 32
}

fn mul32_signed(x: u64, y: u64) -> u64 {
    (x as i32 as i128 * y as i32 as i128) as u64
}

#[inline(never)]
fn expected_sums(words: &[u64]) -> [u64; 2] {
    let mut sums = [0u64; 2];
    for (j, word) in words.iter().enumerate() {
        sums[j % 2] = sums[j % 2].wrapping_add(*word);
    }
    sums
}

#[inline(never)]
fn expected_pieces(message: &Message, step: usize, n: usize) -> Row {
    let mut pieces = [0; MAX_LANES];
    for (j, word) in pieces[..n].iter_mut().enumerate() {
        let (piece, mut bytes) = (&message[8 + j * step..][..step], [0; 8]);
        bytes[8 - step..].copy_from_slice(piece);
        *word = u64::from_le_bytes(bytes);
    }
    pieces
}

/// The blocks as little-endian numbers.
#[inline(never)]
fn numbers(message: &Message) -> [u128; MAX_LANES] {
    core::array::from_fn(|j| u128::from_le_bytes(block(message, j)))
}

/// Returns whether each pair of neighbouring blocks occurs once, in the same lane of `even` and
/// `odd`.
#[inline(never)]
fn are_pairs_of_blocks(even: &Row, odd: &Row, words: &[u64]) -> bool {
    let lanes = words.len() / 4;
    words.as_chunks::<4>().0.iter().all(|four| {
        let is_here =
            |lane: &usize| [even[2 * lane], even[2 * lane + 1], odd[2 * lane], odd[2 * lane + 1]];
        (0..lanes).filter(|lane| is_here(lane) == *four).count() == 1
    })
}

/// Returns whether each block occurs once, in the same word of `first` and `second`, and block 0 is
/// first.
#[inline(never)]
fn are_columns(first: &Row, second: &Row, words: &[u64]) -> bool {
    let n = words.len() / 2;
    let blocks = words.as_chunks::<2>().0;
    first[0] == words[0]
        && blocks.iter().all(|block| {
            (0..n).filter(|place| [first[*place], second[*place]] == *block).count() == 1
        })
}

/// Fills rows with pseudorandom bits.
#[inline(never)]
fn fill_rows(rows: &mut [u64]) {
    let mut word = 1u64;
    for row in rows {
        // The multiplier of MMIX by Knuth.
        word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *row = word;
    }
}

/// Returns whether all bits of the planes are right.
#[inline(never)]
fn are_planes(rows: &[u64], key: u64, planes: &[u64]) -> bool {
    let n = rows.len() / 64;
    rows.iter().enumerate().all(|(place, row)| {
        let number = row.swap_bytes() ^ key;
        (0..64).all(|p| planes[n * p + place % n] >> (place / n) & 1 == number >> p & 1)
    })
}
