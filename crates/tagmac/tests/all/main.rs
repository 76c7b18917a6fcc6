//! The library's tests from outside, in one program: each program would compile kernels of its own.

mod common;

#[cfg(feature = "any")]
mod batch;
#[cfg(feature = "any")]
mod bounds;
mod canary;
#[cfg(feature = "cipher")]
mod ciphers;
#[cfg(feature = "umac99")]
mod collisions;
mod edit;
mod errata;
mod far;
mod hashes;
mod isa;
mod laws;
#[cfg(feature = "any")]
mod meter;
mod nonces;
#[cfg(feature = "umac99")]
mod parameters;
mod parsimony;
mod pmac_bound;
#[cfg(feature = "any")]
mod published;
mod random;
#[cfg(feature = "any")]
mod reference;
#[cfg(feature = "any")]
mod registry;
#[cfg(feature = "any")]
mod save;
#[cfg(feature = "any")]
mod vectors;
