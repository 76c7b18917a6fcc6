// Files: their tags, on several threads.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use tagmac::Tag;
use tagmac_border::{Failure, FailureKind, Room, bytes, ensure};
use tagmac_files::escaped::Escaped;
use tagmac_files::open_key::OpenKey;
use tagmac_files::read::FileReader;
use tagmac_files::{ErrorKind, ReadError, open};

use crate::key::{Key, Keyed, compare, keyed, tag_length};
use crate::status::{mismatch, status};

/// A callback of yours that shows the progress of a call. `done` and `total` are in bytes; `total`
/// is UINT64_MAX if it is unknown. `context` is the pointer that you passed with the callback.
/// Return 0 to continue, or anything else to stop the call, which then returns TAGMAC_STOPPED.
///
/// It runs on the thread of the call: at the start, at the end, and at most 20 times a second
/// in between. It must return: no longjmp() and no C++ exception. It may use the key of the call, but
/// not free it.
pub type Progress =
    Option<unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64) -> c_int>;

/// The time between two calls of a callback.
const REST: Duration = Duration::from_millis(50);

/// A callback, and its counts.
struct Watch {
    call: Progress,
    context: *mut c_void,
    caller: ThreadId,
    done: AtomicU64,
    total: u64,
    is_stopped: AtomicBool,
    last: Mutex<Instant>,
}

// SAFETY: the context is only passed to the callback, and `tell` runs on the caller's thread alone.
unsafe impl Sync for Watch {}

impl Watch {
    fn new(call: Progress, context: *mut c_void) -> Watch {
        Watch {
            call,
            context,
            caller: thread::current().id(),
            done: AtomicU64::new(0),
            total: u64::MAX,
            is_stopped: AtomicBool::new(false),
            last: Mutex::new(Instant::now()),
        }
    }

    /// Calls back. Returns whether the work should go on. Only for the caller's thread.
    fn tell(&self) -> bool {
        if let Some(call) = self.call {
            let done = self.done.load(Ordering::Relaxed);
            // SAFETY: the header requires a callback that can be called with its context on this
            // thread.
            if unsafe { call(self.context, done, self.total) } != 0 {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
        }
        !self.is_stopped.load(Ordering::Relaxed)
    }

    fn is_due(&self) -> bool {
        let mut last = self.last.lock().expect("no holder panics");
        let due = last.elapsed() >= REST;
        if due {
            *last = Instant::now();
        }
        due
    }
}

impl tagmac_files::progress::Progress for Watch {
    fn add(&self, bytes: usize) {
        self.done.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn skip(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    fn file(&self) {}

    fn is_stopped(&self) -> bool {
        let stopped = self.is_stopped.load(Ordering::Relaxed);
        if stopped || self.call.is_none() || thread::current().id() != self.caller {
            return stopped;
        }
        self.is_due() && !self.tell()
    }
}

/// Returns the path that a C string names.
///
/// # Safety
///
/// As [`tagmac_border::string`].
pub unsafe fn path<'a>(what: &str, path: *const c_char) -> Result<&'a Path, Failure> {
    // SAFETY: guaranteed by the caller.
    let path: &CStr = unsafe { tagmac_border::string(what, path) }?;
    Ok(OsStr::from_bytes(path.to_bytes()).as_ref())
}

/// Returns a key for what is stored under it.
pub fn open_key(key: &Keyed) -> OpenKey {
    OpenKey { mac: key.mac.clone(), sealer: key.sealer().clone() }
}

/// The failure for an error of tagmac_files.
pub fn failed(error: impl Into<tagmac_files::Error>) -> Failure {
    let error = error.into();
    let kind = match error.kind() {
        ErrorKind::Mismatch => FailureKind::Mismatch,
        ErrorKind::Usage => FailureKind::Misuse,
        ErrorKind::Incomplete | ErrorKind::Foreign | ErrorKind::Key | ErrorKind::Io => {
            FailureKind::Input
        }
    };
    Failure::from(error).of(kind)
}

/// The failure for an error of reading a file.
fn unread(path: &Path, error: ReadError) -> Failure {
    let kind = match error {
        ReadError::Stopped => FailureKind::Stopped,
        ReadError::TooLong { .. } => FailureKind::Limit,
        _ => FailureKind::Input,
    };
    Failure::from(error).of(kind).about(Escaped::name(path))
}

/// Returns the tag of a file.
fn tag_of(
    key: &Keyed,
    nonce: &[u8],
    path: &Path,
    threads: usize,
    mut watch: Watch,
) -> Result<Tag, Failure> {
    key.mac.algorithm().check_nonce(nonce.len())?;
    let failed = |error| unread(path, error);
    let (file, before) = open::given(path).map_err(failed)?;
    let total = FileReader::new(&key.mac, 1, &()).size(&file, &before);
    watch.total = total.unwrap_or(u64::MAX);
    ensure_going(&watch, path)?;
    let mut reader = FileReader::new(&key.mac, threads, &watch);
    let tagged = reader.tag_named(path, &file, &before, nonce).map_err(failed)?;
    ensure_going(&watch, path)?;
    Ok(tagged.tag)
}

fn ensure_going(watch: &Watch, path: &Path) -> Result<(), Failure> {
    ensure(watch.tell(), || "").map_err(|_| unread(path, ReadError::Stopped))
}

/// Writes the tag of a file, which is the tag of its bytes as one message.
///
/// `threads` threads read and hash the file; 0 means one for each core, and 1 starts none. A small
/// file uses fewer. Only algorithms with parts use several: see `block` of tagmac_algorithm_sizes().
/// `progress` and its `context` may be NULL.
///
/// TAGMAC_INPUT if the file cannot be read, or changes or is replaced while it is read. Named pipes
/// are refused as by tagmac_key_load(). TAGMAC_LIMIT if it is longer than the algorithm's limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_file_tag(
    key: *const Key,
    tag: *mut u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    path: *const c_char,
    threads: usize,
    progress: Progress,
    context: *mut c_void,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, a string, and memory of that size.
        let (key, nonce, path) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            (keyed(key)?, nonce, self::path("the path", path)?)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("the tag", tag, tag_size, key.tag_bytes()) }?;
        room.fill(tag_of(key, nonce, path, threads, Watch::new(progress, context))?.as_bytes());
        Ok(())
    })
}

/// Checks the tag of a file in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong. The
/// other arguments and statuses are those of tagmac_file_tag(); files over the algorithm's limit
/// always return TAGMAC_MISMATCH.
///
/// The file may change after the call. So use it only if nobody else can write to it, or read
/// verified bytes with a tagmac_file.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_file_verify(
    key: *const Key,
    tag: *const u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    path: *const c_char,
    threads: usize,
    progress: Progress,
    context: *mut c_void,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, a string, and memory of those sizes.
        let (key, nonce, tag, path) = unsafe {
            let (nonce, tag) =
                (bytes("the nonce", nonce, nonce_size)?, bytes("the tag", tag, tag_size)?);
            (keyed(key)?, nonce, tag, self::path("the path", path)?)
        };
        tag_length(key, tag.len())?;
        let expected = tag_of(key, nonce, path, threads, Watch::new(progress, context));
        let expected = expected.map_err(|failure| match failure.kind() {
            FailureKind::Limit => mismatch(),
            _ => failure,
        })?;
        compare(&key.mac, tag, |tag| tagmac::internals::matches(Ok(expected), tag))
    })
}
