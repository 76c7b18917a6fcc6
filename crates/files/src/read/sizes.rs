//! Files whose size the system does not tell.
//!
//! In /proc every file says that it is empty, in /sys most say that they have a page. They are made
//! as they are read, so their size is what was read. Which file systems do so is known by their
//! numbers in `linux/magic.h`, and only who may mount one can have a file there. Everywhere else a
//! file of another size than it says is one that changed while it was read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;

/// proc, sysfs, debugfs, tracefs, cgroup, cgroup2, securityfs, configfs, bpf, selinuxfs, smackfs,
/// apparmorfs, binfmt_misc, resctrl, mqueue.
#[cfg(target_os = "linux")]
const MADE_AS_READ: [u32; 15] = [
    0x9fa0,
    0x6265_6572,
    0x6462_6720,
    0x7472_6163,
    0x0027_e0eb,
    0x6367_7270,
    0x7363_6673,
    0x6265_6570,
    0xcafe_4a11,
    0xf97c_ff8c,
    0x4341_5d53,
    0x5a3c_69f0,
    0x4249_4e4d,
    0x0765_5821,
    0x1980_0202,
];
/// A program may stand for a file system, and make what it says is empty as it is read.
#[cfg(target_os = "linux")]
const FUSE: u32 = 0x6573_5546;

/// Files that do not tell their size have fewer bytes, or no end in reach, as `/proc/self/pagemap`.
const MAX_BYTES: u64 = 64 << 20;

/// A file that does not tell its size, and has to end all the same.
pub struct Ending<'a> {
    file: &'a File,
    left: u64,
}

impl<'a> Ending<'a> {
    /// From where the file is.
    pub fn new(file: &'a File) -> Ending<'a> {
        Ending { file, left: MAX_BYTES }
    }
}

impl Read for Ending<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other("expected at most 64 MiB, as it does not tell its size, found more")
        })?;
        Ok(read)
    }
}

/// Tells whether sizes are true.
#[derive(Default)]
pub struct Sizes {
    /// The file system that was asked last, which may be at the other end of a network, and its
    /// kind.
    #[cfg(target_os = "linux")]
    last: Option<(u64, u32)>,
}

impl Sizes {
    /// Whether a file has the size that it says it has.
    #[cfg(target_os = "linux")]
    pub fn are_true(&mut self, file: &File, facts: &Metadata) -> bool {
        let kind = match self.last {
            Some((device, kind)) if device == facts.dev() => kind,
            _ => {
                // The type differs between processors, the numbers have 32 bits.
                let Ok(system) = rustix::fs::fstatfs(file) else { return true };
                self.last.insert((facts.dev(), system.f_type as u32)).1
            }
        };
        !MADE_AS_READ.contains(&kind) && (kind != FUSE || facts.len() > 0)
    }

    /// Whether a file has the size that it says it has.
    #[cfg(not(target_os = "linux"))]
    pub fn are_true(&mut self, _: &File, facts: &Metadata) -> bool {
        facts.len() > 0
    }
}
