//! Replaces the stores in a build without the feature `objects`.

use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;

use tagmac_files::audit::{Audited, BucketAudit, Put};
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::repair::Damage;
use tagmac_files::objects::{Place, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::PartRange;
use tagmac_files::progress::Progress;
use tagmac_files::read::Tagged;
use tagmac_files::{Error, ReadError};

use crate::objects::{ObjectCounts, ObjectSealing, is_url};

/// The stores that the command line names. A value cannot exist in this build.
#[derive(Clone)]
pub struct Stores(Infallible);

impl Stores {
    /// Rejects URLs.
    pub fn open<'n>(
        mut names: impl Iterator<Item = &'n Path>,
        mut allowed: impl Iterator<Item = &'n Path>,
        _: (usize, u64),
    ) -> Result<Option<Stores>, Error> {
        match names.find(|name| is_url(name)).or_else(|| allowed.next()) {
            None => Ok(None),
            Some(url) => Err(Error::usage(format_args!(
                "{}: cannot read URLs: this tagmac was built without object stores (the feature \
                 'objects')",
                Escaped::name(url)
            ))),
        }
    }

    /// Returns whether a list may name this object.
    pub fn allows(&self, _: &Path) -> bool {
        match self.0 {}
    }

    /// Tags an object.
    pub fn tag(
        &self,
        _: &OpenKey,
        _: &dyn Progress,
        _: &Path,
        _: &[u8],
    ) -> Result<Tagged, ReadError> {
        match self.0 {}
    }

    /// Returns the place of a manifest.
    pub fn place(&self, _: &Path) -> Result<Box<dyn Place + Send + Sync>, Error> {
        match self.0 {}
    }

    /// Rejects a manifest below the prefix that it describes.
    pub fn check_outside(&self, _: &Path, _: &Path) -> Result<(), Error> {
        match self.0 {}
    }

    /// Seals objects below a URL.
    pub fn seal(&self, _: &ObjectSealing<'_>, _: &mut Writer<'_>) -> Result<ObjectCounts, Error> {
        match self.0 {}
    }

    /// Audits the objects below a URL.
    pub fn audit(
        &self,
        _: &OpenKey,
        _: &BucketAudit<'_>,
        _: &Path,
        _: &mut Put<'_>,
    ) -> Result<Audited, Error> {
        match self.0 {}
    }

    /// Passes the verified bytes of an object to `each`.
    pub fn read_sealed(
        &self,
        _: &Contents,
        _: (&Path, &[u8]),
        _: impl FnOnce(u64) -> Result<Range<u64>, Error>,
        _: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.0 {}
    }

    /// Returns the damage of an object.
    pub fn damage(
        &self,
        _: &Contents,
        _: (&Path, &[u8]),
        _: &dyn Progress,
    ) -> Result<Damage, Error> {
        match self.0 {}
    }

    /// Hashes a range of an object into a partial.
    pub fn partial(
        &self,
        _: &OpenKey,
        _: &dyn Progress,
        _: PartRange<'_>,
    ) -> Result<Vec<u8>, Error> {
        match self.0 {}
    }

    /// Tags all objects below a URL.
    pub fn tag_below(
        &self,
        _: &OpenKey,
        _: &dyn Progress,
        _: &Path,
        _: impl FnMut(&Path, Result<(Vec<u8>, Tagged), ReadError>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.0 {}
    }
}
