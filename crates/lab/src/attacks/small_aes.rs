//! AES with few rounds and with small cells: of 8 bits, or of 4 as SR(n, 4, 4, 4) of Cid, Murphy
//! and Robshaw ("Small Scale Variants of the AES", FSE 2005). It is plain and slow, with tables
//! indexed by the block's cells, because nothing here is secret.
//!
//! A block has 16 cells, column after column. Two cells of 4 bits share a byte.

use std::sync::{Arc, LazyLock};

/// The S-box and the field of the cells.
#[derive(Clone)]
pub struct SmallAes {
    bits: u32,
    /// The field's polynomial without its leading term.
    low: u8,
    sbox: Arc<[u8]>,
}

/// Some rounds under their keys. As in FIPS-197, the last one has no MixColumns.
#[derive(Clone)]
pub struct Rounds {
    aes: SmallAes,
    keys: Vec<[u8; 16]>,
}

impl SmallAes {
    /// AES: cells of 8 bits.
    pub fn aes() -> Self {
        static AES: LazyLock<SmallAes> =
            LazyLock::new(|| SmallAes::new(8, 0x1b, &[1, 2, 3, 4], 0x63));
        AES.clone()
    }

    /// Small-scale AES: cells of 4 bits.
    pub fn small() -> Self {
        static SMALL: LazyLock<SmallAes> = LazyLock::new(|| SmallAes::new(4, 0x3, &[2, 3], 0x6));
        SMALL.clone()
    }

    /// Builds the cipher. The S-box is x^-1 in the field, xored with rotations of itself and a
    /// constant.
    fn new(bits: u32, low: u8, rotations: &[u32], constant: u8) -> Self {
        let field = SmallAes { bits, low, sbox: Arc::new([]) };
        let (size, mask) = (1u16 << bits, ((1u16 << bits) - 1) as u8);
        let inverse = |x: u8| (0..size).find(|y| field.times(x, *y as u8) == 1).unwrap_or(0) as u8;
        let rotated = |x: u8, by: u32| (x << by | x >> (bits - by)) & mask;
        let value = |x: u16| {
            let x = inverse(x as u8);
            rotations.iter().fold(x ^ constant, |sum, by| sum ^ rotated(x, *by))
        };
        SmallAes { sbox: (0..size).map(value).collect(), ..field }
    }

    fn times_x(&self, a: u8) -> u8 {
        let high = a >> (self.bits - 1);
        (a << 1 & (((1u16 << self.bits) - 1) as u8)) ^ (high * self.low)
    }

    /// Applies the S-box.
    pub fn substituted(&self, cell: u8) -> u8 {
        self.sbox[cell as usize]
    }

    /// Returns the product in the cells' field.
    pub fn times(&self, a: u8, b: u8) -> u8 {
        (0..self.bits).rev().fold(0, |sum, bit| self.times_x(sum) ^ ((b >> bit & 1) * a))
    }

    /// Returns the first rounds of AES-128, with the round keys of FIPS-197.
    pub fn expand(&self, key: &[u8; 16], rounds: usize) -> Rounds {
        let mut keys = vec![*key];
        let mut rcon = 1;
        for round in 0..rounds {
            let (last, mut next) = (keys[round], keys[round]);
            for (word, byte) in (0..4).flat_map(|word| (0..4).map(move |byte| (word, byte))) {
                let i = 4 * word + byte;
                let before = if word > 0 {
                    next[i - 4]
                } else {
                    self.sbox[last[12 + (byte + 1) % 4] as usize]
                };
                next[i] ^= before ^ if i == 0 { rcon } else { 0 };
            }
            rcon = self.times_x(rcon);
            keys.push(next);
        }
        Rounds { aes: self.clone(), keys }
    }

    /// Returns rounds under independent keys; there is one key more than rounds.
    pub fn rounds(&self, keys: Vec<[u8; 16]>) -> Rounds {
        let mask = ((1u16 << self.bits) - 1) as u8;
        let keys = keys.into_iter().map(|key| key.map(|cell| cell & mask)).collect();
        Rounds { aes: self.clone(), keys }
    }
}

impl Rounds {
    /// Encrypts the cells of a block.
    pub fn encrypt(&self, block: &[u8; 16]) -> [u8; 16] {
        let [first, middle @ .., last] = &self.keys[..] else {
            return core::array::from_fn(|i| block[i] ^ self.keys[0][i]);
        };
        let mut state: [u8; 16] = core::array::from_fn(|i| block[i] ^ first[i]);
        for key in middle {
            state = self.mixed(&self.shifted(&state));
            state.iter_mut().zip(key).for_each(|(cell, key)| *cell ^= key);
        }
        state = self.shifted(&state);
        core::array::from_fn(|i| state[i] ^ last[i])
    }

    /// Applies SubBytes and ShiftRows.
    fn shifted(&self, state: &[u8; 16]) -> [u8; 16] {
        core::array::from_fn(|i| self.aes.sbox[state[(i + 4 * (i % 4)) % 16] as usize])
    }

    /// Applies MixColumns.
    fn mixed(&self, state: &[u8; 16]) -> [u8; 16] {
        core::array::from_fn(|i| {
            let cell = |j: usize| state[i / 4 * 4 + (i + j) % 4];
            self.aes.times_x(cell(0) ^ cell(1)) ^ cell(1) ^ cell(2) ^ cell(3)
        })
    }
}

/// Returns the cells of a block of 64 bits.
pub fn cells(block: &[u8; 8]) -> [u8; 16] {
    core::array::from_fn(|i| if i % 2 == 0 { block[i / 2] >> 4 } else { block[i / 2] & 15 })
}

/// Returns the block of 64 bits with these cells.
pub fn packed(cells: &[u8; 16]) -> [u8; 8] {
    core::array::from_fn(|i| cells[2 * i] << 4 | cells[2 * i + 1])
}
