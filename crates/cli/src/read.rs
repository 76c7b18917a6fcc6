//! Reads what the command line and lists name: files, and standard input as `-`.

use std::fs::{self, File, Metadata};
use std::io;
use std::iter;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tagmac_files::checkpoint::Checkpointer;
use tagmac_files::identity::Identity;
use tagmac_files::open_key::OpenKey;
use tagmac_files::progress::{Progress, Total};
use tagmac_files::read::{FileReader, Tagged};
use tagmac_files::{Error, ReadError, open};

use crate::given::given;
use crate::key;
use crate::objects::{Stores, is_url, not_allowed};
use crate::stdio;

/// Reads what is named, for one MAC.
pub struct NamedReader<'a> {
    key: &'a OpenKey,
    progress: &'a dyn Progress,
    reader: FileReader<'a>,
    /// The stores that the user named.
    stores: Option<Stores>,
    /// What has taken up standard input.
    stdin: Option<&'static str>,
    /// The file that the output goes to.
    output: Option<Identity>,
}

/// Who named a file, and so what may stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The user, on the command line, see [`given`].
    User,
    /// A list, see [`open::regular`].
    List,
}

/// What standard input serves for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// The key.
    Key,
    /// The name `-`.
    Name,
}

/// Refuses a command line that uses standard input twice.
pub fn stdin_once<'a>(
    key: &key::KeyOptions<'_>,
    names: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<Option<Stdin>, Error> {
    let key = iter::once(Stdin::Key).filter(|_| key.is_stdin());
    let names = names.into_iter().filter(|name| name.as_os_str() == "-").map(|_| Stdin::Name);
    let mut uses = key.chain(names);
    match (uses.next(), uses.next()) {
        (first, None) => Ok(first),
        _ => Err(Error::usage("standard input: expected one use of it, found more")),
    }
}

/// What there is to read under a name.
pub fn total(name: &Path) -> Total {
    if name.as_os_str() == "-" || is_url(name) {
        return Total::one(None);
    }
    let size = |file: Metadata| file.is_file().then_some(file.len());
    Total::one(fs::metadata(name).map_or(Some(0), size))
}

/// Whether the name is that of a directory, not of standard input, a file or an object.
pub fn is_dir(path: &Path) -> bool {
    path.as_os_str() != "-" && !is_url(path) && path.is_dir()
}

impl<'a> NamedReader<'a> {
    /// A reader with `threads` threads, 0 for as many as there are cores. `progress` hears of every
    /// byte.
    pub fn new(
        key: &'a OpenKey,
        threads: usize,
        progress: &'a dyn Progress,
        stores: Option<Stores>,
    ) -> NamedReader<'a> {
        let reader = FileReader::new(&key.mac, threads, progress);
        NamedReader { key, progress, reader, stores, stdin: None, output: output() }
    }

    /// Marks standard input as taken up.
    pub fn take_stdin(&mut self, user: &'static str) {
        self.stdin = Some(user);
    }

    /// The tag of a file, or of standard input if it is `-`, opened as who named it may have it.
    /// `nonce` is empty for deterministic MACs.
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

    /// As [`tag`](NamedReader::tag), going on from what a checkpoint holds and keeping it up, for a
    /// regular file and a MAC that has parts.
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

    /// Refuses the file that the output goes to.
    pub fn is_not_output(&self, file: &Metadata) -> Result<(), ReadError> {
        match file.is_file() && self.output == Some(Identity::new(file)) {
            true => Err(ReadError::Output),
            false => Ok(()),
        }
    }

    /// The tag of an open file, of which `before` was said when it was opened.
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

/// The file that standard output goes to. Its tag would be that of a list half written.
fn output() -> Option<Identity> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    output.metadata().ok().filter(Metadata::is_file).as_ref().map(Identity::new)
}
