//! The lab: MACs that the five papers compare with or attack.
//!
//! It is for cryptographers, teachers and reviewers, not for real keys: the lab accepts them as
//! arguments, keeps them in plain memory, and breaks its own MACs on purpose.

#![forbid(unsafe_code)]

pub mod attacks;
pub mod batch;
pub mod blocks;
pub mod choice;
pub mod comparators;
pub mod deoxys;
pub mod field;
pub mod figures;
pub mod hashes;
mod nearest;
pub mod parallel;
pub mod report;
pub mod speeds;
pub mod tables;

pub use nearest::{nearest, unknown};
