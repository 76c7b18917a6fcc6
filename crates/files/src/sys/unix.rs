//! Unix: Linux, macOS and the like.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{self, AtFlags, Mode, OFlags, RawMode, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::time::{ClockId, clock_gettime};

pub use std::fs::{Metadata, metadata, symlink_metadata};
pub use std::os::unix::ffi::{OsStrExt, OsStringExt};
pub use std::os::unix::fs::{FileExt, MetadataExt};

use crate::stat::{EntryKind, FileStat, Identity};

/// An open directory.
pub type Dir = OwnedFd;
/// A borrowed open directory.
pub type DirRef<'a> = BorrowedFd<'a>;
/// Returns a directory, borrowed.
pub fn borrowed(folder: &Dir) -> DirRef<'_> {
    folder.as_fd()
}

/// A borrowed open file or directory, whose extended attributes can be read.
pub type HandleRef<'a> = BorrowedFd<'a>;

/// The clock that sets file times.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::RealtimeCoarse;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Realtime;

/// Returns the metadata of an open file.
pub fn metadata_of(file: &File) -> io::Result<Metadata> {
    file.metadata()
}

/// Returns the kind of a file; `None` for unknown ones.
pub fn kind(file: &Metadata) -> Option<EntryKind> {
    kind_of_type(fs::FileType::from_raw_mode(file.mode() as RawMode))
}

fn kind_of_type(file: fs::FileType) -> Option<EntryKind> {
    Some(match file {
        fs::FileType::RegularFile => EntryKind::File,
        fs::FileType::Directory => EntryKind::Directory,
        fs::FileType::Symlink => EntryKind::Link,
        fs::FileType::Fifo => EntryKind::Pipe,
        fs::FileType::Socket => EntryKind::Socket,
        fs::FileType::CharacterDevice => EntryKind::CharDevice,
        fs::FileType::BlockDevice => EntryKind::BlockDevice,
        _ => return None,
    })
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn facts(stat: &Stat) -> FileStat {
    FileStat {
        kind: kind_of_type(fs::FileType::from_raw_mode(stat.st_mode)),
        size: stat.st_size as u64,
        mode: stat.st_mode as u32 & 0o7777,
        owner: (stat.st_uid, stat.st_gid),
        mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
        ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
        identity: Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
    }
}

/// Returns the metadata at a path, following links.
pub fn facts_at(path: &Path) -> io::Result<FileStat> {
    Ok(facts(&fs::stat(path)?))
}

/// Returns the metadata of an open directory.
pub fn facts_of(folder: DirRef<'_>) -> io::Result<FileStat> {
    Ok(facts(&fs::fstat(folder)?))
}

/// Returns the metadata of an entry of a directory, without following links.
pub fn facts_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<FileStat> {
    Ok(facts(&fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Opens a directory by its path, following links. Fails on anything else: opening a pipe would
/// block.
pub fn open_dir(path: &Path) -> io::Result<Dir> {
    folder(path).map(Dir::from)
}

/// Opens a directory in a directory, and nothing that a link names.
pub fn open_dir_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Dir> {
    open_in(folder, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW)
}

/// Opens a file in a directory for reading. Never blocks. Returns `None` if it is a link or a socket.
pub fn open_file_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let is_other =
        |error: &io::Error| matches!(Errno::from_io_error(error), Some(Errno::LOOP | Errno::NXIO));
    match open_in(folder, name, flags) {
        Err(error) if is_other(&error) => Ok(None),
        file => file.map(File::from).map(Some),
    }
}

fn open_in(folder: DirRef<'_>, name: &[u8], flags: OFlags) -> io::Result<Dir> {
    let open = || fs::openat(folder, name, flags | OFlags::CLOEXEC, Mode::empty());
    Ok(retry_on_intr(open)?)
}

/// Calls `each` with the names in a directory, except `.` and `..`, and their kinds if the directory
/// has them.
pub fn names_in(
    folder: DirRef<'_>,
    mut each: impl FnMut(&[u8], Option<EntryKind>) -> io::Result<()>,
) -> io::Result<()> {
    // A new descriptor, which starts at the first name.
    for entry in fs::Dir::new(open_in(folder, b".", OFlags::RDONLY | OFlags::DIRECTORY)?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(name, kind_of_type(entry.file_type()))?;
        }
    }
    Ok(())
}

/// Returns the target of a link in a directory.
pub fn target_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
    Ok(fs::readlinkat(folder, name, Vec::new())?.into_bytes())
}

/// Returns an open file as one whose extended attributes can be read.
pub fn handle(file: &File) -> HandleRef<'_> {
    file.as_fd()
}

/// Returns an open directory as one whose extended attributes can be read.
pub fn handle_of_dir(folder: DirRef<'_>) -> HandleRef<'_> {
    folder
}

/// Returns the names of the extended attributes of a file, separated by zero bytes; empty if the file
/// system does not support them. They have at most as many bytes as `buffer`.
pub fn attributes(file: HandleRef<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    match fs::flistxattr(file, buffer) {
        Err(Errno::NOTSUP) => Ok(0),
        listed => Ok(listed?),
    }
}

/// Reads the value of an extended attribute, and returns its length.
pub fn attribute(file: HandleRef<'_>, name: &[u8], buffer: &mut [u8]) -> io::Result<usize> {
    Ok(fs::fgetxattr(file, name, buffer)?)
}

/// Syncs the data of a file that may be open for reading only.
pub fn sync_read(file: &File) -> io::Result<()> {
    file.sync_data()
}

/// Joins a directory and a path below it.
pub fn joined(directory: &Path, below: &OsStr) -> PathBuf {
    directory.join(below)
}

/// Opens a directory as a file, to sync it.
pub fn folder(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    with_flags(&mut options, OFlags::DIRECTORY).read(true).open(path)
}

/// Syncs the names in a directory.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    folder.sync_all()
}

/// Lets opening a pipe or a terminal neither wait nor have effects.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    with_flags(options, OFlags::NONBLOCK | OFlags::NOCTTY)
}

/// As [`without_waiting`], and does not follow a link.
pub fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    with_flags(options, OFlags::NOFOLLOW | OFlags::NONBLOCK)
}

fn with_flags(options: &mut OpenOptions, flags: OFlags) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits() as i32)
}

/// Sets the mode of a new file, which is subject to the umask.
pub fn with_mode(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, mode)
}

/// Sets the mode of an open file.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Lets reads of an open file wait, after [`without_waiting`].
pub fn let_wait(file: &File) -> io::Result<()> {
    Ok(fs::fcntl_setfl(file, OFlags::empty())?)
}

/// Returns the number of this process's user.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns a file's owner and group.
pub fn owner(file: &Metadata) -> (u32, u32) {
    (file.uid(), file.gid())
}

/// Reads into memory without bytes, at an offset. Returns the bytes that were read, and the memory after them.
pub fn read_new<'a>(
    file: &File,
    memory: &'a mut [MaybeUninit<u8>],
    at: u64,
) -> io::Result<(&'a mut [u8], &'a mut [MaybeUninit<u8>])> {
    Ok(rustix::io::pread(file, memory, at)?)
}

/// Gives a file another owner and group.
pub fn set_owner(file: &File, from: &Metadata) -> io::Result<()> {
    std::os::unix::fs::fchown(file, Some(from.uid()), Some(from.gid()))
}

/// Returns the time since 1970 on the clock that sets file times.
pub fn file_clock() -> Duration {
    let now = clock_gettime(CLOCK);
    Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec as u32)
}

/// Creates a file without a name; `None` if the system cannot, or cannot name it later. `before` is
/// called first, and its error is treated as one of the system.
#[cfg(target_os = "linux")]
pub fn nameless(
    folder: &Path,
    mode: u32,
    before: impl Fn() -> io::Result<()>,
) -> io::Result<Option<File>> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let made = retry_on_intr(|| {
        before().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        fs::openat(fs::CWD, folder, flags, mode.into())
    });
    let file = match made {
        // The file system does not support it, or the kernel is older than the flag.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => return Ok(None),
        file => File::from(file?),
    };
    // Linking goes through /proc, which may not be mounted.
    let held = file.metadata()?;
    let there = metadata(by_number(&file)).ok();
    let can_be_named = there.is_some_and(|there| Identity::new(&there) == Identity::new(&held));
    Ok(can_be_named.then_some(file))
}

/// Systems without such files.
#[cfg(not(target_os = "linux"))]
pub fn nameless(_: &Path, _: u32, _: impl FnOnce() -> io::Result<()>) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
fn by_number(file: &File) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Names a nameless file, unless the name is taken.
#[cfg(target_os = "linux")]
pub fn link(file: &File, to: &Path) -> io::Result<()> {
    Ok(fs::linkat(fs::CWD, by_number(file), fs::CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

/// Systems without nameless files.
#[cfg(not(target_os = "linux"))]
pub fn link(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("every file has a name")
}

/// Renames a file, unless the new name is taken.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match fs::renameat_with(fs::CWD, from, fs::CWD, to, fs::RenameFlags::NOREPLACE) {
        // The file system does not support it.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return Ok(renamed?),
    }
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Syncs the file system that a file is on.
#[cfg(target_os = "linux")]
pub fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(retry_on_intr(|| fs::syncfs(file))?)
}

/// Systems that cannot.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_: &File) -> io::Result<()> {
    Ok(())
}
