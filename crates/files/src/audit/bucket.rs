//! Audits of a bucket's objects against their manifest.

use std::cell::Cell;
use std::iter;
use std::marker::PhantomData;

use crate::audit::leaves::LeafReader;
use crate::audit::pair::{self, Pair};
use crate::audit::plan::Turn;
use crate::audit::source::{Item, Lost, Reading, Settled, Source, Sources};
use crate::audit::{Audited, Change, Plan, Put, Status, Tally, audit};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::filter::Filter;
use crate::manifest::ManifestError;
use crate::objects::{Listed, Object, ObjectManifest, Tagger, Unread};
use crate::progress::Progress;

/// An audit of a bucket's objects.
pub struct BucketAudit<'a> {
    /// The manifest, with its root verified.
    pub manifest: &'a ObjectManifest<'a>,
    /// Notified of each object. The taggers report bytes.
    pub progress: &'a dyn Progress,
    /// The objects to read.
    pub plan: &'a Plan,
    /// Names. If there are any, only the sealed objects at and below them are audited.
    pub paths: &'a [Vec<u8>],
}

impl BucketAudit<'_> {
    /// Audits the objects of a listing, which must be in byte order of names, on the calling thread
    /// and one thread for each of `others`. `put` receives the verdicts in the order of names;
    /// those on new, missing and renamed objects come last.
    ///
    /// With paths, or if the manifest is that of a list, the sealed objects are looked up one by
    /// one. Then `list` is not called, and other objects are ignored.
    ///
    /// Fails if the manifest or the listing cannot be read to its end. Verdicts given before that
    /// are correct but not all.
    pub fn run<T: Send, W: Tagger<T>, I: Iterator<Item = Result<Listed<T>, Error>>>(
        &self,
        list: impl FnOnce() -> I,
        main: &mut W,
        others: &mut [W],
        put: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        let header = &self.manifest.root.header;
        if header.listed || !self.paths.is_empty() {
            let used: Vec<_> = self.paths.iter().map(|_| Cell::new(false)).collect();
            let (tally, renames_complete) = self.audit(self.lookups(&used), main, others, put)?;
            let unused = used.iter().position(|used| !used.get());
            return match unused.map(|unused| self.paths[unused].clone()) {
                Some(path) => Err(ManifestError::NoEntry { path }.into()),
                None => Ok(Audited { skipped: 0, renames_complete, left_out: 0, tally }),
            };
        }
        let mut filter = Filter::new(&header.filters).map_err(Error::mismatch)?;
        let mut left_out = 0;
        let found = list().filter(|found| {
            let is_out = found.as_ref().is_ok_and(|found| filter.leaves_out_below(&found.name));
            left_out += u64::from(is_out);
            !is_out
        });
        let items = merged(self.manifest.objects(), found, self.plan);
        let (tally, renames_complete) = self.audit(items, main, others, put)?;
        Ok(Audited { skipped: 0, renames_complete, left_out, tally })
    }

    fn audit<'w, T: Send, W: Tagger<T> + 'w>(
        &'w self,
        items: impl Iterator<Item = Result<Item<Bucket<'w, T, W>>, Error>>,
        main: &'w mut W,
        others: &'w mut [W],
        put: &mut Put<'_>,
    ) -> Result<(Tally, bool), Error> {
        let leaves = LeafReader::new(self.plan, self.progress);
        let bucket = |tagger| Bucket { tagger, leaves, object: PhantomData };
        let mut main = bucket(main);
        let mut others: Vec<_> = others.iter_mut().map(bucket).collect();
        let sources = Sources { main: &mut main, others: &mut others };
        let (nonces, mut tally) = (self.manifest.takes_nonce(), Tally::default());
        let (tally_of, keep) = (&mut tally, &mut |_| Ok(()));
        let complete = audit(nonces, items, sources, self.progress, tally_of, put, keep)?;
        Ok((tally, complete))
    }

    /// Returns the sealed objects at and below the paths, or all if there are no paths. Sets
    /// `used` for each path that has one.
    fn lookups<'s, 'w: 's, T: Send + 's, W: Tagger<T> + 'w>(
        &'s self,
        used: &'s [Cell<bool>],
    ) -> impl Iterator<Item = Result<Item<Bucket<'w, T, W>>, Error>> + 's {
        let is_asked_for = move |name: &[u8]| {
            let mut any = self.paths.is_empty();
            for (path, used) in self.paths.iter().zip(used) {
                let rest = name.strip_prefix(&**path);
                if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/")) {
                    used.set(true);
                    any = true;
                }
            }
            any
        };
        let sealed = self.manifest.objects_near(self.paths);
        sealed.filter_map(move |sealed| match sealed {
            Ok(sealed) if !is_asked_for(&sealed.name) => None,
            Ok(sealed) => {
                let turn = turn(self.plan, &sealed);
                Some(Ok(Item::Both(Both { sealed, found: None, turn })))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

/// A bucket, as one tagger reads it.
struct Bucket<'a, T, W> {
    tagger: &'a mut W,
    /// Reads leaves, if they are sampled.
    leaves: Option<LeafReader<'a>>,
    object: PhantomData<T>,
}

/// A sealed object that was listed, or that must be looked up.
struct Both<T> {
    sealed: Object,
    found: Option<Listed<T>>,
    turn: Option<Turn>,
}

impl<T: Send, W: Tagger<T>> Source for Bucket<'_, T, W> {
    type Both = Both<T>;
    type New = Listed<T>;
    type Metadata = ();

    /// A thread mostly waits for the store, so a batch is a single object.
    const BATCH: usize = 1;
    /// Doubled, because `T` owns about as much memory elsewhere as its own size.
    const NEW_BYTES: usize = 2 * size_of::<Listed<T>>();
    const FILE: &'static str = "object";

    fn look(&mut self, item: Item<Self>) -> Result<Item<Self>, Error> {
        Ok(match item {
            Item::Both(Both { sealed, found, mut turn }) => {
                let found = found.map_or_else(|| self.tagger.find(&sealed.name), Ok);
                let status = match found {
                    Ok(found) => self.compare(&sealed, &found, &mut turn)?,
                    Err(unread) => Err(unread),
                };
                match status {
                    Err(Unread::Gone) => missing(turn, sealed),
                    Err(Unread::Archived) => settled(turn, sealed, Status::Archived),
                    Err(Unread::Failed(why)) => settled(turn, sealed, Status::Unreadable(why)),
                    Ok(status) => settled(turn, sealed, status),
                }
            }
            Item::New(found) => match self.tagger.refuses(&found.name) {
                Some(why) => Item::settled(found.name, Self::FILE, Status::Unreadable(why)),
                None => Item::New(found),
            },
            item => item,
        })
    }

    fn read(&mut self, new: &Listed<T>, nonce: &[u8]) -> Reading<Self> {
        match self.tagger.tag(new, nonce) {
            Ok(tag) => Reading::Done(new.size, tag, ()),
            Err(_) => Reading::Failed,
        }
    }

    fn name_and_size(new: &Listed<T>) -> (&[u8], u64) {
        (&new.name, new.size)
    }

    fn changes((): &(), (): &()) -> Vec<Change> {
        Vec::new()
    }
}

impl<T: Send, W: Tagger<T>> Bucket<'_, T, W> {
    /// Returns the verdict on an object that has an entry.
    fn compare(
        &mut self,
        sealed: &Object,
        found: &Listed<T>,
        turn: &mut Option<Turn>,
    ) -> Result<Result<Status<'static>, Unread>, Error> {
        // If the size differs, the tag must too: do not read the object.
        if sealed.size != found.size {
            return Ok(Ok(Status::Changed(vec![Change::new("size", sealed.size, found.size)])));
        }
        Ok(match sealed.tag {
            Some(expected) if turn.is_none_or(|turn| turn.read) => {
                self.tagger.tag(found, &sealed.nonce).map(|tag| match tag == expected {
                    true => Status::Unchanged,
                    false => Status::Changed(vec![Change::silent("content")]),
                })
            }
            tag => self.read_leaves(found, turn)?.map(|damage| {
                let changes = damage.into_iter().chain(stamp_change(sealed, found));
                match changes.collect::<Vec<_>>() {
                    changes if !changes.is_empty() => Status::Changed(changes),
                    _ if tag.is_none() && found.archived => Status::Archived,
                    _ => Status::NotRead,
                }
            }),
        })
    }

    /// Reads the leaves of an object that were chosen. Returns the change if one is damaged.
    fn read_leaves(
        &mut self,
        found: &Listed<T>,
        turn: &mut Option<Turn>,
    ) -> Result<Result<Option<Change>, Unread>, Error> {
        match (&self.leaves, turn.as_mut().and_then(Turn::sampled)) {
            (Some(leaves), Some(count)) => leaves.read(&found.name, count, |range, bytes| {
                *bytes = self.tagger.range(found, range)?;
                Ok(())
            }),
            _ => Ok(Ok(None)),
        }
    }
}

/// Returns the difference between two stamps of one kind. An ETag, which has quotes,
/// and a version ID cannot be compared.
fn stamp_change<T>(sealed: &Object, found: &Listed<T>) -> Option<Change> {
    let (sealed, found) = (sealed.stamp.as_deref()?, found.stamp.as_deref()?);
    let is_etag = |stamp: &[u8]| stamp.starts_with(b"\"");
    let differs = sealed != found && is_etag(sealed) == is_etag(found);
    differs.then(|| Change::new("version", Escaped::bytes(sealed), Escaped::bytes(found)))
}

/// Returns what the plan says on a sealed object, if it has a tag.
fn turn(plan: &Plan, sealed: &Object) -> Option<Turn> {
    sealed.tag.map(|_| plan.turn(&sealed.name, sealed.size, sealed.read))
}

fn settled<S: Source>(turn: Option<Turn>, sealed: Object, status: Status<'static>) -> Item<S> {
    Item::Settled(Settled { name: sealed.name, kind: S::FILE, status, turn, anew: None })
}

/// Returns a missing object, which may be a new one under another name.
fn missing<S: Source<Metadata = ()>>(turn: Option<Turn>, sealed: Object) -> Item<S> {
    match sealed {
        Object { name, size, nonce, tag: Some(tag), .. } => {
            Item::Missing(Lost { name, size, nonce, tag, metadata: (), turn })
        }
        sealed => settled(turn, sealed, Status::Missing),
    }
}

/// Merges the objects of the manifest and of the listing.
fn merged<'a, T: Send, W: Tagger<T> + 'a>(
    sealed: impl Iterator<Item = Result<Object, Error>>,
    found: impl Iterator<Item = Result<Listed<T>, Error>>,
    plan: &Plan,
) -> impl Iterator<Item = Result<Item<Bucket<'a, T, W>>, Error>> {
    let (mut sealed, mut found) = (sealed.peekable(), found.peekable());
    let mut last = Vec::new();
    iter::from_fn(move || {
        let order = |sealed: &Object, found: &Listed<T>| sealed.name.cmp(&found.name);
        let pair = pair::next(&mut sealed, &mut found, order)?;
        Some(pair.and_then(|pair| {
            if let Pair::Both(_, found) | Pair::Found(found) = &pair {
                check_order(&mut last, &found.name)?;
            }
            Ok(match pair {
                Pair::Both(sealed, found) => {
                    let turn = turn(plan, &sealed);
                    Item::Both(Both { sealed, found: Some(found), turn })
                }
                Pair::Sealed(sealed) => missing(turn(plan, &sealed), sealed),
                Pair::Found(found) => Item::New(found),
            })
        }))
    })
}

/// Rejects a name that is not after the last one: an object could count as missing and as new.
fn check_order(last: &mut Vec<u8>, name: &[u8]) -> Result<(), Error> {
    if &**last >= name {
        let [last, name] = [&**last, name].map(Escaped::bytes);
        return Err(Error::io(format_args!(
            "{name}: listed after {last}; a listing must be in byte order of names"
        )));
    }
    last.clear();
    last.extend_from_slice(name);
    Ok(())
}
