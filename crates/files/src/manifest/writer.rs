//! Writes a manifest.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::atomic::{self, AtomicFile};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::line_reader;
use crate::open;
use crate::overwrite::Overwrite;
use tagmac::Tag;
use tagmac_any::{AnyMac, AnyStream};

use crate::manifest::entry::Entry;
use crate::manifest::error::ManifestError;
use crate::manifest::header::{Header, MAGIC};
use crate::manifest::unreadable::unreadable;
use crate::manifest::{BUFFER, SEAL};

/// A manifest that is being written to a temporary file.
pub struct Writer {
    file: AtomicFile,
    path: PathBuf,
    header: Header,
    stream: AnyStream,
    buffer: Vec<u8>,
    entries: u64,
    bytes: u64,
}

impl Writer {
    /// Starts a manifest that will be at `path`. Nothing appears there before it is complete.
    pub fn create(path: &Path, header: Header, seal: &AnyMac) -> Result<Writer, Error> {
        let name = Escaped::name(path);
        if path.as_os_str() == "-" || path.file_name().is_none() {
            return Err(ManifestError::NoFileName { manifest: path.into() }.into());
        }
        let over = Overwrite::Kind("a manifest", is_manifest);
        let file = AtomicFile::new(path, 0o666, over);
        let file = file.map_err(|error| unreadable(&name.to_string(), &error))?;
        let stream = seal.stream(&[]).expect("HMAC takes no nonce");
        let buffer = header.text();
        let path = path.to_path_buf();
        Ok(Writer { file, path, header, stream, buffer, entries: 0, bytes: 0 })
    }

    /// Returns the exclusions of the manifest from its tree: its name, its temporary name if it has
    /// one, and the temporary names of other runs.
    pub fn exclusions(&self) -> Result<[Exclusion; 3], Error> {
        let failed = |error| self.failed(&error);
        Ok([
            Exclusion::new(&self.path).map_err(failed)?,
            Exclusion::new(self.file.draft().unwrap_or(&self.path)).map_err(failed)?,
            Exclusion::with_prefix(&atomic::drafts(&self.path)).map_err(failed)?,
        ])
    }

    /// Returns the manifest's number in its chain.
    pub fn sequence(&self) -> u64 {
        self.header.chain.sequence
    }

    /// Adds an entry, which must follow all previous ones in order.
    pub fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let start = self.buffer.len();
        entry.write(&self.header, &mut self.buffer);
        let found = self.buffer.len() - start - 1;
        if found > line_reader::MAX_BYTES {
            let (name, most) = (Escaped::bytes(&entry.path).to_string(), line_reader::MAX_BYTES);
            let what = format_args!("expected a line of at most {most} bytes, found {found}");
            return Err(Error::io(format_args!("{name}: {what}")));
        }
        self.entries += 1;
        self.bytes = self.bytes.checked_add(entry.size()).ok_or_else(|| {
            let name = Escaped::bytes(&entry.path);
            Error::io(format_args!("{name}: the files have 2^64 bytes or more in all"))
        })?;
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Seals the manifest and puts it in its place. Returns the seal.
    pub fn finish(mut self) -> Result<Tag, Error> {
        let end = format!("entries: {}\nbytes: {}\n", self.entries, self.bytes);
        self.buffer.extend_from_slice(end.as_bytes());
        self.flush()?;
        let seal = self.stream.fork().tag().expect("HMAC has no limit");
        self.buffer.extend_from_slice(SEAL);
        self.buffer.extend_from_slice(format!("{seal}\n").as_bytes());
        self.flush()?;
        let name = Escaped::name(&self.path).to_string();
        self.file.finish().map_err(|error| unreadable(&name, &error))?;
        Ok(seal)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.stream.update(&self.buffer);
        self.file.write_all(&self.buffer).map_err(|error| self.failed(&error))?;
        self.buffer.clear();
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Error {
        unreadable(&Escaped::name(&self.path).to_string(), error)
    }
}

/// Returns whether the file at `path` begins like a manifest.
pub(crate) fn begins_like_a_manifest(path: &Path) -> io::Result<bool> {
    is_manifest(open::regular(path).map_err(|why| io::Error::other(why.to_string()))?.0)
}

/// Returns whether a file begins like a manifest.
fn is_manifest(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC.as_bytes())
}

#[cfg(test)]
mod tests {
    use tagmac_any::{Algorithm, KeyId};

    use super::*;
    use crate::chain::Chain;
    use crate::manifest::options::ManifestOptions;

    #[test]
    fn lines_are_gathered_before_they_are_written() {
        let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
        let (key_id, options) = (KeyId::from([7; 8]), ManifestOptions::default());
        let header = Header {
            algorithm,
            bits: 32,
            key_id,
            options,
            chain: Chain::default(),
            filters: Vec::new(),
        };
        let seal = AnyMac::new(algorithm, &[7; 16]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let entry = Entry::parse(b"dir\t-\t-\ta", &header).unwrap();
        let mut writer = Writer::create(&folder.path().join("m"), header, &seal).unwrap();
        let mut writes = 0;
        for _ in 0..4 * BUFFER / "dir\t-\t-\ta\n".len() {
            writer.entry(&entry).unwrap();
            assert!(writer.buffer.len() < BUFFER);
            writes += usize::from(writer.buffer.is_empty());
        }
        assert!((3..=4).contains(&writes), "{writes}");
    }
}
