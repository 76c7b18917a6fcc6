//! Atomic file creation: a file appears complete or not at all.
//!
//! Where the system supports it, the file is created without a name (`O_TMPFILE`), so that a kill
//! leaves nothing, and linked in when it is complete. To replace another file it first needs a
//! temporary name. File systems without nameless files need that name from the start. The temporary
//! name is derived from the file's, so the next run that writes the same file removes what a killed
//! run left.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::diagnostic::diagnostic;
use crate::error_kind::io_reason;
use crate::escaped::Escaped;
use crate::faults;
use crate::folder;
use crate::identity::{Identity, is_at};
use crate::overwrite::Overwrite;
#[cfg(unix)]
use crate::sys::MetadataExt;
use crate::sys::{self, Metadata, OsStrExt};

/// Temporary names per file, and so the number of runs that can write it at the same time.
const SLOTS: u32 = 16;

/// An unfinished file, in the directory where it will be named.
pub struct AtomicFile {
    file: File,
    lock: io::Result<()>,
    path: PathBuf,
    over: Overwrite,
    draft: Draft,
    /// `None` if the directory may be written to but not read.
    folder: Option<File>,
}

/// The temporary name, if the file needs one. Removed on drop.
struct Draft(Option<PathBuf>);

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // If this fails, the next run removes it.
            let _ = fs::remove_file(name);
        }
    }
}

impl AtomicFile {
    /// Creates a file that [`finish`](AtomicFile::finish) will name `path`, and removes what killed
    /// runs left of it. `mode` is subject to the umask; a replaced file of the same kind passes on
    /// its own mode instead.
    pub fn new(path: &Path, mode: u32, over: Overwrite) -> io::Result<AtomicFile> {
        let nameless = |folder: &Path, mode| sys::nameless(folder, mode, || faults::before("open"));
        AtomicFile::with(path, mode, over, nameless)
    }

    fn with(
        path: &Path,
        mode: u32,
        over: Overwrite,
        nameless: impl FnOnce(&Path, u32) -> io::Result<Option<File>>,
    ) -> io::Result<AtomicFile> {
        if path.file_name().is_none() {
            return Err(io::Error::other("the path does not name a file"));
        }
        // Even if `path` is taken: a killed run may have left a temporary file that contains a key.
        sweep(path);
        let old = over.replaced(path)?.filter(|_| matches!(over, Overwrite::Kind(..)));
        let mode = old.map_or(mode, |old| old.mode() & 0o777);
        faults::before("make")?;
        let (file, lock, draft) = match nameless(folder::parent(path), mode)? {
            Some(file) => {
                let lock = lock(&file);
                (file, lock, Draft(None))
            }
            None => named(path, mode)?,
        };
        let folder = folder_of(path)?;
        Ok(AtomicFile { file, lock, path: path.to_path_buf(), over, draft, folder })
    }

    /// Returns the temporary name, if the file has one.
    pub fn draft(&self) -> Option<&Path> {
        self.draft.0.as_deref()
    }

    /// Returns the file, locked if the file system supports locks.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Like [`finish`](AtomicFile::finish), but fails if the file system does not support locks.
    pub fn finish_locked(mut self) -> io::Result<File> {
        mem::replace(&mut self.lock, Ok(()))?;
        self.finish()
    }

    /// Names the file and syncs both the file and its directory. Checks again that the file may be
    /// at that place: another may have appeared since the start.
    pub fn finish(mut self) -> io::Result<File> {
        faults::sync_all(&self.file)?;
        let free = self.over.replaced(&self.path)?.is_none();
        match &self.draft.0 {
            None if free => link(&self.file, &self.path)?,
            Some(draft) if free => {
                rename_to_free(draft, &self.path)?;
                self.draft.0 = None;
            }
            _ => self.replace()?,
        }
        // Without this sync a crash could lose the new name.
        sync_in(self.folder.as_ref(), &self.file)?;
        // Another program may have replaced or removed the file since.
        if !is_at(&self.path, &self.file)? {
            return Err(io::Error::other("the new file was removed or replaced at once"));
        }
        Ok(self.file)
    }

    /// Replaces the existing file after a last check. No system call compares and renames: a file
    /// that another program puts there between the two calls is lost.
    fn replace(&mut self) -> io::Result<()> {
        let draft = match self.draft.0.take() {
            Some(draft) => draft,
            None => free_slot(&self.path, |slot| link(&self.file, slot))?.1,
        };
        let draft = self.draft.0.insert(draft);
        faults::before("name")?;
        self.over.replaced(&self.path)?;
        fs::rename(draft, &self.path)?;
        self.draft.0 = None;
        Ok(())
    }
}

/// Opens the directory of `path`; `None` if that is not permitted.
fn folder_of(path: &Path) -> io::Result<Option<File>> {
    match folder::open(folder::parent(path)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        folder => folder.map(Some),
    }
}

/// Syncs the directory, which now has the name of `file`.
fn sync_in(folder: Option<&File>, file: &File) -> io::Result<()> {
    match folder {
        Some(folder) => faults::sync_folder(folder),
        // A directory that cannot be opened cannot be synced, so sync its file system.
        None => faults::sync_file_system(file),
    }
}

/// Syncs the name of a file: the run that created it may have been killed before it did.
pub fn sync_name(path: &Path, file: &File) -> io::Result<()> {
    sync_in(folder_of(path)?.as_ref(), file)
}

/// Gives a file the owner and the permissions of another.
pub fn copy_access(from: &Metadata, to: &File) -> io::Result<()> {
    let own = sys::metadata_of(to)?;
    // Only root can change the owner, and then must.
    if sys::owner(from) != sys::owner(&own) {
        sys::set_owner(to, from)?;
    }
    to.set_permissions(from.permissions())
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        faults::write(bytes, |bytes| (&self.file).write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the prefix of the temporary names for `path`. It has a fixed length, so that it fits
/// where the name is long, and reveals nothing of the name to others who may list the directory.
pub fn drafts(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let hash = base16ct::lower::encode_string(&Sha256::digest(name)[..8]);
    folder::parent(path).join(format!(".tagmac-{hash}-"))
}

fn slot(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(drafts(path));
    name.push::<&OsStr>(number.to_string().as_ref());
    name.into()
}

/// Calls `make` with each slot until one is free; returns the result and the slot.
fn free_slot<T>(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<(T, PathBuf)> {
    for number in 0..SLOTS {
        let slot = slot(path, number);
        match make(&slot) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (made, slot)),
        }
    }
    let name = Escaped::name(&slot(path, 0)).to_string();
    let what = format!(
        "too many temporary files ({name} to {}); remove those that killed runs left",
        SLOTS - 1
    );
    Err(io::Error::other(what))
}

/// Locks the file, so that no other run takes it for a leftover. Without locks a concurrent run may
/// remove it, and then this one fails. Windows denies a second lock, even to the same run.
fn lock(file: &File) -> io::Result<()> {
    Ok(file.try_lock()?)
}

/// Names a nameless file, unless the name is taken.
fn link(file: &File, to: &Path) -> io::Result<()> {
    faults::before("name")?;
    sys::link(file, to)
}

/// Creates a file with a temporary name.
fn named(path: &Path, mode: u32) -> io::Result<(File, io::Result<()>, Draft)> {
    let ((file, lock), draft) = free_slot(path, |slot| {
        let mut options = OpenOptions::new();
        let file = sys::with_mode(&mut options, mode)
            .read(true)
            .write(true)
            .create_new(true)
            .open(slot)?;
        let lock = lock(&file);
        // Another run may have found the file before it was locked, and removed it.
        let is_held = lock.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        let own = !is_held && is_at(slot, &file)?;
        if own { Ok((file, lock)) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    })?;
    Ok((file, lock, Draft(Some(draft))))
}

/// Renames a file, unless the new name is taken.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    faults::before("name")?;
    sys::rename_to_free(from, to)
}

/// Removes what killed runs left of this file. A leftover that cannot be removed stays for the next
/// run.
pub fn sweep(path: &Path) {
    for number in 0..SLOTS {
        let slot = slot(path, number);
        // The lock is kept until the file is gone, so that no other run reuses the name meanwhile.
        let Some(left) = left(&slot) else { continue };
        let name = Escaped::name(&slot);
        match remove(&slot, &left) {
            Ok(()) => diagnostic(format_args!("{name}: removed: a run that was killed left it")),
            Err(error) => {
                diagnostic(format_args!("warning: {name}: {}: not removed", io_reason(&error)))
            }
        }
    }
}

/// Opens and locks a leftover of this user that no run holds. Links, pipes, files of other users
/// and files that cannot be examined are left alone.
fn left(slot: &Path) -> Option<File> {
    // Open regular files only: opening anything else may block or have effects.
    fs::symlink_metadata(slot).ok().filter(fs::Metadata::is_file)?;
    let open =
        |write| sys::without_links(&mut OpenOptions::new()).read(true).write(write).open(slot);
    // NFS and CIFS lock only files that are open for writing, which the mode may forbid.
    let file = open(true).or_else(|_| open(false)).ok()?;
    let facts = sys::metadata_of(&file).ok()?;
    let is_one =
        facts.is_file() && sys::owner(&facts).0 == sys::user() && matches!(file.try_lock(), Ok(()));
    is_one.then_some(file)
}

/// Removes a file that this run holds, if `path` still names it. No system call compares and
/// removes: a file that another program puts there between the check and the removal is lost.
pub fn remove(path: &Path, held: &File) -> io::Result<()> {
    let held = Identity::new(&sys::metadata_of(held)?);
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    faults::before("remove")?;
    match sys::symlink_metadata(path) {
        Ok(there) => held.is_of(&there).and_then(|()| gone(fs::remove_file(path))),
        Err(error) => gone(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on a system without nameless files.
    fn named_from_the_start(path: &Path, over: Overwrite) -> AtomicFile {
        AtomicFile::with(path, 0o600, over, |_, _| Ok(None)).unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// Creates a file, and the rule that permits replacing it.
    fn held(path: &Path) -> (File, Overwrite) {
        fs::write(path, "old").unwrap();
        let file = File::open(path).unwrap();
        let over = Overwrite::Held(Identity::new(&file.metadata().unwrap()));
        (file, over)
    }

    #[test]
    fn runs_at_the_same_time_have_names_of_their_own() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        let (_old, over) = held(&path);
        let mut files = [0, 1].map(|_| named_from_the_start(&path, over));
        assert_eq!(
            [0, 1].map(|number| slot(&path, number)),
            [0, 1].map(|i| { files[i].draft().unwrap().to_path_buf() })
        );
        for (number, file) in files.iter_mut().enumerate() {
            write!(file, "{number}").unwrap();
        }
        let [first, second] = files;
        second.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
        // The second file replaced the one that the first was to replace.
        let error = first.finish().unwrap_err().to_string();
        assert_eq!(error, "the file was replaced while this run was using it");
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
        assert_eq!(names(place.path()), ["f"]);
    }

    #[test]
    fn a_name_that_a_killed_run_left_is_free_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        for replaces in [false, true] {
            let old = replaces.then(|| held(&path));
            let over = old.as_ref().map_or(Overwrite::Nothing, |(_, over)| *over);
            let mut file = named_from_the_start(&path, over);
            file.write_all(b"half").unwrap();
            // As after a kill: the lock is released, the name stays.
            let AtomicFile { file, draft, .. } = file;
            mem::forget(draft);
            file.unlock().unwrap();
            drop(file);
            assert!(slot(&path, 0).exists());
            let mut file = named_from_the_start(&path, over);
            assert_eq!(file.draft(), Some(&*slot(&path, 0)));
            file.write_all(b"whole").unwrap();
            let file = file.finish().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
            assert_eq!(names(place.path()), ["f"]);
            // An unfinished file leaves nothing.
            let over = Overwrite::Held(Identity::new(&file.metadata().unwrap()));
            drop(named_from_the_start(&path, over));
            assert_eq!(names(place.path()), ["f"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_that_must_be_locked_is_locked_or_not_there() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        let mut file = named_from_the_start(&path, Overwrite::Nothing);
        file.lock = Err(io::ErrorKind::Unsupported.into());
        assert_eq!(file.finish_locked().unwrap_err().kind(), io::ErrorKind::Unsupported);
        assert!(names(place.path()).is_empty());
        let _held = named_from_the_start(&path, Overwrite::Nothing).finish_locked().unwrap();
        assert!(matches!(File::open(&path).unwrap().try_lock(), Err(fs::TryLockError::WouldBlock)));
    }

    #[test]
    fn what_a_killed_run_left_is_open_for_writing_if_it_may_be() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        fs::write(slot(&path, 0), "").unwrap();
        let mut file = left(&slot(&path, 0)).unwrap();
        file.write_all(b"text").unwrap();
        // A process that another test starts has a copy of the file until it runs its program.
        file.unlock().unwrap();
        fs::set_permissions(slot(&path, 0), fs::Permissions::from_mode(0o400)).unwrap();
        left(&slot(&path, 0)).unwrap().unlock().unwrap();
        sweep(&path);
        assert!(names(place.path()).is_empty());
    }

    #[test]
    fn what_has_come_meanwhile_stays() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        let file = named_from_the_start(&path, Overwrite::Nothing);
        fs::write(&path, "other").unwrap();
        assert_eq!(file.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(rename_to_free(&path, &path.with_extension("free")).is_ok());
        fs::write(&path, "third").unwrap();
        let taken = rename_to_free(&path.with_extension("free"), &path).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(place.path()), ["f", "f.free"]);
    }
}
