//! `tagmac update`: a tag that follows the edits of a file.
//!
//! The sums of the file's leaves are in a sidecar, sealed. An edit reads the leaves that it
//! touches, holds their old bytes against the sums, and only then goes on. The sidecar goes from
//! one state to the next at once: new boxes are appended, and then the header says that they count.

mod first;
mod grow;
mod header;
mod leaves;
mod patch;
mod pending;
mod store;
mod tree;

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tagmac::Tag;
use tagmac::dynamic::Parts;
use tagmac_files::escaped::Escaped;
use tagmac_files::mac::{Mac, is_too_long};
use tagmac_files::progress::{Progress, Total};
use tagmac_files::read::{self, Tagged};
use tagmac_files::{Error, faults, open};

use crate::args::Update;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::progress;
use crate::read::stdin_once;
use crate::tag_line::{self, Form};
use first::Source;
use header::{Header, MAX_LEAF, Sums};
use store::{BOXES, Store};
use tree::{Growing, Root, Tree};

/// Bytes of a leaf where nothing else is asked, nearly.
const LEAF: u64 = 64 << 10;
/// Dead boxes are left until there are so many bytes of them, and more than of live ones.
const MAX_DEAD: u64 = 1 << 20;

/// Follows one edit, or makes the sidecar, and prints the file's line.
pub fn run(args: &Update) -> Result<Option<Exit>, Error> {
    let path = &*args.file;
    if path.as_os_str() == "-" {
        return Err(Error::usage("expected a file, found '-': standard input has no edits"));
    }
    let patch = args.edit.patch()?;
    stdin_once(&args.key.only.options(), patch.as_ref().map(|(_, patch)| patch))?;
    let mac = mac::make(&args.key.options(), false)?;
    let algorithm = mac.mac.algorithm();
    let parts = mac.mac.parts().filter(|_| algorithm.capabilities().edits).ok_or_else(|| {
        Error::usage(format_args!("{algorithm} has no edits; 'tagmac list' shows which have"))
    })?;
    let decides = args.edit.finish || args.edit.undo;
    let writes = patch.is_some() || args.edit.truncate.is_some() || decides;
    let file = match writes {
        true => open::writable(path),
        false => open::regular(path).map(|(file, _)| file),
    };
    let file = file.map_err(store::closed(path))?;
    let progress = progress::Progress::new(args.reading.progress);
    let mut update = Open { args, mac: &mac, path, file, parts };
    let beside = store::beside(path);
    let found = beside.symlink_metadata();
    if found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        if args.edit.any() {
            return Err(Error::usage(format_args!(
                "{}: expected the file's sidecar, found none; 'tagmac update' without an edit \
                 makes it and vouches for the file as it is",
                Escaped::name(&beside)
            )));
        }
        update.make(&beside, progress)?;
        return Ok(None);
    }
    found.map_err(store::io(&beside))?;
    if args.leaf.is_some() {
        let what = "expected to make a sidecar, found one that has its leaves";
        return Err(Error::usage(format_args!("--leaf: {what}")));
    }
    let mut store = Store::open(&beside, mac.sealer.clone(), mac.id())?;
    let (header, stands) = Header::open(&mut store, parts)?;
    let stands = match stands {
        Err(error) if !args.edit.any() && header.pending.is_none() => {
            diagnostic(format_args!("warning: {error}"));
            false
        }
        stands => stands.map(|()| true)?,
    };
    // What was cut short is finished first.
    if header.pending.is_some() && !writes {
        update.file = open::writable(path).map_err(store::closed(path))?;
    }
    let mut state = State { open: update, tree: Tree { parts, store }, header };
    state.is_of_this_file()?;
    state.is_expected()?;
    if !decides {
        state.recover()?;
    }
    let length = state.header.sums.length;
    let total = match args.edit.range {
        Some((offset, length)) => Total::one(Some(state.in_range(offset, length))),
        None if args.edit.append => Total::one(Some(state.open.length()?.saturating_sub(length))),
        None => args.edit.truncate.map_or(Total::NONE, |to| {
            Total::one(Some(length - state.leaf_of_last(to.min(length))))
        }),
    };
    let bar = progress.start("updating", total);
    let done = match (&patch, args.edit.range, args.edit.truncate) {
        (Some((offset, patch)), ..) => state.patch(*offset, patch),
        (_, Some((offset, length)), _) => state.range(offset, length, &bar),
        (_, _, Some(length)) => state.truncate(length, &bar),
        _ if args.edit.append => state.append(&bar),
        _ if args.edit.finish => state.finish(),
        _ if args.edit.undo => state.undo(),
        _ => state.has_its_length(),
    };
    drop(bar);
    // Another header than this one, which could not be read, may have later boxes.
    if done.is_err() && stands {
        state.tree.store.cut_back();
    }
    done?;
    if stands {
        state.compact();
    }
    state.print()?;
    Ok(None)
}

/// The file and what is asked.
struct Open<'a> {
    args: &'a Update,
    mac: &'a Mac,
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
    /// An error about the file, with no verdict on it.
    fn io(&self, what: impl std::fmt::Display) -> Error {
        Error::io(format_args!("{}: {what}", Escaped::name(self.path)))
    }

    /// The file is not as it was vouched for.
    fn mismatch(&self, what: impl std::fmt::Display) -> Error {
        Error::mismatch(format_args!("{}: {what}", Escaped::name(self.path)))
    }

    fn usage(&self, what: impl std::fmt::Display) -> Error {
        Error::usage(format_args!("{}: {what}", Escaped::name(self.path)))
    }

    fn name(&self) -> &[u8] {
        self.path.file_name().map_or(b"".as_slice(), |name| name.as_bytes())
    }

    fn source<'s>(&'s self, leaf: u64, bar: &'s dyn Progress) -> Source<'s> {
        Source { parts: self.parts, path: self.path, file: &self.file, leaf, bar }
    }

    /// The bytes of a message that are in leaves: blocks that are whole and not the last.
    fn blocks(&self, length: u64) -> u64 {
        let block = self.parts.block() as u64;
        length.saturating_sub(self.parts.holds_last().into()) / block * block
    }

    /// What is known of the file before it is read, for [`stayed`](Open::stayed).
    fn settled(&self) -> Result<Metadata, Error> {
        read::settled(&self.file).map_err(|error| self.io(error))
    }

    fn metadata(&self) -> Result<Metadata, Error> {
        self.file.metadata().map_err(store::io(self.path))
    }

    /// The file's length now.
    fn length(&self) -> Result<u64, Error> {
        Ok(self.metadata()?.len())
    }

    /// Syncs the file, so that no state is there for good before its bytes are. Refuses a file that
    /// is not what it was before it was read: those bytes may never have been there at once.
    fn stayed(&self, before: &Metadata) -> Result<(), Error> {
        faults::sync_data(&self.file).map_err(store::io(self.path))?;
        read::unchanged(before, &self.metadata()?, before.len()).map_err(|error| self.io(error))
    }

    fn within_limit(&self, length: u64) -> Result<(), Error> {
        let mac = &self.mac.mac;
        match is_too_long(mac, length) {
            true => Err(self.io(tagmac::Error::TooLong { limit_bits: mac.limit_bits() })),
            false => Ok(()),
        }
    }

    fn nonce(&self) -> Result<Vec<u8>, Error> {
        self.mac.mac.algorithm().random_nonce().map_err(Error::io)
    }

    /// Makes the sidecar.
    fn make(self, beside: &Path, progress: progress::Progress) -> Result<(), Error> {
        let before = self.settled()?;
        let length = before.len();
        self.within_limit(length)?;
        if self.args.expect.is_some() && self.mac.mac.algorithm().takes_nonce() {
            let what = "expected a sidecar with a state, found none, and a new tag has a new nonce";
            return Err(Error::usage(format_args!("--expect: {what}")));
        }
        if let Some(found) = self.args.leaf.filter(|leaf| *leaf > MAX_LEAF) {
            let what = format_args!("expected at most {MAX_LEAF} bytes (64 MiB), found {found}");
            return Err(Error::usage(format_args!("--leaf: {what}")));
        }
        let block = self.parts.block() as u64;
        let leaf = (self.args.leaf.unwrap_or(LEAF) / block).max(1) * block;
        let store = Store::make(beside, self.mac.sealer.clone(), self.mac.id())?;
        let mut tree = Tree { parts: self.parts, store };
        let mut growing = Growing::default();
        let bar = progress.start("hashing", Total::one(Some(length)));
        let source = self.source(leaf, &bar);
        let blocks = self.blocks(length);
        let threads = self.args.reading.num_threads;
        source.leaves(0, blocks, threads, |part| growing.push(&mut tree, part))?;
        let mut rest = vec![0; (length - blocks) as usize];
        source.read(&mut rest, blocks)?;
        bar.file();
        drop(bar);
        self.stayed(&before)?;
        let root = growing.done(&mut tree)?;
        let (name, nonce) = (self.name().to_vec(), self.nonce()?);
        let sums = Sums { length, rest, root };
        let header = Header { number: 0, name, leaf, nonce, sums, pending: None };
        let mut state = State { open: self, tree, header };
        state.is_expected()?;
        state.header.commit(&mut state.tree.store, state.tree.parts)?;
        state.tree.store.name()?;
        state.print()
    }
}

impl State<'_> {
    fn tag(&self) -> Result<Tag, Error> {
        let parts = self.tree.parts;
        let tag = || {
            let mut whole = parts.of(0, &[])?;
            if let Some(root) = &self.header.sums.root {
                whole = parts.join(whole, root.part())?;
            }
            parts.finish(whole, &self.header.nonce, &self.header.sums.rest)
        };
        tag().map_err(|error| self.open.io(error))
    }

    /// Refuses the sidecar of a file with another name.
    fn is_of_this_file(&self) -> Result<(), Error> {
        let (expected, found) = (self.open.name(), &*self.header.name);
        if expected == found {
            return Ok(());
        }
        let path = Escaped::name(self.tree.store.path());
        let (expected, found) = (Escaped::bytes(expected), Escaped::bytes(found));
        let what =
            format_args!("{path}: expected the sidecar of {expected}, found that of {found}");
        if self.header.pending.is_none() {
            return Err(Error::mismatch(what));
        }
        // Made anew, it would vouch for half of an edit, and the old bytes would be gone.
        Err(Error::mismatch(format_args!(
            "{what}, with an edit that was cut short: keep it, rename both back to {found} and \
             {found}.tagmac, and finish the edit there, or take it back by --undo"
        )))
    }

    /// Refuses a state that is not the one whose tag the caller knows.
    fn is_expected(&self) -> Result<(), Error> {
        let Some(expected) = &self.open.args.expect else { return Ok(()) };
        let expected = Tag::new(expected, self.open.mac.mac.tag_bits()).map_err(|error| {
            Error::usage(format_args!("--expect: {}: {error}", self.open.mac.mac.algorithm()))
        })?;
        if self.tag()? == expected {
            return Ok(());
        }
        Err(self.open.mismatch(
            "expected a state with the tag of --expect, found another: \
             the file or its sidecar was rolled back, or was updated since",
        ))
    }

    /// Refuses a file that has grown or shrunk.
    fn has_its_length(&self) -> Result<(), Error> {
        let (found, expected) = (self.open.length()?, self.header.sums.length);
        if found == expected {
            return Ok(());
        }
        let hint = if found > expected {
            "--append vouches for what was added"
        } else {
            "what is left cannot be checked without what is gone; put the file back as it was, or, \
             to vouch for what is left, move the sidecar away and make it anew"
        };
        let what = format_args!("expected {expected} bytes, found {found}: {hint}");
        Err(self.open.mismatch(what))
    }

    /// Makes these sums the state, under a nonce of its own.
    fn commit(&mut self, sums: Sums) -> Result<(), Error> {
        self.header.sums = sums;
        self.header.nonce = self.open.nonce()?;
        self.header.commit(&mut self.tree.store, self.tree.parts)
    }

    /// Leaves dead boxes behind, if they are the larger part.
    fn compact(&mut self) {
        let live = self.header.sums.root.as_ref().map_or(0, Root::live);
        let dead = self.tree.store.end() - BOXES - live;
        if dead <= live.max(MAX_DEAD) {
            return;
        }
        if let Err(error) = self.made_anew() {
            diagnostic(format_args!("warning: the sidecar stays larger than it could be: {error}"));
        }
    }

    fn made_anew(&mut self) -> Result<(), Error> {
        let mut to = Tree { parts: self.tree.parts, store: self.tree.store.successor()? };
        if let Some(root) = &self.header.sums.root {
            self.header.sums.root = Some(self.tree.copy(root, &mut to)?);
        }
        self.header.commit(&mut to.store, to.parts)?;
        to.store.name()
    }

    fn print(&self) -> Result<(), Error> {
        let (open, tag) = (&self.open, self.tag()?);
        let tagged = Tagged { tag, bytes: self.header.sums.length };
        let form = Form { json: open.args.json, zero: open.args.zero, untagged: false };
        let name = open.path.as_os_str().as_bytes();
        tag_line::print(form, open.mac, name, &self.header.nonce, &tagged)
    }
}
