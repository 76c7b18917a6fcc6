//! What is looked for: windows of the key and of all that the key's live memory had.
//!
//! What hangs on the key is found by comparison: a scenario runs under two keys, and where its live
//! blocks differ there is a secret. Round keys, L and its multiples, NH and polynomial keys and sums are
//! found this way, whatever their layout.

use std::collections::HashMap;

/// Windows that are looked for.
#[derive(Clone, Default)]
pub struct Known {
    /// Windows of 8 bytes, each with its name.
    short: HashMap<u64, String>,
    /// Windows of 16 bytes, for numbers whose upper bytes are zeros and for text.
    long: HashMap<u128, String>,
    /// The first two bytes of a window.
    begins: Vec<u64>,
}

/// Where a window was found.
pub struct Hit {
    pub at: usize,
    pub what: String,
}

impl Known {
    /// Windows of 8 bytes from each byte of a secret on.
    pub fn secret(&mut self, name: &str, secret: &[u8]) {
        for (at, window) in secret.windows(8).enumerate() {
            self.add_short(window, || format!("{name}, byte {at}"));
        }
    }

    /// Windows of 16 bytes from each byte of a text on.
    pub fn text(&mut self, name: &str, text: &[u8]) {
        for (at, window) in text.windows(16).enumerate() {
            self.add_long(window, || format!("{name}, byte {at}"));
        }
    }

    /// What differs between two memories of one layout, under two keys: the first of them is looked for.
    /// Addresses differ in few bytes, so that no window is one. `public` is never a secret.
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

    /// Takes in what another knows.
    pub fn extend(&mut self, other: &Known) {
        self.short.extend(other.short.clone());
        self.long.extend(other.long.clone());
        self.begins.resize(1 << 10, 0);
        self.begins.iter_mut().zip(&other.begins).for_each(|(word, more)| *word |= more);
    }

    /// How many windows there are.
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

    /// The windows that a memory has, from any byte on.
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

/// Whether so many bytes differ from each other: masks of ones are no secret to be looked for.
fn is_random(window: &[u8], different: usize) -> bool {
    let mut bytes = window.to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len() >= different
}

/// Says what was found, in a line.
pub fn told(hits: &[Hit]) -> String {
    let first = hits.first().map(|hit| format!("{} at {}", hit.what, hit.at)).unwrap_or_default();
    format!("{} windows, the first is {first}", hits.len())
}
