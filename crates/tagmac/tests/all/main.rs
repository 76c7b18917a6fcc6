//! The library's integration tests, in one program: several programs would each compile the kernels
//! again.

mod common;
#[cfg(feature = "rustcrypto")]
mod rust_crypto;
mod wiping;

mod canary;
mod canary_kernels;
#[cfg(feature = "rustcrypto")]
mod ciphers;
mod cmac;
#[cfg(feature = "rustcrypto")]
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
mod parts;
mod pmac_bound;
mod pmac_small;
mod random;
#[cfg(all(target_arch = "x86_64", unix))]
mod registers;
mod streams;
mod wiped;
