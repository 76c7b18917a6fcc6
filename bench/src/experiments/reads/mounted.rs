//! A mount of one file that verifies nothing, by the library of `tagmac mount`, and the command itself.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen, Request,
};
use rustix::fs::{Advice, fadvise};
use tagmac_files::read::threads;

use crate::experiments::command::tagmac_beside;
use crate::failure::Failure;

/// The kernel may remember names and attributes, as those of `tagmac mount`.
const REMEMBER: Duration = Duration::from_secs(3600);
const ROOT: INodeNo = INodeNo(1);
const FILE: INodeNo = INodeNo(2);
const NAME: &str = "file";

/// A file system with one file. Its reads are reads of another file.
struct PassThrough {
    file: File,
    bytes: u64,
    /// Buffers, one for each thread at most.
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl PassThrough {
    fn attributes(&self, number: INodeNo) -> FileAttr {
        let is_file = number == FILE;
        FileAttr {
            ino: number,
            size: if is_file { self.bytes } else { 0 },
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o444 } else { 0o555 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    fn buffers(&self) -> std::sync::MutexGuard<'_, Vec<Vec<u8>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Filesystem for PassThrough {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match parent == ROOT && name == NAME {
            true => reply.entry(&REMEMBER, &self.attributes(FILE), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&REMEMBER, &self.attributes(number));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(1), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut buffer = self.buffers().pop().unwrap_or_default();
        buffer.resize(bytes as usize, 0);
        match self.file.read_at(&mut buffer, offset) {
            Ok(read) => reply.data(&buffer[..read]),
            Err(error) => reply.error(error.into()),
        }
        self.buffers().push(buffer);
    }
}

/// Mounts a file at a directory without verification, until it is unmounted.
pub fn serve(path: &Path, point: &Path) -> Result<(), Failure> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut config = Config::default();
    config.mount_options = vec![MountOption::RO, MountOption::DefaultPermissions];
    config.n_threads = Some(threads(0));
    let served = PassThrough { file, bytes, buffers: Mutex::default() };
    let session = fuser::spawn_mount(served, point, &config)?;
    eprintln!("{MOUNTED}");
    Ok(session.join()?)
}

/// The end of the line that a program writes after the mount.
const MOUNTED: &str = "mounted";

/// A mounted file, and the program that serves it.
pub struct Mounted {
    /// The file below the mount.
    file: File,
    point: PathBuf,
    server: Child,
}

impl Mounted {
    /// Mounts a file at a new directory without verification, by a subcommand of this program that calls
    /// [`serve`]. `None` if this may not mount.
    pub fn pass_through(
        subcommand: &str,
        path: &Path,
        point: PathBuf,
    ) -> Result<Option<Mounted>, Failure> {
        // A separate program, as `tagmac mount` is one.
        let mut program = Command::new(std::env::current_exe()?);
        program.arg(subcommand).arg(path);
        Mounted::start(program, point)
    }

    /// Seals a directory with leaf tags, and mounts it at a new directory by `tagmac mount`. `None`
    /// if the command cannot mount.
    pub fn verified(tree: &Path, point: PathBuf) -> Result<Option<Mounted>, Failure> {
        let tagmac = tagmac_beside()?;
        let place = point.parent().expect("it is in a directory").to_path_buf();
        let run = |words: &[&str]| Command::new(&tagmac).args(words).current_dir(&place).output();
        run(&["keygen", "-o", "key"])?;
        let text = tree.to_string_lossy();
        run(&["seal", "-k", "key", "--leaves", &text, "-o", "mounted.manifest"])?;
        let mut program = Command::new(&tagmac);
        program.args(["mount", "-k", "key", "mounted.manifest"]).arg(tree).current_dir(place);
        Mounted::start(program, point)
    }

    /// Runs a program with a new directory as its last argument, and waits until it is a mount.
    fn start(mut program: Command, point: PathBuf) -> Result<Option<Mounted>, Failure> {
        fs::create_dir(&point)?;
        let mut server = program.arg(&point).stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(server.stderr.take().expect("a pipe")).read_line(&mut line)?;
        if !line.trim_end().ends_with(MOUNTED) {
            server.wait()?;
            println!("left out: a mount: {}", line.trim_end());
            return Ok(None);
        }
        Ok(Some(Mounted { file: File::open(point.join(NAME))?, point, server }))
    }

    /// Forgets the pages that the kernel has of the mounted file, but not those of the other file.
    pub fn forget(&self) -> Result<(), Failure> {
        Ok(fadvise(&self.file, 0, None, Advice::DontNeed)?)
    }

    /// Reads at an offset.
    pub fn read(&self, buffer: &mut [u8], at: u64) -> Result<(), Failure> {
        Ok(self.file.read_exact_at(buffer, at)?)
    }

    /// Returns the processor time of a program that serves the mount.
    pub fn served(&self) -> Result<Duration, Failure> {
        let mut nanos = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.server.id()))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // An open file would keep the mount.
        if let Ok(other) = File::open("/dev/null") {
            self.file = other;
        }
        let _ = Command::new("umount").arg(&self.point).status();
        let _ = self.server.wait();
    }
}
