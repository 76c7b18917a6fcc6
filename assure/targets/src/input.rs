//! Bytes of a run as choices; any bytes are valid.

/// The remaining bytes, followed by zeros.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// Takes the remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Takes a number of 16 bits.
    pub fn short(&mut self) -> usize {
        usize::from(u16::from_le_bytes([self.byte(), self.byte()]))
    }

    /// Takes a number from 0 to `most`, which is below 2^16.
    pub fn up_to(&mut self, most: usize) -> usize {
        let number = if most < 256 { usize::from(self.byte()) } else { self.short() };
        number % (most + 1)
    }
}

/// Returns bytes without a pattern that a hash could have: SplitMix64 of `seed`.
pub fn pattern(seed: u8, length: usize) -> Vec<u8> {
    let word = |i: u64| {
        let z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(seed) << 32);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(8) as u64).flat_map(word).collect();
    bytes.truncate(length);
    bytes
}
