//! The tests of these constructions, in one program: several programs would each compile the
//! kernels again.

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
