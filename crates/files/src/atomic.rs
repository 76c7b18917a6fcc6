//! Files that appear whole or not at all, in one way for all that the command writes.
//!
//! Where the system has it, a file is made without a name (`O_TMPFILE`), so that a kill leaves
//! nothing. It gets its name when it is whole. To take another file's place it first needs a
//! name of its own, and file systems that know no nameless files need one from the start: that name
//! comes from the file's, and whoever writes the same file next removes what a killed run left.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::diagnostic::diagnostic;
use crate::error_kind::io_reason;
use crate::escaped::Escaped;
use crate::faults;
use crate::folder;
use crate::identity::{Identity, is_at};
use crate::overwrite::Overwrite;

/// Runs that may write a file of one name at the same time.
const SLOTS: u32 = 16;

/// A file in the making, in the folder of the name that it is to have.
pub struct AtomicFile {
    file: File,
    path: PathBuf,
    over: Overwrite,
    draft: Draft,
    /// `None` if it may be written to but not read.
    folder: Option<File>,
}

/// The name that a file has until it is whole, where it needs one. Dropped, it is removed.
struct Draft(Option<PathBuf>);

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(name) = &self.0 {
            // If it cannot be removed now, the next run does.
            let _ = fs::remove_file(name);
        }
    }
}

impl AtomicFile {
    /// A file that is to be at `path`. `mode` is as the umask leaves it, and that of a file of its
    /// kind which it replaces goes before. What a killed run left of this file is removed.
    pub fn new(path: &Path, mode: u32, over: Overwrite) -> io::Result<AtomicFile> {
        AtomicFile::with(path, mode, over, nameless)
    }

    fn with(
        path: &Path,
        mode: u32,
        over: Overwrite,
        nameless: impl FnOnce(&Path, u32) -> io::Result<Option<File>>,
    ) -> io::Result<AtomicFile> {
        if path.file_name().is_none() {
            return Err(io::Error::other("expected the name of a file, found none"));
        }
        // Also where the name is taken: a killed run may have left a key beside it.
        sweep(path);
        let old = over.replaced(path)?.filter(|_| matches!(over, Overwrite::Kind(..)));
        let mode = old.map_or(mode, |old| old.mode() & 0o777);
        faults::before("make")?;
        let (file, draft) = match nameless(folder::parent(path), mode)? {
            Some(file) => (file, Draft(None)),
            None => named(path, mode)?,
        };
        let folder = folder_of(path)?;
        Ok(AtomicFile { file, path: path.to_path_buf(), over, draft, folder })
    }

    /// Where it is until it is whole, if it is anywhere.
    pub fn draft(&self) -> Option<&Path> {
        self.draft.0.as_deref()
    }

    /// The file, which is locked where the file system can.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, both safe on disk. What is there is looked at again: it may have
    /// come since the start.
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
        // Without this the new name could be lost if the machine stops.
        sync_in(self.folder.as_ref(), &self.file)?;
        // Somebody else may have used the name since.
        if !is_at(&self.path, &self.file)? {
            return Err(io::Error::other("the new file was removed or replaced at once"));
        }
        Ok(self.file)
    }

    /// Takes the place of what is there, once that has been looked at for the last time. The system
    /// has no rename that compares: what somebody puts there between the two calls is lost.
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

/// The folder of a name; none if it cannot be opened.
fn folder_of(path: &Path) -> io::Result<Option<File>> {
    match folder::open(folder::parent(path)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        folder => folder.map(Some),
    }
}

/// Makes the names in a folder, that of `file` among them, safe on disk.
fn sync_in(folder: Option<&File>, file: &File) -> io::Result<()> {
    match folder {
        Some(folder) => faults::sync_all(folder),
        // A folder that cannot be opened cannot be synced alone.
        #[cfg(target_os = "linux")]
        None => faults::sync_file_system(file),
        #[cfg(not(target_os = "linux"))]
        None => Ok(()),
    }
}

/// Makes the name of a file safe on disk: the run that gave it may have been killed before.
pub fn sync_name(path: &Path, file: &File) -> io::Result<()> {
    sync_in(folder_of(path)?.as_ref(), file)
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

/// What the names of a file that is to be at `path` begin with until it is whole. They are short
/// where its name is long, and say nothing of it to somebody else who may list the folder.
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

/// The first slot that `make` finds free, and what it made there.
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
    let what = format!("expected a free name from {name} to {}, found none", SLOTS - 1);
    Err(io::Error::other(what))
}

/// A file without a name, where the system knows such and can give it one later.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, mode: u32) -> io::Result<Option<File>> {
    let flags = OFlags::TMPFILE | OFlags::RDWR;
    let file = match faults::open_in(rustix::fs::CWD, folder, flags, mode.into()) {
        // The file system cannot, or the system never heard of it.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => return Ok(None),
        file => File::from(file?),
    };
    // Without /proc it could not be named.
    let held = file.metadata()?;
    let there = fs::metadata(by_number(&file)).ok();
    let can_be_named = there.is_some_and(|there| Identity::new(&there) == Identity::new(&held));
    lock(&file);
    Ok(can_be_named.then_some(file))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path, _: u32) -> io::Result<Option<File>> {
    Ok(None)
}

/// Keeps other runs from taking the file for one that was left. Where nothing can be locked,
/// a run at the same time may remove it, and then this one fails.
fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
}

#[cfg(target_os = "linux")]
fn by_number(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Names a nameless file, where nothing has that name.
#[cfg(target_os = "linux")]
fn link(file: &File, to: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    faults::before("name")?;
    Ok(linkat(CWD, by_number(file), CWD, to, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    unreachable!("every file has a name")
}

/// A file with a name.
fn named(path: &Path, mode: u32) -> io::Result<(File, Draft)> {
    let (file, draft) = free_slot(path, |slot| {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(mode).open(slot)?;
        // Another run may just have come upon it, before it was locked.
        let own = lock(&file) && is_at(slot, &file)?;
        if own { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    })?;
    Ok((file, Draft(Some(draft))))
}

/// Renames where nothing has the name.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    faults::before("name")?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system cannot.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return Ok(renamed?),
        }
    }
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Removes what killed runs left of this file. What cannot be removed stays for the next run.
pub fn sweep(path: &Path) {
    for number in 0..SLOTS {
        let slot = slot(path, number);
        // It stays locked until it is gone, so no other run takes it for its own meanwhile.
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

/// A file of this user that no run holds, locked. A link, a pipe, somebody else's file and what
/// cannot be looked at stay as they are.
fn left(slot: &Path) -> Option<File> {
    // Nothing else than a file is opened, see `open`.
    fs::symlink_metadata(slot).ok().filter(Metadata::is_file)?;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let open = |write| OpenOptions::new().read(true).write(write).custom_flags(flags).open(slot);
    // Over NFS and CIFS only what is open for writing can be locked. It may have a mode that forbids that.
    let file = open(true).or_else(|_| open(false)).ok()?;
    let facts = file.metadata().ok()?;
    let is_one = facts.is_file()
        && facts.uid() == rustix::process::geteuid().as_raw()
        && matches!(file.try_lock(), Ok(()));
    is_one.then_some(file)
}

/// Removes a file that this run holds, if the name is still that file's. The system has no call that
/// compares: what somebody puts there between the look and the removal is lost.
pub fn remove(path: &Path, held: &File) -> io::Result<()> {
    let held = Identity::new(&held.metadata()?);
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    };
    faults::before("remove")?;
    match fs::symlink_metadata(path) {
        Ok(there) => held.is_of(&there).and_then(|()| gone(fs::remove_file(path))),
        Err(error) => gone(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As where there are no nameless files.
    fn named_from_the_start(path: &Path, over: Overwrite) -> AtomicFile {
        AtomicFile::with(path, 0o600, over, |_, _| Ok(None)).unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// A file that is there, and the rule for who holds it.
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
        // What is there now is not what was held.
        let error = first.finish().unwrap_err().to_string();
        assert_eq!(error, "expected the file that this run holds, found another");
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
            // As a kill: the lock goes, the name stays.
            let AtomicFile { file, draft, .. } = file;
            std::mem::forget(draft);
            drop(file);
            assert!(slot(&path, 0).exists());
            let mut file = named_from_the_start(&path, over);
            assert_eq!(file.draft(), Some(&*slot(&path, 0)));
            file.write_all(b"whole").unwrap();
            let file = file.finish().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
            assert_eq!(names(place.path()), ["f"]);
            // What is not finished is nowhere.
            let over = Overwrite::Held(Identity::new(&file.metadata().unwrap()));
            drop(named_from_the_start(&path, over));
            assert_eq!(names(place.path()), ["f"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn what_a_killed_run_left_is_open_for_writing_if_it_may_be() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        fs::write(slot(&path, 0), "").unwrap();
        left(&slot(&path, 0)).unwrap().write_all(b"text").unwrap();
        fs::set_permissions(slot(&path, 0), fs::Permissions::from_mode(0o400)).unwrap();
        assert!(left(&slot(&path, 0)).is_some());
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
