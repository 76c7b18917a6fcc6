//! Rules for what a new file may replace.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::identity::Identity;
use crate::open;
use crate::sys::{self, Metadata};

/// The rule for what a new file may replace.
#[derive(Clone, Copy)]
pub enum Overwrite {
    /// Nothing: the name must be free.
    Nothing,
    /// Only the file that this run holds open and locked. It must exist.
    Held(Identity),
    /// A file that is empty or of this kind; the fields name and detect the kind. Anything else is
    /// kept, such as a device, a link, or a key or a photo named by mistake.
    Kind(&'static str, fn(File) -> io::Result<bool>),
}

impl Overwrite {
    /// Returns the metadata of the file to replace; `None` if the name is free. Fails if the rule
    /// forbids it.
    pub fn replaced(self, path: &Path) -> io::Result<Option<Metadata>> {
        let old = match sys::symlink_metadata(path) {
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
                    let what = format!("the file exists and is not {kind}");
                    return Err(io::Error::other(what));
                }
            }
        }
        Ok(Some(old))
    }
}
