//! Manifests of the objects in a bucket: shards of 65,536 lines, closed by one tag each, and a root
//! that closes all of them. `docs/formats/object-manifest.md` has the format.
//!
//! A shard and the root are made and opened as pure functions over bytes, so that any machine can
//! make any shard; a [`Place`] keeps them. Whoever has all names in order writes with a [`Writer`]
//! and reads with an [`ObjectManifest`], one shard in memory at a time. A
//! [`BucketAudit`](crate::audit::BucketAudit) holds a listing of the objects against it.

mod line;
mod manifest_key;
mod object;
mod place;
mod reader;
mod record;
mod root;
mod shard;
mod tagger;
mod writer;

pub use line::MAX_NAME;
pub use manifest_key::ManifestKey;
pub use object::Object;
pub use place::{Folder, Place, exists, replaced, too_long};
pub use reader::{ObjectManifest, Objects};
pub use record::ShardRecord;
pub use root::{Root, RootBuilder};
pub use shard::{Shard, ShardBuilder, ShardObjects};
pub use tagger::{Listed, Tagger, Unread};
pub use writer::{Totals, Writer};

/// Entries of a shard. Only the last one has fewer.
pub const SHARD_ENTRIES: usize = 65_536;
/// The root's file.
pub const ROOT: &str = "root";
/// The longest root that is written and read: that of 10^9 objects, however long their names are.
pub const MAX_ROOT_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests;
