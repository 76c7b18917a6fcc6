//! Paths below a directory in their plain form, as manifests have them: names between single
//! slashes. No name is empty, `.` or `..`, so a plain path leads out of no directory that has no
//! links.
//!
//! Names that users write are made plain by [`shorten`], and names in a manifest must be plain
//! already ([`check`]). Keys of objects are not changed: `a//b` and `a/b` are two objects.

use std::fmt;
use std::path::Path;

use crate::dir::MAX_PATH;
use crate::sys::OsStrExt;

/// The reason why a path is not below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotBelow {
    /// It is absolute, and not in the directory.
    Absolute,
    /// It contains `..`.
    Parent,
}

impl NotBelow {
    /// Returns the message.
    const fn what(self) -> &'static str {
        match self {
            NotBelow::Absolute => "the path is absolute; expected one below the directory",
            NotBelow::Parent => "the path contains '..'; expected one below the directory",
        }
    }
}

impl fmt::Display for NotBelow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

/// Returns the names in a path, without empty ones and `.`.
pub fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/').filter(|name| !name.is_empty() && *name != b".")
}

/// Makes a path plain in place, and returns its new length: 0 for the directory itself. The path is
/// relative to the directory, or absolute and in `root`, the directory's own absolute path. A path
/// that is rejected is not changed.
pub fn shorten(path: &mut [u8], root: Option<&Path>) -> Result<usize, NotBelow> {
    let mut from = 0;
    if path.starts_with(b"/") {
        let root = root.filter(|root| root.is_absolute()).ok_or(NotBelow::Absolute)?;
        for name in names(root.as_os_str().as_bytes()) {
            let found = next(path, &mut from).ok_or(NotBelow::Absolute)?;
            if path[found.0..found.1] != *name {
                return Err(NotBelow::Absolute);
            }
        }
    }
    if names(&path[from..]).any(|name| name == b"..") {
        return Err(NotBelow::Parent);
    }
    let mut length = 0;
    while let Some((start, end)) = next(path, &mut from) {
        if length > 0 {
            path[length] = b'/';
            length += 1;
        }
        // Names only move towards the start.
        path.copy_within(start..end, length);
        length += end - start;
    }
    Ok(length)
}

/// Returns the place of the first name after `from`, and moves `from` after it.
fn next(path: &[u8], from: &mut usize) -> Option<(usize, usize)> {
    loop {
        let start = *from + path.get(*from..)?.iter().position(|&byte| byte != b'/')?;
        let length = path[start..].iter().position(|&byte| byte == b'/');
        let end = length.map_or(path.len(), |length| start + length);
        *from = end;
        if path[start..end] != *b"." {
            return Some((start, end));
        }
    }
}

/// Rejects paths that are not plain, or too long.
pub fn check(path: &[u8]) -> Result<(), &'static str> {
    if path.len() > MAX_PATH {
        return Err("the path is longer than 4096 bytes");
    }
    if path.starts_with(b"/") {
        return Err(NotBelow::Absolute.what());
    }
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b".." => return Err(NotBelow::Parent.what()),
            b"" | b"." => return Err("the path contains an empty name or '.'"),
            name if name.contains(&0) => return Err("the path contains a zero byte"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(path: &[u8], root: Option<&str>) -> Result<Vec<u8>, NotBelow> {
        let mut made = path.to_vec();
        let length = shorten(&mut made, root.map(Path::new));
        assert!(length.is_ok() || made == path);
        made.truncate(length?);
        Ok(made)
    }

    /// Every path of up to six of these pieces.
    fn each_path(mut test: impl FnMut(&[u8])) {
        let pieces: [&[u8]; 6] = [b"/", b".", b"..", b"a", b"/b", b"..c"];
        let mut paths = vec![Vec::new()];
        for _ in 0..6 {
            paths = paths
                .iter()
                .flat_map(|path: &Vec<u8>| pieces.map(|piece| [&**path, piece].concat()))
                .collect();
            paths.iter().for_each(|path| test(path));
        }
    }

    #[test]
    fn what_is_made_is_plain_and_has_the_same_names() {
        each_path(|path| match plain(path, None) {
            Ok(made) => {
                assert!(made.is_empty() || check(&made).is_ok(), "{path:?}");
                assert_eq!(plain(&made, None).as_ref(), Ok(&made));
                assert_eq!(made, names(path).collect::<Vec<_>>().join(&b'/'), "{path:?}");
            }
            Err(NotBelow::Absolute) => assert!(path.starts_with(b"/")),
            Err(NotBelow::Parent) => assert!(names(path).any(|name| name == b"..")),
        });
    }

    #[test]
    fn a_plain_path_stays_and_no_other_passes_the_check() {
        each_path(|path| {
            assert_eq!(check(path).is_ok(), plain(path, None).is_ok_and(|made| made == path));
        });
        assert_eq!(plain(b"", None), Ok(Vec::new()));
        assert!(check(b"").is_err() && check(b"a\0b").is_err());
        assert!(check(&[b'x'; MAX_PATH]).is_ok() && check(&[b'x'; MAX_PATH + 1]).is_err());
    }

    #[test]
    fn absolute_paths_are_in_the_root() {
        each_path(|path| {
            let below = [b"/r//./s/", path].concat();
            assert_eq!(plain(&below, Some("/r/s")), plain(&[b"./", path].concat(), None));
            for root in ["/r/s/t", "/q", "/r/..", "r/s"] {
                let outside = plain(b"/r/s", Some(root));
                assert_eq!(outside, Err(NotBelow::Absolute), "{root}");
            }
        });
        assert_eq!(plain(b"/r/st", Some("/r/s")), Err(NotBelow::Absolute));
        assert_eq!(plain(b"/r/s/../t", Some("/r/s")), Err(NotBelow::Parent));
        assert_eq!(plain(b"/a//b/.", Some("/")), Ok(b"a/b".to_vec()));
    }
}
