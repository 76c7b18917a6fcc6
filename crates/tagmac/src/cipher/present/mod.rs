//! PRESENT (Bogdanov et al., "PRESENT: An Ultra-Lightweight Block Cipher", CHES 2007): blocks of
//! 64 bits, keys of 80 or 128 bits, 31 rounds.
//!
//! `E_K(x) = K_32 ^ R(K_31 ^ .. R(K_1 ^ x))` with `R = P S`: S is one box of four bits on each of
//! the sixteen nibbles, P moves bit `4s + b` to bit `16b + s`.
//!
//! The code is fast because it never looks up values in memory and, for many blocks, never moves
//! bits. S is a short circuit on planes, words that hold one bit of many blocks ([`sbox`]). With
//! one plane for each of the 64 bits, P only renames planes ([`sliced`]). A few blocks use four
//! planes, where P swaps digits of bit addresses ([`narrow`]). On levels that transpose the bits of
//! bytes, few blocks look up S in registers ([`matrix`]).
//!
//! The circuits compute `S ^ 0xc`, since gates without NOT map zeros to zeros. The sixteen 0xc pass
//! through P and are included in the round keys as [`OFFSET`].

#[cfg(target_arch = "x86_64")]
mod matrix;
mod narrow;
mod round_keys;
mod sbox;
mod sliced;

use zeroize::Zeroize;

use super::known_answers::{self, KnownAnswers};
use super::traits::{Cipher, Decrypt, V};
#[cfg(target_arch = "x86_64")]
use crate::isa::BitSlices;
use crate::isa::{Blocks64, Isa, Lanes, Level, Levels, Words};

use crate::wipe::wipe;
use round_keys::{KEYS, MAX_BLOCKS, RoundKeys};
use sliced::PresentAdder;

/// `P(0xcccc_cccc_cccc_cccc)`: the constant that the circuits omit from a round.
const OFFSET: u64 = 0xffff_ffff << 32;

/// PRESENT with a key of 10 bytes.
pub type Present80 = Present<10>;
/// PRESENT with a key of 16 bytes.
pub type Present128 = Present<16>;

/// PRESENT with a key of 10 or 16 bytes. It takes 1 KiB of memory, and another 7.5 KiB once a
/// message has several kilobytes. Wiped on drop.
#[derive(Clone)]
pub struct Present<const KEY_BYTES: usize>(RoundKeys);

impl<const KEY_BYTES: usize> core::fmt::Debug for Present<KEY_BYTES> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Present(..)")
    }
}

/// The kernels are the same for both key lengths.
impl From<Present80> for Present128 {
    fn from(present: Present80) -> Self {
        Present(present.0)
    }
}

/// Applies S to the nibble of `register` at bit `at`.
#[inline(always)]
fn sub_nibble(register: u128, at: u32) -> u128 {
    let nibble = (register >> at) as u64 & 0xf;
    // On 64-bit CPUs, shifts by a variable amount take constant time; elsewhere they may be loops.
    let sub = if cfg!(target_pointer_width = "64") {
        sbox::PACKED >> (4 * nibble) & 0xf
    } else {
        let bits = [nibble & 1, nibble >> 1 & 1, nibble >> 2 & 1, nibble >> 3 & 1];
        let [a, b, c, d] = sbox::sub(sbox::One, bits);
        (a | b << 1 | c << 2 | d << 3) ^ 0xc
    };
    register & !(0xf << at) | (sub as u128) << at
}

impl<const KEY_BYTES: usize> Present<KEY_BYTES> {
    /// The length of a key in bits.
    const BITS: u32 = {
        assert!(KEY_BYTES == 10 || KEY_BYTES == 16);
        8 * KEY_BYTES as u32
    };

    /// Computes the key schedule (section 3, and the appendix for 128 bits). A round key is the top
    /// 64 bits of a register. Each round rotates the register by 61 bits, applies S at the top, and
    /// adds the round's number further down.
    pub(crate) fn expand(key: &[u8; KEY_BYTES], level: Level) -> Self {
        let bits = Self::BITS;
        let mut register = [0; 16];
        register[16 - KEY_BYTES..].copy_from_slice(key);
        let mut register = u128::from_be_bytes(register);
        let top = |register: u128| (register >> (bits - 64)) as u64;
        let mut keys = [top(register); KEYS + 2];
        for (round, key) in (0u128..).zip(&mut keys).skip(1) {
            register = (register << 61 | register >> (bits - 61)) & u128::MAX >> (128 - bits);
            register = sub_nibble(register, bits - 4);
            if KEY_BYTES == 10 {
                register ^= round << 15;
            } else {
                register = sub_nibble(register, bits - 8);
                register ^= round << 62;
            }
            *key = top(register) ^ OFFSET;
        }
        register.zeroize();
        let [first, middle @ .., last] = &keys;
        let present = Present(RoundKeys::new(*first, middle, *last, level));
        wipe(&mut keys, 0);
        present
    }
}

/// The cipher's name for a key length.
const fn name(key_bytes: usize) -> &'static str {
    if key_bytes == 10 { "PRESENT80" } else { "PRESENT128" }
}

impl<const KEY_BYTES: usize> Cipher for Present<KEY_BYTES> {
    const NAME: &'static str = name(KEY_BYTES);
    const KEY_BYTES: usize = KEY_BYTES;
    const KNOWN_ANSWERS: Option<&'static KnownAnswers> = Some(match KEY_BYTES {
        10 => &known_answers::PRESENT80,
        _ => &known_answers::PRESENT128,
    });
    type Block = [u8; 8];
    type Key = [u8; KEY_BYTES];
    const LEVELS: Levels = Levels::Words;
    const ONE_BLOCK_LEVELS: Levels = Levels::Words;
    type Lanes<I: Isa> = Blocks64<I>;
    type Keys<'a, I: Isa> = &'a RoundKeys;
    type Sum<'a, I: Isa> = PresentAdder<'a, I>;

    fn new(key: &[u8; KEY_BYTES], level: Level) -> Self {
        Present::expand(key, level)
    }

    #[inline(always)]
    fn lanes<I: Isa>(isa: I) -> Blocks64<I> {
        Blocks64::new(isa)
    }

    #[inline(always)]
    fn keys<I: Isa>(&self, _isa: I) -> &RoundKeys {
        &self.0
    }

    #[inline(always)]
    fn whiten<I: Isa>(_isa: I, _keys: &&RoundKeys, mask: V<Self, I>) -> V<Self, I> {
        mask
    }

    #[inline(always)]
    fn encrypt_whitened<I: Isa, const N: usize>(
        isa: I,
        keys: &&RoundKeys,
        mut x: [V<Self, I>; N],
    ) -> [V<Self, I>; N] {
        let (words, lanes) = (isa.words(), Blocks64::<I>::LANES);
        let mut blocks = [0; MAX_BLOCKS];
        for (blocks, x) in blocks.chunks_exact_mut(lanes).zip(x) {
            words.store(x, blocks);
        }
        keys.encrypt(isa, &mut blocks, N * lanes);
        for (blocks, x) in blocks.chunks_exact(lanes).zip(&mut x) {
            *x = words.load(blocks);
        }
        x
    }

    #[inline(always)]
    fn encrypt_blocks<I: Isa>(isa: I, keys: &&RoundKeys, blocks: &mut [[u8; 8]]) {
        let mut numbers = [0; MAX_BLOCKS];
        for blocks in blocks.chunks_mut(MAX_BLOCKS) {
            for (number, block) in numbers.iter_mut().zip(&*blocks) {
                *number = u64::from_le_bytes(*block);
            }
            keys.encrypt(isa, &mut numbers, blocks.len());
            for (block, number) in blocks.iter_mut().zip(&numbers) {
                *block = number.to_le_bytes();
            }
        }
        numbers.zeroize();
    }

    #[inline(always)]
    fn encrypt_one<I: Isa>(&self, isa: I, block: &[u8; 8]) -> [u8; 8] {
        #[cfg(target_arch = "x86_64")]
        if let Some(nibbles) = I::Words::NIBBLES {
            let (words, lanes) = ((isa.words(), nibbles), Self::lanes(isa));
            let y = self.0.with_matrix(
                #[inline(always)]
                |keys| matrix::encrypt_vector(words, self.0.first, keys, lanes.splat(block)),
            );
            return lanes.lane0(y);
        }
        let _ = isa;
        let [y, ..] = self.0.encrypt_four([u64::from_be_bytes(*block), 0, 0, 0]);
        y.to_be_bytes()
    }

    #[inline(always)]
    fn sum<'a, I: Isa>(isa: I, keys: &&'a RoundKeys) -> Self::Sum<'a, I>
    where
        Self: 'a,
    {
        PresentAdder::new(isa, keys)
    }

    #[inline(always)]
    fn add_whitened<'a, I: Isa, const N: usize>(
        _isa: I,
        _keys: &&'a RoundKeys,
        sum: &mut Self::Sum<'a, I>,
        x: [V<Self, I>; N],
    ) where
        Self: 'a,
    {
        sum.push(x);
    }

    #[inline(always)]
    fn add_whitened_lanes<'a, I: Isa>(
        _isa: I,
        _keys: &&'a RoundKeys,
        sum: &mut Self::Sum<'a, I>,
        x: V<Self, I>,
        n: usize,
    ) where
        Self: 'a,
    {
        sum.push_lanes(x, n);
    }

    #[inline(always)]
    fn finish<'a, I: Isa>(
        isa: I,
        _keys: &&'a RoundKeys,
        sum: &mut Self::Sum<'a, I>,
    ) -> V<Self, I::Narrow>
    where
        Self: 'a,
    {
        Self::lanes(isa).narrow().splat(&sum.total().to_be_bytes())
    }
}

impl<const KEY_BYTES: usize> Decrypt for Present<KEY_BYTES> {
    #[inline(always)]
    fn decrypt_one<I: Isa>(&self, _isa: I, block: &[u8; 8]) -> [u8; 8] {
        self.0.decrypt(u64::from_be_bytes(*block)).to_be_bytes()
    }
}

#[cfg(test)]
mod tests;
