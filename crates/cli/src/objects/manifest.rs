//! Seals and audits objects.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac::Tag;
use tagmac_files::audit::{BucketAudit, Plan, Put, Tally};
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{self, Object, ObjectManifest, Tagger, Unread, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::url::{DOT_SEGMENTS, has_dot_segments};
use tagmac_files::{Error, ReadError};
use tagmac_objects::bucket::Listed;
use tagmac_objects::read::ObjectReader;
use tagmac_objects::{Bucket, ObjectVersion};

use crate::diagnostic::diagnostic;
use crate::objects::is_url;
use crate::objects::stores::{Stores, parse};

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

    /// Seals all objects below a URL. Returns the number of unreadable objects. Without
    /// `skip_unreadable`, the manifest is only valid if that is 0.
    pub fn seal(
        &self,
        open_key: &OpenKey,
        progress: &dyn Progress,
        name: &Path,
        skip_unreadable: bool,
        writer: &mut Writer<'_>,
    ) -> Result<u64, Error> {
        let folder = self.folder(name)?;
        let reader = ObjectReader::new(open_key, progress);
        let will_fail = AtomicBool::new(false);
        let read = |listed: &Listed| {
            let Listed { key, facts } = listed;
            if will_fail.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let nonce = open_key.mac.algorithm().random_nonce()?;
            let tagged = reader.tag(&folder.bucket, key, facts, &nonce)?;
            Ok(Some((nonce, tagged)))
        };
        let mut unreadable = 0;
        // After a failure, finish the requests that are running and start no others.
        let goes_on = || !will_fail.load(Ordering::Relaxed);
        folder.read_all(goes_on, read, |listed, made: Result<_, ReadError>| {
            progress.file();
            match made {
                Ok(Some((nonce, tagged))) if goes_on() => {
                    let name = listed.key.as_bytes()[folder.prefix.len()..].to_vec();
                    writer.push(&Object { name, size: tagged.bytes, nonce, tag: tagged.tag })
                }
                Ok(_) => Ok(()),
                Err(error) => {
                    unreadable += 1;
                    will_fail.store(!skip_unreadable, Ordering::Relaxed);
                    let name = folder.path(&listed.key);
                    diagnostic(format_args!("{}: {error}", Escaped::name(&name)));
                    Ok(())
                }
            }
        })?;
        Ok(unreadable)
    }

    /// Audits all objects below a URL. Returns what was read, and whether the search for
    /// renamed objects was complete.
    pub fn audit(
        &self,
        open_key: &OpenKey,
        progress: &dyn Progress,
        manifest: &ObjectManifest<'_>,
        name: &Path,
        plan: &Plan,
        put: &mut Put<'_>,
    ) -> Result<(Tally, bool), Error> {
        let folder = self.folder(name)?;
        let (bucket, prefix) = (&folder.bucket, &*folder.prefix);
        let found = bucket.list(prefix).map(|listed| {
            let Listed { key, facts } = listed?;
            let name = key.as_bytes()[prefix.len()..].to_vec();
            Ok(objects::Listed { name, size: facts.size, about: facts })
        });
        let tagger =
            || ObjectTagger { reader: ObjectReader::new(open_key, progress), bucket, prefix };
        let mut others: Vec<_> = (0..self.requests()).map(|_| tagger()).collect();
        BucketAudit { manifest, progress, plan }.run(found, &mut tagger(), &mut others, put)
    }
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
        let name = String::from_utf8_lossy(&object.name);
        let key = format!("{}{name}", self.prefix);
        let tagged = self.reader.tag(self.bucket, &key, &object.about, nonce);
        tagged.map(|tagged| tagged.tag).map_err(|error| match error {
            ReadError::Missing(_) => Unread::Gone,
            error => Unread::Failed(error.to_string()),
        })
    }

    fn refuses(&self, name: &[u8]) -> Option<String> {
        let key = format!("{}{}", self.prefix, String::from_utf8_lossy(name));
        has_dot_segments(&key).then(|| DOT_SEGMENTS.into())
    }
}
