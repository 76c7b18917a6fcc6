//! A bucket's objects against their manifest.

use tagmac::Tag;

use crate::audit::{Change, Status};
use crate::error::Error;
use crate::objects::merge::{Item, Merge};
use crate::objects::object::Object;
use crate::objects::reader::ObjectManifest;
use crate::objects::renames::{Found, Renames};
use crate::objects::tagger::{Listed, Tagger, Unread};
use crate::pool;
use crate::progress::Progress;

/// Takes the verdict on the object of a name.
pub type Put<'a> = dyn FnMut(&[u8], Status<'_>) + 'a;

/// An audit of a bucket's objects.
pub struct Audit<'a> {
    /// The manifest, whose root was checked.
    pub manifest: &'a ObjectManifest<'a>,
    /// Hears of each object. Bytes are for the taggers to tell.
    pub progress: &'a dyn Progress,
}

/// What came of a job.
enum Done<T> {
    Both(Object, Listed<T>, Result<Tag, Unread>),
    Refused(Vec<u8>, String),
    Unread(Item<T>),
}

impl Audit<'_> {
    /// Audits the objects of a listing in byte order of names, each thread with one of the taggers.
    /// `put` gets the verdicts: in the order of names, but those on new, missing and renamed objects
    /// after all others. Whether all renamed objects were looked for: some may be reported as new and
    /// missing otherwise.
    ///
    /// An error if the manifest or the listing cannot be read to its end. The verdicts until then
    /// are right, but there are others.
    pub fn run<T: Send, W: Tagger<T>>(
        &self,
        found: impl Iterator<Item = Result<Listed<T>, Error>>,
        taggers: &mut [W],
        put: &mut Put<'_>,
    ) -> Result<bool, Error> {
        let items = Merge::new(self.manifest.objects(), found);
        let mut renames = Renames::new(self.manifest.takes_nonce());
        let work = |tagger: &mut W, item: Item<T>| match item {
            // No tag can be right, so there is no need to read it.
            Item::Both(sealed, found) if sealed.size == found.size => {
                let tag = tagger.tag(&found, &sealed.nonce);
                Done::Both(sealed, found, tag)
            }
            Item::New(found) => match tagger.refuses(&found.name) {
                Some(why) => Done::Refused(found.name, why),
                None => Done::Unread(Item::New(found)),
            },
            item => Done::Unread(item),
        };
        // A thread waits for a store most of the time, so none takes more than one at a time.
        pool::in_batches(1, taggers, items, work, |done| {
            self.progress.file();
            match done {
                Done::Both(sealed, found, tag) => match tag {
                    Ok(tag) if tag == sealed.tag => put(&found.name, Status::Unchanged),
                    Ok(_) => {
                        let change = Change { what: "content", expected: None, found: None };
                        put(&found.name, Status::Changed(vec![change]));
                    }
                    Err(Unread::Gone) => missing(sealed, &mut renames, put),
                    Err(Unread::Failed(why)) => put(&found.name, Status::Unreadable(why)),
                },
                Done::Refused(name, why) => put(&name, Status::Unreadable(why)),
                Done::Unread(Item::Both(sealed, found)) => {
                    let change = Change::new("size", sealed.size, found.size);
                    put(&found.name, Status::Changed(vec![change]));
                }
                Done::Unread(Item::Missing(sealed)) => missing(sealed, &mut renames, put),
                Done::Unread(Item::New(found)) => {
                    if let Some(found) = renames.new_object(found) {
                        put(&found.name, Status::New);
                    }
                }
                Done::Unread(Item::Wrong(error)) => return Err(error),
            }
            Ok(())
        })?;
        Ok(renames.resolve(taggers, |found| match found {
            Found::Renamed { from, to } => put(to, Status::Renamed(from, Vec::new())),
            Found::New(name) => put(name, Status::New),
            Found::Missing(name) => put(name, Status::Missing),
        }))
    }
}

/// A missing object may be a new one under another name.
fn missing<T: Send>(sealed: Object, renames: &mut Renames<T>, put: &mut Put<'_>) {
    if let Some(sealed) = renames.missing(sealed) {
        put(&sealed.name, Status::Missing);
    }
}
