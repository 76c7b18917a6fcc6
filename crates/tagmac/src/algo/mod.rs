//! The MACs, one file each. An algorithm stands here once, generic over the lanes of a rung.

pub(crate) mod elimac;
pub(crate) mod lightmac;
mod pmac;
mod xor;

pub use elimac::EliMac;
pub use lightmac::LightMac;
pub use pmac::Pmac;
pub use xor::XorSum;
