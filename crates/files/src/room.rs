//! Memory that may still be taken for names that somebody else chose.

/// Bytes that may still be kept.
pub struct Room(usize);

impl Room {
    /// Room for that many bytes.
    pub fn new(bytes: usize) -> Room {
        Room(bytes)
    }

    /// Whether there was room for a path and the `bytes` bytes that belong to it. After the first
    /// refusal, always refuses.
    pub fn takes(&mut self, path: &[u8], bytes: usize) -> bool {
        // Vectors that grow have room for twice as many; the index has an entry for each.
        let bytes = path.len() + 2 * bytes + 64;
        self.0 = self.0.saturating_sub(bytes);
        !self.is_spent()
    }

    /// Whether there was no room for something.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
