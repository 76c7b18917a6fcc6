//! What the level of aarch64 does.

mod neon;
mod words;
