//! AES decryption (FIPS-197, section 5.3) of single blocks, using the level's last encryption
//! round.
//!
//! SubBytes is S(x) = A x^-1 + c with a linear A on the bits of a byte, and x^-1 is its own
//! inverse. So S^-1 is S between two affine maps:
//!
//! ```text
//! S^-1(y) = A^-1 (S(A^-1 (y + c)) + c)
//! ```
//!
//! The last round with a zero key is ShiftRows after SubBytes. Four ShiftRows are the identity. Two
//! more, which swap columns 0 and 2 and columns 1 and 3 in the odd rows, therefore leave the
//! inverse of ShiftRows. The matrix of InvMixColumns is that of MixColumns times 04 x^2 + 05.
//!
//! Runs in constant time on every level, without tables or additional instructions. It is not fast:
//! its users decrypt two blocks per message.

use super::Aes;
use crate::isa::{Block, Isa, Lanes};

/// `byte` in each byte.
const fn bytes(byte: u8) -> u128 {
    u128::from_ne_bytes([byte; 16])
}

/// Rotates each byte left by `by` bits.
#[inline(always)]
fn turned(x: u128, by: u32) -> u128 {
    (x << by & bytes(0xff << by)) | (x >> (8 - by) & bytes(0xff >> (8 - by)))
}

/// A^-1 of each byte: bit i is the xor of bits i + 2, i + 5 and i + 7, counted mod 8.
#[inline(always)]
fn affine_inverse(x: u128) -> u128 {
    turned(x, 1) ^ turned(x, 3) ^ turned(x, 6)
}

/// S^-1 of each byte, and the inverse of ShiftRows.
#[inline(always)]
fn unsub_unshift<I: Isa>(isa: I, x: u128) -> u128 {
    const C: u128 = bytes(0x63);
    const ODD_ROWS: u128 = u128::MAX / 0xffff * 0xff00;
    let isa = isa.narrow();
    let x = affine_inverse(x ^ C).to_le_bytes();
    let x = isa.lane0(isa.aes_last(isa.splat(&x), isa.splat(&[0; 16])));
    let x = affine_inverse(u128::from_le_bytes(x) ^ C);
    (x & !ODD_ROWS) | (x.rotate_right(64) & ODD_ROWS)
}

/// Each byte times 02.
#[inline(always)]
fn doubled(x: u128) -> u128 {
    (x << 1 & bytes(0xfe)) ^ ((x >> 7 & bytes(1)) * 0x1b)
}

/// Moves row r + `by`, counted mod 4, to row r.
#[inline(always)]
fn rows_up(x: u128, by: u32) -> u128 {
    const fn columns(column: u32) -> u128 {
        let column = column as u128;
        column | column << 32 | column << 64 | column << 96
    }
    let kept = columns(u32::MAX >> (8 * by));
    (x >> (8 * by) & kept) | (x << (32 - 8 * by) & !kept)
}

/// The inverse of MixColumns.
#[inline(always)]
fn unmix(x: u128) -> u128 {
    // Multiply by 04 x^2 + 05, then MixColumns: 2 t_r + a_{r+1} + t_{r+2} with t_r = a_r + a_{r+1}.
    let x = x ^ doubled(doubled(x ^ rows_up(x, 2)));
    let t = x ^ rows_up(x, 1);
    doubled(t) ^ rows_up(x, 1) ^ rows_up(t, 2)
}

impl<const ROUNDS: usize> Aes<ROUNDS> {
    /// The block that encrypts to `block`.
    #[inline(always)]
    pub(super) fn inverse<I: Isa>(&self, isa: I, block: &Block) -> Block {
        let key = |r: usize| u128::from_le_bytes(self.rounds[r]);
        let mut x = u128::from_le_bytes(*block) ^ key(ROUNDS - 1);
        for r in (0..ROUNDS - 1).rev() {
            x = unmix(unsub_unshift(isa, x) ^ key(r));
        }
        x = unsub_unshift(isa, x) ^ u128::from_le_bytes(self.whitening);
        x.to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::{Aes128, Aes192, Aes256, Cipher};
    use crate::isa::{Kernel, Level};

    struct BothWays<'a, const ROUNDS: usize>(&'a Aes<ROUNDS>, Block);

    impl<const ROUNDS: usize> Kernel for BothWays<'_, ROUNDS>
    where
        Aes<ROUNDS>: Cipher<Block = Block>,
    {
        type Out = [Block; 2];

        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> [Block; 2] {
            let BothWays(aes, block) = self;
            let (there, back) = (aes.encrypt_one(isa, &block), aes.inverse(isa, &block));
            [aes.inverse(isa, &there), aes.encrypt_one(isa, &back)]
        }
    }

    #[test]
    fn inverse_of_encryption() {
        for level in Level::all() {
            let ciphers = (
                Aes128::new(&core::array::from_fn(|i| 17 * i as u8), level),
                Aes192::new(&core::array::from_fn(|i| 29u8.wrapping_mul(i as u8)), level),
                Aes256::new(&core::array::from_fn(|i| 43u8.wrapping_mul(i as u8)), level),
            );
            // Every byte value at every position.
            for i in 0..=255u8 {
                let block = core::array::from_fn(|j| i.wrapping_add(97u8.wrapping_mul(j as u8)));
                assert_eq!(level.run(BothWays(&ciphers.0, block)), [block; 2], "{level}");
                assert_eq!(level.run(BothWays(&ciphers.1, block)), [block; 2], "{level}");
                assert_eq!(level.run(BothWays(&ciphers.2, block)), [block; 2], "{level}");
            }
        }
    }
}
