//! Reads a list of file operations in one folder and its subfolders from a run's system calls.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use super::trace::{Call, Phase};

/// The files of a folder: relative names and contents. A subfolder has a name that ends in a slash,
/// and no contents.
pub type Files = BTreeMap<String, Vec<u8>>;

/// One change of a file or folder.
#[derive(Clone, Debug)]
pub enum Op {
    /// Bytes were written to a file.
    Write {
        /// The file's number.
        file: usize,
        /// Offset in the file.
        at: usize,
        /// The written bytes.
        bytes: Vec<u8>,
    },
    /// The length of a file was set.
    Length {
        /// The file's number.
        file: usize,
        /// The new length.
        to: usize,
    },
    /// A file was synced.
    Sync(usize),
    /// Names were created, moved or removed, atomically.
    Names(Vec<(String, Option<usize>)>),
    /// The folder with this name was synced; the outer one has an empty name.
    SyncNames(String),
    /// Bytes were written to standard output.
    Told(Vec<u8>),
}

/// The operations of a run in a folder.
#[derive(Clone, Debug)]
pub struct History {
    /// The contents of the files before the run; empty for files created later.
    pub(super) start: Vec<Vec<u8>>,
    /// The names before the run.
    pub(super) names: BTreeMap<String, usize>,
    /// Files that the run did not touch.
    pub(super) rest: Files,
    /// The operations, in order.
    pub ops: Vec<Op>,
}

/// Returns the name of the folder that contains a name.
pub fn folder_of(name: &str) -> &str {
    name.trim_end_matches('/').rfind('/').map_or("", |end| &name[..=end])
}

impl History {
    /// Extracts the operations on files in `folder`, which contained `files` before.
    pub fn new(folder: &Path, files: &Files, calls: &[Call]) -> Result<History, String> {
        let names: BTreeMap<_, _> = files.keys().cloned().zip(0..).collect();
        let mut recorder = Recorder {
            folder,
            files: files.len(),
            now: names.clone(),
            opens: Vec::new(),
            fds: HashMap::new(),
            ops: Vec::new(),
        };
        for call in calls.iter().filter(|call| call.phase == Phase::Main && call.done) {
            // A call that did not return was cut off by a kill: if it was done, it was the last
            // one.
            match call.ret {
                Some(ret) if ret >= 0 || call.nr == libc::SYS_close => recorder.call(call, ret)?,
                _ => {}
            }
        }
        let mut start: Vec<_> = files.values().cloned().collect();
        start.resize(recorder.files, Vec::new());
        let mut history = History { start, names, rest: Files::new(), ops: recorder.ops };
        history.set_apart();
        Ok(history)
    }

    /// Moves untouched files to `rest`, so that states stay small.
    fn set_apart(&mut self) {
        let touched = |name: &String, file: usize| {
            self.ops.iter().any(|op| match op {
                Op::Write { file: other, .. } | Op::Length { file: other, .. } => *other == file,
                Op::Names(changes) => {
                    changes.iter().any(|(other, to)| other == name || *to == Some(file))
                }
                _ => false,
            })
        };
        let (kept, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.names.clone().into_iter().partition(|(name, file)| touched(name, *file));
        self.names = kept;
        for (name, file) in rest {
            self.rest.insert(name, std::mem::take(&mut self.start[file]));
        }
    }

    /// Adds the untouched files to a state.
    pub fn whole(&self, state: &Files) -> Files {
        self.rest.iter().chain(state).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
    }

    /// Returns whether the command reported success within the first `after` operations: it wrote
    /// to standard output, or it has ended and never writes there.
    pub fn reported(&self, after: usize) -> bool {
        let is_told = |op: &Op| matches!(op, Op::Told(_));
        let is_over = after == self.ops.len() && !self.ops.iter().any(is_told);
        is_over || self.ops[..after].iter().any(is_told)
    }
}

/// The object of an open descriptor.
#[derive(Clone, Debug)]
enum Object {
    File(usize),
    Folder(PathBuf),
    Other,
}

/// An open file: duplicated descriptors share its position.
struct Open {
    object: Object,
    at: usize,
}

struct Recorder<'a> {
    folder: &'a Path,
    /// Number of files so far.
    files: usize,
    now: BTreeMap<String, usize>,
    opens: Vec<Open>,
    fds: HashMap<i64, usize>,
    ops: Vec<Op>,
}

impl Recorder<'_> {
    fn call(&mut self, call: &Call, ret: i64) -> Result<(), String> {
        let fd = |index: usize| i64::from(call.args[index] as i32);
        let open = self.fds.get(&fd(0)).copied();
        match call.nr {
            libc::SYS_open => self.open(self.path(call, None, 0), call.args[1] as i32, ret),
            libc::SYS_openat => self.open(self.path(call, Some(0), 0), call.args[2] as i32, ret),
            libc::SYS_fcntl
                if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&(call.args[1] as i32)) =>
            {
                self.fds.extend(open.map(|open| (ret, open)));
            }
            libc::SYS_close => drop(self.fds.remove(&fd(0))),
            libc::SYS_read | libc::SYS_lseek => {
                if let Some(open) = open {
                    let at = if call.nr == libc::SYS_read { self.opens[open].at } else { 0 };
                    self.opens[open].at = at + ret as usize;
                }
            }
            libc::SYS_write if fd(0) == 1 => self.ops.push(Op::Told(call.data.clone())),
            libc::SYS_write | libc::SYS_pwrite64 => self.write(call, open, ret),
            libc::SYS_ftruncate => {
                if let Some(Object::File(file)) = self.object(open) {
                    self.ops.push(Op::Length { file, to: call.args[1] as usize });
                }
            }
            libc::SYS_fsync | libc::SYS_fdatasync => match self.object(open) {
                Some(Object::File(file)) => self.ops.push(Op::Sync(file)),
                Some(Object::Folder(path)) => {
                    self.ops.extend(self.folder_name(&path).map(Op::SyncNames));
                }
                _ => {}
            },
            // Here, the whole file system is the folder.
            libc::SYS_syncfs if open.is_some() => {
                self.ops.extend((0..self.files).map(Op::Sync));
                let folders = self.now.keys().filter(|name| name.ends_with('/')).cloned();
                self.ops.extend([String::new()].into_iter().chain(folders).map(Op::SyncNames));
            }
            libc::SYS_mkdir => self.make_folder(&self.path(call, None, 0)),
            libc::SYS_mkdirat => self.make_folder(&self.path(call, Some(0), 0)),
            libc::SYS_link => self.link(&self.path(call, None, 0), &self.path(call, None, 1))?,
            libc::SYS_linkat => {
                self.link(&self.path(call, Some(0), 0), &self.path(call, Some(2), 1))?;
            }
            libc::SYS_rename => {
                self.rename(&self.path(call, None, 0), &self.path(call, None, 1))?
            }
            libc::SYS_renameat | libc::SYS_renameat2 => {
                self.rename(&self.path(call, Some(0), 0), &self.path(call, Some(2), 1))?;
            }
            libc::SYS_unlink => self.unlink(&self.path(call, None, 0)),
            libc::SYS_unlinkat => self.unlink(&self.path(call, Some(0), 0)),
            // These would write to files without the model's knowledge.
            libc::SYS_writev
            | libc::SYS_fallocate
            | libc::SYS_copy_file_range
            | libc::SYS_sendfile
            | libc::SYS_truncate
            | libc::SYS_rmdir => {
                return Err(format!("the model does not know {}", call.name()));
            }
            libc::SYS_mmap
                if call.args[3] as i32 & libc::MAP_SHARED != 0
                    && call.args[2] as i32 & libc::PROT_WRITE != 0
                    && fd(4) >= 0 =>
            {
                return Err("the model does not know shared maps".into());
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns a path argument, relative to the folder in the argument `dir`.
    fn path(&self, call: &Call, dir: Option<usize>, name: usize) -> PathBuf {
        let fd = dir.map_or(libc::AT_FDCWD, |dir| call.args[dir] as i32);
        let base = match self.object(self.fds.get(&i64::from(fd)).copied()) {
            _ if fd == libc::AT_FDCWD => self.folder.to_path_buf(),
            Some(Object::Folder(path)) => path,
            _ => PathBuf::from("/unknown"),
        };
        let path = base.join(String::from_utf8_lossy(&call.names[name]).as_ref());
        // Without `.` and without a trailing slash.
        path.components().filter(|part| *part != Component::CurDir).collect()
    }

    /// Returns the name of a file in the folder.
    fn name(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(self.folder).ok()?.to_string_lossy().into_owned();
        (!name.is_empty()).then_some(name)
    }

    /// Returns the name of a subfolder.
    fn folder_name(&self, path: &Path) -> Option<String> {
        if path == self.folder { Some(String::new()) } else { Some(self.name(path)? + "/") }
    }

    fn object(&self, open: Option<usize>) -> Option<Object> {
        open.map(|open| self.opens[open].object.clone())
    }

    fn add(&mut self) -> usize {
        self.files += 1;
        self.files - 1
    }

    fn names(&mut self, name: String, file: usize) {
        self.now.insert(name.clone(), file);
        self.ops.push(Op::Names(vec![(name, Some(file))]));
    }

    fn open(&mut self, path: PathBuf, flags: i32, fd: i64) {
        let name = self.name(&path);
        let object = if flags & libc::O_TMPFILE == libc::O_TMPFILE {
            self.folder_name(&path).map_or(Object::Other, |_| Object::File(self.add()))
        } else if flags & libc::O_DIRECTORY != 0 {
            Object::Folder(path)
        } else {
            match name.map(|name| (self.now.get(&name).copied(), name)) {
                None => Object::Other,
                Some((Some(file), _)) => Object::File(file),
                Some((None, name)) if flags & libc::O_CREAT != 0 => {
                    let file = self.add();
                    self.names(name, file);
                    Object::File(file)
                }
                Some((None, _)) => Object::Folder(path),
            }
        };
        if let Object::File(file) = object
            && flags & libc::O_TRUNC != 0
        {
            self.ops.push(Op::Length { file, to: 0 });
        }
        self.opens.push(Open { object, at: 0 });
        self.fds.insert(fd, self.opens.len() - 1);
    }

    fn write(&mut self, call: &Call, open: Option<usize>, ret: i64) {
        let Some(Object::File(file)) = self.object(open) else { return };
        let open = &mut self.opens[open.expect("its object is known")];
        let mut at = open.at;
        if call.nr == libc::SYS_pwrite64 {
            at = call.args[3] as usize;
        } else {
            open.at += ret as usize;
        }
        self.ops.push(Op::Write { file, at, bytes: call.data.clone() });
    }

    fn make_folder(&mut self, path: &Path) {
        if let Some(name) = self.folder_name(path) {
            let file = self.add();
            self.names(name, file);
        }
    }

    fn link(&mut self, from: &Path, to: &Path) -> Result<(), String> {
        let Some(to) = self.name(to) else { return Ok(()) };
        let by_number = from.strip_prefix("/proc/self/fd").ok().and_then(|fd| fd.to_str());
        let file = match by_number.and_then(|fd| fd.parse::<i64>().ok()) {
            Some(fd) => match self.object(self.fds.get(&fd).copied()) {
                Some(Object::File(file)) => Some(file),
                _ => None,
            },
            None => self.name(from).and_then(|name| self.now.get(&name).copied()),
        };
        let file = file.ok_or_else(|| format!("linked {to} from an unknown file"))?;
        self.names(to, file);
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<(), String> {
        let (Some(from), Some(to)) = (self.name(from), self.name(to)) else { return Ok(()) };
        let file = self.now.remove(&from);
        let file = file.ok_or_else(|| format!("renamed {from}, which is unknown"))?;
        self.now.insert(to.clone(), file);
        // The new name first: see `Part::Doubled` of `disk`.
        self.ops.push(Op::Names(vec![(to, Some(file)), (from, None)]));
        Ok(())
    }

    fn unlink(&mut self, path: &Path) {
        if let Some(name) = self.name(path) {
            self.now.remove(&name);
            self.ops.push(Op::Names(vec![(name, None)]));
        }
    }
}
