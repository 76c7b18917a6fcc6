//! Chaskey (Mouha and others, SAC 2014) and Chaskey-12, which is in ISO/IEC 29192-6 together with
//! LightMAC: a CBC-MAC over a permutation of four words of 32 bits, little-endian.
//!
//! ```text
//! Y_0 = K      Y_i = P(Y_{i-1} ^ M_i)      Tag = P(Y_{m-1} ^ last ^ K') ^ K'
//! ```
//!
//! If the last block is full, last = M_m and K' = x K. If not, last is its bytes followed by 01,
//! and K' = x^2 K.

use tagmac::isa::Block;

type Words = [u32; 4];

/// Chaskey with `ROUNDS` rounds.
pub struct Chaskey<const ROUNDS: usize> {
    key: Words,
    full: Words,
    partial: Words,
}

fn words(block: &[u8]) -> Words {
    let mut bytes = [0; 16];
    bytes[..block.len()].copy_from_slice(block);
    core::array::from_fn(|i| u32::from_le_bytes(bytes.as_chunks().0[i]))
}

fn xor(a: Words, b: Words) -> Words {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// Returns the words times x, the lowest word first, over x^128 = x^7 + x^2 + x + 1.
fn times_x(a: Words) -> Words {
    let number = a.iter().rev().fold(0u128, |number, word| number << 32 | u128::from(*word));
    let doubled = (number << 1) ^ (0x87 * (number >> 127));
    core::array::from_fn(|i| (doubled >> (32 * i)) as u32)
}

impl<const ROUNDS: usize> Chaskey<ROUNDS> {
    /// Makes Chaskey under a key.
    pub fn new(key: &[u8; 16]) -> Self {
        let key = words(key);
        Chaskey { key, full: times_x(key), partial: times_x(times_x(key)) }
    }

    fn permuted(mut v: Words) -> Words {
        for _ in 0..ROUNDS {
            v[0] = v[0].wrapping_add(v[1]);
            v[2] = v[2].wrapping_add(v[3]);
            v[1] = v[1].rotate_left(5) ^ v[0];
            v[3] = v[3].rotate_left(8) ^ v[2];
            v[0] = v[0].rotate_left(16).wrapping_add(v[3]);
            v[2] = v[2].wrapping_add(v[1]);
            v[3] = v[3].rotate_left(13) ^ v[0];
            v[1] = v[1].rotate_left(7) ^ v[2];
            v[2] = v[2].rotate_left(16);
        }
        v
    }

    /// Returns the tag of a message.
    pub fn tag(&self, message: &[u8]) -> Block {
        let before = message.len().saturating_sub(1) / 16 * 16;
        let (before, last) = message.split_at(before);
        let state = before
            .chunks_exact(16)
            .fold(self.key, |state, block| Self::permuted(xor(state, words(block))));
        let (last, key) = if last.len() == 16 {
            (words(last), self.full)
        } else {
            (words(&[last, &[1]].concat()), self.partial)
        };
        let state = xor(Self::permuted(xor(xor(state, last), key)), key);
        let mut tag = [0; 16];
        tag.as_chunks_mut()
            .0
            .iter_mut()
            .zip(state)
            .for_each(|(out, word)| *out = word.to_le_bytes());
        tag
    }
}
