//! Windows. SECURITY.md lists what it does not promise.
//!
//! A directory that is held open here cannot be renamed or removed, nor can those above it. So a path
//! below it leads to the same place until it is closed.

mod names;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use winapi_util::file::information;

use crate::stat::{EntryKind, FileStat, Identity};
use names::is_plain;
pub use names::{OsStrExt, OsStringExt};

const FILE_SHARE_READ: u32 = 1;
const FILE_SHARE_WRITE: u32 = 2;
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Listing a directory, and reading attributes.
const LIST: u32 = 0x81;
/// The time from 1601 to 1970, in units of 100 nanoseconds.
const EPOCH: u64 = 116_444_736_000_000_000;

/// The metadata of a file.
#[derive(Clone, Debug)]
pub struct Metadata {
    std: fs::Metadata,
    identity: Identity,
    /// Units of 100 nanoseconds since 1601.
    written: u64,
}

impl Metadata {
    /// Returns the size in bytes.
    #[allow(clippy::len_without_is_empty, reason = "as in std")]
    pub fn len(&self) -> u64 {
        self.std.len()
    }

    /// Returns whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.std.is_file()
    }

    /// Returns whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.std.is_dir()
    }

    /// Returns whether it is a link or a junction.
    pub fn is_symlink(&self) -> bool {
        self.std.is_symlink()
    }

    /// Returns the permissions.
    pub fn permissions(&self) -> fs::Permissions {
        self.std.permissions()
    }

    /// Returns the volume's number.
    pub fn dev(&self) -> u64 {
        self.identity.device
    }

    /// Returns the file's number.
    pub fn ino(&self) -> u64 {
        self.identity.inode
    }

    /// Returns a mode that shows only whether the file may be written to.
    pub fn mode(&self) -> u32 {
        match (self.std.is_dir(), self.std.permissions().readonly()) {
            (true, _) => 0o755,
            (false, true) => 0o444,
            (false, false) => 0o644,
        }
    }

    /// Returns the seconds of the modification time since 1970.
    pub fn mtime(&self) -> i64 {
        (self.written as i64 - EPOCH as i64).div_euclid(10_000_000)
    }

    /// Returns its nanoseconds.
    pub fn mtime_nsec(&self) -> i64 {
        (self.written as i64 - EPOCH as i64).rem_euclid(10_000_000) * 100
    }

    /// Returns the modification time: programs can set it, unlike the change time of Unix.
    pub fn ctime(&self) -> i64 {
        self.mtime()
    }

    /// Returns its nanoseconds.
    pub fn ctime_nsec(&self) -> i64 {
        self.mtime_nsec()
    }
}

/// Returns the metadata of an open file.
pub fn metadata_of(file: &File) -> io::Result<Metadata> {
    let about = information(file)?;
    let identity = Identity { device: about.volume_serial_number(), inode: about.file_index() };
    let written = about.last_write_time().unwrap_or_default();
    Ok(Metadata { std: file.metadata()?, identity, written })
}

/// Returns the metadata at a path, following links.
pub fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    at(path.as_ref(), FILE_FLAG_BACKUP_SEMANTICS)
}

/// Returns the metadata at a path, without following a link.
pub fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    at(path.as_ref(), FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
}

fn at(path: &Path, flags: u32) -> io::Result<Metadata> {
    // No access is enough for metadata, and succeeds even if another program holds the file.
    metadata_of(&OpenOptions::new().access_mode(0).custom_flags(flags).open(path)?)
}

/// Returns the kind of a file; `None` for unknown ones.
pub fn kind(file: &Metadata) -> Option<EntryKind> {
    kind_of_type(file.std.file_type())
}

fn kind_of_type(file: fs::FileType) -> Option<EntryKind> {
    match file {
        _ if file.is_symlink() => Some(EntryKind::Link),
        _ if file.is_dir() => Some(EntryKind::Directory),
        _ if file.is_file() => Some(EntryKind::File),
        _ => None,
    }
}

/// An open directory.
pub struct Dir {
    path: PathBuf,
    file: File,
}

impl Dir {
    /// Returns a second handle.
    pub fn try_clone(&self) -> io::Result<Dir> {
        Ok(Dir { path: self.path.clone(), file: self.file.try_clone()? })
    }
}

/// A borrowed open directory.
pub type DirRef<'a> = &'a Dir;

/// Returns a directory, borrowed.
pub fn borrowed(folder: &Dir) -> DirRef<'_> {
    folder
}

/// A file or directory whose extended attributes could be read, if Windows had them.
#[derive(Clone, Copy)]
pub struct HandleRef<'a>(std::marker::PhantomData<&'a File>);

/// Returns an open directory as one whose extended attributes can be read.
pub fn handle_of_dir(_: DirRef<'_>) -> HandleRef<'_> {
    HandleRef(std::marker::PhantomData)
}

/// Returns an open file as one whose extended attributes can be read.
pub fn handle(_: &File) -> HandleRef<'_> {
    HandleRef(std::marker::PhantomData)
}

/// Returns 0: Windows has no such attributes.
pub fn attributes(_: HandleRef<'_>, _: &mut [u8]) -> io::Result<usize> {
    Ok(0)
}

/// Fails: Windows has no such attributes.
pub fn attribute(_: HandleRef<'_>, _: &[u8], _: &mut [u8]) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the metadata at a path, following links.
pub fn facts_at(path: &Path) -> io::Result<FileStat> {
    Ok(FileStat::from_metadata(&metadata(path)?))
}

/// Returns the metadata of an open directory.
pub fn facts_of(folder: DirRef<'_>) -> io::Result<FileStat> {
    Ok(FileStat::from_metadata(&metadata_of(&folder.file)?))
}

/// Returns the metadata of an entry of a directory, without following links.
pub fn facts_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<FileStat> {
    Ok(FileStat::from_metadata(&symlink_metadata(path_in(folder, name)?)?))
}

/// Opens a directory by its path, following links.
pub fn open_dir(path: &Path) -> io::Result<Dir> {
    let path = std::path::absolute(path)?;
    hold(path, FILE_FLAG_BACKUP_SEMANTICS)
}

/// Opens a directory in a directory, and nothing that a link names.
pub fn open_dir_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Dir> {
    let path = path_in(folder, name)?;
    hold(path, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
}

fn hold(path: PathBuf, flags: u32) -> io::Result<Dir> {
    let mut options = OpenOptions::new();
    options.access_mode(LIST).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE).custom_flags(flags);
    let file = options.open(&path)?;
    match file.metadata()?.is_dir() {
        true => Ok(Dir { path, file }),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Opens a file in a directory for reading. Returns `None` if it is a link.
pub fn open_file_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Option<File>> {
    let path = path_in(folder, name)?;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    let file = options.open(path)?;
    Ok(Some(file).filter(|file| file.metadata().is_ok_and(|facts| !facts.is_symlink())))
}

/// Calls `each` with the names in a directory, and their kinds.
pub fn names_in(
    folder: DirRef<'_>,
    mut each: impl FnMut(&[u8], Option<EntryKind>) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(&folder.path)? {
        let entry = entry?;
        each(entry.file_name().as_encoded_bytes(), kind_of_type(entry.file_type()?))?;
    }
    Ok(())
}

/// Returns the target of a link in a directory.
pub fn target_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
    Ok(fs::read_link(path_in(folder, name)?)?.into_os_string().into_encoded_bytes())
}

/// Returns the path of an entry of a directory. The name comes from a manifest, so it may be one that
/// leads out of the directory.
fn path_in(folder: DirRef<'_>, name: &[u8]) -> io::Result<PathBuf> {
    match str::from_utf8(name).ok().filter(|name| is_plain(name)) {
        Some(name) => Ok(folder.path.join(name)),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "no name of a file on Windows")),
    }
}

/// Syncs the data of a file, unless it is open for reading only: Windows denies that.
pub fn sync_read(file: &File) -> io::Result<()> {
    match file.sync_data() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

/// Joins a directory and a path below it, with `/` as on other systems: lists that name the same
/// files are the same.
pub fn joined(directory: &Path, below: &OsStr) -> PathBuf {
    let (joined, start) = (directory.join(below), directory.as_os_str().as_encoded_bytes());
    let has_new = joined.as_os_str().as_encoded_bytes().get(start.len()) == Some(&b'\\');
    // Paths that begin like this have no other separator.
    if !has_new || start.starts_with(br"\\?\") {
        return joined;
    }
    let mut joined = directory.as_os_str().to_os_string();
    joined.push("/");
    joined.push(below);
    joined.into()
}

/// Opens a directory as a file.
pub fn folder(path: &Path) -> io::Result<File> {
    open_dir(path).map(|dir| dir.file)
}

/// Does nothing: directories cannot be synced. NTFS logs changes of names.
pub fn sync_folder(_: &File) -> io::Result<()> {
    Ok(())
}

/// Changes nothing: opening a file does not wait.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Does not follow a link.
pub fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Changes nothing: a new file has the access rights of its directory.
pub fn with_mode(options: &mut OpenOptions, _: u32) -> &mut OpenOptions {
    options
}

/// Does nothing, see [`with_mode`].
pub fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Does nothing, see [`without_waiting`].
pub fn let_wait(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns 0: users have no numbers.
pub fn user() -> u32 {
    0
}

/// Returns zeros: owners have no numbers.
pub fn owner(_: &Metadata) -> (u32, u32) {
    (0, 0)
}

/// Reads nothing into memory without bytes: only an unsafe call could. The caller then reads into
/// zeros.
pub fn read_new<'a>(
    _: &File,
    memory: &'a mut [MaybeUninit<u8>],
    _: u64,
) -> io::Result<(&'a mut [u8], &'a mut [MaybeUninit<u8>])> {
    Ok((&mut [], memory))
}

/// Does nothing: a new file belongs to its creator.
pub fn set_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns the time since 1970 on the clock that sets file times.
pub fn file_clock() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Windows has no files without a name.
pub fn nameless(_: &Path, _: u32, _: impl FnOnce() -> io::Result<()>) -> io::Result<Option<File>> {
    Ok(None)
}

/// Windows has no files without a name.
pub fn link(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("every file has a name")
}

/// Renames a file, unless the new name is taken.
pub fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Does nothing: only administrators may flush a volume.
pub fn sync_file_system(_: &File) -> io::Result<()> {
    Ok(())
}

/// Reads and writes at offsets.
pub trait FileExt {
    /// Reads at an offset.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;

    /// Reads exactly `bytes`.
    fn read_exact_at(&self, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.read_at(bytes, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    bytes = &mut bytes[read..];
                    at += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `bytes`.
    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.seek_read(bytes, at)
    }

    fn write_all_at(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.seek_write(bytes, at)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => {
                    bytes = &bytes[written..];
                    at += written as u64;
                }
            }
        }
        Ok(())
    }
}
