//! The tests of these constructions, in one program: each program would compile kernels of its own.

mod common;
#[cfg(feature = "rustcrypto")]
mod rust_crypto;
mod wiping;

mod collisions;
#[cfg(feature = "rustcrypto")]
mod digest;
mod nh;
mod parameters;
mod parsimony;
mod umac99;
mod wiped;
