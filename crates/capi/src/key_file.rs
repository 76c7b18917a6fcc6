// Keys in key files, and new keys.

use std::ffi::{c_char, c_int};
use std::fmt::Display;
use std::time::SystemTime;

use tagmac_any::KeyFile;
use tagmac_border::{Failure, FailureKind, bytes};

use crate::global::algorithm;
use crate::key::{Key, Keyed, keyed, put};
use crate::status::status;

/// Marks an error as one of a missing or damaged key file.
fn unusable(error: impl Display) -> Failure {
    Failure::from(error.to_string()).of(FailureKind::Input)
}

/// Makes a key of a key file's text; `name` is the file's name in messages.
fn put_file(key: *mut Key, name: &str, text: &[u8], tag_bits: usize) -> Result<(), Failure> {
    let file = KeyFile::parse(text).map_err(|error| unusable(error).about(name))?;
    // SAFETY: the caller of the C function guarantees the key.
    unsafe { put(key, || Keyed::new(file.algorithm(), file.key(), tag_bits)) }
}

/// Reads key files, and returns a file's name for messages and its text; writes new ones.
#[cfg(unix)]
mod file {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt;

    use tagmac_any::KeyFile;
    use tagmac_border::Failure;
    use tagmac_files::escaped::Escaped;
    use tagmac_files::overwrite::Overwrite;
    use tagmac_files::{ReadError, key_file, new_file, open};
    use zeroize::Zeroizing;

    use super::unusable;

    /// Writes a file that appears complete or not at all, and that only its owner may read.
    pub fn write(path: &CStr, text: &[u8]) -> Result<(), Failure> {
        let path = OsStr::from_bytes(path.to_bytes()).as_ref();
        let written = new_file::write(path, 0o600, Overwrite::Nothing, text);
        written.map_err(|error| unusable(error).about("key file"))
    }

    /// Opens the file under the same rules as the command opens files that its user names.
    pub fn read(path: &CStr) -> Result<(String, Zeroizing<Vec<u8>>), Failure> {
        let name = format!("key file {}", Escaped::bytes(path.to_bytes()));
        let read = || {
            let (file, _) = open::given(OsStr::from_bytes(path.to_bytes()).as_ref())?;
            Ok(key_file::read(file)?)
        };
        let text = read().map_err(|error: ReadError| unusable(error).about(&name))?;
        if text.len() > KeyFile::MAX_BYTES {
            let limit = KeyFile::MAX_BYTES;
            let more = format_args!("too long: a key file has at most {limit} bytes");
            return Err(unusable(more).about(&name));
        }
        Ok((name, text))
    }
}

/// A plain reader for systems on which the command does not run.
#[cfg(not(unix))]
mod file {
    use std::ffi::CStr;
    use std::fs::File;
    use std::io::{Read, Write};

    use tagmac_any::KeyFile;
    use tagmac_border::{Failure, Quoted};
    use zeroize::Zeroizing;

    use super::unusable;

    pub fn write(path: &CStr, text: &[u8]) -> Result<(), Failure> {
        let path = path.to_str().map_err(|_| "the path is not valid UTF-8")?;
        let written = File::create_new(path).and_then(|mut file| {
            file.write_all(text)?;
            file.sync_all()
        });
        written.map_err(|error| unusable(error).about(format_args!("key file {}", Quoted(path))))
    }

    pub fn read(path: &CStr) -> Result<(String, Zeroizing<Vec<u8>>), Failure> {
        let path = path.to_str().map_err(|_| "the path is not valid UTF-8")?;
        let name = format!("key file {}", Quoted(path));
        // A vector that grows would leave unwiped copies of the key.
        let mut found = Zeroizing::new(Vec::with_capacity(KeyFile::MAX_BYTES + 64));
        let read = File::open(path)
            .and_then(|file| file.take(KeyFile::MAX_BYTES as u64 + 1).read_to_end(&mut found))
            .map_err(|error| unusable(error).about(&name))?;
        if read > KeyFile::MAX_BYTES {
            let limit = KeyFile::MAX_BYTES;
            let more = format_args!("too long: a key file has at most {limit} bytes");
            return Err(unusable(more).about(&name));
        }
        Ok((name, found))
    }
}

/// Makes a key from a key file that 'tagmac keygen' wrote. TAGMAC_INPUT if the file is missing,
/// unreadable or damaged.
///
/// Named pipes are refused, because opening one could wait forever for its writer. Pipes of the
/// process itself, such as /dev/stdin and /dev/fd/63, are read to the end. Unlike the command, this
/// call does not check who could have written the file. Anyone who can replace the key can make
/// tags that you accept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_load(
    key: *mut Key,
    path: *const c_char,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a NUL-terminated string.
        let path = unsafe { tagmac_border::string("the path", path) }?;
        let (name, text) = file::read(path)?;
        put_file(key, &name, &text, tag_bits)
    })
}

/// Makes a key from the text of a key file, like tagmac_key_load().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_parse(
    key: *mut Key,
    file_text: *const c_char,
    file_size: usize,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires memory of that size.
        let text = unsafe { bytes("the key file", file_text.cast(), file_size) }?;
        put_file(key, "key file", text, tag_bits)
    })
}

/// Makes a new random key for an algorithm, of the recommended length. The bytes are from the
/// system's generator and never leave the library: store the key with tagmac_key_save().
///
/// TAGMAC_MISUSE if the algorithm is unknown, if it does not support this length of tag, or if
/// `key` is already initialised. TAGMAC_INTERNAL if the system has no random bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_keygen(
    key: *mut Key,
    algorithm: *const c_char,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a string.
        let algorithm = unsafe { self::algorithm(algorithm) }?;
        let make = || {
            let file = KeyFile::generate(algorithm, SystemTime::now())
                .map_err(|error| Failure::from(error).of(FailureKind::Internal))?;
            Keyed::new(algorithm, file.key(), tag_bits)
        };
        // SAFETY: the header requires a key.
        unsafe { put(key, make) }
    })
}

/// Writes a key to a new key file, which tagmac_key_load() and the command read. Only the owner may
/// read the file, and it appears complete or not at all.
///
/// TAGMAC_INPUT if the file exists or cannot be written. The length of tags is not stored: pass it
/// again to tagmac_key_load().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_save(key: *const Key, path: *const c_char) -> c_int {
    status(|| {
        // SAFETY: the header requires a key and a NUL-terminated string.
        let (key, path) = unsafe { (keyed(key)?, tagmac_border::string("the path", path)?) };
        let file = KeyFile::new(key.mac.algorithm(), key.bytes(), SystemTime::now())?;
        file::write(path, file.to_text().as_bytes())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::CString;
    use std::fs::{self, File};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::Command;

    use tagmac_any::Algorithm;

    use super::*;
    use crate::key::tagmac_key_free;
    use crate::status::{TAGMAC_INPUT, TAGMAC_OK, with_last};

    fn key_text() -> Vec<u8> {
        let algorithm = Algorithm::from_name("PMAC-AES128").expect("a name of the registry");
        let file = KeyFile::new(algorithm, &[7; 16], SystemTime::UNIX_EPOCH).expect("16 bytes");
        file.to_text().as_bytes().to_vec()
    }

    fn load(path: &Path) -> (c_int, String) {
        let path = CString::new(path.as_os_str().as_bytes()).expect("the path");
        let mut key = Key::EMPTY;
        // SAFETY: a key of this frame and a C string.
        unsafe {
            let status = tagmac_key_load(&mut key, path.as_ptr(), 0);
            assert_eq!(tagmac_key_free(&mut key), TAGMAC_OK);
            (status, with_last(str::to_string))
        }
    }

    #[test]
    fn a_named_pipe_is_refused_and_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("coreutils").success());
        // The writer waits for a reader. If the library opened the pipe, it would find a valid key.
        let (to, text) = (pipe.clone(), key_text());
        let writer = std::thread::spawn(move || fs::write(to, text));
        let (status, line) = load(&pipe);
        assert_eq!(status, TAGMAC_INPUT);
        assert!(line.contains("expected a file, found a named pipe"), "{line}");
        assert_eq!(fs::read(&pipe).expect("what the writer has"), key_text());
        writer.join().expect("no panic").expect("written");
    }

    #[test]
    fn a_pipe_of_the_process_is_read_to_its_end() {
        let (from, mut to) = std::io::pipe().expect("a pipe");
        let path = format!("/dev/fd/{}", from.as_raw_fd());
        let reader = std::thread::spawn(move || (load(path.as_ref()), from));
        std::io::Write::write_all(&mut to, &key_text()).expect("a reader");
        drop(to);
        let ((status, line), _from) = reader.join().expect("no panic");
        assert_eq!(status, TAGMAC_OK, "{line}");
    }

    #[test]
    fn lines_show_no_control_characters_of_a_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a\n\u{1b}[2J");
        let shown = format!("key file $'{}/a\\n\\033[2J': ", folder.path().display());
        let (status, line) = load(&path);
        assert_eq!((status, &*line), (TAGMAC_INPUT, &*format!("{shown}No such file or directory")));
        fs::write(&path, [0; KeyFile::MAX_BYTES + 1]).expect("a file");
        let (status, line) = load(&path);
        let more = format!("{shown}too long: a key file has at most 65536 bytes");
        assert_eq!((status, line), (TAGMAC_INPUT, more));
        fs::write(&path, "no key").expect("a file");
        let (status, line) = load(&path);
        assert!(status == TAGMAC_INPUT && line.starts_with(&format!("{shown}line 1: ")), "{line}");
        let (status, line) = load(folder.path());
        let directory =
            format!("key file {}: expected a file, found a directory", folder.path().display());
        assert_eq!((status, line), (TAGMAC_INPUT, directory));
    }

    #[test]
    fn a_path_need_not_be_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        drop(File::create_new(&path).expect("a file"));
        fs::write(&path, key_text()).expect("a file");
        let (status, line) = load(&path);
        assert_eq!(status, TAGMAC_OK, "{line}");
    }
}
