//! Reads what the command line and lists name: files, and `-` for standard input.

use std::fs::{self, File};
use std::iter;
use std::path::Path;

use tagmac_files::checkpoint::Checkpointer;
use tagmac_files::identity::Identity;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::{Progress, Total};
use tagmac_files::read::{FileReader, Tagged};
use tagmac_files::sys::{self, Metadata};
use tagmac_files::{Error, ReadError, open};

use crate::given::given;
use crate::key;
use crate::objects::{Stores, is_url, not_allowed};
use crate::stdio;

/// Tags files by name, with one MAC.
pub struct NamedReader<'a> {
    key: &'a OpenKey,
    progress: &'a dyn Progress,
    reader: FileReader<'a>,
    /// The stores that the user named.
    stores: Option<Stores>,
    /// The reader that consumed standard input.
    stdin: Option<&'static str>,
    /// The file that standard output writes to.
    output: Option<Identity>,
}

/// The origin of a file's name. Lists may name only regular files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The user, on the command line, see [`given`].
    User,
    /// A list, see [`open::regular`].
    List,
}

/// The use of standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// The key.
    Key,
    /// The name `-`.
    Name,
}

/// Rejects a command line that uses standard input twice.
pub fn stdin_once(
    key: &key::KeyOptions<'_>,
    names: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<Option<Stdin>, Error> {
    let key = iter::once(Stdin::Key).filter(|_| key.is_stdin());
    let names =
        names.into_iter().filter(|name| name.as_ref().as_os_str() == "-").map(|_| Stdin::Name);
    let mut uses = key.chain(names);
    match (uses.next(), uses.next()) {
        (first, None) => Ok(first),
        _ => Err(Error::usage("standard input can be used only once")),
    }
}

/// Returns the size of the named file, if it is known.
pub fn total(name: &Path) -> Total {
    if name.as_os_str() == "-" || is_url(name) {
        return Total::one(None);
    }
    let size = |file: fs::Metadata| file.is_file().then_some(file.len());
    Total::one(fs::metadata(name).map_or(Some(0), size))
}

/// Returns whether the name is a directory. Standard input and objects are not.
pub fn is_dir(path: &Path) -> bool {
    path.as_os_str() != "-" && !is_url(path) && path.is_dir()
}

impl<'a> NamedReader<'a> {
    /// Returns a reader with `threads` threads; 0 is one per core. It reports every byte to
    /// `progress`.
    pub fn new(
        key: &'a OpenKey,
        threads: usize,
        progress: &'a dyn Progress,
        stores: Option<Stores>,
    ) -> NamedReader<'a> {
        let reader = FileReader::new(&key.mac, threads, progress);
        NamedReader { key, progress, reader, stores, stdin: None, output: output() }
    }

    /// Marks standard input as consumed by `user`.
    pub fn take_stdin(&mut self, user: &'static str) {
        self.stdin = Some(user);
    }

    /// Tags a file, or standard input if the name is `-`. The file is opened the rules for the
    /// origin of its name. `nonce` is empty for deterministic MACs.
    pub fn tag(&mut self, path: &Path, nonce: &[u8], by: Named) -> Result<Tagged, ReadError> {
        if path.as_os_str() == "-" {
            if let Some(user) = self.stdin {
                return Err(ReadError::Stdin(user));
            }
            self.take_stdin("another '-'");
            return self.reader.stream(&mut stdio::Stdin, nonce);
        }
        if is_url(path) {
            let allows = |stores: &&Stores| by == Named::User || stores.allows(path);
            let stores = self.stores.as_ref().filter(allows).ok_or_else(not_allowed)?;
            return stores.tag(self.key, self.progress, path, nonce);
        }
        let (file, before) = match by {
            Named::User => given(path)?,
            Named::List => open::regular(path)?,
        };
        self.is_not_output(&before)?;
        self.reader.tag_named(path, &file, &before, nonce)
    }

    /// Like [`tag`](NamedReader::tag), but resumes from a checkpoint and keeps it up to date. Needs
    /// a regular file and a MAC with parts.
    pub fn tag_kept(
        &mut self,
        path: &Path,
        nonce: &[u8],
        checkpointer: &mut Checkpointer<'_>,
    ) -> Result<Tagged, ReadError> {
        let (file, before) = open::regular(path)?;
        self.is_not_output(&before)?;
        self.reader.tag_kept(path, &file, nonce, checkpointer)
    }

    /// Rejects the file that standard output writes to.
    pub fn is_not_output(&self, file: &Metadata) -> Result<(), ReadError> {
        match file.is_file() && self.output == Some(Identity::new(file)) {
            true => Err(ReadError::Output),
            false => Ok(()),
        }
    }

    /// Tags an open file. `before` is its metadata from when it was opened.
    pub fn tag_open(
        &mut self,
        path: &Path,
        file: &File,
        before: &Metadata,
        nonce: &[u8],
    ) -> Result<Tagged, ReadError> {
        self.reader.tag_named(path, file, before, nonce)
    }
}

/// Returns the file that standard output writes to. Its tag would be that of a half-written list.
fn output() -> Option<Identity> {
    let output = sys::metadata_of(&stdio::output().ok()?);
    output.ok().filter(Metadata::is_file).as_ref().map(Identity::new)
}
