//! A folder in which the command runs, and which is put back as it was.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::disk::Files;
use super::trace::Program;

/// A run of the command without faults.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit status; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A folder of its own.
pub struct Place {
    folder: TempDir,
    path: PathBuf,
    command: PathBuf,
    modes: BTreeMap<String, u32>,
}

/// The command `tagmac`, as it was built beside this program, or as the variable `TAGMAC` says.
pub fn command() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = match std::env::var_os("TAGMAC") {
        Some(path) => path.into(),
        None => own.with_file_name("tagmac"),
    };
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("{}: expected the command, found no file", path.display())),
    }
}

impl Place {
    /// A new one, in memory if the system has such a folder: to sync there takes no time.
    pub fn new(command: &Path) -> io::Result<Place> {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => TempDir::new_in(memory).or_else(|_| TempDir::new())?,
            false => TempDir::new()?,
        };
        let path = folder.path().canonicalize()?;
        let command = command.canonicalize()?;
        Ok(Place { folder, path, command, modes: BTreeMap::new() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.file(name), bytes).expect("a scratch folder takes files");
    }

    /// Reads a file, if it is there.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.file(name)).ok()
    }

    /// The regular files in the folder itself.
    pub fn files(&self) -> Files {
        let mut files = Files::new();
        for entry in fs::read_dir(&self.path).expect("the folder is there").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                files.insert(name, fs::read(entry.path()).unwrap_or_default());
            }
        }
        files
    }

    /// Notes the files' modes, for when they are put back.
    pub fn note_modes(&mut self) {
        let names: Vec<String> = self.files().into_keys().collect();
        for name in names {
            let facts = fs::metadata(self.file(&name)).expect("it was just listed");
            self.modes.insert(name, facts.permissions().mode() & 0o777);
        }
    }

    /// Makes the folder's files these. Those that are so already are not touched.
    pub fn restore(&self, files: &Files) {
        let now = self.files();
        for name in now.keys().filter(|name| !files.contains_key(*name)) {
            fs::remove_file(self.file(name)).expect("a scratch folder lets go of files");
        }
        for (name, bytes) in files {
            if now.get(name) == Some(bytes) {
                continue;
            }
            let path = self.file(name);
            let _ = fs::remove_file(&path);
            self.write(name, bytes);
            let mode = self.modes.get(name).copied().unwrap_or(0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
        }
    }

    /// The command with arguments, to be traced.
    pub fn program(&self, args: &[&str], stdin: &[u8]) -> Program {
        let args = args.iter().map(OsString::from).collect();
        let (path, folder) = (self.command.clone(), self.path.clone());
        Program { path, args, folder, stdin: stdin.to_vec() }
    }

    /// Runs the command.
    pub fn run(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = Command::new(&self.command);
        command.args(args).current_dir(&self.path).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
        command.stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        if let Some(mut input) = child.stdin.take() {
            // It may end before it has read all.
            let _ = input.write_all(stdin);
        }
        let ran = child.wait_with_output().expect("a child can be waited for");
        Ran {
            code: ran.status.code(),
            out: String::from_utf8_lossy(&ran.stdout).into(),
            err: String::from_utf8_lossy(&ran.stderr).into(),
        }
    }

    /// Runs the command, which has to succeed, and returns its output.
    pub fn must(&self, args: &[&str]) -> Result<String, String> {
        let ran = self.run(args, b"");
        match ran.code {
            Some(0) => Ok(ran.out),
            code => Err(format!("tagmac {}: found {code:?}: {}", args.join(" "), ran.err)),
        }
    }
}

/// Names that the command gives files until they are whole.
pub fn is_draft(name: &str) -> bool {
    name.starts_with(".tagmac-")
}
