//! Audits: comparing a tree or a bucket with its manifest.
//!
//! A tree and a bucket are each a `Source`, and one function audits both. It examines all entries
//! in order on several threads, and then searches the new files for renamed ones.

mod bucket;
mod change;
mod leaves;
mod lookups;
mod merge;
mod pair;
mod plan;
mod recorded;
mod renames;
mod scanned;
mod source;
mod status;
mod tree;

use crate::day::Day;
use crate::error::Error;
use crate::pool;
use crate::progress::{Progress, stopped};
use crate::scanner::Anew;
pub use bucket::BucketAudit;
pub use change::Change;
pub use plan::{LeafCount, LeafPlan, Plan, Put, Tally, Turn};
pub use recorded::compare;
use renames::{RenameOutcome, Renames};
pub use renames::{paired, planned};
use source::{Item, Settled, Source, Sources};
pub use status::{Counts, Status};
pub use tree::{Audited, TreeAudit};

/// Receives an entry under a second key.
pub(crate) type Keep<'a> = dyn FnMut(Anew) -> Result<(), Error> + 'a;

/// Audits the entries of a source and its manifest. `put` receives the verdicts in the order of the
/// entries; those on new, missing and renamed files come last. `tally` counts what was read. Returns
/// whether the search for renamed files was complete; if not, some may be reported as new and
/// missing. `keep` receives the unchanged entries under a second key, if there is one.
fn audit<S: Source>(
    nonces: bool,
    items: impl Iterator<Item = Result<Item<S>, Error>>,
    sources: Sources<'_, S>,
    progress: &dyn Progress,
    tally: &mut Tally,
    put: &mut Put<'_>,
    keep: &mut Keep<'_>,
) -> Result<bool, Error> {
    let today = Day::today();
    let Sources { main, others } = sources;
    let mut renames = Renames::<S>::new();
    let look =
        |source: &mut S, item: Result<Item<S>, Error>| item.and_then(|item| source.look(item));
    pool::in_batches(S::BATCH, others, items, look, |item| {
        progress.file();
        stopped(progress)?;
        let item = match item? {
            item @ Item::Both(_) => main.look(item)?,
            item => item,
        };
        match item {
            Item::Settled(Settled { name, kind, status, turn, anew }) => {
                anew.map_or(Ok(()), |anew| keep(*anew))?;
                let turn = turn.map(|turn| tally.add(turn, &status, today));
                put(&name, kind, status, turn);
            }
            Item::Missing(lost) => {
                lost.turn.into_iter().for_each(|turn| tally.add_missing(turn));
                if let Some(lost) = renames.missing(lost) {
                    put(&lost.name, S::FILE, Status::Missing, None);
                }
            }
            Item::New(new) => {
                if let Some(new) = renames.new_file(new) {
                    put(S::name_and_size(&new).0, S::FILE, Status::New, None);
                }
            }
            Item::Both(_) => unreachable!("the main reader decides on every entry"),
        }
        Ok::<(), Error>(())
    })?;
    let sources = Sources { main, others };
    let complete = renames.resolve(nonces, sources, |found| match found {
        RenameOutcome::Renamed { from, to, changes } => {
            put(to, S::FILE, Status::Renamed(from, changes), None)
        }
        RenameOutcome::New(name) => put(name, S::FILE, Status::New, None),
        RenameOutcome::Missing(name) => put(name, S::FILE, Status::Missing, None),
    });
    // A stopped run may have left files unread that are neither new nor missing.
    stopped(progress)?;
    Ok(complete)
}
