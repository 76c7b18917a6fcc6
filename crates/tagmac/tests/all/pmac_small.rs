//! PMAC over every permutation of small blocks, for exact probabilities.
//!
//! PMAC is written here from figure 1 of the paper for blocks of any size up to 64 bits, and
//! compared with the library at 64. All permutations are tried, as far as a MAC queries them. Every
//! probability is therefore exact, a fraction of two numbers of cases.

use std::convert::Infallible;

use tagmac::cipher::BlockCipher;
use tagmac::{Bits, Pmac};

/// GF(2^n) over p_n = x^n + low.
#[derive(Clone, Copy)]
pub struct Field {
    pub n: u32,
    pub low: u64,
}

pub const GF8: Field = Field { n: 3, low: 0b011 };
pub const GF16: Field = Field { n: 4, low: 0b0011 };
pub const GF32: Field = Field { n: 5, low: 0b00101 };
pub const GF64: Field = Field { n: 6, low: 0b000011 };
pub const GF256: Field = Field { n: 8, low: 0b0001_1011 };
pub const GF1024: Field = Field { n: 10, low: 0b1001 };
/// Blocks of 64 bits, as in the library.
const OF_64_BITS: Field = Field { n: 64, low: 0b11011 };

impl Field {
    /// 2^n, for small n.
    pub fn size(self) -> u128 {
        1 << self.n
    }

    pub fn times(self, mut a: u64, b: u64) -> u64 {
        let mut product = 0;
        for i in 0..self.n {
            if b >> i & 1 == 1 {
                product ^= a;
            }
            let high = a >> (self.n - 1) & 1;
            a = (a << 1 & (u64::MAX >> (64 - self.n))) ^ (high * self.low);
        }
        product
    }

    pub fn over_x(self, a: u64) -> u64 {
        // p_n - 1 divided by x: its high bit is x^(n-1).
        (a >> 1) ^ ((a & 1) * (self.low >> 1 | 1 << (self.n - 1)))
    }
}

/// A message: full blocks, and the padded last block.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub full: Vec<u64>,
    pub last: u64,
    /// The last block is a full one.
    pub whole: bool,
}

/// E_K, or part of a permutation, which may not have the value yet.
pub type Answer<E> = Result<u64, E>;

impl Message {
    pub fn blocks(&self) -> u128 {
        self.full.len() as u128 + 1
    }

    /// The inputs M_i ^ gamma_i L.
    pub fn masked(&self, field: Field, l: u64) -> impl Iterator<Item = u64> {
        let gamma = |i: u64| i ^ i >> 1;
        (1..).zip(&self.full).map(move |(i, block)| block ^ field.times(gamma(i), l))
    }

    /// The last input of the cipher.
    pub fn sum<E>(&self, field: Field, pi: impl Fn(u64) -> Answer<E>) -> Answer<E> {
        let l = pi(0)?;
        let start = self.last ^ if self.whole { field.over_x(l) } else { 0 };
        self.masked(field, l).try_fold(start, |sum, x| Ok(sum ^ pi(x)?))
    }

    pub fn tag<E>(&self, field: Field, pi: impl Fn(u64) -> Answer<E>) -> Answer<E> {
        pi(self.sum(field, &pi)?)
    }
}

/// Every message of one block.
pub fn short(field: Field) -> Vec<Message> {
    let partial = (0..field.n)
        .flat_map(|bits| (0..1 << bits).map(move |v| (v << 1 | 1) << (field.n - 1 - bits)));
    let partial = partial.map(|last| Message { full: vec![], last, whole: false });
    let whole = (0..1 << field.n).map(|last| Message { full: vec![], last, whole: true });
    partial.chain(whole).collect()
}

/// Every message of `blocks` blocks.
pub fn messages(field: Field, blocks: u32) -> Vec<Message> {
    let place = |number: u64, i: u32| number >> (i * field.n) & ((1 << field.n) - 1);
    let full = |number: u64| (0..blocks - 1).map(|i| place(number, i)).collect::<Vec<_>>();
    let fulls = (0..1u64 << (field.n * (blocks - 1))).map(full);
    let with =
        |full: Vec<u64>| short(field).into_iter().map(move |m| Message { full: full.clone(), ..m });
    fulls.flat_map(with).collect()
}

/// A partial permutation of small blocks.
pub struct Partial {
    pub values: Vec<Option<u64>>,
    pub used: Vec<bool>,
    pub points: u128,
}

impl Partial {
    pub fn of(&self, x: u64) -> Result<u64, u64> {
        self.values[x as usize].ok_or(x)
    }
}

/// Runs an algorithm that queries a random permutation, once for each possible sequence of answers.
fn walk<T>(
    pi: &mut Partial,
    run: &impl Fn(&Partial) -> Result<T, u64>,
    visit: &mut impl FnMut(T, &Partial),
) {
    match run(pi) {
        Ok(result) => visit(result, pi),
        Err(x) => {
            for y in 0..pi.used.len() {
                if !std::mem::replace(&mut pi.used[y], true) {
                    pi.values[x as usize] = Some(y as u64);
                    pi.points += 1;
                    walk(pi, run, visit);
                    pi.points -= 1;
                    pi.used[y] = false;
                }
            }
            pi.values[x as usize] = None;
        }
    }
}

/// m (m - 1) .. (m - k + 1)
pub fn falling(m: u128, k: u128) -> u128 {
    (0..k).map(|i| m.saturating_sub(i)).product()
}

/// Counts the cases of each result, and all cases, for a run that queries at most `most` points.
pub fn cases<T>(
    field: Field,
    most: u128,
    run: impl Fn(&Partial) -> Result<T, u64>,
    mut visit: impl FnMut(T, u128, &Partial),
) -> u128 {
    let (size, most) = (field.size(), most.min(field.size()));
    let empty = || Partial {
        values: vec![None; size as usize],
        used: vec![false; size as usize],
        points: 0,
    };
    walk(&mut empty(), &run, &mut |result, pi| {
        visit(result, falling(size - pi.points, most - pi.points), pi);
    });
    falling(size, most)
}

pub fn sigma(messages: &[&Message]) -> u128 {
    messages.iter().map(|message| message.blocks()).sum()
}

/// Counts how often each concatenation of t-bit tags occurs, and all cases.
pub fn tags(field: Field, t: u32, messages: &[&Message]) -> (Vec<u128>, u128) {
    let mut counts = vec![0; 1 << (t * messages.len() as u32)];
    let run = |pi: &Partial| {
        messages.iter().try_fold(0, |tags, message| {
            Ok(tags << t | message.tag(field, |x| pi.of(x))? >> (field.n - t))
        })
    };
    let all = cases(field, sigma(messages) + 1, run, |tags, weight, _| {
        counts[tags as usize] += weight;
    });
    (counts, all)
}

/// The same choices in every run: SplitMix64.
pub struct Choice(pub u64);

impl Choice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 33) as usize % n
    }

    /// A message of `blocks` blocks, with few different ones, so that they cancel.
    pub fn message(&mut self, field: Field, blocks: usize) -> Message {
        let values = [2, 1 << field.n][self.below(2)];
        let full = (1..blocks).map(|_| self.below(values) as u64).collect();
        let short = short(field);
        Message { full, ..short[self.below(short.len())].clone() }
    }

    /// Different messages of these lengths.
    pub fn messages(&mut self, field: Field, lengths: &[usize]) -> Vec<Message> {
        let mut all: Vec<Message> = Vec::new();
        for blocks in lengths {
            let mut next = self.message(field, *blocks);
            while all.contains(&next) {
                next = self.message(field, *blocks);
            }
            all.push(next);
        }
        all
    }
}

/// A 64-bit cipher that is a permutation but not secure.
#[derive(Clone)]
struct Mix(u64);

impl BlockCipher for Mix {
    const NAME: &'static str = "MIX";
    const KEY_BYTES: usize = 8;
    type Block = [u8; 8];
    type Key = [u8; 8];

    fn new(key: &[u8; 8]) -> Mix {
        Mix(u64::from_be_bytes(*key))
    }

    fn encrypt(&self, blocks: &mut [[u8; 8]]) {
        for block in blocks {
            let x = (u64::from_be_bytes(*block) ^ self.0).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ x >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
            *block = (x ^ x >> 32).to_be_bytes();
        }
    }
}

#[test]
fn it_is_the_librarys_pmac() {
    let (key, data) = ([7; 8], [0xa5, 0x3c, 0x0f, 0x96, 0x5a, 0xe1, 0x71].repeat(120));
    let (cipher, mac) = (Mix::new(&key), Pmac::<Mix>::new(&key));
    let pi = |x: u64| -> Answer<Infallible> {
        let mut block = [x.to_be_bytes()];
        cipher.encrypt(&mut block);
        Ok(u64::from_be_bytes(block[0]))
    };
    for bits in (0..300usize).chain([64 * 33, 64 * 64 + 1, 64 * 100]) {
        let blocks = bits.div_ceil(64).max(1);
        let block = |i: usize| u64::from_be_bytes(data[8 * i..][..8].try_into().unwrap());
        let left = bits - 64 * (blocks - 1);
        let last = block(blocks - 1);
        let last =
            if left == 64 { last } else { (last | u64::MAX >> left) ^ u64::MAX >> left >> 1 };
        let full = (0..blocks - 1).map(block).collect();
        let message = Message { full, last, whole: left == 64 };
        let Ok(expected) = message.tag(OF_64_BITS, pi);
        let tag = mac.tag(Bits::new(&data[..bits.div_ceil(8)], bits).unwrap()).unwrap();
        assert_eq!(tag.as_bytes(), expected.to_be_bytes(), "{bits} bits");
    }
}

/// Trying all 8! permutations has the same result as trying the parts that a MAC queries.
#[test]
fn parts_of_permutations_are_all_permutations() {
    let (a, b) = (messages(GF8, 2).swap_remove(37), short(GF8).swap_remove(3));
    let mut counts = vec![0u128; 64];
    let mut all = 0;
    // Queries every point.
    let whole = |pi: &Partial| (0..8).map(|x| pi.of(x)).collect::<Result<Vec<_>, _>>();
    cases(GF8, 8, whole, |pi, weight, _| {
        assert_eq!(weight, 1);
        all += 1;
        let of = |x: u64| -> Answer<Infallible> { Ok(pi[x as usize]) };
        let (Ok(a), Ok(b)) = (a.tag(GF8, of), b.tag(GF8, of));
        counts[(a << 3 | b) as usize] += 1;
    });
    assert_eq!(all, 40_320);
    let (found, of) = tags(GF8, 3, &[&a, &b]);
    assert!(counts.iter().zip(found).all(|(count, found)| count * of == found * all));
}
