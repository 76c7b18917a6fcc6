//! All calls of the operating system that differ between Unix and Windows. `unix.rs` and `windows.rs`
//! have the same items; the rest of the crate, and of the command, is the same for both.
//!
//! Names are bytes. On Unix they are those of the system; on Windows they are UTF-8, and a name that
//! the system could read as a path, a stream or a device names nothing.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn paths_below_a_directory_are_the_same_on_all_systems() {
        for (directory, joined) in [("a", "a/b/c"), ("a/", "a/b/c"), ("", "b/c"), ("..", "../b/c")]
        {
            let found = super::joined(Path::new(directory), OsStr::new("b/c"));
            assert_eq!(found.as_os_str(), joined);
        }
    }
}
