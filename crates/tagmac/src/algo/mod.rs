//! The MACs, one file each. An algorithm stands here once, generic over the lanes of a rung.

pub(crate) mod elimac;
mod known;
pub(crate) mod lightmac;
mod pmac;
mod xor;

pub use elimac::EliMac;
pub(crate) use known::answers_hold;
pub use lightmac::LightMac;
pub use pmac::Pmac;
pub use xor::{XorDigest, XorSum};
