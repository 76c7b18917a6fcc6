//! A folder in which the command runs, and which is put back as it was.

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

    /// The regular files and folders in it.
    pub fn files(&self) -> Files {
        let mut files = Files::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let entries = fs::read_dir(self.path.join(&folder)).expect("the folder is there");
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

    /// Notes the files' modes, for when they are put back.
    pub fn note_modes(&mut self) {
        let names: Vec<String> = self.files().into_keys().collect();
        for name in names {
            let facts = fs::metadata(self.file(&name)).expect("it was just listed");
            self.modes.insert(name, facts.permissions().mode() & 0o777);
        }
    }

    /// Makes the files and folders these. Those that are so already are not touched.
    pub fn restore(&self, files: &Files) {
        let now = self.files();
        // What is in a folder comes after it.
        for name in now.keys().rev().filter(|name| !files.contains_key(*name)) {
            let path = self.file(name);
            let gone =
                if name.ends_with('/') { fs::remove_dir(path) } else { fs::remove_file(path) };
            gone.expect("a scratch folder lets go of files");
        }
        for (name, bytes) in files.iter().filter(|(name, bytes)| now.get(*name) != Some(bytes)) {
            let path = self.file(name);
            if name.ends_with('/') {
                fs::create_dir(path).expect("a scratch folder takes folders");
                continue;
            }
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
        command.args(args).current_dir(&self.path);
        set_environment(&mut command);
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
    name.rsplit('/').next().is_some_and(|name| name.starts_with(".tagmac-"))
}
