//! AES-128 with fewer rounds, from FIPS 197: the last round has no MixColumns, and the round keys
//! are the first ones of the key schedule.

fn double(x: u8) -> u8 {
    (x << 1) ^ ((x >> 7) * 0x1b)
}

fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= a * (b & 1);
        a = double(a);
        b >>= 1;
    }
    product
}

/// Computes the S-box: the inverse, which is the 254th power, and an affine map.
fn s_box(x: u8) -> u8 {
    let inverse = (0..254).fold(1, |power, _| times(power, x));
    let turns = (1..5).fold(inverse, |sum, by| sum ^ inverse.rotate_left(by));
    turns ^ 0x63
}

/// AES-128 with short key schedules.
pub(super) struct AesRounds {
    s_box: [u8; 256],
}

impl AesRounds {
    pub(super) fn new() -> AesRounds {
        AesRounds { s_box: std::array::from_fn(|x| s_box(x as u8)) }
    }

    /// Returns the first `rounds + 1` round keys.
    pub(super) fn round_keys(&self, key: &[u8], rounds: usize) -> Vec<[u8; 16]> {
        let mut keys: Vec<[u8; 16]> = vec![key.try_into().expect("16 bytes")];
        let mut constant = 1;
        for _ in 0..rounds {
            let old = keys[keys.len() - 1];
            let mut new = old;
            for i in 0..4 {
                new[i] ^= self.s_box[usize::from(old[12 + (i + 1) % 4])];
            }
            new[0] ^= constant;
            constant = double(constant);
            for i in 4..16 {
                new[i] ^= new[i - 4];
            }
            keys.push(new);
        }
        keys
    }

    pub(super) fn encrypt(&self, keys: &[[u8; 16]], block: u128) -> u128 {
        let add = |state: [u8; 16], key: &[u8; 16]| -> [u8; 16] {
            std::array::from_fn(|i| state[i] ^ key[i])
        };
        let mut state = add(block.to_be_bytes(), &keys[0]);
        for (round, key) in keys.iter().enumerate().skip(1) {
            // Byte i of the new state is in row i mod 4, which rotates by i mod 4 columns.
            state = std::array::from_fn(|i| self.s_box[usize::from(state[(i + 4 * (i % 4)) % 16])]);
            if round + 1 < keys.len() {
                let old = state;
                state = std::array::from_fn(|i| {
                    let at = |j: usize| old[i / 4 * 4 + (i + j) % 4];
                    double(at(0)) ^ double(at(1)) ^ at(1) ^ at(2) ^ at(3)
                });
            }
            state = add(state, key);
        }
        u128::from_be_bytes(state)
    }
}
