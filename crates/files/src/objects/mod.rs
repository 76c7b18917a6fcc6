//! Manifests of the objects in a bucket: sealed shards of 65,536 lines, and a root that seals the
//! list of shards. `docs/formats/object-manifest.md` specifies the format.
//!
//! Shards and roots are created and opened by pure functions over bytes, so that any machine can
//! create any shard; a [`Place`] stores them. A program that has all names in order writes with a
//! [`Writer`] and reads with an [`ObjectManifest`], one shard in memory at a time. A
//! [`BucketAudit`](crate::audit::BucketAudit) compares a listing of the objects with it.

mod earlier;
mod leaf_files;
pub(crate) mod line;
mod manifest_key;
mod object;
mod place;
mod reader;
mod record;
mod root;
mod shard;
mod shard_scan;
mod tagger;
mod writer;

pub use earlier::{Earlier, OldObject};
pub use leaf_files::LeafFileNames;
pub(crate) use leaf_files::{LeafLayout, count as leaf_count};
pub use line::{MAX_NAME, check_name};
pub use manifest_key::{FormatVersion, ManifestKey};
pub use object::{MAX_STAMP, Object};
pub use place::{Folder, Place, exists, replaced, too_long, wrong_size};
pub use reader::{ObjectManifest, Objects};
pub(crate) use reader::{missing_shard, open_shard};
pub use record::ShardRecord;
pub use root::{Root, RootBuilder, RootHeader};
pub use shard::{Shard, ShardBuilder, ShardObjects};
pub(crate) use shard_scan::{Located, ShardScan};
pub use tagger::{Listed, Tagger, Unread};
pub use writer::{Start, Totals, Writer};

/// Entries per shard. Only the last shard has fewer.
pub const SHARD_ENTRIES: usize = 65_536;
/// The name of the root's file.
pub const ROOT: &str = "root";
/// Maximum length of a root, written or read. Enough for 10^9 objects with names of any length.
pub const MAX_ROOT_BYTES: u64 = 64 << 20;

#[cfg(test)]
mod tests;
