//! Bit slices in plain arrays of two words.

use core::convert::Infallible;

use super::words::PortableWords;
use crate::isa::BitSlices;

impl BitSlices for PortableWords {
    type Half = Self;
    type Nibbles = Infallible;
    const NIBBLES: Option<Infallible> = None;

    #[inline(always)]
    fn splat32(self, x: u32) -> [u64; 2] {
        [x as i32 as i64 as u64; 2]
    }

    #[inline(always)]
    fn with_half<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}
