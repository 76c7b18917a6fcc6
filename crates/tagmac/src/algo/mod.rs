//! The MACs, one file each. Each algorithm is written once, generic over the lanes of a level.

mod cbc;
mod cmac;
pub(crate) mod elimac;
mod known_answer;
pub(crate) mod lightmac;
mod many;
mod many_keys;
mod pmac;
pub(crate) mod poly1305;
pub(crate) mod umac;
mod xor;

pub use cbc::Chain;
pub use cmac::{Cmac, CmacStream};
pub use elimac::{AesFamilies, EliHash, EliMac, Families, PlainFamilies};
pub use lightmac::{LightMac, LightMacAes128, LightMacAes192, LightMacAes256};
pub use many_keys::RawKeys;
pub use pmac::{Pmac, PmacAes128, PmacAes192, PmacAes256, PmacKey};
pub use poly1305::{Poly1305, Poly1305Aes, Poly1305Digest, Poly1305Hash, Poly1305Sum};
pub use umac::{Assurance, Umac, Umac32, Umac64, Umac96, Umac128, UmacNonce};
pub use umac::{Uhash32, Uhash64, Uhash96, Uhash128};
pub use umac::{UmacDigest, UmacHash, UmacPad, UmacSum};
pub use xor::{XorDigest, XorSum};
