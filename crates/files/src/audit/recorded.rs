//! A second manifest as an audit source: the differences that two manifests record, without the
//! data.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::iter;

use crate::audit::change::{Metadata, changes};
use crate::audit::pair::{self, Pair};
use crate::audit::plan::Tally;
use crate::audit::scanned::missing;
use crate::audit::source::{Item, Reading, Source, Sources};
use crate::audit::{Change, Put, Status, audit};
use crate::error::Error;
use crate::manifest::entry::{Content, Entry, word};
use crate::pool;

/// Compares the entries of a manifest with those of a later one. `order` is their order, and
/// `nonces` is set if the tags were made under nonces. `put` receives the verdicts as in an audit.
/// Contents with two nonces cannot be compared, so such a file has the verdict
/// [`Status::NotRead`].
///
/// Returns whether the search for renamed files was complete.
pub fn compare(
    old: impl Iterator<Item = Result<Entry, Error>>,
    new: impl Iterator<Item = Result<Entry, Error>>,
    order: fn(&[u8], &[u8]) -> Ordering,
    nonces: bool,
    put: &mut Put<'_>,
) -> Result<bool, Error> {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    let items = iter::from_fn(|| {
        let pair = pair::next(&mut old, &mut new, |old, new| order(&old.path, &new.path))?;
        Some(pair.map(settled))
    });
    let sources = Sources { main: &mut Recorded, others: &mut [Recorded] };
    audit(nonces, items, sources, &(), &mut Tally::default(), put, &mut |_| Ok(()))
}

fn settled(pair: Pair<Entry, Entry>) -> Item<Recorded> {
    match pair {
        Pair::Both(old, new) if old.kind != new.kind => {
            let change = Change::new("kind", word(old.kind), word(new.kind));
            Item::settled(new.path, word(new.kind), Status::Changed(vec![change]))
        }
        Pair::Both(old, new) => {
            let mut changes = changes(&old, &new);
            let is_unknown = !are_comparable(&old, &new);
            if is_unknown {
                changes.retain(|change| change.what != "content");
            }
            let status = match changes.is_empty() && is_unknown {
                true => Status::NotRead,
                false => Status::from_changes(changes),
            };
            Item::settled(new.path, word(new.kind), status)
        }
        Pair::Sealed(old) => missing(None, old),
        Pair::Found(new) => match new.content {
            Some(_) => Item::New(new),
            None => Item::settled(new.path, word(new.kind), Status::New),
        },
    }
}

/// Returns whether the tags of two files, if they are files, tell whether their contents differ.
fn are_comparable(old: &Entry, new: &Entry) -> bool {
    match (&old.content, &new.content) {
        (Some(old), Some(new)) => old.nonce == new.nonce && old.tag.is_some() && new.tag.is_some(),
        _ => true,
    }
}

/// Entries of a manifest. Nothing is read.
struct Recorded;

impl Source for Recorded {
    type Both = Infallible;
    type New = Entry;
    type Metadata = Metadata;

    const BATCH: usize = pool::BATCH;
    const NEW_BYTES: usize = size_of::<Entry>();
    const FILE: &'static str = "file";

    fn look(&mut self, item: Item<Self>) -> Result<Item<Self>, Error> {
        Ok(item)
    }

    fn read(&mut self, new: &Entry, nonce: &[u8]) -> Reading<Self> {
        match &new.content {
            Some(Content { size, nonce: own, tag: Some(tag) }) if own == nonce => {
                Reading::Done(*size, *tag, Metadata::of(new))
            }
            _ => Reading::Failed,
        }
    }

    fn name_and_size(new: &Entry) -> (&[u8], u64) {
        (&new.path, new.size())
    }

    fn changes(sealed: &Metadata, found: &Metadata) -> Vec<Change> {
        sealed.changes(found)
    }
}
