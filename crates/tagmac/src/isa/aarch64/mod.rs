//! The rungs of aarch64.

mod neon;

pub use neon::Neon;
