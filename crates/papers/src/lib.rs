//! Constructions from the papers of [`tagmac`] that are not deployed, to study, to compare with and
//! to attack. They are as fast, constant-time and well tested as the library's own. Each uses only
//! its public interface: [`tagmac::hazmat`], [`tagmac::isa`] and [`tagmac::cipher`].
//!
//! | construction | description | from |
//! |---|---|---|
//! | [`Umac99`], [`Umac99Graded`] | the UMAC of 1999: the paper's named sets, all its parameters, and grades | Black, Halevi, Krawczyk, Krovetz, Rogaway 1999 |
//! | [`Nh`] | NH, NHS, NH^T and NH^T2: universal hashes | the same, sections 4 to 6 |
//! | [`Cbc3`] | the CBC MAC with three keys: a PRF from any cipher, for short inputs | the same, section 8.4 |
//! | [`Rc6`] | a block cipher, for every mode | Rivest, Robshaw, Sidney, Yin 1998 |
//! | [`recover_block`], [`replace_block`] | PMAC's parsimony: compute a block from the tag and the other blocks, and the tag after a change of one block | Black and Rogaway 2001, section 4.1 |
//! | [`WideBlock`] | a length-preserving cipher built from PMAC, and a deterministic encryption | the same |
//!
//! If you have a choice, use a MAC of [`tagmac`].

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod cbc3;
#[cfg(feature = "rustcrypto")]
mod digest;
mod nh;
mod parsimony;
mod rc6;
mod umac99;
mod wide_block;

pub use cbc3::Cbc3;
#[cfg(feature = "rustcrypto")]
pub use digest::Cbc3Stream;
pub use nh::Nh;
pub use parsimony::{ParsimonyError, recover_block, replace_block};
pub use rc6::Rc6;
pub use umac99::{NhError, NhShape};
pub use umac99::{Umac99, Umac99Graded, Umac99Parameters, Umac99Prf, Umac99Set, Umac99Sum};
pub use wide_block::WideBlock;

/// Implements `Debug` with the type's name only, so that no secret is printed.
macro_rules! silent {
    ($($name:ident $(<$($parameter:ident: $bound:path),+>)?),+ $(,)?) => {$(
        impl $(<$($parameter: $bound),+>)? core::fmt::Debug for $name $(<$($parameter),+>)? {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    )+};
}
use silent;
