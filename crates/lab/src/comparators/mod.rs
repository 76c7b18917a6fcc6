//! The MACs that the papers compare with, all in [`COMPARATORS`].

mod chained;
mod chaskey;
mod comparator;
mod counter_sum;
mod hash_rows;
mod hmacs;
mod lemac;
mod marvin;
mod pcs;
mod pelican;
mod pmac1;
mod pmac2;
mod pmac_parity;
mod pmac_plus;
mod registry;
mod rows;
mod xecb;
mod zmac;

pub use chained::{CbcMac, CbcMacEde, Emac, SumEcbc, ThreeKf9, Xcbc};
pub use chaskey::Chaskey;
pub use comparator::{Comparator, ComparatorKind, Keyed, Keys, Status, TagFn};
pub use counter_sum::{CounterSum, XorMac};
pub use hmacs::{hmac_md5, hmac_sha1, hmac_sha256};
pub use lemac::{LeMac, PetitMac};
pub use marvin::Marvin;
pub use pcs::PcsHmacSha256;
pub use pelican::Pelican;
pub use pmac_parity::PmacParity;
pub use pmac_plus::PmacPlus;
pub use pmac1::Pmac1;
pub use pmac2::Pmac2;
pub use registry::{COMPARATORS, find};
pub use xecb::{XecbMac, XecbMessage};
pub use zmac::Zmac;
