//! The rungs of x86-64. Each is a bundle of features that appear together in real CPUs.

mod avx512;
mod lane;
mod vaes;
mod words;

pub use avx512::Avx512;
pub use lane::{Aesni, Avx2};
pub use vaes::Vaes;
