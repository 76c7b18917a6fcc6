//! What the level of aarch64 does.

mod bit_slices;
mod neon;
mod words;
