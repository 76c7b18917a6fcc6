//! A memory limit for untrusted names.

/// The number of bytes that may still be kept.
pub struct Room(usize);

impl Room {
    /// A limit of `bytes` bytes.
    pub fn new(bytes: usize) -> Room {
        Room(bytes)
    }

    /// Reserves memory for a path and `bytes` associated bytes. Returns false if the limit is
    /// reached; after the first refusal, always refuses.
    pub fn takes(&mut self, path: &[u8], bytes: usize) -> bool {
        // Growing vectors may have twice the capacity; the index has an entry for each path.
        let bytes = path.len() + 2 * bytes + 64;
        self.0 = self.0.saturating_sub(bytes);
        !self.is_spent()
    }

    /// Returns whether something was refused.
    pub fn is_spent(&self) -> bool {
        self.0 == 0
    }
}
