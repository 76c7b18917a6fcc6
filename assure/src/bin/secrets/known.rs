//! The windows to search for: parts of the key, and of the memory of live keys that depends on it.
//!
//! Dependence is found by comparison: a scenario runs under two keys, and its live blocks contain a
//! secret where they differ. This finds round keys, L and its multiples, NH and polynomial keys and
//! sums, in any layout.

use std::collections::HashMap;

/// Windows to search for.
#[derive(Clone, Default)]
pub struct Known {
    /// Windows of 8 bytes, with their names.
    short: HashMap<u64, String>,
    /// Windows of 16 bytes, for numbers with leading zero bytes and for text.
    long: HashMap<u128, String>,
    /// The first two bytes of the windows.
    begins: Vec<u64>,
}

/// A place where a window was found.
pub struct Hit {
    pub at: usize,
    pub what: String,
}

impl Known {
    /// Adds the windows of 8 bytes at each byte of a secret.
    pub fn secret(&mut self, name: &str, secret: &[u8]) {
        for (at, window) in secret.windows(8).enumerate() {
            self.add_short(window, || format!("{name}, byte {at}"));
        }
    }

    /// Adds the windows of 16 bytes at each byte of a text.
    pub fn text(&mut self, name: &str, text: &[u8]) {
        for (at, window) in text.windows(16).enumerate() {
            self.add_long(window, || format!("{name}, byte {at}"));
        }
    }

    /// Adds the differences between two memories of equal layout, under two keys; the first is
    /// searched for. Addresses differ in few bytes, so windows never match them. `public` is never
    /// a secret.
    pub fn differences(&mut self, name: &str, first: &[u8], second: &[u8], public: &[u8]) {
        let differ: Vec<bool> = first.iter().zip(second).map(|(a, b)| a != b).collect();
        let is_public =
            |window: &[u8]| window.windows(public.len().max(1)).any(|part| part == public);
        for at in (0..first.len()).step_by(4) {
            let count = |bytes| {
                let window = differ.get(at..at + bytes)?;
                Some((window.iter().filter(|&&differs| differs).count(), &first[at..at + bytes]))
            };
            if let Some((7.., window)) = count(8)
                && window != public
                && is_random(window, 5)
            {
                self.add_short(window, || format!("{name}, byte {at}"));
            }
            if let Some((10.., window)) = count(16)
                && !is_public(window)
                && is_random(window, 7)
            {
                self.add_long(window, || format!("{name}, byte {at}"));
            }
        }
    }

    /// Adds the windows of `other`.
    pub fn extend(&mut self, other: &Known) {
        self.short.extend(other.short.clone());
        self.long.extend(other.long.clone());
        self.begins.resize(1 << 10, 0);
        self.begins.iter_mut().zip(&other.begins).for_each(|(word, more)| *word |= more);
    }

    /// Number of windows.
    pub fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    fn add_short(&mut self, window: &[u8], name: impl FnOnce() -> String) {
        let number = u64::from_le_bytes(window.try_into().expect("8 bytes"));
        self.short.entry(number).or_insert_with(name);
        self.begin(window);
    }

    fn add_long(&mut self, window: &[u8], name: impl FnOnce() -> String) {
        let number = u128::from_le_bytes(window.try_into().expect("16 bytes"));
        self.long.entry(number).or_insert_with(name);
        self.begin(window);
    }

    fn begin(&mut self, window: &[u8]) {
        self.begins.resize(1 << 10, 0);
        let first = usize::from(u16::from_le_bytes([window[0], window[1]]));
        self.begins[first / 64] |= 1 << (first % 64);
    }

    /// Returns the windows in a memory, at any byte.
    pub fn hits(&self, memory: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        if self.begins.is_empty() {
            return hits;
        }
        let mut at = 0;
        while at + 8 <= memory.len() {
            let eight = u64::from_le_bytes(memory[at..at + 8].try_into().expect("8 bytes"));
            if eight == 0 {
                at += 1;
                continue;
            }
            let first = (eight & 0xffff) as usize;
            if self.begins[first / 64] >> (first % 64) & 1 == 1 {
                let sixteen = || {
                    let window = memory.get(at..at + 16)?;
                    self.long.get(&u128::from_le_bytes(window.try_into().expect("16 bytes")))
                };
                if let Some(what) = self.short.get(&eight).or_else(sixteen) {
                    hits.push(Hit { at, what: what.clone() });
                }
            }
            at += 1;
        }
        hits
    }
}

/// Returns whether a window has at least `different` distinct bytes: masks of ones are not searched
/// for.
fn is_random(window: &[u8], different: usize) -> bool {
    let mut bytes = window.to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len() >= different
}

/// Describes the hits in one line.
pub fn told(hits: &[Hit]) -> String {
    let first = hits.first().map(|hit| format!("{} at {}", hit.what, hit.at)).unwrap_or_default();
    format!("{} windows, the first is {first}", hits.len())
}
