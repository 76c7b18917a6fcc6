//! Universal hashes by themselves, for constructions of your own: small probabilities of collision,
//! proven, under a secret random key.
//!
//! They are no MACs: a result that is seen gives the key away. Hide it: encrypt it, add a pad that
//! is used once, or feed it to a PRF.

#[cfg(feature = "umac99")]
mod nh;

pub use crate::algo::{AesFamilies, EliHash, Families, PlainFamilies};
#[cfg(feature = "umac99")]
pub use nh::Nh;
