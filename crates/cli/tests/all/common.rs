//! A folder with a key in which the command runs.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::UNIX_EPOCH;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;
use vmap::MapMut;

/// A fixed key, in hex.
pub const KEY_HEX: &str = "000102030405060708090a0b0c0d0e0f";

/// The two copies of a sidecar's header.
#[cfg(all(feature = "fault-injection", debug_assertions))]
pub const HEADERS: [std::ops::Range<usize>; 2] = [4096..12_288, 12_288..20_480];
/// Offset of the first node page.
pub const PAGES: usize = 20_480;

/// A temporary folder for one test, with the key file `k`.
pub struct Place(TempDir);

/// The result of a run.
pub struct Ran {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard output, unchanged.
    pub bytes: Vec<u8>,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into(),
            bytes: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into(),
        }
    }
}

impl Ran {
    /// Asserts the exit code, and that every line on standard error is a message.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "out: {}\nerr: {}", self.out, self.err);
        for line in self.err.lines() {
            assert!(line.starts_with("tagmac: "), "err: {}", self.err);
        }
        self
    }

    /// Asserts that standard error contains all of the texts.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Ran {
        for text in texts {
            assert!(self.err.contains(text), "expected {text}, found {}", self.err);
        }
        self
    }

    /// Asserts standard output.
    #[track_caller]
    pub fn prints(self, out: &str) -> Ran {
        assert_eq!(self.out, out, "err: {}", self.err);
        self
    }

    /// Asserts that standard error is empty.
    #[track_caller]
    pub fn in_silence(self) -> Ran {
        assert_eq!(self.err, "");
        self
    }
}

impl Place {
    /// Returns a folder with a key file for PMAC-AES128.
    pub fn new() -> Place {
        Place::new_in(env!("CARGO_TARGET_TMPDIR"))
    }

    /// Like [`Place::new`], in another directory.
    pub fn new_in(folder: impl AsRef<Path>) -> Place {
        let place = Place(TempDir::new_in(folder).unwrap());
        place.run(&["keygen", "-o", "k"]).exits(0);
        place
    }

    /// Returns an empty folder.
    pub fn bare() -> Place {
        Place(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// Returns the path of a name in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Returns the command, to run in the folder with a clean environment.
    pub fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tagmac"));
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        command.env_remove("TAGMAC_KEY_FILE").env_remove("TAGMAC_LEVEL");
        command
    }

    /// Runs the command.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Runs the command with the key file and more arguments.
    pub fn keyed<S: AsRef<OsStr>>(&self, what: &str, args: &[S]) -> Ran {
        let mut command = self.command(&[what, "-k", "k"]);
        command.args(args).output().unwrap().into()
    }

    /// Runs the command with the key file, more arguments and a fault, see
    /// `crates/files/src/faults.rs`.
    #[cfg(all(feature = "fault-injection", debug_assertions))]
    pub fn faulty<S: AsRef<OsStr>>(&self, fault: &str, what: &str, args: &[S]) -> Ran {
        let mut command = self.command(&[what, "-k", "k"]);
        command.args(args).env("TAGMAC_FAULT", fault).output().unwrap().into()
    }

    /// Starts the command with pipes.
    pub fn spawn<S: AsRef<OsStr>>(&self, args: &[S]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs the command with an input.
    pub fn feed<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Ran {
        let mut child = self.spawn(args);
        let mut stdin = child.stdin.take().unwrap();
        // The command may end before it has read everything.
        let _ = stdin.write_all(input);
        drop(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Runs a line of shell in the folder, with the command as `$T`.
    pub fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).current_dir(&self.0).stdin(Stdio::null());
        command.env("T", env!("CARGO_BIN_EXE_tagmac"));
        command.env_remove("TAGMAC_KEY_FILE").env_remove("TAGMAC_LEVEL");
        command.output().unwrap().into()
    }
}

/// Opens a terminal. Returns its controlling side and the name of the side for a program.
pub fn terminal() -> (fs::File, PathBuf) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    (terminal.into(), OsStr::from_bytes(name.as_bytes()).into())
}

/// Opens the program's side of a terminal.
pub fn open_terminal(name: &Path) -> fs::File {
    OpenOptions::new().read(true).write(true).open(name).unwrap()
}

/// Runs a command without the right of root to read everything.
pub const UNPRIVILEGED: &str = "setpriv \
    --bounding-set=-dac_override,-dac_read_search --inh-caps=-all --ambient-caps=-all";

/// Creates a sparse file of `bytes` bytes.
pub fn sparse(place: &Place, name: &str, bytes: u64) -> fs::File {
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(place.path(name));
    let file = file.unwrap();
    file.set_len(bytes).unwrap();
    file
}

/// Returns whether the file system updates a file's times when a mapped page that is already on
/// disk is written.
pub fn notes_mapped_writes(place: &Place) -> bool {
    let (mut map, file) = MapMut::with_options()
        .len(4096)
        .resize(4096)
        .create(true)
        .open(place.path("probe"))
        .unwrap();
    map[0] = 1;
    file.set_modified(UNIX_EPOCH).unwrap();
    file.sync_all().unwrap();
    map[1] = 2;
    file.metadata().unwrap().modified().unwrap() != UNIX_EPOCH
}

/// Runs a line of shell at a call of the command, or kills the command there, see
/// `crates/files/src/faults.rs`. The command's process is `$PPID`.
#[cfg(all(feature = "fault-injection", debug_assertions))]
pub fn at<'a>(command: &'a mut Command, call: &str, what: &str) -> &'a mut Command {
    command.env("TAGMAC_FAULT", format!("{call}:{what}"))
}

/// Runs the command. Returns its peak memory in KiB, which it measures at its end, and its result.
#[cfg(all(feature = "fault-injection", debug_assertions))]
pub fn peak(command: &mut Command) -> (u64, Ran) {
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = place.path().join("status");
    let line = format!("run=grep VmHWM /proc/$PPID/status > '{}'", file.display());
    let ran = at(command, "end:1", &line).output().unwrap().into();
    let text = fs::read_to_string(file).expect("the command came to its end");
    (text.split_whitespace().nth(1).unwrap().parse().unwrap(), ran)
}

/// Returns the leftovers of killed runs in a folder.
pub fn leftovers(place: &Place, folder: &str) -> Vec<String> {
    let names = fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap_or_default());
    names.filter(|name| name.starts_with(".tagmac-")).collect()
}

/// Returns a place with a folder `t` that has nested files, an empty file, links and odd names.
pub fn tree() -> Place {
    let place = Place::new();
    for folder in ["t/a/b", "t/a-b", "t/empty"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    for (name, text) in [("a/f", "text"), ("a/b/g", "more text"), ("a.c", ""), ("a-b/h", "h")] {
        place.file(format!("t/{name}"), text);
    }
    place.file(Path::new("t").join(OsStr::from_bytes(b"a/\xff\n\\\r\t) = ")), "odd");
    symlink("../a", place.path("t/a-b/link")).unwrap();
    symlink(OsStr::from_bytes(b"no\n\twhere\xfe"), place.path("t/dangling")).unwrap();
    place
}

/// Returns a place with a folder `t` and its manifest `m`.
pub fn sealed(key: &[&str], options: &[&str]) -> Place {
    let place = Place::bare();
    place.run(&[&["keygen", "-o", "k"], key].concat()).exits(0);
    fs::create_dir_all(place.path("t/a/b")).unwrap();
    for (name, text) in [("a/f", "text"), ("a/b/g", "more text"), ("h", "h"), ("a.c", "")] {
        place.file(format!("t/{name}"), text);
    }
    symlink("../a", place.path("t/a/link")).unwrap();
    place.keyed("seal", &[&["t", "-o", "m"], options].concat()).exits(0);
    place
}

/// Reproducible pseudo-random numbers.
pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `most`.
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 24) % (most + 1)
    }

    /// Returns `n` bytes.
    pub fn bytes(&mut self, n: u64) -> Vec<u8> {
        (0..n).map(|_| self.below(255) as u8).collect()
    }
}

/// Returns a manifest without what depends on the time and the machine: days, stamps, and the seal.
pub fn without_stamps(manifest: &str) -> String {
    let line = |line: &str| {
        let mut columns: Vec<&str> = line.split('\t').collect();
        if columns[0] == "file" {
            let path = columns.len() - 1;
            columns[path - 2..path].fill("-");
        }
        if line.starts_with("sequence: ") {
            columns = line.split(' ').take(2).collect();
        }
        columns.join("\t") + "\n"
    };
    manifest.lines().filter(|line| !line.starts_with("seal: ")).map(line).collect()
}
