//! stub
#![cfg_attr(not(feature = "std"), no_std)]
#[cfg(feature = "alloc")]
extern crate alloc;

mod algo;
#[cfg(feature = "any")]
pub mod any;
mod bits;
pub mod cipher;
mod error;
mod hash;
pub mod isa;
mod mac;
mod part;
mod stream;
mod tag;

pub use algo::{EliMac, LightMac, Pmac, XorSum};
pub use bits::Bits;
pub use error::{Error, Mismatch};
pub use hash::Hash;
pub use mac::Mac;
pub use part::Part;
pub use stream::Stream;
pub use tag::Tag;
