//! Objects that a manifest describes. Their bytes are verified before they are released.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::Path;
use std::thread::{self, ScopedJoinHandle};

use tagmac_files::leaves::content::{Contents, SealedContent};
use tagmac_files::leaves::repair::Damage;
use tagmac_files::progress::{Progress, stopped};
use tagmac_files::url::{DOT_SEGMENTS, has_dot_segments};
use tagmac_files::{Error, ReadError};

use crate::failure::Failure;
use crate::object::ObjectVersion;
use crate::objects::Bucket;

/// The approximate number of bytes of a request.
const REQUEST: u64 = 4 << 20;
/// The approximate number of bytes that are requested in advance.
const AHEAD: u64 = 16 << 20;

/// An object, and its sealed content.
pub struct SealedObject {
    content: SealedContent,
    bucket: Bucket,
    key: String,
    facts: ObjectVersion,
}

impl SealedObject {
    /// Opens the object `path` of a manifest, whose key is `path` after `prefix`. Its size may be another
    /// than the sealed one.
    pub fn open(
        contents: &Contents,
        bucket: &Bucket,
        prefix: &str,
        path: &[u8],
    ) -> Result<SealedObject, Error> {
        let url = bucket.url(&format!("{prefix}{}", String::from_utf8_lossy(path))).to_string();
        let name = Path::new(&url);
        let content = contents.content(path, name)?;
        let failed = |error| Error::file(name, error);
        let other = |what: &str| failed(ReadError::Io(std::io::Error::other(what)));
        let path = str::from_utf8(path).map_err(|_| other("no key has this name"))?;
        let key = format!("{prefix}{path}");
        if has_dot_segments(&key) {
            return Err(other(DOT_SEGMENTS));
        }
        let facts = bucket.facts(&key).map_err(failed)?;
        Ok(SealedObject { content, bucket: bucket.clone(), key, facts })
    }

    /// Returns the sealed content.
    pub fn content(&self) -> &SealedContent {
        &self.content
    }

    fn failed(&self, failure: Failure) -> Error {
        let url = self.bucket.url(&self.key).to_string();
        Error::file(Path::new(&url), ReadError::from(failure))
    }

    /// Passes the verified bytes of a range to `each`, in order. Fails if the object does not have the
    /// sealed size, and at the first leaf that is not the sealed one.
    pub fn read(
        &self,
        range: Range<u64>,
        mut each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let content = &self.content;
        content.has_size(self.facts.size)?;
        let end = range.end.min(content.size());
        if range.start >= end && content.size() > 0 {
            return Ok(());
        }
        // An empty object can be a damaged one.
        let leaves = content.start_of(range.start)..end.max(u64::from(content.size() == 0));
        self.leaves(leaves, |leaf, bytes| {
            if !content.is_sealed(leaf.start, bytes)? {
                return Err(content.differs(leaf));
            }
            let [first, last] = [range.start, end].map(|at| at.clamp(leaf.start, leaf.end));
            each(&bytes[(first - leaf.start) as usize..(last - leaf.start) as usize])
        })
    }

    /// Reads the whole object and returns its damage.
    pub fn damage(&self, progress: &dyn Progress) -> Result<Damage, Error> {
        let (content, found) = (&self.content, self.facts.size);
        let mut damage = Damage { size: Some(found), ..Damage::default() };
        damage.size.take_if(|size| *size == content.size());
        let there = content.starts().map(|start| content.range(start));
        let there = there.take_while(|leaf| leaf.end <= found).last().map_or(0, |leaf| leaf.end);
        self.leaves(0..there, |leaf, bytes| {
            damage.of += 1;
            if !content.is_sealed(leaf.start, bytes)? {
                damage.add(leaf);
            }
            progress.add(bytes.len());
            stopped(progress)
        })?;
        for start in content.starts().skip(damage.of as usize) {
            damage.of += 1;
            // An empty object has one leaf, which is not requested above.
            match found.min(content.size()) {
                0 if content.is_sealed(start, &[])? => {}
                _ => damage.add(content.range(start)),
            }
        }
        Ok(damage)
    }

    /// Requests the leaves that begin in a range, and passes them to `each` in order.
    fn leaves(
        &self,
        range: Range<u64>,
        mut each: impl FnMut(Range<u64>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let leaf = self.content.leaf();
        let step = (REQUEST / leaf).max(1).saturating_mul(leaf);
        let ahead = (AHEAD / step).clamp(1, 4) as usize;
        let last = self.content.range(self.content.start_of(range.end.saturating_sub(1))).end;
        thread::scope(|scope| {
            let fetch = |start: u64| {
                let end = start.saturating_add(step).min(last);
                let get = move || self.bucket.bytes(&self.key, start..end, &self.facts);
                (start, thread::Builder::new().spawn_scoped(scope, get))
            };
            let mut starts =
                (range.start..range.end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
            let mut requests: VecDeque<_> = starts.by_ref().take(ahead).map(fetch).collect();
            while let Some((mut start, request)) = requests.pop_front() {
                let none = || Failure::Final("cannot start a thread for requests".into());
                let bytes = request.map_err(|_| none()).and_then(joined);
                let bytes = bytes.map_err(|failure| self.failed(failure))?;
                requests.extend(starts.next().map(fetch));
                for bytes in chunks(&bytes, leaf) {
                    each(start..start + bytes.len() as u64, bytes)?;
                    start += bytes.len() as u64;
                }
            }
            Ok(())
        })
    }
}

/// Returns leaves; of an empty object, the empty one.
fn chunks(bytes: &[u8], leaf: u64) -> impl Iterator<Item = &[u8]> {
    let leaf = usize::try_from(leaf).unwrap_or(usize::MAX);
    let empty = bytes.is_empty().then_some(bytes);
    bytes.chunks(leaf).chain(empty)
}

fn joined(request: ScopedJoinHandle<'_, Result<Vec<u8>, Failure>>) -> Result<Vec<u8>, Failure> {
    request.join().unwrap_or_else(|_| Err(Failure::Final("internal error: a request".into())))
}
