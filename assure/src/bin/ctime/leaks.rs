//! Planted leaks: kernels like the library's, compiled for each level, that each do what no kernel
//! may do. A witness counts only if it sees them.

use std::hint::black_box;

use tagmac::isa::{Isa, Kernel, Lanes, Level};

/// The fault of a planted MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leak {
    /// The doubling of L branches on the bit that is shifted out.
    Branch,
    /// The key indexes a table.
    Lookup,
}

impl Leak {
    pub fn name(self) -> &'static str {
        match self {
            Leak::Branch => "a planted branch on a bit of the key",
            Leak::Lookup => "a planted table that a byte of the key indexes",
        }
    }

    /// Returns the tag of whole vectors of a message.
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

/// A separate function, so that no compiler turns the branch before it into a mask.
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

/// XORs one AES round of each block.
#[inline(always)]
fn absorb<I: Isa>(isa: I, l: &[u8; 16], message: &[u8]) -> [u8; 16] {
    let (mask, mut sum) = (isa.splat(l), isa.splat(l));
    for blocks in message.chunks_exact(16 * I::LANES) {
        sum = isa.xor(sum, isa.aes(isa.load(blocks), mask));
    }
    isa.narrow().lane0(isa.xor_lanes(sum))
}

/// Returns whether two tags are equal, by comparing up to the first byte that differs.
#[inline(never)]
pub fn is_equal_so_far(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| black_box(*a) == *b)
}
