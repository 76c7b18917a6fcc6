//! A folder for running the command, which can be restored.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::history::Files;
use super::trace::{Program, set_environment};

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

/// A temporary folder.
pub struct Place {
    folder: TempDir,
    path: PathBuf,
    command: PathBuf,
    modes: BTreeMap<String, u32>,
}

/// Returns the path of the command `tagmac`, from the variable `TAGMAC` or next to this program.
pub fn command() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = match std::env::var_os("TAGMAC") {
        Some(path) => path.into(),
        None => own.with_file_name("tagmac"),
    };
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("{}: the command is missing", path.display())),
    }
}

impl Place {
    /// Creates a folder, in memory if the system has such a place: syncing is fast there.
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

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.file(name), bytes).expect("the folder is writable");
    }

    /// Reads a file; `None` if it does not exist.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.file(name)).ok()
    }

    /// Returns the regular files and folders in it.
    pub fn files(&self) -> Files {
        let mut files = Files::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(self.path.join(&folder)).expect("the folder exists");
            for entry in entries.flatten() {
                let name = format!("{folder}{}", entry.file_name().to_string_lossy());
                match entry.file_type() {
                    Ok(kind) if kind.is_file() => {
                        files.insert(name, fs::read(entry.path()).unwrap_or_default());
                    }
                    Ok(kind) if kind.is_dir() => {
                        folders.push(name.clone() + "/");
                        files.insert(name + "/", Vec::new());
                    }
                    _ => {}
                }
            }
        }
        files
    }

    /// Records the files' modes, for `restore`.
    pub fn note_modes(&mut self) {
        let names: Vec<String> = self.files().into_keys().collect();
        for name in names {
            let facts = fs::metadata(self.file(&name)).expect("it was just listed");
            self.modes.insert(name, facts.permissions().mode() & 0o777);
        }
    }

    /// Restores these files and folders. Unchanged ones are not touched.
    pub fn restore(&self, files: &Files) {
        let now = self.files();
        // In reverse, so that a folder's contents go first.
        for name in now.keys().rev().filter(|name| !files.contains_key(*name)) {
            let path = self.file(name);
            let gone =
                if name.ends_with('/') { fs::remove_dir(path) } else { fs::remove_file(path) };
            gone.expect("the folder is writable");
        }
        for (name, bytes) in files.iter().filter(|(name, bytes)| now.get(*name) != Some(bytes)) {
            let path = self.file(name);
            if name.ends_with('/') {
                fs::create_dir(path).expect("the folder is writable");
                continue;
            }
            let _ = fs::remove_file(&path);
            self.write(name, bytes);
            let mode = self.modes.get(name).copied().unwrap_or(0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))
                .expect("it belongs to this user");
        }
    }

    /// Prepares the command with arguments, for tracing.
    pub fn program(&self, args: &[&str], stdin: &[u8]) -> Program {
        let args = args.iter().map(OsString::from).collect();
        let (path, folder) = (self.command.clone(), self.path.clone());
        Program { path, args, folder, stdin: stdin.to_vec() }
    }

    /// Runs the command.
    pub fn run(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = Command::new(&self.command);
        command.args(args).current_dir(&self.path);
        set_environment(&mut command);
        command.stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        if let Some(mut input) = child.stdin.take() {
            // It may exit before it has read all.
            let _ = input.write_all(stdin);
        }
        let ran = child.wait_with_output().expect("a child can be waited for");
        Ran {
            code: ran.status.code(),
            out: String::from_utf8_lossy(&ran.stdout).into(),
            err: String::from_utf8_lossy(&ran.stderr).into(),
        }
    }

    /// Runs the command, which must succeed, and returns its output.
    pub fn must(&self, args: &[&str]) -> Result<String, String> {
        let ran = self.run(args, b"");
        match ran.code {
            Some(0) => Ok(ran.out),
            code => Err(format!("tagmac {}: found {code:?}: {}", args.join(" "), ran.err)),
        }
    }
}

/// Returns whether a name is that of a temporary file of the command.
pub fn is_draft(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with(".tagmac-"))
}
