//! The library's tests from outside, in one program: each program would compile kernels of its own.

mod common;

#[cfg(feature = "dynamic")]
mod batch;
mod canary;
#[cfg(feature = "cipher")]
mod ciphers;
mod cmac;
#[cfg(feature = "umac99")]
mod collisions;
#[cfg(feature = "digest")]
mod digest;
#[cfg(feature = "dynamic")]
mod edges;
mod edit;
mod errata;
mod far;
#[cfg(feature = "dynamic")]
mod grades;
mod hashes;
#[cfg(feature = "dynamic")]
mod hmac;
mod isa;
mod laws;
mod lemmas;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(feature = "dynamic")]
mod meter;
mod nonces;
mod page;
#[cfg(feature = "umac99")]
mod parameters;
mod parsimony;
mod parts;
mod pmac_bound;
#[cfg(feature = "dynamic")]
mod published;
mod random;
#[cfg(feature = "dynamic")]
mod reference;
#[cfg(all(target_arch = "x86_64", unix))]
mod registers;
#[cfg(feature = "dynamic")]
mod registry;
#[cfg(feature = "dynamic")]
mod save;
#[cfg(feature = "dynamic")]
mod small;
mod streams;
#[cfg(feature = "dynamic")]
mod vectors;
mod wiped;
#[cfg(feature = "dynamic")]
mod wycheproof;
