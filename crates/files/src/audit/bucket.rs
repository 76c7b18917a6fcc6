//! A bucket's objects against their manifest.

use std::iter;
use std::marker::PhantomData;

use crate::audit::pair::{self, Pair};
use crate::audit::source::{Item, Lost, Reading, Source, Sources};
use crate::audit::{Change, Put, Status, audit};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::objects::{Listed, Object, ObjectManifest, Tagger, Unread};
use crate::progress::Progress;

/// An audit of a bucket's objects.
pub struct BucketAudit<'a> {
    /// The manifest, whose root was checked.
    pub manifest: &'a ObjectManifest<'a>,
    /// Hears of each object. Bytes are for the taggers to report.
    pub progress: &'a dyn Progress,
}

impl BucketAudit<'_> {
    /// Audits the objects of a listing in byte order of names, with one thread for each of the
    /// `others`. `put` gets the verdicts: in the order of names, but those on new, missing and renamed
    /// objects after all others. Returns whether all renamed objects were looked for: some may be
    /// reported as new and missing otherwise.
    ///
    /// An error if the manifest or the listing cannot be read to its end. The verdicts until then
    /// are right, but there are others.
    pub fn run<T: Send, W: Tagger<T>>(
        &self,
        found: impl Iterator<Item = Result<Listed<T>, Error>>,
        main: &mut W,
        others: &mut [W],
        put: &mut Put<'_>,
    ) -> Result<bool, Error> {
        let items = items(self.manifest.objects(), found);
        let bucket = |tagger| Bucket(tagger, PhantomData);
        let mut main = bucket(main);
        let mut others: Vec<_> = others.iter_mut().map(bucket).collect();
        let sources = Sources { main: &mut main, others: &mut others };
        audit(self.manifest.takes_nonce(), items, sources, self.progress, put)
    }
}

/// A bucket as a tagger reads it.
struct Bucket<'a, T, W>(&'a mut W, PhantomData<T>);

impl<T: Send, W: Tagger<T>> Source for Bucket<'_, T, W> {
    type Both = (Object, Listed<T>);
    type New = Listed<T>;
    type Metadata = ();

    /// A thread waits for a store most of the time, so none takes more than one at a time.
    const BATCH: usize = 1;
    /// Twice, because what `T` holds elsewhere is about as much as what it is itself.
    const NEW_BYTES: usize = 2 * size_of::<Listed<T>>();
    const FILE: &'static str = "object";

    fn look(&mut self, item: Item<Self>) -> Item<Self> {
        match item {
            Item::Both((sealed, found)) => {
                // No tag can be right if the size is not, so there is no need to read it.
                let change = if sealed.size != found.size {
                    Change::new("size", sealed.size, found.size)
                } else {
                    match self.0.tag(&found, &sealed.nonce) {
                        Ok(tag) if tag == sealed.tag => {
                            return settled(found.name, Status::Unchanged);
                        }
                        Ok(_) => Change { what: "content", expected: None, found: None },
                        Err(Unread::Gone) => return missing(sealed),
                        Err(Unread::Failed(why)) => {
                            return settled(found.name, Status::Unreadable(why));
                        }
                    }
                };
                settled(found.name, Status::Changed(vec![change]))
            }
            Item::New(found) => match self.0.refuses(&found.name) {
                Some(why) => settled(found.name, Status::Unreadable(why)),
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

fn settled<S: Source>(name: Vec<u8>, status: Status<'static>) -> Item<S> {
    Item::Settled(name, S::FILE, status)
}

/// A missing object may be a new one under another name.
fn missing<S: Source<Metadata = ()>>(sealed: Object) -> Item<S> {
    let Object { name, size, nonce, tag } = sealed;
    Item::Missing(Lost { name, size, nonce, tag, metadata: () })
}

/// The objects of a manifest and of a listing, in order.
fn items<'a, T: Send, W: Tagger<T> + 'a>(
    sealed: impl Iterator<Item = Result<Object, Error>>,
    found: impl Iterator<Item = Result<Listed<T>, Error>>,
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
                Pair::Both(sealed, found) => Item::Both((sealed, found)),
                Pair::Sealed(sealed) => missing(sealed),
                Pair::Found(found) => Item::New(found),
            })
        }))
    })
}

/// Refuses a name that does not come after the last one: it could be missing and new at once.
fn check_order(last: &mut Vec<u8>, name: &[u8]) -> Result<(), Error> {
    if &**last >= name {
        let [last, name] = [&**last, name].map(Escaped::bytes);
        return Err(Error::io(format_args!(
            "{name}: expected a listing in byte order of names, found this one after {last}"
        )));
    }
    last.clear();
    last.extend_from_slice(name);
    Ok(())
}
