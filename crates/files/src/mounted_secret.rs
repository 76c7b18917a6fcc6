//! Key files that Kubernetes or a container runtime mounted. The configuration of the mount sets their
//! mode, and the process cannot change it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{self, Component, Path};

/// Docker, Podman and Kubernetes mount secrets here.
const FOLDER: &str = "/run/secrets";
/// Kubernetes writes the files of a volume to a new folder, and then replaces this link to it.
const DATA: &str = "..data";

/// Returns whether a file of the user `owner` is a secret that `root` mounted.
pub(crate) fn is_mounted_secret(path: &Path, owner: u32, root: u32) -> bool {
    let Ok(path) = path::absolute(path) else { return false };
    owner == root && (is_below(&path, Path::new(FOLDER)) || is_in_volume(&path, root))
}

/// Returns whether a path begins with a folder and has no `..` after it. Follows no links.
fn is_below(path: &Path, folder: &Path) -> bool {
    path.strip_prefix(folder)
        .is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
}

/// Returns whether the path is a link `key -> ..data/key` of `root`, next to its link `..data`.
fn is_in_volume(path: &Path, root: u32) -> bool {
    let is_roots_link = |link: &Path| {
        fs::symlink_metadata(link).is_ok_and(|facts| facts.is_symlink() && facts.uid() == root)
    };
    let leads_to_data =
        |to: &Path| to.components().next() == Some(Component::Normal(DATA.as_ref()));
    path.file_name() != Some(OsStr::new(DATA))
        && is_roots_link(path)
        && is_roots_link(&path.with_file_name(DATA))
        && fs::read_link(path).is_ok_and(|to| leads_to_data(&to))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_volume_of_kubernetes_is_known_by_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let own = fs::metadata(folder.path()).unwrap().uid();
        fs::create_dir(at("..2026")).unwrap();
        fs::write(at("..2026/key"), "").unwrap();
        symlink("..data/key", at("key")).unwrap();
        assert!(!is_mounted_secret(&at("key"), own, own), "there is no ..data");
        symlink("..2026", at("..data")).unwrap();
        assert!(is_mounted_secret(&at("key"), own, own));
        // The file or the links belong to somebody else.
        assert!(!is_mounted_secret(&at("key"), own + 1, own));
        assert!(!is_mounted_secret(&at("key"), own + 1, own + 1));
        // Other files of the folder.
        fs::write(at("plain"), "").unwrap();
        symlink("..2026/key", at("elsewhere")).unwrap();
        for name in ["plain", "elsewhere", "..data", "..2026/key", "missing"] {
            assert!(!is_mounted_secret(&at(name), own, own), "{name}");
        }
    }

    #[test]
    fn the_folder_of_secrets_is_known_by_its_name() {
        for (path, expected) in [
            ("/run/secrets/key", true),
            ("/run/secrets/photos/key", true),
            ("/run/secrets/../key", false),
            ("/run/secret", false),
            ("/home/run/secrets/key", false),
        ] {
            assert_eq!(is_mounted_secret(Path::new(path), 0, 0), expected, "{path}");
            assert!(!is_mounted_secret(Path::new(path), 7, 0), "{path}");
        }
    }
}
