//! Kinds, metadata and identities of files, as the system reports them.

use std::fmt;

/// The identity of a file, whatever its name. It holds while some program keeps the file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The inode's number in it.
    pub inode: u64,
}

/// The kind of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl EntryKind {
    /// Returns whether it is a pipe, a socket or a device. These are never opened.
    pub fn is_special(self) -> bool {
        !matches!(self, EntryKind::File | EntryKind::Directory | EntryKind::Link)
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::File => "a file",
            EntryKind::Directory => "a directory",
            EntryKind::Link => "a symbolic link",
            EntryKind::Pipe => "a pipe",
            EntryKind::Socket => "a socket",
            EntryKind::CharDevice => "a character device",
            EntryKind::BlockDevice => "a block device",
        })
    }
}

/// The metadata of an entry.
#[derive(Clone, Copy, Debug)]
pub struct FileStat {
    /// The kind; `None` if it is unknown.
    pub kind: Option<EntryKind>,
    /// The size in bytes.
    pub size: u64,
    /// The permissions, with the set-user-ID, set-group-ID and sticky bits.
    pub mode: u32,
    /// The numeric owner and group.
    pub owner: (u32, u32),
    /// The modification time: seconds since 1970, rounded down, and nanoseconds.
    pub mtime: (i64, u32),
    /// The status change time, which programs cannot set.
    pub ctime: (i64, u32),
    /// The device and inode, which two names of one file share.
    pub identity: Identity,
}
