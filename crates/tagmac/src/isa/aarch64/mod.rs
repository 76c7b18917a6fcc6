//! The rungs of aarch64.

mod neon;
mod words;

pub use neon::Neon;
