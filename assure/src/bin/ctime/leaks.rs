//! Leaks that are planted: kernels as the library has them, compiled for each level, of which each
//! does what no kernel may. No witness says anything of the library if it does not see these.

use std::hint::black_box;

use tagmac::isa::{Isa, Kernel, Lanes, Level};

/// What is wrong with a planted MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// The doubling of L branches on the bit that is shifted out.
    Branch,
    /// The key goes through a table.
    Lookup,
}

impl Leak {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Leak::Branch => "a planted branch on a bit of the key",
            Leak::Lookup => "a planted table that a byte of the key indexes",
        }
    }

    /// The tag of whole vectors of a message.
    pub fn tag(self, level: Level, key: &[u8; 16], message: &[u8]) -> [u8; 16] {
        match self {
            Leak::Branch => level.run(BranchOnKey { key, message }),
            Leak::Lookup => level.run(LookUpKey { key, message }),
        }
    }
}

struct BranchOnKey<'a> {
    key: &'a [u8; 16],
    message: &'a [u8],
}

impl Kernel for BranchOnKey<'_> {
    type Out = [u8; 16];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [u8; 16] {
        let l = u128::from_be_bytes(*self.key);
        let mut doubled = l << 1;
        if l >> 127 == 1 {
            reduce(&mut doubled);
        }
        absorb(isa, &doubled.to_be_bytes(), self.message)
    }
}

/// A function of its own, so that no compiler makes a mask of the branch before it.
#[inline(never)]
fn reduce(doubled: &mut u128) {
    *doubled ^= black_box(0x87);
}

struct LookUpKey<'a> {
    key: &'a [u8; 16],
    message: &'a [u8],
}

impl Kernel for LookUpKey<'_> {
    type Out = [u8; 16];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [u8; 16] {
        let table = black_box(&TABLE);
        absorb(isa, &self.key.map(|byte| table[byte as usize]), self.message)
    }
}

/// A permutation of bytes.
static TABLE: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        table[i] = (i as u8).wrapping_mul(167).rotate_left(3) ^ 0x63;
        i += 1;
    }
    table
};

/// A round of AES of each block, xored.
#[inline(always)]
fn absorb<I: Isa>(isa: I, l: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let (mask, mut sum) = (isa.splat(l), isa.splat(l));
    for blocks in message.chunks_exact(16 * I::LANES) {
        sum = isa.xor(sum, isa.aes(isa.load(blocks), mask));
    }
    isa.narrow().lane0(isa.xor_lanes(sum))
}

/// Whether two tags are the same, byte by byte up to the first that differs.
#[inline(never)]
pub fn is_equal_so_far(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| black_box(*a) == *b)
}
