//! Tests of the library that need no server.

mod attacks;
mod crowd;
mod hostile;
mod listings;
mod place;
mod ranges;
