//! Replaces the stores in a build without the feature `objects`.

use std::convert::Infallible;
use std::path::Path;

use tagmac_files::audit::{Plan, Put, Tally};
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{ObjectManifest, Place, Writer};
use tagmac_files::open_key::OpenKey;
use tagmac_files::partial::PartRange;
use tagmac_files::progress::Progress;
use tagmac_files::read::Tagged;
use tagmac_files::{Error, ReadError};

use crate::objects::is_url;

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
    pub fn place(&self, _: &Path) -> Result<Box<dyn Place>, Error> {
        match self.0 {}
    }

    /// Rejects a manifest below the prefix that it describes.
    pub fn check_outside(&self, _: &Path, _: &Path) -> Result<(), Error> {
        match self.0 {}
    }

    /// Seals all objects below a URL.
    pub fn seal(
        &self,
        _: &OpenKey,
        _: &dyn Progress,
        _: &Path,
        _: bool,
        _: &mut Writer<'_>,
    ) -> Result<u64, Error> {
        match self.0 {}
    }

    /// Audits all objects below a URL.
    pub fn audit(
        &self,
        _: &OpenKey,
        _: &dyn Progress,
        _: &ObjectManifest<'_>,
        _: &Path,
        _: &Plan,
        _: &mut Put<'_>,
    ) -> Result<(Tally, bool), Error> {
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
