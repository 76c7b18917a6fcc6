//! Audits: what is there against its manifest.
//!
//! A tree and a bucket are each a `Source`, and one function audits both. It looks at all entries, in
//! order and with several threads, and then finds new files that are missing ones under other names.

mod bucket;
mod change;
mod merge;
mod pair;
mod renames;
mod scanned;
mod source;
mod status;
mod tree;

use crate::error::Error;
use crate::pool;
use crate::progress::{Progress, stopped};
pub use bucket::BucketAudit;
pub use change::Change;
use renames::{RenameOutcome, Renames};
pub use renames::{paired, planned};
use source::{Item, Source, Sources};
pub use status::{Counts, Put, Status};
pub use tree::{Audited, TreeAudit};

/// Audits the entries of a source and its manifest. `put` gets the verdicts: in the order of the
/// entries, but those on new, missing and renamed files after all others. Returns whether all renamed
/// files were looked for: some may be reported as new and missing otherwise.
fn audit<S: Source>(
    nonces: bool,
    items: impl Iterator<Item = Result<Item<S>, Error>>,
    sources: Sources<'_, S>,
    progress: &dyn Progress,
    put: &mut Put<'_>,
) -> Result<bool, Error> {
    let Sources { main, others } = sources;
    let mut renames = Renames::<S>::new();
    let look = |source: &mut S, item: Result<Item<S>, Error>| item.map(|item| source.look(item));
    pool::in_batches(S::BATCH, others, items, look, |item| {
        progress.file();
        stopped(progress)?;
        let item = match item? {
            item @ Item::Both(_) => main.look(item),
            item => item,
        };
        match item {
            Item::Settled(name, kind, status) => put(&name, kind, status),
            Item::Missing(lost) => {
                if let Some(lost) = renames.missing(lost) {
                    put(&lost.name, S::FILE, Status::Missing);
                }
            }
            Item::New(new) => {
                if let Some(new) = renames.new_file(new) {
                    put(S::name_and_size(&new).0, S::FILE, Status::New);
                }
            }
            Item::Both(_) => unreachable!("the main reader leaves nothing to others"),
        }
        Ok::<(), Error>(())
    })?;
    let sources = Sources { main, others };
    let complete = renames.resolve(nonces, sources, |found| match found {
        RenameOutcome::Renamed { from, to, changes } => {
            put(to, S::FILE, Status::Renamed(from, changes))
        }
        RenameOutcome::New(name) => put(name, S::FILE, Status::New),
        RenameOutcome::Missing(name) => put(name, S::FILE, Status::Missing),
    });
    // A file that was not read may be reported neither as new nor as missing.
    stopped(progress)?;
    Ok(complete)
}
