//! Partials: the hash of a range that left the process, sealed. `docs/partials.md` has the format.

mod combine;
mod part;

pub use combine::{Combined, combine};
pub use part::{Range, Ranged, check_object};
