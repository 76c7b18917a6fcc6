//! Seals and audits objects.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac::Tag;
use tagmac_files::audit::{Audited, BucketAudit, Put};
use tagmac_files::day::Day;
use tagmac_files::escaped::Escaped;
use tagmac_files::filter::Filter;
use tagmac_files::leaves::Leaves;
use tagmac_files::objects::{self, Earlier, Object, OldObject, Tagger, Unread, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::read::Tagged;
use tagmac_files::url::{DOT_SEGMENTS, has_dot_segments};
use tagmac_files::{Error, ReadError};
use tagmac_objects::bucket::{self, Listed};
use tagmac_objects::read::ObjectReader;
use tagmac_objects::{Bucket, ObjectVersion};

use crate::diagnostic::diagnostic;
use crate::objects::stores::{Stores, parse};
use crate::objects::{ObjectCounts, ObjectSealing, is_url};

impl Stores {
    /// Rejects a manifest below the prefix it describes: its files would show up as new.
    pub fn check_outside(&self, manifest: &Path, name: &Path) -> Result<(), Error> {
        let url = parse(name)?;
        let is_inside = match is_url(manifest) {
            true => url.contains(&parse(manifest)?),
            false => false,
        };
        if !is_inside {
            return Ok(());
        }
        let [manifest, name] = [manifest, name].map(|name| Escaped::name(name).to_string());
        Err(Error::usage(format_args!(
            "{manifest}: a manifest cannot be below the objects that it describes ({name})"
        )))
    }

    /// Seals objects below a URL. Without `skip_unreadable`, the manifest is only valid if no object
    /// was unreadable.
    pub fn seal(
        &self,
        sealing: &ObjectSealing<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<ObjectCounts, Error> {
        let ObjectSealing { open_key, progress, skip_unreadable, .. } = *sealing;
        let folder = self.folder(sealing.url)?;
        let (bucket, prefix) = (&folder.bucket, &*folder.prefix);
        let mut filter = Filter::new(sealing.filters).map_err(Error::usage)?;
        let leaves = sealing.leaves.clone();
        let leaf = leaves.as_ref().map(Leaves::size);
        let mut earlier = sealing.since.map(|since| Earlier::new(since, leaf));
        let reader = ObjectReader::new(open_key, progress).with_leaves(leaves);
        let sealer = Sealer { bucket, reader, open_key };
        let will_fail = AtomicBool::new(false);
        // After a failure, finish the requests that are running and start no others.
        let goes_on = || !will_fail.load(Ordering::Relaxed);
        let (mut any, mut left_out) = (false, 0);
        let jobs = jobs(sealing, bucket, prefix).take_while(|_| goes_on()).filter_map(|job| {
            any = true;
            let find = |mut job: Job| {
                let name = &job.key.as_bytes()[prefix.len()..];
                if filter.leaves_out_below(name) {
                    left_out += 1;
                    return Ok(None);
                }
                job.old = earlier.as_mut().map_or(Ok(None), |earlier| earlier.find(name))?;
                Ok(Some(job))
            };
            job.and_then(find).transpose()
        });
        let read = |job: &Job| goes_on().then(|| sealer.seal(job, prefix.len()));
        let mut counts = ObjectCounts::default();
        bucket::read_all(bucket, jobs, read, |job: Job, made: Option<Result<_, ReadError>>| {
            progress.file();
            match made {
                Some(Ok(Made { object, leaf_tags, carried })) if goes_on() => {
                    counts.carried += u64::from(carried && object.tag.is_some());
                    counts.archived += u64::from(object.tag.is_none());
                    writer.push_with_leaves(&object, &leaf_tags)
                }
                Some(Err(error)) => {
                    counts.unreadable += 1;
                    will_fail.store(!skip_unreadable, Ordering::Relaxed);
                    let name = folder.path(&job.key);
                    diagnostic(format_args!("{}: {error}", Escaped::name(&name)));
                    Ok(())
                }
                _ => Ok(()),
            }
        })?;
        if !any {
            return Err(folder.no_objects());
        }
        counts.left_out = left_out;
        if goes_on() {
            for number in filter.unused() {
                let filter = Escaped::text(&sealing.filters[number]).to_string();
                diagnostic(format_args!("the pattern '{filter}' matched nothing"));
            }
        }
        Ok(counts)
    }

    /// Audits the objects below a URL: all, or the sealed ones at and below `paths`.
    pub fn audit(
        &self,
        open_key: &OpenKey,
        audit: &BucketAudit<'_>,
        name: &Path,
        put: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        let folder = self.folder(name)?;
        let (bucket, prefix) = (&folder.bucket, &*folder.prefix);
        let list = || {
            bucket.list(prefix).map(|listed| {
                let Listed { key, facts, archived } = listed?;
                let name = key.as_bytes()[prefix.len()..].to_vec();
                Ok(found(name, facts, archived))
            })
        };
        let tagger =
            || ObjectTagger { reader: ObjectReader::new(open_key, audit.progress), bucket, prefix };
        let mut others: Vec<_> = (0..self.requests()).map(|_| tagger()).collect();
        audit.run(list, &mut tagger(), &mut others, put)
    }
}

/// An object to seal.
struct Job {
    key: String,
    /// The object as it was listed; `None` for one from a list of names.
    listed: Option<Listed>,
    /// The object in an earlier manifest.
    old: Option<OldObject>,
}

/// Returns the objects to seal, in order.
fn jobs<'a>(
    sealing: &ObjectSealing<'a>,
    bucket: &'a Bucket,
    prefix: &'a str,
) -> Box<dyn Iterator<Item = Result<Job, Error>> + 'a> {
    match sealing.names {
        Some(names) => {
            let text = |name| str::from_utf8(name).expect("the list was checked");
            Box::new(names.iter().map(text).map(move |name| {
                Ok(Job { key: format!("{prefix}{name}"), listed: None, old: None })
            }))
        }
        None => Box::new(bucket.list(prefix).map(|listed| {
            let listed = listed?;
            Ok(Job { key: listed.key.clone(), listed: Some(listed), old: None })
        })),
    }
}

/// A sealed object.
struct Made {
    object: Object,
    leaf_tags: Vec<u8>,
    /// True if it was taken from the earlier manifest.
    carried: bool,
}

/// Seals single objects.
struct Sealer<'a> {
    bucket: &'a Bucket,
    reader: ObjectReader<'a>,
    open_key: &'a OpenKey,
}

impl Sealer<'_> {
    /// Returns the sealed object. `cut` is the length of the prefix.
    fn seal(&self, job: &Job, cut: usize) -> Result<Made, ReadError> {
        let Job { key, listed, old } = job;
        let (facts, archived) = match listed {
            Some(Listed { facts, archived, .. }) => (facts.clone(), *archived),
            None => (self.bucket.facts(key)?, false),
        };
        let stamp = facts.stamp().map(|stamp| stamp.as_bytes().to_vec());
        if let Some(OldObject { object, leaf_tags: Some(leaf_tags) }) = old
            && object.is_as_sealed(facts.size, stamp.as_deref())
            && (object.tag.is_some() || archived)
        {
            let (object, leaf_tags) = (object.clone(), leaf_tags.clone());
            return Ok(Made { object, leaf_tags, carried: true });
        }
        // The day on which reading begins, as midnight may come before it ends.
        let today = Day::today();
        let (name, size) = (key.as_bytes()[cut..].to_vec(), facts.size);
        let nonce = self.open_key.mac.algorithm().random_nonce()?;
        let (object, leaf_tags) = match self.reader.tag(self.bucket, key, &facts, &nonce) {
            Ok(Tagged { tag, leaf_tags, .. }) => {
                (Object { name, size, nonce, tag: Some(tag), read: Some(today), stamp }, leaf_tags)
            }
            Err(ReadError::Archived(_)) => {
                let nonce = Vec::new();
                (Object { name, size, nonce, tag: None, read: None, stamp }, Vec::new())
            }
            Err(error) => return Err(error),
        };
        Ok(Made { object, leaf_tags, carried: false })
    }
}

/// Returns an object of a listing, as audits have it.
fn found(name: Vec<u8>, facts: ObjectVersion, archived: bool) -> objects::Listed<ObjectVersion> {
    let stamp = facts.stamp().map(|stamp| stamp.as_bytes().to_vec());
    objects::Listed { name, size: facts.size, stamp, archived, about: facts }
}

struct ObjectTagger<'a> {
    reader: ObjectReader<'a>,
    bucket: &'a Bucket,
    prefix: &'a str,
}

impl Tagger<ObjectVersion> for ObjectTagger<'_> {
    fn tag(
        &mut self,
        object: &objects::Listed<ObjectVersion>,
        nonce: &[u8],
    ) -> Result<Tag, Unread> {
        let key = self.key(&object.name);
        let tagged = self.reader.tag(self.bucket, &key, &object.about, nonce);
        tagged.map(|tagged| tagged.tag).map_err(unread)
    }

    fn range(
        &mut self,
        object: &objects::Listed<ObjectVersion>,
        range: Range<u64>,
    ) -> Result<Vec<u8>, Unread> {
        let bytes = self.bucket.bytes(&self.key(&object.name), range, &object.about);
        bytes.map_err(|failure| unread(failure.into()))
    }

    fn find(&mut self, name: &[u8]) -> Result<objects::Listed<ObjectVersion>, Unread> {
        let facts = self.bucket.facts(&self.key(name)).map_err(unread)?;
        Ok(found(name.to_vec(), facts, false))
    }

    fn refuses(&self, name: &[u8]) -> Option<String> {
        has_dot_segments(&self.key(name)).then(|| DOT_SEGMENTS.into())
    }
}

impl ObjectTagger<'_> {
    fn key(&self, name: &[u8]) -> String {
        format!("{}{}", self.prefix, String::from_utf8_lossy(name))
    }
}

fn unread(error: ReadError) -> Unread {
    match error {
        ReadError::Missing(_) => Unread::Gone,
        ReadError::Archived(_) => Unread::Archived,
        error => Unread::Failed(error.to_string()),
    }
}
