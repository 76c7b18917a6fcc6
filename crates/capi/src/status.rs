// Return statuses, and the message of each thread's last failure.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};

use tagmac::hazmat::PartError;
use tagmac::save::SaveError;
use tagmac::{Error, Mismatch};
use tagmac_any::meter::MeterError;
use tagmac_any::{GradeError, SessionError};
use tagmac_border::{Failure, FailureKind, ensure, guard};

/// Success.
pub const TAGMAC_OK: c_int = 0;

/// The tag does not match: the message, the nonce, the tag or the key differs from the sender's. Do
/// not use the message. Only calls that verify return this.
pub const TAGMAC_MISMATCH: c_int = -1;

/// The program made a wrong call: a null pointer, a wrong size, an unknown algorithm, a reused
/// nonce, or calls out of order. Also returned for an object that was moved or copied, did not
/// begin as zeros, or is in use by another thread.
pub const TAGMAC_MISUSE: c_int = -2;

/// A limit was reached: the length of a message, the budget or the nonces of a key, or the messages
/// that a session's last save covers.
pub const TAGMAC_LIMIT: c_int = -3;

/// A file, or saved or sealed data, is missing, damaged, or belongs to another key.
pub const TAGMAC_INPUT: c_int = -4;

/// A bug in the library. Please report it.
pub const TAGMAC_INTERNAL: c_int = -5;

/// Your callback asked the call to stop. It has no result.
pub const TAGMAC_STOPPED: c_int = -6;

thread_local! {
    static LAST: RefCell<String> = RefCell::default();
}

/// Runs the body of a call. On failure stores the message for [`with_last`] and returns `otherwise`
/// of the status.
fn run<T>(otherwise: impl FnOnce(c_int) -> T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    guard(body).unwrap_or_else(|failure| {
        let status = match failure.kind() {
            FailureKind::Mismatch => TAGMAC_MISMATCH,
            FailureKind::Misuse => TAGMAC_MISUSE,
            FailureKind::Limit => TAGMAC_LIMIT,
            FailureKind::Input => TAGMAC_INPUT,
            FailureKind::Internal => TAGMAC_INTERNAL,
            FailureKind::Stopped => TAGMAC_STOPPED,
        };
        // Fails while the thread is being destroyed; then nothing can read the message anyway.
        let _ = LAST.try_with(|last| *last.borrow_mut() = failure.into_line());
        otherwise(status)
    })
}

/// Runs the body of a call; returns `otherwise` on failure.
pub fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    run(|_| otherwise, body)
}

/// Runs the body of a call that returns a number; returns the status on failure.
pub fn number(body: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    run(|status| status, body)
}

/// Runs the body of a call and returns its status.
pub fn status(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    number(|| body().map(|()| TAGMAC_OK))
}

pub fn mismatch() -> Failure {
    Failure::from(Mismatch).of(FailureKind::Mismatch)
}

/// The failure for an error of a MAC.
pub fn refused(error: Error) -> Failure {
    let kind = match error {
        Error::TooLong { .. } | Error::NoncesUsedUp { .. } => FailureKind::Limit,
        _ => FailureKind::Misuse,
    };
    Failure::from(error).of(kind)
}

/// The failure for an error of a session.
pub fn refused_session(error: SessionError) -> Failure {
    let kind = match error {
        SessionError::Meter(MeterError::Mac(error)) => return refused(error),
        SessionError::ReserveUsedUp | SessionError::Meter(_) => FailureKind::Limit,
        SessionError::SavedBytes { .. }
        | SessionError::SavedMagic
        | SessionError::SavedChecksum
        | SessionError::ForeignKey { .. } => FailureKind::Input,
        _ => FailureKind::Misuse,
    };
    Failure::from(error).of(kind)
}

/// The failure for an error of a check of a tag's first words.
pub fn refused_grade(error: GradeError) -> Failure {
    match error {
        GradeError::Mismatch => mismatch(),
        GradeError::Refused(error) => refused_session(error.into()),
        _ => Failure::from(error).of(FailureKind::Misuse),
    }
}

/// The failure for an error of saved or restored state.
pub fn refused_save(error: SaveError) -> Failure {
    let kind = match error {
        SaveError::Mac(error) => return refused(error),
        SaveError::Seal | SaveError::Saved { .. } | SaveError::NoMemory => FailureKind::Input,
        _ => FailureKind::Misuse,
    };
    Failure::from(error).of(kind).about("saved stream")
}

/// The failure for an error of a part.
pub fn refused_part(error: PartError) -> Failure {
    match error {
        PartError::Mac(error) => refused(error),
        _ => error.into(),
    }
}

/// Runs `body` with the message of the last failure on this thread.
pub fn with_last<T>(body: impl Fn(&str) -> T) -> T {
    LAST.try_with(|last| body(&last.borrow())).unwrap_or_else(|_| body(""))
}

/// Returns a string that is never freed.
pub fn constant(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}

/// A buffer of C for a result whose size C may not know, and the place for the size.
pub struct Output {
    what: &'static str,
    at: *mut u8,
    room: usize,
    size: *mut usize,
}

impl Output {
    /// Checks the place for the size.
    ///
    /// # Safety
    ///
    /// `room` bytes are writable at `at`, or `room` is 0; `size` is null or writable.
    pub unsafe fn new(
        what: &'static str,
        at: *mut u8,
        room: usize,
        size: *mut usize,
    ) -> Result<Output, Failure> {
        ensure(!size.is_null(), || format!("the size of {what} is a null pointer"))?;
        ensure(room == 0 || !at.is_null(), || format!("{what} is a null pointer"))?;
        Ok(Output { what, at, room, size })
    }

    /// Checks that `size` bytes fit, and otherwise writes only the size.
    pub fn fits(self, size: usize) -> Result<Output, Failure> {
        let Output { what, room, .. } = self;
        if size <= room {
            return Ok(Output { room: size, ..self });
        }
        // SAFETY: the caller of `new` guaranteed the place, which need not be aligned.
        unsafe { self.size.write_unaligned(size) };
        Err(format!("expected a buffer of at least {size} bytes for {what}, found {room}").into())
    }

    /// Writes the result that [`fits`](Output::fits) and its size.
    pub fn fill(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.room, "a result that fits");
        // SAFETY: the caller of `new` guaranteed the buffer and the place.
        unsafe {
            self.at.copy_from_nonoverlapping(bytes.as_ptr(), self.room);
            self.size.write_unaligned(self.room);
        }
    }
}
