//! Files that report a wrong size.
//!
//! Files in /proc report a size of zero, and most in /sys the size of a page. Their content is
//! generated when they are read, so the true size is the number of bytes read. Such file systems
//! are recognized by their numbers in `linux/magic.h`; only privileged users can mount them. On all
//! other file systems, a file that does not have its reported size changed while it was read.

use std::fs::File;
use std::io::{self, Read};

use crate::sys::Metadata;
#[cfg(target_os = "linux")]
use crate::sys::MetadataExt;

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
/// A FUSE file system may generate files that it reports as empty.
#[cfg(target_os = "linux")]
const FUSE: u32 = 0x6573_5546;

/// Maximum length of a file that does not report its size. Longer ones may be endless in practice,
/// like `/proc/self/pagemap`.
const MAX_BYTES: u64 = 64 << 20;

/// A file that does not report its size and must end within `MAX_BYTES`.
pub struct Ending<'a> {
    file: &'a File,
    left: u64,
}

impl<'a> Ending<'a> {
    /// Starts at the file's current position.
    pub fn new(file: &'a File) -> Ending<'a> {
        Ending { file, left: MAX_BYTES }
    }
}

impl Read for Ending<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(
                "longer than 64 MiB, the limit for files that do not report their size",
            )
        })?;
        Ok(read)
    }
}

/// Finds out whether reported sizes are true.
#[derive(Default)]
pub struct Sizes {
    /// The last file system, by device, and its kind. Asking again may need a network request.
    #[cfg(target_os = "linux")]
    last: Option<(u64, u32)>,
}

impl Sizes {
    /// Returns whether a file has the size that it reports.
    #[cfg(target_os = "linux")]
    pub fn are_true(&mut self, file: &File, facts: &Metadata) -> bool {
        let kind = match self.last {
            Some((device, kind)) if device == facts.dev() => kind,
            _ => {
                // The type differs between processors, but the numbers have 32 bits.
                let Ok(system) = rustix::fs::fstatfs(file) else { return true };
                self.last.insert((facts.dev(), system.f_type as u32)).1
            }
        };
        !MADE_AS_READ.contains(&kind) && (kind != FUSE || facts.len() > 0)
    }

    /// Returns whether a file has the size that it reports.
    #[cfg(not(target_os = "linux"))]
    pub fn are_true(&mut self, _: &File, facts: &Metadata) -> bool {
        facts.len() > 0
    }
}
