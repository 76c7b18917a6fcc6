//! The file of a sidecar: a prelude, two copies of the header, and node pages that are never
//! overwritten. `docs/formats/sidecar.md` specifies the format.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic::{self, AtomicFile};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::faults;
use crate::identity::{Identity, is_at};
use crate::open;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;
use crate::sys::{self, OsStrExt, OsStringExt};
use tagmac::save::{Reader, Sealer, Writer, Zeroizing};
use tagmac_any::KeyId;

use super::error::UpdateError;

/// The start of the file, in every version, and the current version.
const MAGIC: &[u8] = b"tagmac-tree-";
const VERSION: &[u8] = b"3\n";
/// Domain of all seals in a sidecar.
const SEAL: &[u8] = b"tagmac tree 3";
/// Length of the prelude in bytes, including the zeros that pad it.
const PRELUDE: usize = 4096;
/// Length of each copy of the header in bytes. With a pending edit it contains two rests of the
/// file, of up to a block each, and the file's name.
const SLOT: usize = 8192;
/// Maximum length of a header in bytes.
pub const HEADER_ROOM: usize = SLOT - Sealer::OVERHEAD;
/// The offset of the first node page.
pub const FIRST_PAGE: u64 = (PRELUDE + 2 * SLOT) as u64;
/// Length of an AEAD tag in bytes.
const TAG: usize = 16;
/// Maximum length of a node page. Nothing larger is read before its seal is verified.
const MAX_BOX: u64 = 8 << 20;

/// The position of a node page, and the AEAD tag that distinguishes it from older ones at the same
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub at: u64,
    /// The length in bytes.
    pub size: u64,
    /// The last bytes, which are the AEAD tag.
    pub tag: [u8; TAG],
}

impl Extent {
    /// Appends it to `out`.
    pub fn save(&self, out: &mut Writer) {
        out.number(self.at).number(self.size).bytes(&self.tag);
    }

    /// Loads what [`save`](Extent::save) appended.
    pub fn load(input: &mut Reader<'_>) -> Option<Extent> {
        Some(Extent { at: input.number()?, size: input.number()?, tag: input.array()? })
    }
}

/// The file of a sidecar.
pub struct Store {
    path: PathBuf,
    file: File,
    /// A new sidecar, not yet named.
    new: Option<AtomicFile>,
    sealer: Sealer,
    /// The key's public ID.
    key: KeyId,
    /// Random, and part of the associated data of every node page.
    id: [u8; 16],
    /// The offset of the next node page.
    end: u64,
    /// The end of the node pages of the current state.
    kept: u64,
    /// True if node pages were written since the last sync.
    unsynced: bool,
}

/// Returns the path of a file's sidecar.
pub fn sidecar_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().as_bytes().to_vec();
    name.extend_from_slice(b".tagmac");
    std::ffi::OsString::from_vec(name).into()
}

/// Adds a file's name to an error of the system.
pub fn io(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::file(path, ReadError::Io(error))
}

/// Adds a file's name to an error of opening it.
pub fn closed(path: &Path) -> impl Fn(ReadError) -> Error + '_ {
    move |error| Error::file(path, error)
}

impl Store {
    /// Creates a sidecar, without a name yet.
    pub fn make(path: &Path, sealer: Sealer, key: KeyId) -> Result<Store, Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|_| Error::io(tagmac::Error::NoRandomBytes))?;
        Store::make_as(path, sealer, key, id, Overwrite::Nothing)
    }

    fn make_as(
        path: &Path,
        sealer: Sealer,
        key: KeyId,
        id: [u8; 16],
        over: Overwrite,
    ) -> Result<Store, Error> {
        let new = AtomicFile::new(path, 0o600, over).map_err(io(path))?;
        let mut prelude = [MAGIC, VERSION, key.as_bytes(), &id].concat();
        prelude.resize(PRELUDE, 0);
        let file = new.file().try_clone().map_err(io(path))?;
        faults::write_all_at(&file, &prelude, 0).map_err(io(path))?;
        Ok(Store { new: Some(new), ..Store::with_file(path, file, sealer, key, id) })
    }

    /// Creates an empty sidecar that will replace this one, with the same permissions.
    pub fn successor(&self) -> Result<Store, Error> {
        let old = sys::metadata_of(&self.file).map_err(io(&self.path))?;
        let over = Overwrite::Held(Identity::new(&old));
        let next = Store::make_as(&self.path, self.sealer.clone(), self.key, self.id, over)?;
        atomic::copy_access(&old, &next.file).map_err(io(&self.path))?;
        Ok(next)
    }

    /// Opens and locks a sidecar.
    pub fn open(path: &Path, sealer: Sealer, key: KeyId) -> Result<Store, Error> {
        let sidecar = || PathBuf::from(path);
        let file = open::alone(path).map_err(closed(path))?;
        let mut prelude = [0; MAGIC.len() + VERSION.len() + KeyId::BYTES + 16];
        faults::read_exact_at(&file, &mut prelude, 0).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => altered(path),
            _ => io(path)(error),
        })?;
        let (mark, rest) = prelude.split_at(MAGIC.len());
        let (version, rest) = rest.split_at(VERSION.len());
        if mark != MAGIC {
            return Err(UpdateError::NotASidecar { sidecar: sidecar() }.into());
        }
        if version != VERSION {
            // The version is not authenticated: anyone who can write here could provoke a new
            // sidecar.
            return Err(UpdateError::Version { sidecar: sidecar() }.into());
        }
        let (found, id) = rest.split_first_chunk().expect("a key's id and 16 bytes");
        let found = KeyId::from(*found);
        if found != key {
            let sidecar = sidecar();
            return Err(UpdateError::OtherKey { sidecar, expected: key, found }.into());
        }
        let id = id.try_into().expect("16 bytes");
        Ok(Store::with_file(path, file, sealer, key, id))
    }

    /// A sidecar without node pages, already named.
    fn with_file(path: &Path, file: File, sealer: Sealer, key: KeyId, id: [u8; 16]) -> Store {
        Store {
            path: path.into(),
            file,
            new: None,
            sealer,
            key,
            id,
            end: FIRST_PAGE,
            kept: FIRST_PAGE,
            unsynced: false,
        }
    }

    /// Returns the sidecar's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the offset of the next node page.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Sets the end of the node pages of the current state.
    pub fn set_end(&mut self, end: u64) {
        (self.end, self.kept) = (end, end);
    }

    /// Removes node pages that belong to no state, such as those of a failed edit.
    pub fn cut_back(&mut self) {
        self.end = self.kept;
        // Also removes an incomplete node page. A failure is harmless: the next edit overwrites it.
        if self.file.metadata().is_ok_and(|now| now.len() > self.kept) {
            let _ = faults::set_len(&self.file, self.kept);
        }
    }

    /// Returns the error for a damaged sidecar.
    pub fn altered(&self) -> Error {
        altered(&self.path)
    }

    /// Appends a node page.
    pub fn put(&mut self, what: &[u8], secret: &Writer) -> Result<Extent, Error> {
        let sealed = self.seal(what, secret.as_bytes())?;
        debug_assert!(sealed.len() as u64 <= MAX_BOX);
        faults::write_all_at(&self.file, &sealed, self.end).map_err(io(&self.path))?;
        let tag = *sealed.last_chunk().expect("a tag");
        let place = Extent { at: self.end, size: sealed.len() as u64, tag };
        self.end += place.size;
        self.unsynced = true;
        Ok(place)
    }

    /// Reads a node page.
    pub fn get(&self, what: &[u8], place: &Extent) -> Result<Zeroizing<Vec<u8>>, Error> {
        // Rejects impossible sizes before allocating memory.
        let within = place.at.checked_add(place.size).is_some_and(|end| end <= self.end);
        if !within || place.size > MAX_BOX {
            return Err(self.altered());
        }
        let mut sealed = vec![0; place.size as usize];
        self.read(&mut sealed, place.at)?;
        if !sealed.ends_with(&place.tag) {
            return Err(self.altered());
        }
        self.unseal(what, &sealed)
    }

    /// Returns a copy of the header, or `None` if its seal does not match.
    pub fn header(&self, slot: u64) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let mut sealed = vec![0; SLOT];
        self.read(&mut sealed, place_of(slot))?;
        Ok(self.unseal(b"header", &sealed).ok())
    }

    /// Writes the header of a state whose node pages are written: first one copy, then, once it is
    /// on disk, the other.
    pub fn set_header(&mut self, first: u64, header: &Writer) -> Result<(), Error> {
        let sealed = self.sealed_header(header)?;
        if self.unsynced {
            self.sync()?;
        }
        self.kept = self.end;
        self.write_header(first, &sealed)?;
        self.sync()?;
        self.write_header(1 - first, &sealed)
    }

    /// Writes one copy of the header.
    pub fn put_header(&self, slot: u64, header: &Writer) -> Result<(), Error> {
        self.write_header(slot, &self.sealed_header(header)?)
    }

    fn write_header(&self, slot: u64, sealed: &[u8]) -> Result<(), Error> {
        faults::write_all_at(&self.file, sealed, place_of(slot)).map_err(io(&self.path))
    }

    /// Syncs everything written.
    pub fn sync(&mut self) -> Result<(), Error> {
        faults::sync_data(&self.file).map_err(io(&self.path))?;
        self.unsynced = false;
        Ok(())
    }

    fn sealed_header(&self, header: &Writer) -> Result<Vec<u8>, Error> {
        let Some(unused) = HEADER_ROOM.checked_sub(header.as_bytes().len()) else {
            let (name, found) = (Escaped::name(&self.path), header.as_bytes().len());
            return Err(Error::io(format_args!(
                "{name}: expected a header of at most {HEADER_ROOM} bytes, found {found}"
            )));
        };
        let mut text = Writer::default();
        text.bytes(header.as_bytes()).bytes(&vec![0; unused]);
        self.seal(b"header", text.as_bytes())
    }

    /// Names a new sidecar, or puts it in the place of its predecessor.
    pub fn name(&mut self) -> Result<(), Error> {
        let Some(new) = self.new.take() else { return Ok(()) };
        new.finish().map(drop).map_err(io(&self.path))
    }

    /// Syncs the sidecar's name.
    pub fn sync_name(&self) -> Result<(), Error> {
        atomic::sync_name(&self.path, &self.file).map_err(io(&self.path))
    }

    /// Fails if the sidecar is not at its path any more: the next update would not find this state.
    pub fn is_in_place(&self) -> Result<(), Error> {
        if self.new.is_some() || is_at(&self.path, &self.file).map_err(io(&self.path))? {
            return Ok(());
        }
        Err(UpdateError::SidecarReplaced { sidecar: self.path.clone() }.into())
    }

    /// Removes a sidecar that was just created.
    pub fn remove(&self) {
        // If this fails, the file stays; the caller reports another error.
        let _ = atomic::remove(&self.path, &self.file);
    }

    fn seal(&self, what: &[u8], secret: &[u8]) -> Result<Vec<u8>, Error> {
        let associated_data: [&[u8]; 3] = [SEAL, &self.id, what];
        self.sealer.seal(&associated_data, secret).map_err(Error::io)
    }

    fn unseal(&self, what: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let associated_data: [&[u8]; 3] = [SEAL, &self.id, what];
        self.sealer.open(&associated_data, sealed).map_err(|_| self.altered())
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        faults::read_exact_at(&self.file, bytes, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.altered(),
            _ => io(&self.path)(error),
        })
    }
}

/// Returns the offset of a copy of the header.
fn place_of(slot: u64) -> u64 {
    PRELUDE as u64 + slot * SLOT as u64
}

fn altered(path: &Path) -> Error {
    UpdateError::Altered { sidecar: path.into() }.into()
}
