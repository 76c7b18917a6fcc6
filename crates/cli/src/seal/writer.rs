//! A manifest that is being written, beside the one that it will replace.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tagmac::any::{AnyMac, AnyStream};
use tempfile::NamedTempFile;

use crate::error::{Error, Shown};
use crate::lines;
use crate::seal::entry::Entry;
use crate::seal::header::{Header, MARK};
use crate::seal::manifest::{BUFFER, SEAL, unreadable};
use crate::walk::{self, Spot};

/// What the name of a file begins with that is not yet a manifest.
const PREFIX: &str = ".tagmac-seal-";

/// A manifest that is being written, beside the one that it will replace.
pub struct Writer {
    file: NamedTempFile,
    path: PathBuf,
    header: Header,
    stream: AnyStream,
    buffer: Vec<u8>,
    entries: u64,
    bytes: u64,
}

impl Writer {
    /// A manifest that will be at `path`. Nothing is there before it is whole.
    pub fn create(path: &Path, header: Header, seal: &AnyMac) -> Result<Writer, Error> {
        let name = Shown::name(path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(Error::usage(format_args!("-o: expected a file to write, found '{name}'")));
        }
        let failed = |error: io::Error| unreadable(&name.to_string(), &error);
        // Not wider than those of the old one.
        let mode = replaced(path).map_err(failed)?.map_or(0o666, |old| old.mode() & 0o777);
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(walk::folder(path))
            .map_err(failed)?;
        let stream = seal.stream(&[]).expect("HMAC takes no nonce");
        let buffer = header.text().into_bytes();
        let path = path.to_path_buf();
        Ok(Writer { file, path, header, stream, buffer, entries: 0, bytes: 0 })
    }

    /// What is no part of the tree: the manifest, the file until then, and such files that others
    /// left when they were killed.
    pub fn spots(&self) -> Result<[Spot; 3], Error> {
        let failed = |error| self.failed(&error);
        Ok([
            Spot::of(&self.path).map_err(failed)?,
            Spot::of(self.file.path()).map_err(failed)?,
            Spot::of_all(&self.path.with_file_name(PREFIX)).map_err(failed)?,
        ])
    }

    /// Adds an entry, which follows all others in order.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let start = self.buffer.len();
        entry.write(&self.header, &mut self.buffer);
        let found = self.buffer.len() - start - 1;
        if found > lines::MOST {
            let (name, most) = (Shown::bytes(&entry.path).to_string(), lines::MOST);
            let what = format_args!("expected a line of at most {most} bytes, found {found}");
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        self.entries += 1;
        self.bytes += entry.content.as_ref().map_or(0, |content| content.size);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Closes the manifest and puts it in its place.
    pub fn finish(mut self) -> Result<(), Error> {
        let end = format!("entries: {}\nbytes: {}\n", self.entries, self.bytes);
        self.buffer.extend_from_slice(end.as_bytes());
        self.flush()?;
        let seal = self.stream.fork().tag().expect("HMAC has no limit");
        self.buffer.extend_from_slice(SEAL);
        self.buffer.extend_from_slice(format!("{seal}\n").as_bytes());
        self.flush()?;
        self.file.as_file().sync_all().map_err(|error| self.failed(&error))?;
        let name = Shown::name(&self.path).to_string();
        let failed = |error: &io::Error| unreadable(&name, error);
        self.file.persist(&self.path).map_err(|error| failed(&error.error))?;
        // Without this the new name could be lost if the machine stops.
        File::open(walk::folder(&self.path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failed(&error))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.stream.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(|error| self.failed(&error))?;
        self.buffer.clear();
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Error {
        unreadable(&Shown::name(&self.path).to_string(), error)
    }
}

/// The old manifest, if there is one. All else is left as it is: a device, a link to elsewhere, a
/// key or a photo whose name was given by mistake.
fn replaced(path: &Path) -> io::Result<Option<Metadata>> {
    let old = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        old => old?,
    };
    let mut start = Vec::new();
    if old.is_file() {
        File::open(path)?.take(MARK.len() as u64).read_to_end(&mut start)?;
    }
    if !old.is_file() || !start.is_empty() && start != MARK.as_bytes() {
        return Err(io::Error::other("expected a manifest or no file, found something else"));
    }
    Ok(Some(old))
}
