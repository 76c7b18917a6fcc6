//! Universal hashes by themselves: small probabilities of collision, proven, under a secret random
//! key. They are no MACs: a result that is seen gives the key away.

#[cfg(feature = "umac99")]
mod nh;

#[cfg(feature = "umac99")]
pub use nh::Nh;
