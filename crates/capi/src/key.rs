// Keys, and messages in one piece.

use std::ffi::{c_char, c_int};
use std::fmt::Display;

use tagmac::{Mismatch, Tag};
use tagmac_any::{Algorithm, AnyMac, KeyFile, KeyId};
use tagmac_border::{Failure, FailureKind, Room, bytes, ensure};

use crate::global::{algorithm, level, name_of};
use crate::slot::{Held, Shared, free, slot};
use crate::status::{mismatch, refused, status, value};

/// A key and its algorithm. Begin with zeros: `tagmac_key key = {0};`. Several threads may use one
/// key at the same time, except while it is initialised or freed. Do not move or copy a key: the
/// calls refuse a copy.
#[repr(C)]
pub struct Key {
    opaque: [usize; 4],
}

impl Key {
    /// An empty key, all zeros.
    pub(crate) const EMPTY: Key = Key { opaque: [0; 4] };
}

/// The contents of a `tagmac_key`.
pub struct Keyed {
    pub mac: AnyMac,
}

impl Held for Keyed {
    const NAME: &'static str = "tagmac_key";
    const MAGIC: usize = 0x6b65_7931;
}

impl Keyed {
    /// Returns the length of a tag in bytes.
    pub fn tag_bytes(&self) -> usize {
        self.mac.tag_bits().div_ceil(8)
    }
}

/// Locks a key for reading.
///
/// # Safety
///
/// As [`slot`].
pub unsafe fn keyed<'a>(key: *const Key) -> Result<Shared<'a, Keyed>, Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { slot(key) }?.read()
}

/// Checks a tag. A tag with unused bits set matches no message.
pub fn compare(
    mac: &AnyMac,
    tag: &[u8],
    check: impl FnOnce(&Tag) -> Result<(), Mismatch>,
) -> Result<(), Failure> {
    let tag = Tag::new(tag, mac.tag_bits()).map_err(|_| mismatch())?;
    check(&tag).map_err(|Mismatch| mismatch())
}

/// Rejects a tag of the wrong length.
pub fn tag_length(what: &Keyed, found: usize) -> Result<(), Failure> {
    let expected = what.tag_bytes();
    ensure(found == expected, tagmac::Error::TagBytes { expected, found })
}

fn put(key: *mut Key, algorithm: Algorithm, bytes: &[u8], tag_bits: usize) -> Result<(), Failure> {
    // SAFETY: the caller of the C function guarantees the key.
    let mut key = unsafe { slot::<Keyed, Key>(key) }?.alone()?;
    key.vacant()?;
    let tag_bits = if tag_bits == 0 { algorithm.default_tag_bits() } else { tag_bits };
    let mac = AnyMac::with_options(algorithm, bytes, tag_bits, level()?)
        .map_err(|error| Failure::from(error).about(algorithm))?;
    key.put(Keyed { mac })
}

/// Marks an error as one of a missing or damaged key file.
fn unusable(error: impl Display) -> Failure {
    Failure::from(error.to_string()).of(FailureKind::Input)
}

/// Makes a key of a key file's text; `name` is the file's name in messages.
fn put_file(key: *mut Key, name: &str, text: &[u8], tag_bits: usize) -> Result<(), Failure> {
    let file = KeyFile::parse(text).map_err(|error| unusable(error).about(name))?;
    put(key, file.algorithm(), file.key(), tag_bits)
}

/// Reads key files; returns a file's name for messages and its text.
#[cfg(unix)]
mod file {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt;

    use tagmac_any::KeyFile;
    use tagmac_border::Failure;
    use tagmac_files::escaped::Escaped;
    use tagmac_files::{ReadError, key_file, open};
    use zeroize::Zeroizing;

    use super::unusable;

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
    use std::io::Read;

    use tagmac_any::KeyFile;
    use tagmac_border::{Failure, Quoted};
    use zeroize::Zeroizing;

    use super::unusable;

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

/// Makes a key from an algorithm and key bytes. Its tags have `tag_bits` bits; 0 selects the
/// longest tags. The bytes are copied: wipe your copy.
///
/// TAGMAC_MISUSE if the algorithm is unknown, if it does not support this length of key or tag, or
/// if `key` is already initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_init(
    key: *mut Key,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a string, and memory of that size.
        let (algorithm, bytes) =
            unsafe { (self::algorithm(algorithm)?, bytes("the key", key_bytes, key_size)?) };
        put(key, algorithm, bytes, tag_bits)
    })
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

/// Wipes a key, frees its memory, and leaves zeros. Streams and sessions made from the key stay
/// valid. Does nothing to an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_free(key: *mut Key) -> c_int {
    // SAFETY: the header requires a key.
    status(|| unsafe { free::<Keyed, Key>(key) })
}

/// Returns the name of the key's algorithm. NULL for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_algorithm(key: *const Key) -> *const c_char {
    // SAFETY: the header requires a key.
    value(std::ptr::null(), || Ok(name_of(unsafe { keyed(key) }?.mac.algorithm())))
}

/// Writes the public ID of the key and its algorithm: 8 bytes, the same as in key files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_id(key: *const Key, id: *mut u8, id_size: usize) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and a buffer of that size.
        let (key, room) = unsafe { (keyed(key)?, Room::new("the id", id, id_size, KeyId::BYTES)?) };
        room.fill(key.mac.key_id().as_bytes());
        Ok(())
    })
}

/// Returns the length of the key's tags in bytes. 0 for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_tag_size(key: *const Key) -> usize {
    // SAFETY: the header requires a key.
    value(0, || Ok(unsafe { keyed(key) }?.tag_bytes()))
}

/// Writes the tag of a message. `tag_size` must equal tagmac_key_tag_size(). Never use a nonce for
/// two messages under the same key. For algorithms without a nonce, pass NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_tag(
    key: *const Key,
    tag: *mut u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, nonce, message) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            (keyed(key)?, nonce, bytes("the message", message, message_size)?)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("the tag", tag, tag_size, key.tag_bytes()) }?;
        room.fill(key.mac.tag(nonce, message).map_err(refused)?.as_bytes());
        Ok(())
    })
}

/// Checks the tag of a message in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong.
/// Use the message only after 0.
///
/// `tag_size` must equal tagmac_key_tag_size(), so a truncated tag never passes. Messages over the
/// algorithm's length limit always return TAGMAC_MISMATCH.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_key_verify(
    key: *const Key,
    tag: *const u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, nonce, message, tag) = unsafe {
            let (nonce, tag) =
                (bytes("the nonce", nonce, nonce_size)?, bytes("the tag", tag, tag_size)?);
            (keyed(key)?, nonce, bytes("the message", message, message_size)?, tag)
        };
        tag_length(&key, tag.len())?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        compare(&key.mac, tag, |tag| key.mac.verify(nonce, message, tag))
    })
}

/// Writes the tag of a message in one call, without a tagmac_key. The tag is the longest of the
/// algorithm: 16 bytes for every algorithm based on AES. To tag several messages, make a
/// tagmac_key, which prepares the key only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_tag(
    tag: *mut u8,
    tag_size: usize,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    let mut key = Key::EMPTY;
    // SAFETY: the header requires the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_tag(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Checks the tag of a message in one call, in constant time: 0 if it is right, TAGMAC_MISMATCH if
/// it is wrong. `tag_size` must be the longest tag of the algorithm in bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_verify(
    tag: *const u8,
    tag_size: usize,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    let mut key = Key::EMPTY;
    // SAFETY: the header requires the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_verify(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Returns the size of a tagmac_key in bytes, for languages that cannot use sizeof.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_size() -> usize {
    size_of::<Key>()
}

/// Returns the alignment of a tagmac_key in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_align() -> usize {
    align_of::<Key>()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::{CStr, CString};
    use std::fs::{self, File};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::Command;
    use std::time::SystemTime;

    use super::*;
    use crate::status::{TAGMAC_INPUT, TAGMAC_MISUSE, TAGMAC_OK, with_last};

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

    #[test]
    fn names_in_lines_show_no_control_characters_and_are_cut() {
        let line = |name: &CStr| {
            let mut key = Key::EMPTY;
            // SAFETY: a key of this frame and a C string.
            let status =
                unsafe { tagmac_key_init(&mut key, name.as_ptr(), [7; 16].as_ptr(), 16, 0) };
            assert_eq!(status, TAGMAC_MISUSE);
            with_last(str::to_string)
        };
        assert!(line(c"a\x1b[2J").contains("'a\\u{1b}[2J'"));
        let long = CString::new(vec![b'x'; 1 << 20]).expect("no NUL");
        assert!(line(&long).len() < 256);
    }
}
