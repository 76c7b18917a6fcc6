//! The MACs, one file each. An algorithm stands here once, generic over the lanes of a level.

mod cbc;
mod cbc3;
mod cmac;
pub(crate) mod elimac;
mod known_answer;
pub(crate) mod lightmac;
mod many;
mod many_keys;
mod pmac;
pub(crate) mod poly1305;
pub(crate) mod umac;
#[cfg(feature = "umac99")]
pub(crate) mod umac99;
mod xor;

pub use cbc3::Cbc3;
#[cfg(feature = "digest")]
pub use cbc3::Cbc3Stream;
pub use cmac::{Cmac, CmacStream};
pub use elimac::{AesFamilies, EliHash, EliMac, Families, PlainFamilies};
pub use lightmac::{LightMac, LightMacAes128, LightMacAes192, LightMacAes256};
pub use many_keys::RawKeys;
pub use pmac::{ParsimonyError, WideBlock, recover_block, replace_block};
pub use pmac::{Pmac, PmacAes128, PmacAes192, PmacAes256};
pub use poly1305::{Poly1305, Poly1305Aes, Poly1305Digest, Poly1305Hash, Poly1305Sum};
pub use umac::{Assurance, Umac, Umac32, Umac64, Umac96, Umac128, UmacNonce};
pub use umac::{Uhash32, Uhash64, Uhash96, Uhash128};
pub use umac::{UmacDigest, UmacHash, UmacPad, UmacSum};
#[cfg(feature = "umac99")]
pub use umac99::{NhError, NhShape};
#[cfg(feature = "umac99")]
pub(crate) use umac99::{NhKey, passing as nh_passing};
#[cfg(feature = "umac99")]
pub use umac99::{Umac99, Umac99Graded, Umac99Parameters, Umac99Prf, Umac99Set, Umac99Sum};
pub use xor::{XorDigest, XorSum};
