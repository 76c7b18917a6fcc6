//! Names on Windows: as bytes, and which of them name a file.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// Names as bytes.
pub trait OsStrExt {
    /// Returns the name's bytes.
    fn as_bytes(&self) -> &[u8];

    /// Returns the name with these bytes. A name that is not UTF-8 becomes `?`, which names nothing.
    /// So does one of another machine, as `\\server\share` is: a list may name a server to which
    /// Windows would send this user's password hash.
    fn from_bytes(bytes: &[u8]) -> &OsStr;
}

impl OsStrExt for OsStr {
    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> &OsStr {
        OsStr::new(str::from_utf8(bytes).ok().filter(|name| is_local(name)).unwrap_or("?"))
    }
}

/// Returns whether a name does not begin with two separators.
fn is_local(name: &str) -> bool {
    let mut start = name.chars().take(2);
    !(start.next().is_some_and(std::path::is_separator)
        && start.next().is_some_and(std::path::is_separator))
}

/// Owned names as bytes.
pub trait OsStringExt {
    /// Returns the name with these bytes, as [`OsStrExt::from_bytes`] does.
    fn from_vec(bytes: Vec<u8>) -> OsString;

    /// Returns the name's bytes.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> OsString {
        OsStr::from_bytes(&bytes).to_os_string()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}

/// Returns whether a text is one name that Windows does not change. It refuses paths, drives,
/// streams and devices, and names that end with a dot or a space, which Windows removes.
pub fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    let is_one = matches!(parts.next(), Some(Component::Normal(one)) if one == name);
    let has_odd = |c: char| c < ' ' || "<>:\"/\\|?*".contains(c);
    is_one
        && parts.next().is_none()
        && !name.contains(has_odd)
        && !name.ends_with(['.', ' '])
        && !is_device(name)
}

/// Returns whether Windows reads a name as that of a device, in any directory and with any suffix.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let numbered = |start: &str| {
        stem.strip_prefix(start).is_some_and(|rest| {
            let mut rest = rest.chars();
            matches!(
                (rest.next(), rest.next()),
                (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None)
            )
        })
    };
    matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered("COM")
        || numbered("LPT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_machines_name_nothing() {
        for name in ["\\\\server\\share\\a", "//server/share/a", "\\/server", "\\\\?\\C:\\a"] {
            assert_eq!(OsStr::from_bytes(name.as_bytes()), "?", "{name}");
        }
        for name in ["a//b", "/a", "C:\\a", "a", ""] {
            assert_eq!(OsStr::from_bytes(name.as_bytes()), name);
        }
        assert_eq!(OsStr::from_bytes(b"\xff"), "?");
        assert_eq!(OsString::from_vec(b"\xff".to_vec()), "?");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["a", "a b", ".a", "CONSOLE", "COM", "COM10", "\u{e4}.txt"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "a\\b",
            "a/b",
            "C:",
            "C:a",
            "a:b",
            "a.",
            "a ",
            "NUL",
            "nul.txt",
            "COM1",
            "com1 .x",
            "LPT\u{b2}",
            "CONIN$",
            "a\0",
            "a\n",
            "a?",
            "a*",
            "\\\\server\\share",
        ] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
