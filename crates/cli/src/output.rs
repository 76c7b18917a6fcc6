//! Standard output, and new files. Each line is written at once and whole, and so is each file; a
//! failure is an error, not a panic.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::NamedTempFile;

use crate::error::{Error, Shown, why};
use crate::json;
use crate::progress;
use crate::stdio::Stdout;
use crate::walk;

/// What the name of a file begins with that is not yet whole.
pub const PREFIX: &str = ".tagmac-";

/// Asked once: it decides over every line.
static TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Whether a terminal shows the output.
pub fn is_terminal() -> bool {
    *TERMINAL
}

/// Writes bytes to standard output.
pub fn write(bytes: &[u8]) -> Result<(), Error> {
    let put = || Stdout.write_all(bytes);
    let done = if is_terminal() { progress::aside(put) } else { put() };
    done.map_err(|error| Error::io(format_args!("standard output: {}", why(&error))))
}

/// Writes a JSON object and a line feed.
pub fn json(object: &impl serde::Serialize) -> Result<(), Error> {
    write(&json::line(object))
}

/// What a new file may take the place of.
#[derive(Clone, Copy)]
pub enum Over {
    /// Nothing: the name has to be free.
    Nothing,
    /// Whatever is there.
    Any,
    /// A file that is empty or one of its kind, how that is called and how it is told. All else is
    /// left as it is: a device, a link to elsewhere, a key or a photo whose name was given by
    /// mistake.
    Kind(&'static str, fn(File) -> io::Result<bool>),
}

impl Over {
    /// What is there and may be replaced.
    fn replaced(self, path: &Path) -> io::Result<Option<Metadata>> {
        let old = match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            old => old?,
        };
        match self {
            Over::Nothing => return Err(io::ErrorKind::AlreadyExists.into()),
            Over::Any => {}
            Over::Kind(kind, is_one) => {
                let may = old.is_file() && (old.len() == 0 || is_one(File::open(path)?)?);
                if !may {
                    let what = format!("expected {kind} or no file, found something else");
                    return Err(io::Error::other(what));
                }
            }
        }
        Ok(Some(old))
    }
}

/// A file in the making, in the folder of the name that it is to have. It appears there whole or
/// not at all.
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
    over: Over,
    /// `None` if it may be written to but not read.
    folder: Option<File>,
}

impl Draft {
    /// A file that is to be at `path`, and whose name begins with `prefix` until then. `mode` is as
    /// the umask leaves it, and that of a file of its kind which it replaces goes before.
    pub fn new(path: &Path, prefix: &str, mode: u32, over: Over) -> io::Result<Draft> {
        let old = over.replaced(path)?.filter(|_| matches!(over, Over::Kind(..)));
        let mode = old.map_or(mode, |old| old.mode() & 0o777);
        let folder = walk::folder(path);
        let file = tempfile::Builder::new()
            .prefix(prefix)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        let folder = match File::open(folder) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            folder => Some(folder?),
        };
        Ok(Draft { file, path: path.to_path_buf(), over, folder })
    }

    /// Where it is until it is whole.
    pub fn draft(&self) -> &Path {
        self.file.path()
    }

    /// The file.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name, both safe on disk. What is there is looked at again: it may have
    /// come meanwhile.
    pub fn finish(self) -> io::Result<File> {
        self.file.as_file().sync_all()?;
        let persisted = match (self.over, self.over.replaced(&self.path)?) {
            (Over::Any, _) | (_, Some(_)) => self.file.persist(&self.path),
            (_, None) => self.file.persist_noclobber(&self.path),
        };
        let file = persisted.map_err(|error| error.error)?;
        // Without this the new name could be lost if the machine stops.
        if let Some(folder) = &self.folder {
            folder.sync_all()?;
        }
        Ok(file)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file that appears whole or not at all. `mode` is as the umask leaves it.
pub fn file(path: &Path, mode: u32, over: Over, bytes: &[u8]) -> Result<(), Error> {
    let write = || {
        let mut draft = Draft::new(path, PREFIX, mode, over)?;
        draft.write_all(bytes)?;
        draft.finish()
    };
    write().map(drop).map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Error::io(format_args!("{}: {}", Shown::name(path), why(&error))),
    })
}

/// Refuses a name that is taken.
pub fn refuse_existing(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

fn exists(path: &Path) -> Error {
    let name = Shown::name(path);
    Error::io(format_args!("{name}: expected a new file, found one that exists"))
}
