//! Access checks for key files: only their user and root may have written them, and others should
//! not be able to read them.

use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{self, Component, Path, PathBuf};

use crate::diagnostic::diagnostic;
use crate::error_kind::io_reason;
use crate::escaped::Escaped;
use crate::mounted_secret::is_mounted_secret;

/// Maximum number of links followed to a key file, as in Linux.
const MAX_LINKS: u32 = 40;

/// The reason why a key file is refused: another user could have written it. Anyone who chooses the
/// key can make tags that pass.
#[derive(Debug)]
#[non_exhaustive]
pub enum AccessError {
    /// Others can write to the file.
    Writable {
        /// The file's mode.
        mode: u32,
    },
    /// The file belongs to another user.
    OtherOwner {
        /// The user of this process.
        own: u32,
        /// The file's owner.
        owner: u32,
    },
    /// Others can replace the contents of a directory that leads to the file.
    SharedFolder {
        /// The directory.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A directory or link that leads to the file belongs to another user.
    OwnerOnWay {
        /// The kind of entry.
        what: &'static str,
        /// Its name.
        path: PathBuf,
        /// The user of this process.
        own: u32,
        /// Its owner.
        owner: u32,
    },
    /// More links lead to the file than the system follows.
    Links,
    /// The directories and links that lead to the file cannot be checked.
    Unchecked(io::Error),
}

impl AccessError {
    /// Returns whether the only problem is another owner. A caller that trusts that user can open
    /// the file itself and pass it on to this process.
    pub fn is_other_owner(&self) -> bool {
        matches!(self, AccessError::OtherOwner { .. } | AccessError::OwnerOnWay { .. })
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessError::Writable { mode } => write!(
                f,
                "others can write to it (mode {mode:04o}); check who changed it, then run 'chmod go-w'"
            ),
            AccessError::OtherOwner { own, owner } => write!(
                f,
                "it belongs to user {owner}, who could replace the key; expected user {own} or root"
            ),
            AccessError::SharedFolder { path, mode } => write!(
                f,
                "others can put another key into the folder {} (mode {mode:04o}); run 'chmod go-w' on it",
                Escaped::name(path)
            ),
            AccessError::OwnerOnWay { what, path, own, owner } => write!(
                f,
                "the {what} {} belongs to user {owner}, who could replace the key; expected user {own} \
                 or root",
                Escaped::name(path)
            ),
            AccessError::Links => write!(f, "more than {MAX_LINKS} symbolic links lead to it"),
            AccessError::Unchecked(error) => {
                write!(f, "cannot check the folders that lead to it: {}", io_reason(error))
            }
        }
    }
}

impl std::error::Error for AccessError {}

/// Warns about a key file that others can read, except secrets that root mounted: the process cannot
/// change their mode.
pub fn warn_of_readers(path: &Path, file: &Metadata) {
    let (mode, own) = (file.mode(), rustix::process::geteuid().as_raw());
    if file.is_file()
        && others_can_read(mode, file.gid(), own)
        && !is_mounted_secret(path, file.uid(), 0)
    {
        let name = Escaped::name(path);
        diagnostic(format_args!(
            "warning: key file {name}: expected mode 0600, found {:04o}: others can read the key",
            mode & 0o7777
        ));
    }
}

/// Rejects a key file that another user could have written. Anyone who chooses the key can make
/// tags that pass. Root is trusted, as it could do so anyway.
pub fn check_owner(path: &Path, file: &Metadata) -> Result<(), AccessError> {
    let (mode, own) = (file.mode() & 0o7777, rustix::process::geteuid().as_raw());
    // Some devices are writable by everyone, and each process reads its own data there.
    let kind = file.file_type();
    let device = kind.is_char_device() || kind.is_block_device() || kind.is_socket();
    if mode & 0o022 != 0 && !device {
        return Err(AccessError::Writable { mode });
    }
    let owner = file.uid();
    if is_another(owner, own) {
        return Err(AccessError::OtherOwner { own, owner });
    }
    check_way(path, file, own)
}

/// Rejects a path on which others could replace a file, directory or link. Resolves the path name
/// by name and link by link, like the system. A component that passes stays valid, as nobody else
/// can replace it; so the check may come after the file was opened.
fn check_way(path: &Path, file: &Metadata, own: u32) -> Result<(), AccessError> {
    let unseen = AccessError::Unchecked;
    let mut rest = path::absolute(path).map_err(unseen)?;
    let (mut at, mut links) = (PathBuf::new(), 0);
    loop {
        let mut names = rest.components();
        let Some(name) = names.next() else { return Ok(()) };
        let after = names.as_path().to_path_buf();
        match name {
            Component::RootDir => at = "/".into(),
            Component::Normal(name) => at.push(name),
            Component::ParentDir => {
                at.pop();
            }
            Component::CurDir | Component::Prefix(_) => {}
        }
        let facts = match fs::symlink_metadata(&at) {
            // A pipe of the shell's `<(...)` and a removed file have no name, so they cannot be
            // replaced. Any other file was just opened by this path.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && (!file.is_file() || file.nlink() == 0) =>
            {
                return Ok(());
            }
            facts => facts.map_err(unseen)?,
        };
        nobody_elses(&at, &facts, own)?;
        if facts.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(AccessError::Links);
            }
            let to = fs::read_link(&at).map_err(unseen)?;
            at.pop();
            rest = to.join(after);
        } else {
            rest = after;
        }
    }
}

/// Rejects an entry of another user, and a directory in which others can replace entries they do
/// not own.
fn nobody_elses(path: &Path, facts: &Metadata, own: u32) -> Result<(), AccessError> {
    let (mode, owner) = (facts.mode() & 0o7777, facts.uid());
    if facts.is_dir() && others_can_replace(mode, facts.gid(), own) {
        return Err(AccessError::SharedFolder { path: path.into(), mode });
    }
    if is_another(owner, own) {
        let what = match facts.file_type() {
            kind if kind.is_dir() => "folder",
            kind if kind.is_symlink() => "link",
            _ => "file",
        };
        return Err(AccessError::OwnerOnWay { what, path: path.into(), own, owner });
    }
    Ok(())
}

/// Returns whether `owner` is another user than `own` and not root.
fn is_another(owner: u32, own: u32) -> bool {
    owner != own && owner != 0
}

/// Returns whether users other than `own` and root can replace entries of a directory.
fn others_can_replace(mode: u32, group: u32, own: u32) -> bool {
    let shared = mode & 0o020 != 0 && is_shared(group, own);
    (mode & 0o002 != 0 || shared) && mode & 0o1000 == 0
}

/// Returns whether users other than `own` and root can read a file. A file with an access control
/// list shows its mask in place of the group's rights; systemd's credentials are such files.
fn others_can_read(mode: u32, group: u32, own: u32) -> bool {
    mode & 0o004 != 0 || mode & 0o040 != 0 && is_shared(group, own)
}

/// Returns whether a group has members other than `own` and root. By convention a user's private
/// group has the user's number and no other members.
fn is_shared(group: u32, own: u32) -> bool {
    group != own && group != 0
}

#[cfg(test)]
mod tests {
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{PermissionsExt, fchown};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Checks a file; returns the error as a line.
    fn refused(path: &Path, facts: &Metadata) -> Result<(), String> {
        check_owner(path, facts).map_err(|error| error.to_string())
    }

    #[test]
    fn everybody_may_write_to_some_devices() {
        let path = Path::new("/dev/null");
        let facts = fs::metadata(path).expect("a device");
        assert_eq!(facts.mode() & 0o022, 0o022, "others write there");
        assert_eq!(refused(path, &facts), Ok(()));
    }

    #[test]
    fn a_folder_is_shared_with_all_or_with_a_group_of_others() {
        let (own, other) = (1000, 2000);
        // Mode, group, and whether others can replace entries.
        let cases = [
            (0o700, other, false),
            (0o755, other, false),
            (0o770, own, false),
            (0o770, 0, false),
            (0o770, other, true),
            (0o750, other, false),
            (0o702, own, true),
            (0o777, own, true),
            (0o777, other, true),
            // The sticky bit.
            (0o1777, own, false),
            (0o1770, other, false),
            (0o2770, other, true),
            (0o4702, own, true),
        ];
        for (mode, group, expected) in cases {
            assert_eq!(others_can_replace(mode, group, own), expected, "{mode:o} of {group}");
        }
    }

    #[test]
    fn a_file_is_read_by_all_or_by_a_group_of_others() {
        let (own, other) = (1000, 2000);
        // Mode, group, and whether others can read the file.
        let cases = [
            (0o600, other, false),
            (0o620, other, false),
            (0o602, other, false),
            (0o440, 0, false),
            (0o640, own, false),
            (0o640, other, true),
            (0o604, own, true),
            (0o444, 0, true),
        ];
        for (mode, group, expected) in cases {
            assert_eq!(others_can_read(mode, group, own), expected, "{mode:o} of {group}");
        }
    }

    #[test]
    fn files_are_of_their_user_or_of_root() {
        for (owner, own, expected) in
            [(0, 0, false), (0, 7, false), (7, 7, false), (8, 7, true), (7, 0, true)]
        {
            assert_eq!(is_another(owner, own), expected, "{owner} {own}");
        }
    }

    #[test]
    fn a_key_that_others_can_read_is_remarked_on() {
        crate::diagnostic::tests::listen();
        let folder = tempfile::tempdir().unwrap();
        let of_folder = fs::metadata(folder.path()).unwrap();
        let file_group_is_shared = is_shared(of_folder.gid(), of_folder.uid());
        for (mode, remark) in [
            (0o600, false),
            (0o640, file_group_is_shared),
            (0o604, true),
            (0o644, true),
            (0o611, false),
            (0o4604, true),
        ] {
            let path = folder.path().join(format!("{mode:o}"));
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            warn_of_readers(&path, &fs::metadata(&path).unwrap());
            let name = path.display();
            let what = format!(
                "warning: key file {name}: expected mode 0600, found {mode:04o}: others can read the key"
            );
            assert_eq!(crate::diagnostic::tests::heard(&what), remark, "{mode:o}");
        }
        // A directory is not a key.
        warn_of_readers(Path::new("/"), &fs::metadata("/").unwrap());
        let mode = fs::metadata("/").unwrap().mode() & 0o7777;
        let what = format!(
            "warning: key file /: expected mode 0600, found {mode:04o}: others can read the key"
        );
        assert!(!crate::diagnostic::tests::heard(&what));
    }

    #[test]
    fn a_secret_of_kubernetes_is_not_remarked_on() {
        // Links of another user than root are in `mounted_secret.rs`.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        crate::diagnostic::tests::listen();
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("..2026")).unwrap();
        fs::write(at("..2026/key"), "").unwrap();
        fs::set_permissions(at("..2026/key"), Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink("..2026", at("..data")).unwrap();
        std::os::unix::fs::symlink("..data/key", at("key")).unwrap();
        for (name, remark) in [("key", false), ("..2026/key", true)] {
            warn_of_readers(&at(name), &fs::metadata(at(name)).unwrap());
            let what = format!(
                "warning: key file {}: expected mode 0600, found 0644: others can read the key",
                at(name).display()
            );
            assert_eq!(crate::diagnostic::tests::heard(&what), remark, "{name}");
        }
    }

    /// Sets the mode of a file and checks it.
    fn checked(path: &Path, mode: u32) -> Result<(), String> {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        refused(path, &fs::metadata(path).unwrap())
    }

    #[test]
    fn files_that_others_can_write_are_refused_and_devices_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        fs::write(&path, "").unwrap();
        for mode in [0o600, 0o400, 0o644, 0o755, 0o4600] {
            assert_eq!(checked(&path, mode), Ok(()), "{mode:o}");
        }
        for mode in [0o620, 0o602, 0o622, 0o666] {
            let found = checked(&path, mode).unwrap_err();
            assert!(
                found.contains(&format!("others can write to it (mode {mode:04o})")),
                "{found}"
            );
        }
        let socket = folder.path().join("s");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(checked(&socket, 0o666), Ok(()));
        let device = Path::new("/dev/null");
        assert_eq!(refused(device, &fs::metadata(device).unwrap()), Ok(()));
    }

    #[test]
    fn folders_of_the_file_and_of_its_link_must_not_be_shared() {
        let folder = tempfile::tempdir().unwrap();
        let (home, shared) = (folder.path().join("home"), folder.path().join("shared"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&shared).unwrap();
        fs::write(home.join("k"), "").unwrap();
        fs::set_permissions(home.join("k"), Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(home.join("k"), shared.join("link")).unwrap();
        let check = |path: &Path| refused(path, &fs::metadata(path).unwrap());
        assert_eq!(check(&shared.join("link")), Ok(()));
        fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
        let found = check(&shared.join("link")).unwrap_err();
        assert!(found.contains("shared (mode 0777)"), "{found}");
        assert_eq!(check(&home.join("k")), Ok(()));
        // A directory that leads only to the target of the link.
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&home, Permissions::from_mode(0o707)).unwrap();
        let found = check(&shared.join("link")).unwrap_err();
        assert!(found.contains("home (mode 0707)"), "{found}");
    }

    #[test]
    fn every_folder_and_link_on_the_way_must_be_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for name in ["home", "shared", "sticky"] {
            fs::create_dir(place(name)).unwrap();
        }
        let file = File::create(place("home/k")).unwrap();
        file.set_permissions(Permissions::from_mode(0o600)).unwrap();
        let link = |to: PathBuf, name: &str| std::os::unix::fs::symlink(to, place(name)).unwrap();
        // A link to a link in a directory that is reached by a link.
        link(place("home/k"), "shared/k");
        link("./shared/../shared".into(), "folder");
        link("folder/k".into(), "link");
        let check = |name: &str| {
            let path = place(name);
            refused(&path, &fs::metadata(&path).unwrap())
        };
        assert_eq!(check("link"), Ok(()));
        fs::set_permissions(place("shared"), Permissions::from_mode(0o777)).unwrap();
        let found = check("link").unwrap_err();
        assert!(found.contains("shared (mode 0777)"), "{found}");
        fs::set_permissions(place("shared"), Permissions::from_mode(0o755)).unwrap();
        // A cycle of links.
        link("loop".into(), "loop");
        let facts = fs::metadata(place("home/k")).unwrap();
        let check_as_open = |name: &str| refused(&place(name), &facts);
        assert_eq!(check_as_open("loop").unwrap_err(), "more than 40 symbolic links lead to it");
        // The maximum number of links, and one more.
        let real = fs::canonicalize(place("home/k")).unwrap();
        let chain = |links: u32| real.with_file_name(format!("link{links}"));
        std::os::unix::fs::symlink(&real, chain(1)).unwrap();
        for links in 2..=MAX_LINKS + 1 {
            std::os::unix::fs::symlink(chain(links - 1), chain(links)).unwrap();
        }
        assert_eq!(refused(&chain(MAX_LINKS), &facts), Ok(()));
        let found = refused(&chain(MAX_LINKS + 1), &facts).unwrap_err();
        assert_eq!(found, "more than 40 symbolic links lead to it");
        // A path that does not exist, for a file that does.
        let found = check_as_open("gone").unwrap_err();
        assert!(found.starts_with("cannot check the folders that lead to it: "), "{found}");
        // A file without a name, like a shell's here-document.
        let file = File::create(place("gone")).unwrap();
        fs::remove_file(place("gone")).unwrap();
        let facts = file.metadata().unwrap();
        assert_eq!(refused(&place("gone"), &facts), Ok(()));
        // Only root can change owners.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        fs::set_permissions(place("sticky"), Permissions::from_mode(0o1777)).unwrap();
        link(place("home/k"), "sticky/k");
        assert_eq!(check("sticky/k"), Ok(()));
        std::os::unix::fs::lchown(place("sticky/k"), Some(12345), None).unwrap();
        let found = check("sticky/k").unwrap_err();
        assert!(found.contains("the link ") && found.contains("sticky/k belongs to user 12345"));
        // A file in place of the link.
        fs::remove_file(place("sticky/k")).unwrap();
        fs::write(place("sticky/k"), "").unwrap();
        std::os::unix::fs::chown(place("sticky/k"), Some(12345), None).unwrap();
        let found = check_as_open("sticky/k").unwrap_err();
        assert!(found.contains("the file ") && found.contains("sticky/k belongs to user 12345"));
        for mode in [0o755, 0o1755] {
            fs::set_permissions(place("shared"), Permissions::from_mode(mode)).unwrap();
            std::os::unix::fs::chown(place("shared"), Some(12345), None).unwrap();
            let found = check("link").unwrap_err();
            assert!(found.contains("the folder ") && found.contains("belongs to user 12345"));
            std::os::unix::fs::chown(place("shared"), Some(0), None).unwrap();
            assert_eq!(check("link"), Ok(()));
        }
    }

    #[test]
    fn a_file_of_another_user_is_refused() {
        // Only root can change owners.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        let file = File::create(&path).unwrap();
        assert_eq!(checked(&path, 0o600), Ok(()));
        fchown(&file, Some(12345), None).unwrap();
        let found = checked(&path, 0o600).unwrap_err();
        assert!(
            found.starts_with("it belongs to user 12345, who could replace the key"),
            "{found}"
        );
        let facts = fs::metadata(&path).unwrap();
        assert!(check_owner(&path, &facts).is_err_and(|error| error.is_other_owner()));
    }
}
