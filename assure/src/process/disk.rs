//! What a disk may have after the power fails: a weak model of a file system.
//!
//! A run's calls on the files of one folder become operations. The model promises as little as
//! POSIX does:
//!
//! - Bytes that were written are there for good once their file was synced. Until then each write
//!   may be there, or not, or in part: up to some byte, or in some sectors of 512 bytes; and if it
//!   made the file longer, the length may be there without the bytes, which are zeros then.
//! - A name that was made, moved or removed is so for good once the folder was synced. Until then
//!   each such change may be there or not, whatever its order, and whatever became of the bytes.
//!   A rename may be there with the old name still in place.
//! - To sync a file says nothing of its names, and to sync a folder nothing of its files' bytes.
//!
//! ALICE and CrashMonkey look at file systems in this way.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};

use super::trace::{Call, Phase};
use crate::Random;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// The files of a folder: their names and bytes.
pub type Files = BTreeMap<String, Vec<u8>>;

/// One change of one file or of the folder.
#[derive(Clone, Debug)]
pub enum Op {
    /// Bytes were written to a file.
    Write {
        /// The file.
        file: usize,
        /// Where.
        at: usize,
        /// What.
        bytes: Vec<u8>,
    },
    /// A file was given another length.
    Length {
        /// The file.
        file: usize,
        /// The length.
        to: usize,
    },
    /// A file was synced.
    Sync(usize),
    /// Names were made, moved or removed, at once.
    Names(Vec<(String, Option<usize>)>),
    /// The folder was synced.
    SyncNames,
    /// Bytes went to standard output.
    Told(Vec<u8>),
}

/// What a run did to a folder.
#[derive(Clone, Debug)]
pub struct History {
    /// The bytes of the files before it; those that came later have none.
    start: Vec<Vec<u8>>,
    /// The names before it.
    names: BTreeMap<String, usize>,
    /// Files that it did nothing to.
    rest: Files,
    /// What it did, in order.
    pub ops: Vec<Op>,
}

/// What an open descriptor is of.
#[derive(Clone, Debug)]
enum Object {
    File(usize),
    Folder(PathBuf),
    Other,
}

/// An open file: descriptors that were duplicated share its position.
#[derive(Clone, Debug)]
struct Open {
    object: Object,
    at: usize,
}

/// How much of an operation is on the disk.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    All,
    None,
    /// Some bytes of a write, as ranges.
    Bytes(Vec<(usize, usize)>),
    /// The length that a write gave the file, without its bytes.
    LengthAlone,
    /// Of a rename the new name, with the old one still there.
    Doubled,
}

/// A state of the disk.
#[derive(Clone, Debug)]
pub struct Crash {
    /// Operations that had been made.
    pub after: usize,
    /// What the folder has of the files that the run did something to.
    pub files: Files,
    /// Which of the operations were lost or torn, for reports.
    pub lost: String,
}

impl History {
    /// What the calls did to the files in `folder`, of which `files` were there before.
    pub fn new(folder: &Path, files: &Files, calls: &[Call]) -> Result<History, String> {
        let start = files.values().cloned().collect();
        let names = files.keys().cloned().enumerate().map(|(file, name)| (name, file)).collect();
        let mut history = History { start, names, rest: Files::new(), ops: Vec::new() };
        let mut now = history.names.clone();
        let mut opens: Vec<Open> = Vec::new();
        let mut fds: HashMap<i64, usize> = HashMap::new();
        for call in calls.iter().filter(|call| call.phase == Phase::Main && call.done) {
            let Some(ret) = call.ret.or(call.data.is_empty().then_some(0)) else { continue };
            // One that did not end was cut off by a kill: it may have been done, and no more.
            let closed = call.nr == libc::SYS_close;
            if (ret < 0 && !closed) || call.ret.is_none() {
                continue;
            }
            let fd = |index: usize| call.args[index] as i32 as i64;
            let open_of = |index: usize| fds.get(&fd(index)).copied();
            let path = |dir: usize, name: usize| {
                let base = match (fd(dir), fds.get(&fd(dir)).map(|open| &opens[*open].object)) {
                    (at, _) if at == i64::from(libc::AT_FDCWD) => folder.to_path_buf(),
                    (_, Some(Object::Folder(path))) => path.clone(),
                    _ => PathBuf::from("/unknown"),
                };
                clean(&base.join(String::from_utf8_lossy(&call.names[name]).as_ref()))
            };
            let here = |path: &Path| {
                let inside = path.parent() == Some(folder);
                let name = path.file_name().filter(|_| inside)?;
                Some(name.to_string_lossy().into_owned())
            };
            match call.nr {
                libc::SYS_open | libc::SYS_openat => {
                    let (path, flags) = match call.nr {
                        libc::SYS_open => (here_at(folder, call, 0), call.args[1] as i32),
                        _ => (path(0, 0), call.args[2] as i32),
                    };
                    let name = here(&path);
                    let object = if flags & libc::O_TMPFILE == libc::O_TMPFILE {
                        if path == folder { Object::File(history.add()) } else { Object::Other }
                    } else if flags & libc::O_DIRECTORY != 0 {
                        Object::Folder(path)
                    } else {
                        match name {
                            Some(name) => match now.get(&name) {
                                Some(file) => Object::File(*file),
                                None if flags & libc::O_CREAT != 0 => {
                                    let file = history.add();
                                    now.insert(name.clone(), file);
                                    history.ops.push(Op::Names(vec![(name, Some(file))]));
                                    Object::File(file)
                                }
                                None => Object::Folder(path),
                            },
                            None => Object::Other,
                        }
                    };
                    if let Object::File(file) = object
                        && flags & libc::O_TRUNC != 0
                    {
                        history.ops.push(Op::Length { file, to: 0 });
                    }
                    opens.push(Open { object, at: 0 });
                    fds.insert(ret, opens.len() - 1);
                }
                libc::SYS_fcntl
                    if [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&(call.args[1] as i32)) =>
                {
                    if let Some(open) = open_of(0) {
                        fds.insert(ret, open);
                    }
                }
                libc::SYS_close => {
                    fds.remove(&fd(0));
                }
                libc::SYS_read => {
                    if let Some(open) = open_of(0) {
                        opens[open].at += ret as usize;
                    }
                }
                libc::SYS_lseek => {
                    if let Some(open) = open_of(0) {
                        opens[open].at = ret as usize;
                    }
                }
                libc::SYS_write if fd(0) == 1 => history.ops.push(Op::Told(call.data.clone())),
                libc::SYS_write | libc::SYS_pwrite64 => {
                    let Some(open) = open_of(0) else { continue };
                    let Object::File(file) = opens[open].object else { continue };
                    let at = match call.nr {
                        libc::SYS_write => opens[open].at,
                        _ => call.args[3] as usize,
                    };
                    if call.nr == libc::SYS_write {
                        opens[open].at += ret as usize;
                    }
                    history.ops.push(Op::Write { file, at, bytes: call.data.clone() });
                }
                libc::SYS_ftruncate => {
                    if let Some(Object::File(file)) = open_of(0).map(|open| &opens[open].object) {
                        history.ops.push(Op::Length { file: *file, to: call.args[1] as usize });
                    }
                }
                libc::SYS_fsync | libc::SYS_fdatasync => {
                    match open_of(0).map(|open| &opens[open].object) {
                        Some(Object::File(file)) => history.ops.push(Op::Sync(*file)),
                        Some(Object::Folder(path)) if path == folder => {
                            history.ops.push(Op::SyncNames);
                        }
                        _ => {}
                    }
                }
                // The folder's file system, as far as it matters here.
                libc::SYS_syncfs if open_of(0).is_some() => {
                    history.ops.extend((0..history.start.len()).map(Op::Sync));
                    history.ops.push(Op::SyncNames);
                }
                libc::SYS_link | libc::SYS_linkat => {
                    let at = call.nr == libc::SYS_linkat;
                    let (from, to) = if at {
                        (path(0, 0), path(2, 1))
                    } else {
                        (here_at(folder, call, 0), here_at(folder, call, 1))
                    };
                    let Some(to) = here(&to) else { continue };
                    let fd = from.strip_prefix("/proc/self/fd").ok();
                    let fd = fd.and_then(|fd| fd.to_str()?.parse::<i64>().ok());
                    let file = match fd {
                        Some(fd) => match fds.get(&fd).map(|open| &opens[*open].object) {
                            Some(Object::File(file)) => *file,
                            _ => return Err(format!("a link to {to} from an unknown file")),
                        },
                        None => match here(&from).and_then(|name| now.get(&name).copied()) {
                            Some(file) => file,
                            None => return Err(format!("a link to {to} from elsewhere")),
                        },
                    };
                    now.insert(to.clone(), file);
                    history.ops.push(Op::Names(vec![(to, Some(file))]));
                }
                libc::SYS_rename | libc::SYS_renameat | libc::SYS_renameat2 => {
                    let (from, to) = match call.nr {
                        libc::SYS_rename => (here_at(folder, call, 0), here_at(folder, call, 1)),
                        _ => (path(0, 0), path(2, 1)),
                    };
                    let (Some(from), Some(to)) = (here(&from), here(&to)) else { continue };
                    let Some(file) = now.remove(&from) else {
                        return Err(format!("a rename of {from}, which is not known"));
                    };
                    now.insert(to.clone(), file);
                    // The new name first: see `Part::Doubled`.
                    history.ops.push(Op::Names(vec![(to, Some(file)), (from, None)]));
                }
                libc::SYS_unlink | libc::SYS_unlinkat => {
                    let gone = match call.nr {
                        libc::SYS_unlink => here_at(folder, call, 0),
                        _ => path(0, 0),
                    };
                    let Some(gone) = here(&gone) else { continue };
                    now.remove(&gone);
                    history.ops.push(Op::Names(vec![(gone, None)]));
                }
                // They would write to files past this model.
                libc::SYS_writev
                | libc::SYS_fallocate
                | libc::SYS_copy_file_range
                | libc::SYS_sendfile
                | libc::SYS_truncate => {
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
        }
        history.set_apart();
        Ok(history)
    }

    /// Sets apart what no operation is about, so that states stay small.
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

    /// A state with the files that the run did nothing to.
    pub fn whole(&self, state: &Files) -> Files {
        self.rest.iter().chain(state).map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
    }

    fn add(&mut self) -> usize {
        self.start.push(Vec::new());
        self.start.len() - 1
    }

    /// The folder after all that was made safe by then, and nothing else.
    pub fn power_cut(&self) -> Files {
        let state = self.image(self.ops.len(), |index| match self.is_safe(index, self.ops.len()) {
            true => Part::All,
            false => Part::None,
        });
        self.whole(&state)
    }

    /// The folder after all operations.
    pub fn end(&self) -> Files {
        self.whole(&self.image(self.ops.len(), |_| Part::All))
    }

    /// Whether standard output had something after so many operations.
    pub fn told(&self, after: usize) -> bool {
        self.ops[..after].iter().any(|op| matches!(op, Op::Told(_)))
    }

    /// Whether an operation is on the disk for good after so many.
    fn is_safe(&self, index: usize, after: usize) -> bool {
        let later = &self.ops[index + 1..after];
        match &self.ops[index] {
            Op::Write { file, .. } | Op::Length { file, .. } => {
                later.iter().any(|op| matches!(op, Op::Sync(synced) if synced == file))
            }
            Op::Names(_) => later.iter().any(|op| matches!(op, Op::SyncNames)),
            _ => true,
        }
    }

    fn image(&self, after: usize, part: impl Fn(usize) -> Part) -> Files {
        let (mut files, mut names) = (self.start.clone(), self.names.clone());
        for (index, op) in self.ops[..after].iter().enumerate() {
            match (op, part(index)) {
                (_, Part::None) => {}
                (Op::Write { file, at, bytes }, part) => {
                    let all = [(0, bytes.len())];
                    let ranges = match &part {
                        Part::Bytes(ranges) => &ranges[..],
                        Part::LengthAlone => &[],
                        _ => &all,
                    };
                    let ends = ranges.iter().map(|range| range.1);
                    let end = if part == Part::LengthAlone {
                        bytes.len()
                    } else {
                        ends.max().unwrap_or(0)
                    };
                    let file = &mut files[*file];
                    if end > 0 && file.len() < at + end {
                        file.resize(at + end, 0);
                    }
                    for (from, to) in ranges.iter().filter(|(from, to)| from < to) {
                        file[at + from..at + to].copy_from_slice(&bytes[*from..*to]);
                    }
                }
                (Op::Length { file, to }, _) => files[*file].resize(*to, 0),
                (Op::Names(changes), part) => {
                    let count = if part == Part::Doubled { 1 } else { changes.len() };
                    for (name, file) in &changes[..count] {
                        match file {
                            Some(file) => names.insert(name.clone(), *file),
                            None => names.remove(name),
                        };
                    }
                }
                (Op::Sync(_) | Op::SyncNames | Op::Told(_), _) => {}
            }
        }
        names.into_iter().map(|(name, file)| (name, files[file].clone())).collect()
    }

    /// States of the disk, none twice: after each operation, with each subset of what was not yet
    /// safe where there are few, and with torn writes. `limit` is how many there may be after one
    /// operation. Returns how many were made to find them.
    pub fn crashes(&self, limit: usize, random: &mut Random) -> (Vec<Crash>, usize) {
        let (mut found, mut seen, mut made) = (Vec::new(), HashSet::new(), 0);
        for after in 0..=self.ops.len() {
            let open: Vec<usize> =
                (0..after).filter(|index| !self.is_safe(*index, after)).collect();
            let mut left = limit;
            for parts in self.choices(&open, limit, random) {
                if left == 0 {
                    break;
                }
                made += 1;
                let chosen: HashMap<usize, &Part> = open.iter().copied().zip(&parts).collect();
                let files = self.image(after, |index| {
                    chosen.get(&index).map_or(Part::All, |part| (*part).clone())
                });
                let mut hasher = DefaultHasher::new();
                (&files, self.told(after)).hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    left -= 1;
                    let lost = self.describe(&open, &parts);
                    found.push(Crash { after, files, lost });
                }
            }
        }
        (found, made)
    }

    /// What may be on the disk of the operations that are not safe: the plainest first.
    fn choices(&self, open: &[usize], limit: usize, random: &mut Random) -> Vec<Vec<Part>> {
        let count = open.len();
        let whole = |yes: bool| if yes { Part::All } else { Part::None };
        let mut choices = Vec::new();
        if count < 63 && 1usize << count <= limit / 2 {
            choices.extend(
                (0..1u64 << count)
                    .map(|bits| (0..count).map(|i| whole(bits >> i & 1 == 1)).collect::<Vec<_>>()),
            );
        } else {
            for odd in 0..=count {
                for most in [true, false] {
                    choices.push((0..count).map(|i| whole((i == odd) != most)).collect());
                }
                // In order.
                choices.push((0..count).map(|i| whole(i < odd)).collect());
            }
            for _ in 0..limit / 4 {
                choices.push((0..count).map(|_| whole(random.up_to(1) == 1)).collect());
            }
        }
        // Each operation in part, and the others in several ways. By turns, so that a limit does
        // not leave the last operations whole.
        let mut torn: Vec<Vec<Vec<Part>>> = Vec::new();
        for (place, index) in open.iter().enumerate() {
            let mut of_this = Vec::new();
            for part in self.parts(*index, random) {
                let others: [&mut dyn FnMut(usize) -> bool; 4] =
                    [&mut |_| true, &mut |i| i < place, &mut |_| false, &mut |_| {
                        random.up_to(1) == 1
                    }];
                for other in others {
                    let mut choice: Vec<Part> = (0..count).map(|i| whole(other(i))).collect();
                    choice[place] = part.clone();
                    of_this.push(choice);
                }
            }
            torn.push(of_this);
        }
        let longest = torn.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|round| torn.iter().filter_map(move |of| of.get(round)));
        let mut turns = turns.cloned();
        // Between them several operations in part.
        for _ in 0..limit.max(longest * count) {
            choices.extend(turns.next());
            if count > 0 {
                choices.push(open.iter().map(|index| self.some_part(*index, random)).collect());
            }
        }
        choices
    }

    /// All of an operation, nothing or a part of it.
    fn some_part(&self, index: usize, random: &mut Random) -> Part {
        let bytes = match &self.ops[index] {
            Op::Write { bytes, .. } if !bytes.is_empty() => bytes.len(),
            _ if random.up_to(1) == 0 => return Part::None,
            Op::Names(changes) if changes.len() > 1 && random.up_to(1) == 0 => {
                return Part::Doubled;
            }
            _ => return Part::All,
        };
        match random.up_to(7) {
            0 => Part::All,
            1 => Part::None,
            2 => Part::LengthAlone,
            3 | 4 => Part::Bytes(vec![(0, random.up_to(bytes))]),
            _ => {
                let sectors = (0..bytes.div_ceil(SECTOR)).filter(|_| random.up_to(1) == 1);
                Part::Bytes(sectors.map(|i| (i * SECTOR, bytes.min((i + 1) * SECTOR))).collect())
            }
        }
    }

    /// Parts of an operation, but for all and nothing.
    fn parts(&self, index: usize, random: &mut Random) -> Vec<Part> {
        match &self.ops[index] {
            Op::Names(changes) if changes.len() > 1 => vec![Part::Doubled],
            Op::Write { bytes, .. } => {
                let length = bytes.len();
                let sectors = length.div_ceil(SECTOR);
                let sector = |i: usize| (i * SECTOR, length.min((i + 1) * SECTOR));
                let mut parts = vec![Part::LengthAlone];
                let few = sectors.min(16);
                let spread = |i: usize| i * sectors / few.max(1);
                for i in 0..few {
                    let i = spread(i);
                    let up_to = random.up_to(length - 1);
                    let some = |random: &mut Random| {
                        (0..sectors).filter(|_| random.up_to(1) == 1).map(sector).collect()
                    };
                    parts.push(Part::Bytes(vec![(0, sector(i).0)]));
                    parts.push(Part::Bytes(vec![(0, up_to)]));
                    parts.push(Part::Bytes((0..sectors).filter(|j| *j != i).map(sector).collect()));
                    parts.push(Part::Bytes(some(random)));
                    parts.push(Part::Bytes(vec![sector(i)]));
                    parts.push(Part::Bytes(some(random)));
                }
                parts
            }
            _ => Vec::new(),
        }
    }

    /// Operations that were lost or are there in part.
    fn describe(&self, open: &[usize], parts: &[Part]) -> String {
        let mut texts = Vec::new();
        for (index, part) in open.iter().zip(parts) {
            let op = match &self.ops[*index] {
                Op::Write { file, at, bytes } => {
                    format!("{index}: write of {} bytes to file {file} at {at}", bytes.len())
                }
                Op::Length { file, to } => format!("{index}: file {file} cut to {to}"),
                Op::Names(names) => format!("{index}: names {names:?}"),
                other => format!("{index}: {other:?}"),
            };
            match part {
                Part::All => {}
                Part::None => texts.push(format!("{op} lost")),
                Part::Bytes(ranges) => texts.push(format!("{op} has only {ranges:?}")),
                Part::LengthAlone => texts.push(format!("{op} has only the length")),
                Part::Doubled => texts.push(format!("{op} keeps the old name")),
            }
        }
        if texts.is_empty() { "nothing lost".into() } else { texts.join("; ") }
    }
}

fn here_at(folder: &Path, call: &Call, name: usize) -> PathBuf {
    clean(&folder.join(String::from_utf8_lossy(&call.names[name]).as_ref()))
}

/// A path without `.` and without a slash at the end.
fn clean(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
