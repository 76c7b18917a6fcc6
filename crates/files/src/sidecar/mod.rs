//! Sidecars: a tag that follows the edits of a file.
//!
//! A sidecar contains the sealed sums of the file's leaves. An edit reads the leaves that it
//! touches and compares their old bytes with the sums before it changes anything. The sidecar
//! switches from one state to the next atomically: new node pages are appended, and then the header
//! is rewritten to refer to them.

pub(crate) mod error;
mod grow;
pub(crate) mod header;
mod leaves;
mod patch;
mod pending;
mod scan;
mod store;
pub(crate) mod tree;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tagmac::Tag;
use tagmac::hazmat::PartError;
use tagmac_any::Parts;

use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::faults;
use crate::identity;
use crate::open;
use crate::open_key::OpenKey;
use crate::progress::{Phases, Progress, Total};
use crate::read::{self, Tagged};
use crate::read_error::ReadError;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::OsStrExt;
use crate::sys::{self, Metadata};
pub use error::{Interference, Interrupted, UpdateError};
use header::{Header, MAX_LEAF, Sums};
use scan::Source;
use store::{FIRST_PAGE, Store};
use tree::{Root, Tree, TreeBuilder};

/// Default length of a leaf in bytes, rounded down to whole blocks.
const LEAF: u64 = 64 << 10;
/// Unused node pages are removed once they have more bytes than this, and than those in use.
const MAX_DEAD: u64 = 1 << 20;

/// Options of an update.
pub struct Update<'a> {
    /// The file; the sidecar is next to it.
    pub file: &'a Path,
    /// A requirement on the sidecar.
    pub sidecar: Sidecar,
    /// The edit. Without one, creates the sidecar or returns the file's tag.
    pub edit: Option<Edit<'a>>,
    /// The tag after the last update. If it does not match, the file and its sidecar were rolled
    /// back, and the update fails.
    pub expect: Option<&'a [u8]>,
    /// The approximate length of a leaf in bytes, for a new sidecar.
    pub leaf: Option<u64>,
    /// The number of threads that read; 0 means one per core.
    pub threads: usize,
}

/// Requirement on the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// May exist: an update without an edit creates it if necessary.
    Any,
    /// Must exist.
    Exists,
    /// Must not exist: the update creates it.
    New,
}

/// An edit.
#[derive(Clone, Copy)]
pub enum Edit<'a> {
    /// Writes bytes into the file, after checking that the leaves there are unchanged.
    Patch {
        /// The offset.
        offset: u64,
        /// The name of the input, for messages.
        name: &'a Path,
        /// Opens the input when it is needed.
        open: &'a dyn Fn() -> Result<Box<dyn Read>, Error>,
    },
    /// Accepts bytes added at the end of the file.
    Append,
    /// Truncates the file to this length, after checking that the bytes to be removed are
    /// unchanged.
    Truncate(u64),
    /// Accepts the current bytes in a range, and all others in their leaves.
    Range {
        /// The first byte.
        offset: u64,
        /// The length in bytes.
        length: u64,
    },
    /// Finishes an interrupted edit, without touching bytes of other programs.
    Finish,
    /// Undoes an interrupted edit, without touching bytes of other programs.
    Undo,
}

/// The state of the file after an update.
pub struct Updated {
    /// The tag and the length.
    pub tagged: Tagged,
    /// The nonce of the tag; empty for deterministic MACs.
    pub nonce: Vec<u8>,
}

/// Makes one edit, or creates the sidecar.
pub fn update(key: &OpenKey, args: &Update<'_>, phases: &dyn Phases) -> Result<Updated, Error> {
    let path = args.file;
    let algorithm = key.mac.algorithm();
    let parts = key
        .mac
        .parts()
        .filter(|_| algorithm.capabilities().edits)
        .ok_or_else(|| UpdateError::NoEdits { algorithm })?;
    let decides = matches!(args.edit, Some(Edit::Finish | Edit::Undo));
    let writes = matches!(args.edit, Some(Edit::Patch { .. } | Edit::Truncate(_))) || decides;
    let file = match writes {
        true => open::writable(path),
        false => open::regular(path).map(|(file, _)| file),
    };
    let file = file.map_err(store::closed(path))?;
    let mut update = Open { args, key, path, file, parts };
    let beside = store::sidecar_path(path);
    let found = beside.symlink_metadata();
    if found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        if args.edit.is_some() || args.sidecar == Sidecar::Exists {
            return Err(UpdateError::NoSidecar { sidecar: beside }.into());
        }
        return update.make(&beside, phases);
    }
    found.map_err(store::io(&beside))?;
    if args.sidecar == Sidecar::New {
        return Err(UpdateError::SidecarExists { sidecar: beside }.into());
    }
    if args.leaf.is_some() {
        return Err(UpdateError::LeafFixed.into());
    }
    let mut store = Store::open(&beside, key.sealer.clone(), key.key_id())?;
    let (header, stands) = Header::open(&mut store, parts)?;
    let stands = match stands {
        Err(error) if args.edit.is_none() && header.pending.is_none() => {
            diagnostic(format_args!("warning: {error}"));
            false
        }
        stands => stands.map(|()| true)?,
    };
    // An interrupted edit is finished first.
    if header.pending.is_some() && !writes {
        update.file = open::writable(path).map_err(store::closed(path))?;
    }
    let mut state = State { open: update, tree: Tree { parts, store }, header };
    state.is_of_this_file()?;
    state.is_expected()?;
    if !decides {
        state.is_expected_to_recover()?;
        state.recover()?;
    }
    let length = state.header.sums.length;
    let total = match args.edit {
        Some(Edit::Range { offset, length }) => Total::one(Some(state.in_range(offset, length))),
        Some(Edit::Append) => Total::one(Some(state.open.length()?.saturating_sub(length))),
        Some(Edit::Truncate(to)) => Total::one(Some(length - state.leaf_before(to.min(length)))),
        _ => Total::NONE,
    };
    let bar = phases.start("updating", total);
    let done = match args.edit {
        Some(Edit::Patch { offset, name, open }) => state.patch(offset, name, open),
        Some(Edit::Range { offset, length }) => state.range(offset, length, &*bar),
        Some(Edit::Truncate(length)) => state.truncate(length, &*bar),
        Some(Edit::Append) => state.append(&*bar),
        Some(Edit::Finish) => state.finish(),
        Some(Edit::Undo) => state.undo(),
        None => state.has_its_length(),
    };
    drop(bar);
    // If the other copy of the header could not be read, it may refer to later node pages.
    if done.is_err() && stands {
        state.tree.store.cut_back();
    }
    done?;
    if stands {
        state.compact();
    }
    state.updated()
}

/// The open file and the options.
struct Open<'a> {
    args: &'a Update<'a>,
    key: &'a OpenKey,
    path: &'a Path,
    file: File,
    parts: Parts<'a>,
}

/// The file and its sidecar.
struct State<'a> {
    open: Open<'a>,
    tree: Tree<'a>,
    header: Header,
}

impl<'a> Open<'a> {
    /// Returns the error of a file that cannot be read, or changes while it is read.
    fn unread(&self, error: ReadError) -> Error {
        Error::file(self.path, error)
    }

    /// Returns the error of a file that the MAC cannot hash.
    fn refused(&self, error: impl Into<PartError>) -> Error {
        UpdateError::Mac(self.path.into(), error.into()).into()
    }

    fn name(&self) -> &[u8] {
        self.path.file_name().map_or(b"".as_slice(), |name| name.as_bytes())
    }

    fn source<'s>(&'s self, leaf: u64, bar: &'s dyn Progress) -> Source<'s> {
        Source { parts: self.parts, path: self.path, file: &self.file, leaf, bar }
    }

    /// Returns the number of bytes that are in leaves, for a file of this length: whole blocks
    /// except the last one.
    fn blocks(&self, length: u64) -> u64 {
        let block = self.parts.block() as u64;
        length.saturating_sub(self.parts.last_block_distinct().into()) / block * block
    }

    /// Returns the file's metadata before it is read, for [`stayed`](Open::stayed).
    fn settled(&self) -> Result<Metadata, Error> {
        read::settled(&self.file).map_err(|error| self.unread(error))
    }

    fn metadata(&self) -> Result<Metadata, Error> {
        sys::metadata_of(&self.file).map_err(store::io(self.path))
    }

    /// Returns the file's current length.
    fn length(&self) -> Result<u64, Error> {
        Ok(self.metadata()?.len())
    }

    /// Syncs the file, so that no state is on disk before its bytes. Fails if the file has changed
    /// since `before`: the bytes read may never have existed together.
    fn stayed(&self, before: &Metadata) -> Result<(), Error> {
        self.unwritten(before).map(drop).map_err(|error| self.unread(error))
    }

    /// Like [`stayed`](Open::stayed), but returns the file's current metadata.
    fn unwritten(&self, before: &Metadata) -> Result<Metadata, ReadError> {
        // Some file systems set the times when the bytes reach them.
        faults::sync_read(&self.file)?;
        let now = sys::metadata_of(&self.file)?;
        read::unchanged(before, &now, before.len())?;
        Ok(now)
    }

    /// The same check before bytes are deleted. Also notices a writer that has reset the
    /// modification time.
    fn untouched(&self, before: &Metadata) -> Result<(), ReadError> {
        let now = self.unwritten(before)?;
        if (before.ctime(), before.ctime_nsec()) == (now.ctime(), now.ctime_nsec()) {
            return Ok(());
        }
        // The status change time also changes with the file's names.
        read::in_place(self.path, &self.file)?;
        Err(ReadError::Touched)
    }

    /// Fails if the path no longer names this file: the result would concern a file that cannot be
    /// found.
    fn is_in_place(&self) -> Result<(), Error> {
        match identity::leads_to(self.path, &self.file).map_err(store::io(self.path))? {
            true => Ok(()),
            false => Err(UpdateError::FileReplaced { file: self.path.into() }.into()),
        }
    }

    fn within_limit(&self, length: u64) -> Result<(), Error> {
        match self.key.mac.algorithm().max_message_bits() {
            Some(limit_bits) if length > limit_bits / 8 => {
                Err(self.refused(tagmac::Error::TooLong { limit_bits }))
            }
            _ => Ok(()),
        }
    }

    fn nonce(&self) -> Result<Vec<u8>, Error> {
        self.key.mac.algorithm().random_nonce().map_err(Error::io)
    }

    /// Creates the sidecar.
    fn make(self, beside: &Path, phases: &dyn Phases) -> Result<Updated, Error> {
        let before = self.settled()?;
        let length = before.len();
        self.within_limit(length)?;
        if self.args.expect.is_some() && self.key.mac.algorithm().takes_nonce() {
            return Err(UpdateError::NothingToExpect.into());
        }
        if let Some(found) = self.args.leaf.filter(|leaf| *leaf > MAX_LEAF) {
            return Err(UpdateError::LeafTooLong { max: MAX_LEAF, found }.into());
        }
        let block = self.parts.block() as u64;
        let leaf = (self.args.leaf.unwrap_or(LEAF) / block).max(1) * block;
        let store = Store::make(beside, self.key.sealer.clone(), self.key.key_id())?;
        let mut tree = Tree { parts: self.parts, store };
        let mut builder = TreeBuilder::default();
        let bar = phases.start("hashing", Total::one(Some(length)));
        let source = self.source(leaf, &*bar);
        let blocks = self.blocks(length);
        let threads = self.args.threads;
        source.leaves(0, blocks, threads, |part| builder.push(&mut tree, part))?;
        let mut rest = vec![0; (length - blocks) as usize];
        source.read(&mut rest, blocks)?;
        bar.file();
        drop(bar);
        self.stayed(&before)?;
        let root = builder.done(&mut tree)?;
        let (name, nonce) = (self.name().to_vec(), self.nonce()?);
        let sums = Sums { length, rest, root };
        let header = Header { number: 0, name, leaf, nonce, sums, pending: None };
        let mut state = State { open: self, tree, header };
        state.is_expected()?;
        state.put_header()?;
        state.open.is_in_place()?;
        state.tree.store.name()?;
        if let Err(error) = state.open.is_in_place() {
            // The sidecar would vouch for the file that has the name now.
            state.tree.store.remove();
            return Err(error);
        }
        state.updated()
    }
}

impl State<'_> {
    fn tag(&self) -> Result<Tag, Error> {
        let parts = self.tree.parts;
        let tag = || {
            let mut whole = parts.new_part(0, &[])?;
            if let Some(root) = &self.header.sums.root {
                whole = parts.join(whole, root.part())?;
            }
            parts.finish(whole, &self.header.nonce, &self.header.sums.rest)
        };
        tag().map_err(|error| self.open.refused(error))
    }

    /// Fails if the sidecar belongs to a file with another name.
    fn is_of_this_file(&self) -> Result<(), Error> {
        let (expected, found) = (self.open.name(), &*self.header.name);
        if expected == found {
            return Ok(());
        }
        let sidecar = self.tree.store.path().into();
        let (expected, found) = (expected.into(), found.into());
        // Report it: a new sidecar would accept half of the interrupted edit, and the old bytes
        // would be lost.
        let interrupted = self.header.pending.is_some();
        Err(UpdateError::OtherFile { sidecar, expected, found, interrupted }.into())
    }

    /// Fails if the state's tag is not the one that the caller expects.
    fn is_expected(&self) -> Result<(), Error> {
        let Some(expected) = &self.open.args.expect else { return Ok(()) };
        let mac = &self.open.key.mac;
        let expected = Tag::new(expected, mac.tag_bits())
            .map_err(|error| UpdateError::ExpectedTag { algorithm: mac.algorithm(), error })?;
        if self.tag()? == expected {
            return Ok(());
        }
        Err(UpdateError::OtherTag { file: self.open.path.into() }.into())
    }

    /// Fails if the file has grown or shrunk.
    fn has_its_length(&self) -> Result<(), Error> {
        let (found, expected) = (self.open.length()?, self.header.sums.length);
        if found == expected {
            return Ok(());
        }
        Err(UpdateError::OtherLength { file: self.open.path.into(), expected, found }.into())
    }

    /// Makes `sums` the next state, under a new nonce.
    fn commit(&mut self, sums: Sums) -> Result<(), Error> {
        self.open.is_in_place()?;
        self.header.sums = sums;
        self.header.nonce = self.open.nonce()?;
        self.put_header()
    }

    /// Writes the header as the next state.
    fn put_header(&mut self) -> Result<(), Error> {
        self.tree.store.is_in_place()?;
        self.header.commit(&mut self.tree.store, self.tree.parts)
    }

    /// Removes unused node pages, if they outweigh those in use.
    fn compact(&mut self) {
        let live = self.header.sums.root.as_ref().map_or(0, Root::live);
        let dead = self.tree.store.end() - FIRST_PAGE - live;
        if dead <= live.max(MAX_DEAD) {
            return;
        }
        if let Err(error) = self.rewrite() {
            diagnostic(format_args!("warning: unused space in the sidecar was not freed: {error}"));
        }
    }

    fn rewrite(&mut self) -> Result<(), Error> {
        let mut to = Tree { parts: self.tree.parts, store: self.tree.store.successor()? };
        if let Some(root) = &self.header.sums.root {
            self.header.sums.root = Some(self.tree.copy(root, &mut to)?);
        }
        self.header.commit(&mut to.store, to.parts)?;
        to.store.name()?;
        self.tree.store = to.store;
        Ok(())
    }

    /// Returns the tag, if the file and the sidecar are still in place. Another program may have
    /// appended bytes, but not removed any.
    fn updated(self) -> Result<Updated, Error> {
        self.open.is_in_place()?;
        self.tree.store.is_in_place()?;
        if self.open.length()? < self.header.sums.length {
            self.has_its_length()?;
        }
        let tagged = Tagged::new(self.tag()?, self.header.sums.length);
        Ok(Updated { tagged, nonce: self.header.nonce })
    }
}
