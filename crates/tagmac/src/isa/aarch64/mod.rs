//! The levels of aarch64.

mod level;
mod neon;
mod words;

pub use level::Neon;
