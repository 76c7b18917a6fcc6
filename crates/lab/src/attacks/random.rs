//! Random numbers that are the same in every run, so that no test fails by chance.

/// SplitMix64 (Steele, Lea and Flood, 2014). It is implemented here because a new version of a
/// crate might draw other numbers and so change the results in `docs/design/lab.md`.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Makes a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.next_u64() as u128 * end as u128) >> 64) as usize
    }

    /// Returns `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        self.fill(&mut array);
        array
    }

    /// Returns `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}
