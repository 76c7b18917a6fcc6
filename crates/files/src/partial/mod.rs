//! Partials: sealed hashes of ranges that leave the process. `docs/formats/partials.md` specifies
//! the format.

mod combine;
pub(crate) mod error;
mod name;
mod part;
mod piped;
mod stored;
mod stream;
mod version;

pub use combine::{Combined, Expected, Opened, combine, open};
pub use error::{Between, CombineError, Edge, Located, Named, RangeError, Wanted};
pub use name::{check_object, versioned};
pub use part::{PartRange, Ranged, aligned};
pub use piped::piped;
pub use stored::Stored;
pub use stream::PartStream;
pub use version::split_version;
