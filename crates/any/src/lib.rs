//! All MACs of [`tagmac`] and [`tagmac_papers`] by name, for the command and the bindings to other
//! languages. One-time Poly1305, `Cbc3`, `Umac99Graded` and parameters without a name are left out.
//!
//! ```
//! use tagmac_any::{Algorithm, AnyMac};
//! let algorithm = Algorithm::from_name("pmac-aes128")?;
//! let mac = AnyMac::new(algorithm, &[7; 16])?;
//! let tag = mac.tag(&[], b"message")?;
//! assert!(mac.verify(&[], b"message", &tag).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Algorithm`] is the table of all MACs. [`AnyMac`] is one of them under a key; it has [`Parts`]
//! and [streams](AnyStream), which can be saved. [`KeyFile`] is a key as text, [`Session`] a key
//! with its nonces and its budget, and [`Partial`] the encrypted hash of a range of an object. For
//! a MAC of a known type, [`meter::Metered`] enforces the key's budget.

#![forbid(unsafe_code)]

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod erased;
mod grade;
mod key_file;
mod key_id;
mod mac;
pub mod meter;
mod nonce;
mod partial;
mod parts;
mod registry;
mod saved;
mod sequential;
mod session;
mod stream;
mod typed;

pub use grade::GradeError;
pub use key_file::{KeyFile, KeyFileError};
pub use key_id::KeyId;
pub use mac::AnyMac;
pub use nonce::AnyNonce;
pub use partial::{CheckedPartial, Partial, PartialError};
pub use parts::{AnyPart, Parts};
pub use registry::{Algorithm, Capabilities, UnknownAlgorithm};
pub use session::{Session, SessionError};
pub use stream::AnyStream;
pub use tagmac_bounds as bounds;
