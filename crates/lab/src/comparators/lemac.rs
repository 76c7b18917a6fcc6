//! LeMac and PetitMac (Bariant and others, ToSC 2024, issue 2): two rounds of AES for each block of the
//! message.
//!
//! A is a round of AES without a key, k_i = E_K(i) with i in the first byte, and the message is
//! padded with a byte 01 and zeros. LeMac hashes 64 bytes m0 .. m3 a step into nine blocks S, which
//! begin as k_0 .. k_8. Four steps with zeros follow the message. D is m1 of two and three steps ago
//! and m2 of three and four steps ago:
//!
//! ```text
//! S0 = S0 ^ S8 ^ m2     S1 = A(S0) ^ m3    S2 = A(S1) ^ m3    S3 = A(S2) ^ D    S4 = A(S3) ^ m0
//! S5 = A(S4) ^ m0       S6 = A(S5) ^ m1    S7 = A(S6) ^ m1    S8 = A(S7) ^ m3
//! ```
//!
//! PetitMac hashes 16 bytes m a step into S, which begins as k_0, and R0 .. R4, which are zero:
//!
//! ```text
//! x = R3 ^ m     S = A(A(S) ^ m ^ R4) ^ x     R0 .. R4 = x, R4 ^ x, R4 ^ R0, R1, R2
//! ```
//!
//! The last step of both: P_i is ten rounds of AES, each with MixColumns, under round keys i to i + 9 of
//! the next k's. E' and E'' are AES under the last two k's:
//!
//! ```text
//! Tag = E''(N ^ E'(N) ^ P_0(S0) ^ P_1(S1) ^ ..)
//! ```
//!
//! The first paper's LeMac took D one step too early; its authors call that LeMac-0. A difference
//! that the hash absorbs needs 25 active S-boxes there and 26 here (the designers' README). The
//! security rests on this count. There is no proof from AES.

use tagmac::cipher::{Aes128, Cipher, CipherBlock};
use tagmac::isa::{Block, Isa, Kernel, Lanes, Level, Levels};

use crate::blocks::encrypt;

/// The bytes of LeMac's step.
const STEP: usize = 64;
/// The rounds of the final permutations.
const ROUNDS: usize = 10;

/// LeMac, the corrected design.
#[derive(Clone)]
pub struct LeMac {
    start: [Block; 9],
    end: End,
    level: Level,
}

/// PetitMac.
#[derive(Clone)]
pub struct PetitMac {
    start: Block,
    end: End,
    level: Level,
}

/// The keys of the final step.
#[derive(Clone)]
struct End {
    round_keys: Vec<Block>,
    of_nonce: Aes128,
    of_sum: Aes128,
}

/// Returns E_K(0), E_K(1), and so on.
fn derived(key: &[u8; 16], level: Level) -> impl Iterator<Item = Block> {
    let cipher = Aes128::new(key, level);
    (0..).map(move |i| {
        let mut block = Block::ZERO;
        block[0] = i;
        encrypt(&cipher, &block, level)
    })
}

impl End {
    /// Makes the last step of a state of `blocks` blocks, with the next keys.
    fn new(blocks: usize, keys: &mut impl Iterator<Item = Block>, level: Level) -> Self {
        let round_keys = keys.take(blocks + ROUNDS - 1).collect();
        let mut cipher = || Aes128::new(&keys.next().expect("endless"), level);
        End { round_keys, of_nonce: cipher(), of_sum: cipher() }
    }

    /// Returns the tag.
    #[inline(always)]
    fn tag<I: Isa<One = I>, const N: usize>(
        &self,
        isa: I,
        nonce: &Block,
        state: [I::V; N],
    ) -> Block {
        let zero = isa.splat(&Block::ZERO);
        let mut blocks = state;
        for (block, key) in blocks.iter_mut().zip(&self.round_keys) {
            *block = isa.xor(*block, isa.splat(key));
        }
        for round in 1..ROUNDS {
            for (block, key) in blocks.iter_mut().zip(&self.round_keys[round..]) {
                *block = isa.aes(*block, isa.splat(key));
            }
        }
        let of_nonce = self.of_nonce.encrypt_one(isa, nonce);
        let mut sum = isa.xor(isa.splat(nonce), isa.splat(&of_nonce));
        for block in blocks {
            sum = isa.xor(sum, isa.aes(block, zero));
        }
        self.of_sum.encrypt_one(isa, &isa.lane0(sum))
    }
}

impl LeMac {
    /// Makes LeMac under a key.
    pub fn with_level(key: &[u8; 16], level: Level) -> Self {
        let mut keys = derived(key, level);
        let start = std::array::from_fn(|_| keys.next().expect("endless"));
        LeMac { start, end: End::new(start.len(), &mut keys, level), level }
    }

    /// Returns the tag of a message. A nonce is for one message.
    pub fn tag(&self, nonce: &Block, message: &[u8]) -> Block {
        self.level.run(LeMacTag { mac: self, nonce, message })
    }
}

impl PetitMac {
    /// Makes PetitMac under a key.
    pub fn with_level(key: &[u8; 16], level: Level) -> Self {
        let mut keys = derived(key, level);
        let start = keys.next().expect("endless");
        PetitMac { start, end: End::new(6, &mut keys, level), level }
    }

    /// Returns the tag of a message. A nonce is for one message.
    pub fn tag(&self, nonce: &Block, message: &[u8]) -> Block {
        self.level.run(PetitMacTag { mac: self, nonce, message })
    }
}

/// Returns the bytes after the whole steps, padded.
#[inline(always)]
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut last = [0; N];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 1;
    last
}

struct LeMacTag<'a> {
    mac: &'a LeMac,
    nonce: &'a Block,
    message: &'a [u8],
}

impl Kernel for LeMacTag<'_> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Block {
        let isa = isa.narrow();
        let zero = isa.splat(&Block::ZERO);
        let mut state = LeMacState { s: [zero; 9], r: [zero; 4] };
        for (s, start) in state.s.iter_mut().zip(&self.mac.start) {
            *s = isa.splat(start);
        }
        // Four steps bring R0 .. R3 back to their registers.
        let (fours, rest) = self.message.as_chunks::<{ 4 * STEP }>();
        for four in fours {
            for step in four.as_chunks().0 {
                state = state.step(isa, step);
            }
        }
        let (steps, rest) = rest.as_chunks();
        for step in steps.iter().chain([&padded(rest), &[0; STEP], &[0; STEP], &[0; STEP]]) {
            state = state.step(isa, step);
        }
        state = state.step(isa, &[0; STEP]);
        self.mac.end.tag(isa, self.nonce, state.s)
    }
}

/// S and R. R0 is m2 of the previous step. R1 is m1 of that step ^ m2 of two steps ago. R2 and R3 are
/// R1 of one and of two steps ago, and D = R2 ^ R3.
#[derive(Clone, Copy)]
struct LeMacState<V> {
    s: [V; 9],
    r: [V; 4],
}

impl<V: Copy> LeMacState<V> {
    #[inline(always)]
    fn step<I: Isa<V = V>>(self, isa: I, step: &[u8; STEP]) -> Self {
        let blocks = step.as_chunks::<16>().0;
        let (m0, m1) = (isa.splat(&blocks[0]), isa.splat(&blocks[1]));
        let (m2, m3) = (isa.splat(&blocks[2]), isa.splat(&blocks[3]));
        let [r0, r1, r2, r3] = self.r;
        let keys = [m3, m3, isa.xor(r2, r3), m0, m0, m1, m1, m3];
        let mut s = [isa.xor3(self.s[0], self.s[8], m2); 9];
        for j in 0..8 {
            s[j + 1] = isa.aes(self.s[j], keys[j]);
        }
        LeMacState { s, r: [m2, isa.xor(r0, m1), r1, r2] }
    }
}

struct PetitMacTag<'a> {
    mac: &'a PetitMac,
    nonce: &'a Block,
    message: &'a [u8],
}

impl Kernel for PetitMacTag<'_> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = Block;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Block {
        let isa = isa.narrow();
        let (mut s, mut r) = (isa.splat(&self.mac.start), [isa.splat(&Block::ZERO); 5]);
        let (blocks, rest) = self.message.as_chunks();
        for block in blocks.iter().chain([&padded(rest)]) {
            let m = isa.splat(block);
            let [r0, r1, r2, r3, r4] = r;
            let x = isa.xor(r3, m);
            s = isa.aes(isa.aes(s, isa.xor(m, r4)), x);
            r = [x, isa.xor(r4, x), isa.xor(r4, r0), r1, r2];
        }
        let [r0, r1, r2, r3, r4] = r;
        self.mac.end.tag(isa, self.nonce, [s, r0, r1, r2, r3, r4])
    }
}
