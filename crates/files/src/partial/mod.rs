//! Partials: the hash of a range that left the process, sealed. `docs/partials.md` has the format.

mod combine;
mod name;
mod part;
mod piped;
mod stored;
mod stream;

pub use combine::{Combined, Expected, Opened, combine, open};
pub use name::{check_object, split_version, versioned};
pub use part::{Range, Ranged, aligned};
pub use piped::piped;
pub use stored::Stored;
pub use stream::PartStream;
