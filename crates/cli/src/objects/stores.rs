//! The stores that the command line names.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{self, Place};
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::Progress;
use tagmac_files::read::Tagged;
use tagmac_files::sys::OsStrExt;
use tagmac_files::url::{Url, UrlError};
use tagmac_files::{Error, ReadError};
use tagmac_objects::bucket::{self, Listed};
use tagmac_objects::read::ObjectReader;
use tagmac_objects::{Bucket, Limits, Objects, Prefix};

use crate::objects::is_url;
use crate::say;

/// The stores that the command line names.
#[derive(Clone)]
pub struct Stores {
    objects: Objects,
    /// The URLs that lists may name.
    allowed: Vec<Url>,
}

impl Stores {
    /// Opens the stores of all URLs in `names` and `allowed`, and reads their settings and
    /// credentials. Sends no request yet. `requests` is the maximum number of concurrent requests,
    /// 0 for the default; `objects` is the maximum number of objects in a listing.
    pub fn open<'n>(
        names: impl Iterator<Item = &'n Path>,
        allowed: impl Iterator<Item = &'n Path>,
        (requests, objects): (usize, u64),
    ) -> Result<Option<Stores>, Error> {
        let urls: Vec<Url> =
            names.filter(|name| is_url(name)).map(parse).collect::<Result<_, _>>()?;
        let allowed: Vec<Url> = allowed.map(parse).collect::<Result<_, _>>()?;
        if urls.is_empty() && allowed.is_empty() {
            return Ok(None);
        }
        let objects = Objects::new(Limits { requests, objects })?;
        urls.iter().chain(&allowed).try_for_each(|url| objects.bucket(url).map(drop))?;
        Ok(Some(Stores { objects, allowed }))
    }

    /// Returns whether a list may name this object.
    pub fn allows(&self, name: &Path) -> bool {
        parse(name).is_ok_and(|url| self.allowed.iter().any(|allowed| allowed.contains(&url)))
    }

    /// Tags an object.
    pub fn tag(
        &self,
        open_key: &OpenKey,
        progress: &dyn Progress,
        name: &Path,
        nonce: &[u8],
    ) -> Result<Tagged, ReadError> {
        let failed = |error: Error| ReadError::Io(io::Error::other(say::line(&error)));
        let url = parse(name).map_err(failed)?;
        if url.key.is_empty() {
            return Err(ReadError::Directory);
        }
        let bucket = self.objects.bucket(&url).map_err(failed)?;
        let facts = bucket.facts(&url.key)?;
        ObjectReader::new(open_key, progress).tag(&bucket, &url.key, &facts, nonce)
    }

    /// Tags all objects below a URL, in byte order of their keys. Each gets its own random nonce.
    pub fn tag_below(
        &self,
        open_key: &OpenKey,
        progress: &dyn Progress,
        name: &Path,
        mut each: impl FnMut(&Path, Result<(Vec<u8>, Tagged), ReadError>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let folder = self.folder(name)?;
        let reader = ObjectReader::new(open_key, progress);
        let read = |listed: &Listed| {
            let nonce = open_key.mac.algorithm().random_nonce()?;
            let tagged = reader.tag(&folder.bucket, &listed.key, &listed.facts, &nonce)?;
            Ok((nonce, tagged))
        };
        folder.read_all(read, |listed, made| each(&folder.path(&listed.key), made))
    }

    /// Returns the place of a manifest: a prefix in a store, or a local folder.
    pub fn place(&self, name: &Path) -> Result<Box<dyn Place + Send + Sync>, Error> {
        if !is_url(name) {
            return Ok(Box::new(objects::Folder::new(name)));
        }
        let Folder { bucket, prefix, .. } = self.folder(name)?;
        Ok(Box::new(Prefix::new(bucket, prefix)))
    }

    /// Returns the objects below a URL.
    pub fn folder(&self, name: &Path) -> Result<Folder, Error> {
        let url = parse(name)?;
        let (bucket, prefix) = (self.objects.bucket(&url)?, url.folder());
        Ok(Folder { url, bucket, prefix })
    }

    /// Returns the bucket and the key of an object.
    pub fn object(&self, name: &Path) -> Result<(Bucket, String), Error> {
        let url = parse(name)?;
        Ok((self.objects.bucket(&url)?, url.key))
    }

    /// Returns the maximum number of concurrent requests.
    pub fn requests(&self) -> usize {
        self.objects.requests()
    }
}

/// The objects below a URL.
pub struct Folder {
    /// The URL.
    pub url: Url,
    /// The bucket.
    pub bucket: Bucket,
    /// The prefix of their keys.
    pub prefix: String,
}

impl Folder {
    /// Calls `read` for all objects, and `done` with each result.
    fn read_all<M: Send>(
        &self,
        read: impl Fn(&Listed) -> M + Sync,
        mut done: impl FnMut(Listed, M) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut any = false;
        let jobs = self.bucket.list(&self.prefix);
        bucket::read_all(&self.bucket, jobs, read, |listed, made| {
            any = true;
            done(listed, made)
        })?;
        if any { Ok(()) } else { Err(self.no_objects()) }
    }

    /// The error for a prefix without objects, which is probably misspelt.
    pub fn no_objects(&self) -> Error {
        let url = self.url.to_string();
        let name = Escaped::bytes(url.as_bytes());
        Error::io(format_args!("{name}: no objects below this URL"))
    }

    /// Returns the name of an object on the command line and in lists.
    pub fn path(&self, key: &str) -> PathBuf {
        OsString::from(self.url.with_key(key).to_string()).into()
    }
}

/// Parses the URL of an object.
pub fn parse(name: &Path) -> Result<Url, Error> {
    Url::parse(name.as_os_str().as_bytes()).map_err(|error| {
        let what = match error {
            UrlError::Foreign(url) => say::foreign_url(url),
            _ => error.to_string(),
        };
        Error::usage(format_args!("{}: {what}", Escaped::name(name)))
    })
}
