//! The round keys of PRESENT.

#[cfg(feature = "std")]
use std::boxed::Box;

#[cfg(feature = "std")]
use once_cell::race::OnceBox;

use zeroize::Zeroizing;

#[cfg(target_arch = "x86_64")]
use crate::isa::{BitSlices, Isa, Kernel, Levels};
use crate::isa::{Level, SMALL};
use crate::wipe::wipe;

/// The number of rounds with a key after them and another round after that.
pub(super) const KEYS: usize = 30;

/// The number of these keys that bitsliced batches use.
const MASKS: usize = if SMALL { 0 } else { KEYS };

/// The maximum number of blocks that a mode passes in one call.
pub(super) const MAX_BLOCKS: usize = if SMALL { 16 } else { 64 };

/// Bit 0 of every nibble.
const PLACES: u64 = 0x1111_1111_1111_1111;

/// The key schedule, which is the same for both key lengths.
#[derive(Clone)]
pub struct RoundKeys {
    /// K_1.
    pub(super) first: u64,
    /// K_32 ^ `OFFSET`.
    pub(super) last: u64,
    /// K_2 and so on, each ^ `OFFSET`.
    form: Form,
    /// Computed when the first bitsliced batch needs them. Not in a `OnceLock`, which keeps old
    /// stack contents until it is filled.
    #[cfg(feature = "std")]
    masks: OnceBox<Masks>,
    #[cfg(not(feature = "std"))]
    masks: Masks,
}

/// K_2 to K_31 for bitsliced batches: all bits of word p are bit p of the key. With 32-bit words
/// all keys take 7.5 KiB and leave room in an L1 cache of 32 KiB. Empty where code must be small.
#[derive(Clone)]
struct Masks([[u32; 64]; MASKS]);

impl Drop for RoundKeys {
    fn drop(&mut self) {
        wipe(core::slice::from_mut(&mut self.first), 0);
        wipe(core::slice::from_mut(&mut self.last), 0);
        #[cfg(target_arch = "x86_64")]
        if let Form::Matrix(_) = self.form {
            // Overwrites the smaller variant and the bytes after it.
            self.form = Form::Planes([[0; 4]; KEYS]);
        }
        match &mut self.form {
            Form::Planes(planes) => wipe(planes, [0; 4]),
            #[cfg(target_arch = "x86_64")]
            Form::Matrix(_) => {}
        }
    }
}

impl Drop for Masks {
    fn drop(&mut self) {
        wipe(&mut self.0, [0; 64]);
    }
}

/// Swaps the bits in `low` with those `by` bits above them.
#[inline(always)]
fn swap(x: u64, by: u32, low: u64) -> u64 {
    let differ = (x ^ x >> by) & low;
    x ^ differ ^ differ << by
}

/// Transposes the nibbles of a word as a matrix of four by four.
#[inline(always)]
fn transposed(nibbles: u64) -> u64 {
    swap(swap(nibbles, 12, 0x0000_f0f0_0000_f0f0), 24, 0x0000_0000_ff00_ff00)
}

/// The key that is added after round `r + 1`, for four blocks: bit b of nibble p is nibble p of
/// word b. After odd rounds the digits of a nibble's position are swapped.
pub(super) fn key_planes(key: u64, r: usize) -> [u64; 4] {
    let key = if r.is_multiple_of(2) { transposed(key) } else { key };
    [key, key >> 1, key >> 2, key >> 3].map(|bits| (bits & PLACES) * 15)
}

/// The inverse of [`key_planes`].
fn of_planes(planes: &[u64; 4], r: usize) -> u64 {
    let key = (0..4).fold(0, |key, b| key | (planes[b] & PLACES) << b);
    if r.is_multiple_of(2) { transposed(key) } else { key }
}

/// [`key_planes`] of all keys.
fn planes(keys: &[u64; KEYS]) -> [[u64; 4]; KEYS] {
    let mut planes = [[0; 4]; KEYS];
    for (r, (planes, key)) in planes.iter_mut().zip(keys).enumerate() {
        *planes = key_planes(*key, r);
    }
    planes
}

#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
std::thread_local! {
    /// The number of conversions of keys.
    pub(super) static CONVERSIONS: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

/// Converts `Form::Matrix` keys to `Form::Planes`.
#[cfg(target_arch = "x86_64")]
#[cold]
fn planes_of(keys: &[u64; KEYS + 1]) -> Zeroizing<[[u64; 4]; KEYS]> {
    #[cfg(all(test, feature = "std"))]
    CONVERSIONS.set(CONVERSIONS.get() + 1);
    let mut planes = Zeroizing::new([[0; 4]; KEYS]);
    for (r, (planes, key)) in planes.iter_mut().zip(keys).enumerate() {
        *planes = key_planes(from_matrix(*key), r);
    }
    planes
}

/// Converts `Form::Planes` keys to `Form::Matrix`.
#[cfg(target_arch = "x86_64")]
#[cold]
fn matrix_of(planes: &[[u64; 4]; KEYS], last: u64) -> Zeroizing<[u64; KEYS + 1]> {
    #[cfg(all(test, feature = "std"))]
    CONVERSIONS.set(CONVERSIONS.get() + 1);
    let mut keys = Zeroizing::new([matrix(last); KEYS + 1]);
    for (r, (key, planes)) in keys.iter_mut().zip(planes).enumerate() {
        *key = matrix(of_planes(planes, r));
    }
    keys
}

/// A key in the form of [`matrix`](super::matrix): bit `16b + 4j + 2h + e` is bit `2b + h` of byte
/// `7 - (2j + e)`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn matrix(key: u64) -> u64 {
    let key = transposed(swap(key, 1, 0x2222_2222_2222_2222));
    let key = swap(swap(key, 2, 0x0c0c_0c0c_0c0c_0c0c), 4, 0x00f0_00f0_00f0_00f0);
    key.swap_bytes()
}

/// Applies [`matrix`] to all keys, many at once.
#[cfg(target_arch = "x86_64")]
struct ToMatrix<'a>(&'a mut [u64; KEYS + 1]);

#[cfg(target_arch = "x86_64")]
impl Kernel for ToMatrix<'_> {
    const LEVELS: Levels = Levels::Words;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) {
        if I::Words::NIBBLES.is_some() {
            self.0.iter_mut().for_each(
                #[inline(always)]
                |key| *key = matrix(*key),
            );
        }
    }
}

/// The inverse of [`matrix`].
#[cfg(target_arch = "x86_64")]
fn from_matrix(key: u64) -> u64 {
    let key = swap(key.swap_bytes(), 4, 0x00f0_00f0_00f0_00f0);
    swap(transposed(swap(key, 2, 0x0c0c_0c0c_0c0c_0c0c)), 1, 0x2222_2222_2222_2222)
}

/// K_2 and so on, in the form for the key's level. A call on another level converts the keys each
/// time, which is correct but slow; no code here does it.
#[derive(Clone)]
#[allow(
    clippy::large_enum_variant,
    reason = "one of them fills memory that the other would leave empty"
)]
enum Form {
    /// K_2 to K_31 for the narrow code.
    Planes([[u64; 4]; KEYS]),
    /// K_2 to K_32 for [`matrix`](super::matrix).
    #[cfg(target_arch = "x86_64")]
    Matrix([u64; KEYS + 1]),
}

impl Form {
    /// K_2 and so on, each ^ `OFFSET`.
    fn keys(&self) -> Zeroizing<[u64; KEYS]> {
        let mut keys = Zeroizing::new([0; KEYS]);
        match self {
            Form::Planes(planes) => {
                for (r, (key, planes)) in keys.iter_mut().zip(planes).enumerate() {
                    *key = of_planes(planes, r);
                }
            }
            #[cfg(target_arch = "x86_64")]
            Form::Matrix(matrices) => {
                for (key, matrix) in keys.iter_mut().zip(matrices) {
                    *key = from_matrix(*matrix);
                }
            }
        }
        keys
    }

    /// Calls `f` with K_2 to K_31 in the form for the narrow code.
    #[inline(always)]
    fn with_planes<R>(&self, f: impl FnOnce(&[[u64; 4]; KEYS]) -> R) -> R {
        #[cfg(target_arch = "x86_64")]
        let made;
        f(match self {
            Form::Planes(planes) => planes,
            #[cfg(target_arch = "x86_64")]
            Form::Matrix(keys) => {
                made = planes_of(keys);
                &made
            }
        })
    }
}

impl RoundKeys {
    /// The key schedule of K_1 to K_32. All but the first include `OFFSET`.
    pub(super) fn new(first: u64, middle: &[u64; KEYS], last: u64, level: Level) -> Self {
        let form = match level.facts().nibbles {
            #[cfg(target_arch = "x86_64")]
            true => {
                let mut keys = [last; KEYS + 1];
                keys[..KEYS].copy_from_slice(middle);
                level.run(ToMatrix(&mut keys));
                Form::Matrix(keys)
            }
            _ => Form::Planes(planes(middle)),
        };
        #[cfg(feature = "std")]
        let masks = OnceBox::new();
        #[cfg(not(feature = "std"))]
        let mut masks = Masks::ZERO;
        #[cfg(not(feature = "std"))]
        masks.make(&form.keys());
        RoundKeys { first, last, form, masks }
    }

    /// See [`Form::with_planes`].
    #[inline(always)]
    pub(super) fn with_planes<R>(&self, f: impl FnOnce(&[[u64; 4]; KEYS]) -> R) -> R {
        self.form.with_planes(f)
    }

    /// Calls `f` with K_2 to K_32 in the form for [`matrix`](super::matrix).
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn with_matrix<R>(&self, f: impl FnOnce(&[u64; KEYS + 1]) -> R) -> R {
        let made;
        f(match &self.form {
            Form::Matrix(keys) => keys,
            Form::Planes(planes) => {
                made = matrix_of(planes, self.last);
                &made
            }
        })
    }

    /// See [`Masks`].
    #[inline(always)]
    pub(super) fn masks(&self) -> &[[u32; 64]; MASKS] {
        #[cfg(feature = "std")]
        return &self
            .masks
            .get_or_init(
                #[cold]
                || {
                    let mut masks = Box::new(Masks::ZERO);
                    masks.make(&self.form.keys());
                    masks
                },
            )
            .0;
        #[cfg(not(feature = "std"))]
        &self.masks.0
    }
}

impl Masks {
    const ZERO: Masks = Masks([[0; 64]; MASKS]);

    /// Computes the masks in place, so that no copy stays on the stack.
    #[inline(never)]
    fn make(&mut self, keys: &[u64; KEYS]) {
        for (masks, key) in self.0.iter_mut().zip(keys) {
            for (half, masks) in masks.as_chunks_mut::<32>().0.iter_mut().enumerate() {
                let key = (key >> (32 * half)) as u32;
                // Every vector unit compares words, and few shift them by different amounts.
                for (p, mask) in masks.iter_mut().enumerate() {
                    *mask = ((key & 1 << p == 1 << p) as u32).wrapping_neg();
                }
            }
        }
    }
}
