//! The lab: what the five papers compare with, and what they attack.
//!
//! For cryptographers, teachers and reviewers. Nothing here is for real keys: the lab takes them as
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
