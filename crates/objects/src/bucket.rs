//! Listings of the objects below a prefix, and work on each object.

use tagmac_files::pool;
use tagmac_files::{Error, ReadError, TooManyObjects};
use tokio::task::JoinHandle;

use crate::failure::Failure;
use crate::listing::Page;
pub use crate::object::Listed;
use crate::objects::Bucket;
use crate::retry::Tries;

/// The number of consecutive empty pages that a listing may have.
const MAX_EMPTY: u32 = 1000;

impl Bucket {
    /// Lists the objects whose keys begin with `prefix`, in byte order of the keys. Leaves out an
    /// object with the key `prefix`, which only marks a folder.
    pub fn list(&self, prefix: &str) -> Listing {
        let (bucket, prefix) = (self.clone(), String::from(prefix));
        let mut listing = Listing {
            bucket,
            prefix,
            page: Vec::new().into_iter(),
            next: None,
            last: None,
            empty: 0,
            objects: 0,
        };
        listing.fetch(None);
        listing
    }
}

/// A page, and the token that requested it.
type Fetched = (Page, Option<String>);

/// An iterator over the objects of a listing. It requests the next page while the current one is
/// used.
pub struct Listing {
    bucket: Bucket,
    prefix: String,
    page: std::vec::IntoIter<Listed>,
    next: Option<JoinHandle<Result<Fetched, Failure>>>,
    last: Option<String>,
    /// The number of consecutive empty pages so far.
    empty: u32,
    /// The number of objects so far.
    objects: u64,
}

impl Listing {
    fn fetch(&mut self, token: Option<String>) {
        let (bucket, prefix) = (self.bucket.clone(), self.prefix.clone());
        let page = async move {
            let mut tries = Tries::new();
            loop {
                match bucket.store.page(&prefix, token.as_deref()).await {
                    Err(failure) => tries.pause(failure).await?,
                    Ok(page) => return Ok((page, token)),
                }
            }
        };
        self.next = Some(self.bucket.objects.runtime().spawn(page));
    }

    /// Waits for the next page. Returns whether there was one.
    fn turn(&mut self) -> Result<bool, Error> {
        let Some(next) = self.next.take() else { return Ok(false) };
        let page = self.bucket.objects.runtime().block_on(next);
        let failed = |what: String| {
            let url = self.bucket.url(&self.prefix);
            Error::io(format_args!("{}: {what}", shown(&url.to_string())))
        };
        let page = page.map_err(|_| failed("the listing ended".into()))?;
        let (page, asked) = page.map_err(|failure| match failure {
            Failure::Missing => failed("no such bucket".into()),
            failure => failed(ReadError::from(failure).to_string()),
        })?;
        if page.next.is_some() {
            // Some stores return empty pages, and a hostile one could do so forever.
            self.empty = if page.objects.is_empty() { self.empty + 1 } else { 0 };
            if self.empty > MAX_EMPTY {
                let what = "the listing has too many empty pages in a row";
                return Err(failed(what.into()));
            }
            if page.next == asked {
                let what = "the listing's token for the next page is the token of this page";
                return Err(failed(what.into()));
            }
            self.fetch(page.next);
        }
        self.page = page.objects.into_iter();
        Ok(true)
    }

    fn read(&mut self) -> Result<Option<Listed>, Error> {
        loop {
            let Some(object) = self.page.next() else {
                if self.turn()? {
                    continue;
                }
                return Ok(None);
            };
            let is_in_order = self.last.as_ref().is_none_or(|last| *last < object.key);
            if !object.key.starts_with(&self.prefix) || !is_in_order {
                let (last, key) = (self.last.as_deref().unwrap_or(&self.prefix), &object.key);
                let [last, key] = [last, key].map(shown);
                return Err(Error::io(format_args!(
                    "{}: the listing is not in byte order of the keys: {key} after {last}",
                    shown(&self.bucket.url(&self.prefix).to_string())
                )));
            }
            self.objects += 1;
            let max = self.bucket.objects.max_objects();
            if self.objects > max {
                let url = self.bucket.url(&self.prefix).to_string();
                return Err(TooManyObjects { url, max }.into());
            }
            self.last = Some(object.key.clone());
            if object.key != self.prefix {
                return Ok(Some(object));
            }
        }
    }
}

impl Iterator for Listing {
    type Item = Result<Listed, Error>;

    fn next(&mut self) -> Option<Result<Listed, Error>> {
        let object = self.read();
        if object.is_err() {
            (self.page, self.next) = (Vec::new().into_iter(), None);
        }
        object.transpose()
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        if let Some(next) = self.next.take() {
            next.abort();
        }
    }
}

/// Calls `read` for several jobs concurrently, such as the objects of a listing, and `done` with each
/// result in the order of `jobs`. An error among the jobs ends the call.
pub fn read_all<J: Send, M: Send>(
    bucket: &Bucket,
    jobs: impl Iterator<Item = Result<J, Error>>,
    read: impl Fn(&J) -> M + Sync,
    mut done: impl FnMut(J, M) -> Result<(), Error>,
) -> Result<(), Error> {
    let read = |(): &mut (), job: Result<J, Error>| {
        let job = job?;
        let made = read(&job);
        Ok::<_, Error>((job, made))
    };
    let mut workers = vec![(); bucket.objects.requests()];
    // Threads mostly wait for the store, so each gets only one object at a time.
    pool::in_batches(1, &mut workers, jobs, read, |made| {
        let (job, made) = made?;
        done(job, made)
    })
}

/// Escapes a name for a message.
fn shown(name: &str) -> String {
    tagmac_files::escaped::Escaped::bytes(name.as_bytes()).to_string()
}
