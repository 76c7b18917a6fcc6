//! Small sealed files that several runs share: a ledger, a pin.
//!
//! The first line names the kind of file and its version, the second one the key. The last line is a
//! seal over all others, made with the key of manifests.
//!
//! A file is replaced as a whole, under its lock. So a kill leaves the old file or the new one, and no
//! run undoes the save of another.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::atomic::{self, AtomicFile};
use crate::error::{Error, io_reason};
use crate::escaped::Escaped;
use crate::faults;
use crate::identity::Identity;
use crate::memory;
use crate::objects::line::Lines;
use crate::objects::{ManifestKey, too_long};
use crate::open;
use crate::overwrite::Overwrite;
use crate::read_error::ReadError;
use crate::sys;

/// Time between two attempts to lock a file, and their number. A run holds a lock only for as long
/// as it takes to write the file.
const PAUSE: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 200;

/// Reads a whole file of at most `max` bytes; `None` if it does not exist. Rejects links, because
/// [`update`] could only replace the link.
pub fn read(path: &Path, max: u64) -> Result<Option<Vec<u8>>, Error> {
    let open = || {
        if fs::symlink_metadata(path)?.is_symlink() {
            return Err(ReadError::Link);
        }
        open::regular(path)
    };
    match open() {
        Ok((file, _)) => contents(path, &file, max).map(Some),
        Err(error) => absent(path, error).map(|()| None),
    }
}

/// Calls `make` with the contents of a file, or `None` if it does not exist, and writes what it
/// returns. `make` is called again if the file appears meanwhile.
pub fn update(
    path: &Path,
    max: u64,
    make: impl FnMut(Option<&[u8]>) -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    attempt(path, max, ATTEMPTS, || thread::sleep(PAUSE), make)
}

fn attempt(
    path: &Path,
    max: u64,
    attempts: u32,
    mut pause: impl FnMut(),
    mut make: impl FnMut(Option<&[u8]>) -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    let failed = |error: io::Error| Error::io(named(path, io_reason(&error)));
    for attempt in 1.. {
        match open::alone(path) {
            Ok(old) => {
                let text = make(Some(&contents(path, &old, max)?))?;
                return replace(path, &old, &text).map_err(failed);
            }
            Err(ReadError::Busy) if attempt < attempts => pause(),
            Err(error) => {
                absent(path, error)?;
                match create(path, &make(None)?) {
                    Err(error)
                        if error.kind() == io::ErrorKind::AlreadyExists && attempt < attempts => {}
                    created => return created.map_err(failed),
                }
            }
        }
    }
    unreachable!("the last attempt returns")
}

/// Returns the error of opening a file, unless the file does not exist.
fn absent(path: &Path, error: ReadError) -> Result<(), Error> {
    match error {
        ReadError::Missing(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        error => Err(Error::file(path, error)),
    }
}

fn contents(path: &Path, file: &File, max: u64) -> Result<Vec<u8>, Error> {
    let failed = |error: io::Error| Error::io(named(path, io_reason(&error)));
    let length = file.metadata().map_err(failed)?.len();
    let long = || too_long(&Escaped::name(path).to_string(), max);
    if length > max {
        return Err(long());
    }
    let mut bytes =
        memory::reserved(usize::try_from(length).unwrap_or(usize::MAX)).map_err(failed)?;
    faults::before("read").map_err(failed)?;
    // The file may grow while it is read.
    file.take(max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > max { Err(long()) } else { Ok(bytes) }
}

fn create(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::new(path, 0o666, Overwrite::Nothing)?;
    file.write_all(text)?;
    file.finish().map(drop)
}

/// Replaces the file that this run has locked. The new file has its owner and permissions.
fn replace(path: &Path, old: &File, text: &[u8]) -> io::Result<()> {
    let facts = sys::metadata_of(old)?;
    let mut file = AtomicFile::new(path, 0o666, Overwrite::Held(Identity::new(&facts)))?;
    file.write_all(text)?;
    atomic::copy_access(&facts, file.file())?;
    file.finish().map(drop)
}

/// Checks the first line, the key and the seal of a file, in this order. Returns the lines between
/// the key and the seal.
pub fn body<'a>(
    text: &'a [u8],
    kind: &str,
    first_line: &str,
    shown: &str,
    key: &ManifestKey,
) -> Result<Lines<'a>, Error> {
    let lines = &mut Lines::new(text);
    let shown_text = |text: &[u8]| Escaped::text(&text[..text.len().min(100)]).to_string();
    let magic = first_line.trim_end_matches(|c: char| c.is_ascii_digit());
    let found = lines.labelled(magic);
    let version =
        found.map_err(|_| Error::mismatch(format_args!("{shown}: this is not a {kind}")))?;
    if &first_line.as_bytes()[magic.len()..] != version {
        let found = shown_text(version);
        let what = format_args!("{shown}: expected {first_line}, found {magic}{found}");
        return Err(Error::mismatch(what));
    }
    let found = lines.labelled("key id: ");
    let found = found.map_err(|why| Error::mismatch(format_args!("{shown}: line 2: {why}")))?;
    let expected = key.key_id.to_string();
    if found != expected.as_bytes() {
        let found = shown_text(found);
        return Err(Error::key(format_args!(
            "{shown}: the {kind} is sealed under another key: expected key id {expected}, found \
             {found}"
        )));
    }
    let (body, _) = key.open(text).map_err(|not| not.error(shown, None))?;
    let mut lines = Lines::new(&text[..body]);
    lines.nth(1);
    Ok(lines)
}

fn named(path: &Path, what: impl std::fmt::Display) -> String {
    format!("{}: {what}", Escaped::name(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, attempts: u32, pause: impl FnMut()) -> Result<(), Error> {
        attempt(path, 9, attempts, pause, |old| Ok([old.unwrap_or(b"a"), b"b"].concat()))
    }

    #[test]
    fn a_file_is_updated_when_the_other_run_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        write(&path, 1, || ()).unwrap();
        let held = File::open(&path).unwrap();
        held.lock().unwrap();
        let busy = write(&path, 2, || ()).unwrap_err().to_string();
        assert!(busy.ends_with("f: another run is using this file"), "{busy}");
        let mut pauses = 0;
        let pause = || {
            pauses += 1;
            assert_eq!(fs::read(&path).unwrap(), b"ab");
            if pauses == 2 {
                held.unlock().unwrap();
            }
        };
        write(&path, 9, pause).unwrap();
        assert_eq!(pauses, 2);
        assert_eq!(fs::read(&path).unwrap(), b"abb");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_updated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        update(&path, 9, |old| {
            if old.is_none() {
                write(&path, 1, || ())?;
            }
            Ok([old.unwrap_or(b"?"), b"c"].concat())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        let nowhere = folder.path().join("none").join("f");
        let why = write(&nowhere, 1, || ()).unwrap_err().to_string();
        assert!(why.contains("No such file or directory"), "{why}");
    }
}
