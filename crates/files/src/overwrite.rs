//! What a new file may take the place of.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use crate::identity::Identity;
use crate::open;

/// What a new file may take the place of.
#[derive(Clone, Copy)]
pub enum Overwrite {
    /// Nothing: the name has to be free.
    Nothing,
    /// The file that this run holds open and locked, and that has to be there.
    Held(Identity),
    /// A file that is empty or one of its kind, how that is called and how it is told. All else is
    /// left as it is: a device, a link to elsewhere, a key or a photo whose name was given by
    /// mistake.
    Kind(&'static str, fn(File) -> io::Result<bool>),
}

impl Overwrite {
    /// What is there and may be replaced.
    pub fn replaced(self, path: &Path) -> io::Result<Option<Metadata>> {
        let old = match path.symlink_metadata() {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && !matches!(self, Overwrite::Held(_)) =>
            {
                return Ok(None);
            }
            old => old?,
        };
        match self {
            Overwrite::Nothing => return Err(io::ErrorKind::AlreadyExists.into()),
            Overwrite::Held(held) => held.is_of(&old)?,
            Overwrite::Kind(kind, is_one) => {
                let open = || open::regular(path).map_err(|why| io::Error::other(why.to_string()));
                let may = old.is_file() && (old.len() == 0 || is_one(open()?.0)?);
                if !may {
                    let what = format!("expected {kind} or no file, found something else");
                    return Err(io::Error::other(what));
                }
            }
        }
        Ok(Some(old))
    }
}
