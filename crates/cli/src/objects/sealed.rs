//! Reads objects that a manifest describes.

use std::ops::Range;
use std::path::Path;

use tagmac_files::Error;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::repair::Damage;
use tagmac_files::progress::Progress;
use tagmac_objects::sealed::SealedObject;

use crate::objects::stores::Stores;

impl Stores {
    /// Passes the verified bytes of an object below a URL to `each`. `range` returns the range, given
    /// the size.
    pub fn read_sealed(
        &self,
        contents: &Contents,
        (url, path): (&Path, &[u8]),
        range: impl FnOnce(u64) -> Result<Range<u64>, Error>,
        each: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let object = self.sealed(contents, url, path)?;
        let range = range(object.content().size())?;
        object.read(range, each)
    }

    /// Returns the damage of an object below a URL.
    pub fn damage(
        &self,
        contents: &Contents,
        (url, path): (&Path, &[u8]),
        progress: &dyn Progress,
    ) -> Result<Damage, Error> {
        self.sealed(contents, url, path)?.damage(progress)
    }

    fn sealed(&self, contents: &Contents, url: &Path, path: &[u8]) -> Result<SealedObject, Error> {
        let folder = self.folder(url)?;
        SealedObject::open(contents, &folder.bucket, &folder.prefix, path)
    }
}
