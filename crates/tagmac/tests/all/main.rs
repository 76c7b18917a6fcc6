//! The library's tests from outside, in one program: each program would compile kernels of its own.

mod common;

mod canary;
mod canary_kernels;
#[cfg(feature = "cipher")]
mod ciphers;
mod cmac;
#[cfg(feature = "umac99")]
mod collisions;
#[cfg(feature = "digest")]
mod digest;
mod edit;
mod errata;
mod far;
mod hashes;
mod isa;
mod lemmas;
#[cfg(target_os = "linux")]
mod memory;
mod nonces;
mod page;
#[cfg(feature = "umac99")]
mod parameters;
mod parsimony;
mod parts;
mod pmac_bound;
mod pmac_small;
mod random;
#[cfg(all(target_arch = "x86_64", unix))]
mod registers;
mod streams;
mod wiped;
