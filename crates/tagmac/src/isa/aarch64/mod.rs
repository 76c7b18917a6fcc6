//! The level of aarch64.

mod bit_slices;
mod neon;
mod words;
