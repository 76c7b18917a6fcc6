//! The round keys of PRESENT.

#[cfg(feature = "std")]
use std::{boxed::Box, sync::OnceLock};

use crate::isa::SMALL;
use crate::wipe::wipe;

/// The rounds after which a key is added that another round follows.
pub(super) const KEYS: usize = 30;

/// Those of them that bitsliced batches add.
const MASKS: usize = if SMALL { 0 } else { KEYS };

/// The most blocks that a mode hands over at once.
pub(super) const MAX_BLOCKS: usize = if SMALL { 16 } else { 64 };

/// Bit 0 of every nibble.
const PLACES: u64 = 0x1111_1111_1111_1111;

/// The key schedule, which has the same form for keys of both lengths.
#[derive(Clone)]
pub struct RoundKeys {
    /// K_1.
    pub(super) first: u64,
    /// K_32 ^ `OFFSET`.
    pub(super) last: u64,
    /// K_2 to K_31, each ^ `OFFSET`, as the narrow code adds them.
    pub(super) planes: [[u64; 4]; KEYS],
    /// Made when the first bitsliced batch needs them.
    #[cfg(feature = "std")]
    masks: OnceLock<Box<Masks>>,
    #[cfg(not(feature = "std"))]
    masks: Masks,
}

/// K_2 to K_31 as bitsliced batches add them: bit p of a key is all bits of word p. Words of 32 bits, so that
/// all keys take 7.5 KiB and leave room in a first-level cache of 32 KiB. None where code is to be
/// small.
#[derive(Clone)]
struct Masks([[u32; 64]; MASKS]);

impl Drop for RoundKeys {
    fn drop(&mut self) {
        wipe(core::slice::from_mut(&mut self.first), 0);
        wipe(core::slice::from_mut(&mut self.last), 0);
        wipe(&mut self.planes, [0; 4]);
    }
}

impl Drop for Masks {
    fn drop(&mut self) {
        wipe(&mut self.0, [0; 64]);
    }
}

/// The nibbles of a word as a square of four by four, with rows and columns exchanged.
fn transposed(nibbles: u64) -> u64 {
    let swap = |x: u64, by: u32, low: u64| {
        let differ = (x ^ x >> by) & low;
        x ^ differ ^ differ << by
    };
    swap(swap(nibbles, 12, 0x0000_f0f0_0000_f0f0), 24, 0x0000_0000_ff00_ff00)
}

/// The key that is added after round `r + 1`, for four blocks: bit b of nibble p is the nibble p of
/// word b. After odd rounds the digits of a nibble's place are the other way round.
pub(super) fn key_planes(key: u64, r: usize) -> [u64; 4] {
    let key = if r.is_multiple_of(2) { transposed(key) } else { key };
    [key, key >> 1, key >> 2, key >> 3].map(|bits| (bits & PLACES) * 15)
}

impl RoundKeys {
    /// The key schedule of K_1 to K_32, of which all but the first have `OFFSET` in them.
    pub(super) fn new(first: u64, middle: &[u64; KEYS], last: u64) -> Self {
        let mut planes = [[0; 4]; KEYS];
        for (r, (planes, key)) in planes.iter_mut().zip(middle).enumerate() {
            *planes = key_planes(*key, r);
        }
        RoundKeys {
            first,
            last,
            #[cfg(feature = "std")]
            masks: OnceLock::new(),
            #[cfg(not(feature = "std"))]
            masks: Masks::new(&planes),
            planes,
        }
    }

    /// See [`Masks`].
    #[inline(always)]
    pub(super) fn masks(&self) -> &[[u32; 64]; MASKS] {
        #[cfg(feature = "std")]
        return &self.masks.get_or_init(|| Box::new(Masks::new(&self.planes))).0;
        #[cfg(not(feature = "std"))]
        &self.masks.0
    }
}

impl Masks {
    #[inline(never)]
    fn new(planes: &[[u64; 4]; KEYS]) -> Self {
        let mut masks = Masks([[0; 64]; MASKS]);
        for (r, (masks, planes)) in masks.0.iter_mut().zip(planes).enumerate() {
            let key = (0..4).fold(0, |key, b| key | (planes[b] & PLACES) << b);
            let key = if r.is_multiple_of(2) { transposed(key) } else { key };
            for (p, mask) in masks.iter_mut().enumerate() {
                *mask = ((key >> p & 1) as u32).wrapping_neg();
            }
        }
        masks
    }
}
