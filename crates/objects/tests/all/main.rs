//! Tests of the library that need no server.

// Calls with one range.
#![allow(clippy::single_range_in_vec_init)]

mod attacks;
mod crowd;
mod hostile;
mod listings;
mod page;
mod place;
mod ranges;
