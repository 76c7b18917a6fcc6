//! The keyed hashes inside the MACs, for constructions of your own.
//!
//! A hash is no MAC: whoever sees one can often forge. Hide it: encrypt it, add a pad, or feed it
//! to a PRF.

pub use crate::algo::{AesFamilies, EliHash, Families, PlainFamilies};
