//! A sealed tree as the kernel sees it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, Request,
};
use rustix::process::{getegid, geteuid};
use tagmac_files::dir::EntryKind;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::leaves::verified::{Leaf, VerifiedFile};
use tagmac_files::manifest::entry::Entry;
use tagmac_files::{Error, ErrorKind};

use super::failures::Failures;
use super::nodes::Nodes;

/// The manifest never changes, so the kernel may remember names and attributes.
const REMEMBER: Duration = Duration::from_secs(3600);
const NEW: Generation = Generation(0);
/// The bytes of a block in `st_blocks`.
const BLOCK: u64 = 512;

/// A sealed tree, and what the kernel has open.
pub struct View {
    tree: Mutex<SealedTree>,
    nodes: Mutex<Nodes>,
    files: Handles<OpenFile>,
    folders: Handles<Vec<Entry>>,
    /// Memory for the bytes of a read, for each thread at most once.
    buffers: Mutex<Vec<Vec<u8>>>,
    failures: Failures,
}

/// A file that a program reads, and the last leaf that was verified.
struct OpenFile {
    file: VerifiedFile,
    leaf: Mutex<Leaf>,
}

/// Open files or directories by their numbers, which the kernel gives back.
struct Handles<T> {
    open: Mutex<HashMap<u64, Arc<T>>>,
    next: AtomicU64,
}

impl<T> Handles<T> {
    fn new() -> Handles<T> {
        Handles { open: Mutex::default(), next: AtomicU64::new(1) }
    }

    fn open(&self, one: T) -> FileHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.open).insert(number, Arc::new(one));
        FileHandle(number)
    }

    fn get(&self, handle: FileHandle) -> Result<Arc<T>, Errno> {
        lock(&self.open).get(&handle.0).cloned().ok_or(Errno::EBADF)
    }

    fn close(&self, handle: FileHandle) {
        lock(&self.open).remove(&handle.0);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View {
    /// A view of a tree.
    pub fn new(tree: SealedTree) -> View {
        let (tree, nodes) = (Mutex::new(tree), Mutex::new(Nodes::new()));
        let (files, folders, buffers) = (Handles::new(), Handles::new(), Mutex::default());
        let failures = Failures::default();
        View { tree, nodes, files, folders, buffers, failures }
    }

    /// Reports an error, and returns its number for the program that reads.
    fn failed(&self, error: &Error) -> Errno {
        self.failures.report(error);
        Errno::EIO
    }

    fn path(&self, number: INodeNo) -> Result<Vec<u8>, Errno> {
        lock(&self.nodes).path(number.0).ok_or(Errno::ENOENT)
    }

    /// Returns the entry of a path.
    fn entry(&self, path: &[u8]) -> Result<Entry, Errno> {
        if path.is_empty() {
            return Ok(Entry::new(EntryKind::Directory));
        }
        match lock(&self.tree).contents().entry(path) {
            Err(error) if error.kind() == ErrorKind::Usage => Err(Errno::ENOENT),
            entry => entry.map_err(|error| self.failed(&error)),
        }
    }

    fn look_up(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let path = child(&self.path(parent)?, name.as_bytes());
        let entry = self.entry(&path)?;
        Ok(attributes(&entry, lock(&self.nodes).look_up(&path)))
    }

    fn open(&self, path: &[u8]) -> Result<OpenFile, Errno> {
        let file = lock(&self.tree).file(path).map_err(|error| self.failed(&error))?;
        Ok(OpenFile { file, leaf: Mutex::default() })
    }

    /// Returns the entry at an offset in a listing: itself, its parent, then its children.
    fn listed<'a>(
        &self,
        path: &'a [u8],
        children: &'a [Entry],
        offset: usize,
    ) -> Option<(u64, EntryKind, &'a [u8])> {
        let (parent, _) = path
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or((&[][..], path), |at| (&path[..at], path));
        let nodes = lock(&self.nodes);
        match offset {
            0 => Some((nodes.number(path), EntryKind::Directory, b".")),
            1 => Some((nodes.number(parent), EntryKind::Directory, b"..")),
            _ => {
                let Entry { path: found, kind, .. } = children.get(offset - 2)?;
                let name = if path.is_empty() { found } else { &found[path.len() + 1..] };
                Some((nodes.number(found), *kind, name))
            }
        }
    }
}

fn child(parent: &[u8], name: &[u8]) -> Vec<u8> {
    if parent.is_empty() { name.to_vec() } else { [parent, b"/", name].concat() }
}

impl OpenFile {
    /// Reads up to `bytes` bytes into `out`. After an error its bytes are not verified.
    fn read(&self, offset: u64, bytes: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        // Another read of the same file may hold the last leaf.
        let (mut held, mut own) = (self.leaf.try_lock(), Leaf::default());
        let leaf = held.as_deref_mut().unwrap_or(&mut own);
        let left = self.file.content().size().saturating_sub(offset);
        out.resize(bytes.min(left.try_into().unwrap_or(usize::MAX)), 0);
        let mut done = 0;
        while done < out.len() {
            done += self.file.read_at(&mut out[done..], offset + done as u64, leaf)?;
        }
        Ok(())
    }
}

fn file_type(kind: EntryKind) -> FileType {
    match kind {
        EntryKind::File => FileType::RegularFile,
        EntryKind::Directory => FileType::Directory,
        EntryKind::Link => FileType::Symlink,
        EntryKind::Pipe => FileType::NamedPipe,
        EntryKind::Socket => FileType::Socket,
        EntryKind::CharDevice => FileType::CharDevice,
        EntryKind::BlockDevice => FileType::BlockDevice,
    }
}

/// Returns the attributes of an entry: those sealed, or values that forbid writing.
fn attributes(entry: &Entry, number: u64) -> FileAttr {
    let size = match (&entry.content, &entry.target) {
        (Some(content), _) => content.size,
        (None, target) => target.as_ref().map_or(0, |target| target.len() as u64),
    };
    let perm = match entry.kind {
        EntryKind::Directory => 0o555,
        EntryKind::Link => 0o777,
        _ => 0o444,
    };
    let (uid, gid) = entry.owner.unwrap_or((geteuid().as_raw(), getegid().as_raw()));
    let time = entry.mtime.map_or(UNIX_EPOCH, time);
    FileAttr {
        ino: INodeNo(number),
        size,
        blocks: size.div_ceil(BLOCK),
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: file_type(entry.kind),
        perm: entry.mode.map_or(perm, |mode| (mode & 0o7777) as u16),
        nlink: 1,
        uid,
        gid,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

fn time((seconds, nanos): (i64, u32)) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let start =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    start
        .and_then(|start| start.checked_add(Duration::from_nanos(nanos.into())))
        .unwrap_or(UNIX_EPOCH)
}

impl Filesystem for View {
    fn destroy(&mut self) {
        self.failures.summarize();
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.look_up(parent, name) {
            Ok(attributes) => reply.entry(&REMEMBER, &attributes, NEW),
            Err(error) => reply.error(error),
        }
    }

    fn forget(&self, _: &Request, number: INodeNo, lookups: u64) {
        lock(&self.nodes).forget(number.0, lookups);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.path(number).and_then(|path| self.entry(&path)) {
            Ok(entry) => reply.attr(&REMEMBER, &attributes(&entry, number.0)),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, number: INodeNo, reply: ReplyData) {
        match self.path(number).and_then(|path| self.entry(&path)) {
            Ok(Entry { target: Some(target), .. }) => reply.data(&target),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.path(number).and_then(|path| self.open(&path)) {
            // Pages that were verified stay valid: the content never changes.
            Ok(file) => reply.opened(self.files.open(file), FopenFlags::FOPEN_KEEP_CACHE),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        bytes: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut out = lock(&self.buffers).pop().unwrap_or_default();
        let read = |file: Arc<OpenFile>| {
            file.read(offset, bytes as usize, &mut out).map_err(|error| self.failed(&error))
        };
        match self.files.get(handle).and_then(read) {
            Ok(()) => reply.data(&out),
            Err(error) => reply.error(error),
        }
        lock(&self.buffers).push(out);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.files.close(handle);
        reply.ok();
    }

    fn opendir(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let children = |path: Vec<u8>| {
            let children = lock(&self.tree).contents().children(&path);
            children.map_err(|error| self.failed(&error))
        };
        match self.path(number).and_then(children) {
            Ok(children) => {
                let handle = self.folders.open(children);
                reply.opened(handle, FopenFlags::FOPEN_CACHE_DIR | FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let (path, children) = match (self.path(number), self.folders.get(handle)) {
            (Ok(path), Ok(children)) => (path, children),
            (Err(error), _) | (_, Err(error)) => return reply.error(error),
        };
        for offset in offset.. {
            let Some((number, kind, name)) = self.listed(&path, &children, offset as usize) else {
                break;
            };
            // The kernel looks a name up before it uses its number. 0 would hide the name.
            let number = INodeNo(if number == 0 { u64::MAX } else { number });
            if reply.add(number, offset + 1, file_type(kind), OsStr::from_bytes(name)) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.folders.close(handle);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let tree = lock(&self.tree);
        let (files, bytes) = tree.contents().totals();
        let blocks = bytes.div_ceil(BLOCK);
        reply.statfs(blocks, 0, 0, files, 0, BLOCK as u32, 255, BLOCK as u32);
    }
}
