//! Audits of a bucket's objects against their manifest.

use std::iter;
use std::marker::PhantomData;

use crate::audit::pair::{self, Pair};
use crate::audit::plan::Turn;
use crate::audit::source::{Item, Lost, Reading, Settled, Source, Sources};
use crate::audit::{Change, Plan, Put, Status, Tally, audit};
use crate::error::Error;
use crate::escaped::Escaped;
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
}

impl BucketAudit<'_> {
    /// Audits the objects of a listing, which must be in byte order of names, on the calling thread
    /// and one thread for each of `others`. `put` receives the verdicts in the order of names;
    /// those on new, missing and renamed objects come last. Returns what was read, and whether the
    /// search for renamed objects was complete; if not, some may be reported as new and missing.
    ///
    /// Fails if the manifest or the listing cannot be read to its end. Verdicts given before that
    /// are correct but not all.
    pub fn run<T: Send, W: Tagger<T>>(
        &self,
        found: impl Iterator<Item = Result<Listed<T>, Error>>,
        main: &mut W,
        others: &mut [W],
        put: &mut Put<'_>,
    ) -> Result<(Tally, bool), Error> {
        let items = items(self.manifest.objects(), found, self.plan);
        let bucket = |tagger| Bucket(tagger, PhantomData);
        let mut main = bucket(main);
        let mut others: Vec<_> = others.iter_mut().map(bucket).collect();
        let sources = Sources { main: &mut main, others: &mut others };
        let (nonces, mut tally) = (self.manifest.takes_nonce(), Tally::default());
        let complete = audit(nonces, items, sources, self.progress, &mut tally, put)?;
        Ok((tally, complete))
    }
}

/// A bucket, as one tagger reads it.
struct Bucket<'a, T, W>(&'a mut W, PhantomData<T>);

impl<T: Send, W: Tagger<T>> Source for Bucket<'_, T, W> {
    type Both = (Object, Listed<T>, Turn);
    type New = Listed<T>;
    type Metadata = ();

    /// A thread mostly waits for the store, so a batch is a single object.
    const BATCH: usize = 1;
    /// Doubled, because `T` owns about as much memory elsewhere as its own size.
    const NEW_BYTES: usize = 2 * size_of::<Listed<T>>();
    const FILE: &'static str = "object";

    fn look(&mut self, item: Item<Self>) -> Item<Self> {
        match item {
            Item::Both((sealed, found, turn)) => {
                let status = match self.compare(&sealed, &found, turn) {
                    Some(status) => status,
                    None => return missing(turn, sealed),
                };
                let (kind, turn) = (Self::FILE, Some(turn));
                Item::Settled(Settled { name: found.name, kind, status, turn })
            }
            Item::New(found) => match self.0.refuses(&found.name) {
                Some(why) => Item::settled(found.name, Self::FILE, Status::Unreadable(why)),
                None => Item::New(found),
            },
            item => item,
        }
    }

    fn read(&mut self, new: &Listed<T>, nonce: &[u8]) -> Reading<Self> {
        match self.0.tag(new, nonce) {
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
    /// Returns the verdict on an object that has an entry; `None` if it vanished.
    fn compare(
        &mut self,
        sealed: &Object,
        found: &Listed<T>,
        turn: Turn,
    ) -> Option<Status<'static>> {
        // If the size differs, the tag must too: do not read the object.
        if sealed.size != found.size {
            return Some(Status::Changed(vec![Change::new("size", sealed.size, found.size)]));
        }
        if !turn.read {
            return Some(Status::NotRead);
        }
        Some(match self.0.tag(found, &sealed.nonce) {
            Ok(tag) if tag == sealed.tag => Status::Unchanged,
            Ok(_) => Status::Changed(vec![Change::silent("content")]),
            Err(Unread::Gone) => return None,
            Err(Unread::Failed(why)) => Status::Unreadable(why),
        })
    }
}

/// Returns a missing object, which may be a new one under another name.
fn missing<S: Source<Metadata = ()>>(turn: Turn, sealed: Object) -> Item<S> {
    let Object { name, size, nonce, tag } = sealed;
    Item::Missing(Lost { name, size, nonce, tag, metadata: (), turn: Some(turn) })
}

/// Merges the objects of the manifest and of the listing.
fn items<'a, T: Send, W: Tagger<T> + 'a>(
    sealed: impl Iterator<Item = Result<Object, Error>>,
    found: impl Iterator<Item = Result<Listed<T>, Error>>,
    plan: &Plan,
) -> impl Iterator<Item = Result<Item<Bucket<'a, T, W>>, Error>> {
    let (mut sealed, mut found) = (sealed.peekable(), found.peekable());
    let mut last = Vec::new();
    let turn = |sealed: &Object| plan.turn(&sealed.name, sealed.size, None);
    iter::from_fn(move || {
        let order = |sealed: &Object, found: &Listed<T>| sealed.name.cmp(&found.name);
        let pair = pair::next(&mut sealed, &mut found, order)?;
        Some(pair.and_then(|pair| {
            if let Pair::Both(_, found) | Pair::Found(found) = &pair {
                check_order(&mut last, &found.name)?;
            }
            Ok(match pair {
                Pair::Both(sealed, found) => {
                    let turn = turn(&sealed);
                    Item::Both((sealed, found, turn))
                }
                Pair::Sealed(sealed) => missing(turn(&sealed), sealed),
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
