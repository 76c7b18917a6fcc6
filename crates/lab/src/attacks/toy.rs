//! A random permutation of 16-bit blocks, which is the theorems' ideal E. It is so small that
//! attacks can reach the bounds.

use std::sync::Arc;

use tagmac::cipher::BlockCipher;

use super::field::{LOW_16, product16};
use super::random::Random;

/// 2^n.
pub const N: usize = 1 << 16;

/// A permutation of 16 bits, drawn from its key.
#[derive(Clone)]
pub struct Toy(Arc<[u16; N]>);

impl Toy {
    /// Returns E_K of a block as a number.
    pub fn at(&self, block: u16) -> u16 {
        self.0[block as usize]
    }
}

impl BlockCipher for Toy {
    const NAME: &'static str = "TOY16";
    const KEY_BYTES: usize = 8;
    type Block = [u8; 2];
    type Key = [u8; 8];

    fn new(key: &[u8; 8]) -> Self {
        let mut random = Random::new(u64::from_be_bytes(*key));
        let mut table: Box<[u16; N]> =
            (0..N).map(|block| block as u16).collect::<Vec<_>>().try_into().expect("2^16");
        // Two numbers of 32 bits from one draw; the bias towards any of the 2^16 is below 2^-16.
        let mut shuffle = |i: usize, number: u32| {
            table.swap(i, ((number as u64 * (i as u64 + 1)) >> 32) as usize);
        };
        for i in (1..N).rev().step_by(2) {
            let number = random.next_u64();
            shuffle(i, number as u32);
            shuffle(i - 1, (number >> 32) as u32);
        }
        Toy(Arc::from(table))
    }

    fn encrypt(&self, blocks: &mut [[u8; 2]]) {
        for block in blocks {
            *block = self.at(u16::from_be_bytes(*block)).to_be_bytes();
        }
    }
}

/// PMAC (figure 1 of the paper) with the toy cipher. The library has no PMAC for blocks of 16 bits,
/// because the paper has no polynomial for them.
pub struct ToyPmac {
    cipher: Toy,
    l: u16,
}

impl ToyPmac {
    /// Makes the MAC under the cipher's key.
    pub fn new(cipher: Toy) -> Self {
        ToyPmac { l: cipher.at(0), cipher }
    }

    /// Returns the tag of a message of one or more full blocks.
    pub fn tag(&self, blocks: impl Iterator<Item = u16>) -> u16 {
        let e = |block: u64| self.cipher.at(block as u16) as u64;
        let times_x = |a: u64| product16(a as u16, 2) as u64;
        let over_x = over_x(self.l) as u64;
        pmac(blocks.map(u64::from), e, self.l as u64, times_x, over_x) as u16
    }
}

/// Computes PMAC of full blocks with any cipher E of up to 64 bits, given L = E(0), multiplication
/// by x, and L / x.
pub fn pmac(
    blocks: impl Iterator<Item = u64>,
    e: impl Fn(u64) -> u64,
    l: u64,
    times_x: impl Fn(u64) -> u64,
    l_over_x: u64,
) -> u64 {
    let mut blocks = blocks.peekable();
    let (mut sigma, mut offset, mut i) = (0, 0, 1u64);
    while let Some(block) = blocks.next() {
        if blocks.peek().is_none() {
            return e(sigma ^ block ^ l_over_x);
        }
        offset ^= (0..i.trailing_zeros()).fold(l, |l, _| times_x(l));
        sigma ^= e(block ^ offset);
        i += 1;
    }
    panic!("a message of no block");
}

/// Returns a / x.
pub fn over_x(a: u16) -> u16 {
    (a >> 1) ^ ((0x8000 | LOW_16 >> 1) & (a & 1).wrapping_neg())
}
