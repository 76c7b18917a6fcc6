//! Memory that may still be taken for names that somebody else chose.

/// Bytes that may still be kept.
pub struct Room(usize);

impl Room {
    /// Room for that many bytes.
    pub fn new(bytes: usize) -> Room {
        Room(bytes)
    }

    /// Whether there was room for a path and what belongs to it. Once there was none, there is none.
    pub fn takes<T>(&mut self, path: &[u8]) -> bool {
        // Vectors that grow have room for twice as many; the index has an entry for each.
        let bytes = path.len() + 2 * size_of::<T>() + 64;
        self.0 = self.0.saturating_sub(bytes);
        !self.is_spent()
    }

    /// Whether there was no room for something.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
