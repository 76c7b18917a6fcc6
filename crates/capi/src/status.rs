// What C gets: a number that says what to do, and the line that says why.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};

use tagmac::hazmat::PartError;
use tagmac::{Error, Mismatch};
use tagmac_any::meter::MeterError;
use tagmac_any::{GradeError, SessionError};
use tagmac_border::{Failure, FailureKind, guard};

/// All went well.
pub const TAGMAC_OK: c_int = 0;

/// The tag is not that of the message: the message, the nonce, the tag or the key is not the
/// sender's. Only the verify calls give it. Do not use the message.
pub const TAGMAC_MISMATCH: c_int = -1;

/// The program calls wrongly: a null pointer, a wrong size, an unknown algorithm, a nonce that was
/// used, calls out of order, an object that was moved, copied, never cleared, or is in use by another
/// thread.
pub const TAGMAC_MISUSE: c_int = -2;

/// A limit is reached: of a message, of a key's budget, of its nonces, or of what a session's last save
/// covers.
pub const TAGMAC_LIMIT: c_int = -3;

/// A key file or a saved session is missing, damaged or of another key.
pub const TAGMAC_INPUT: c_int = -4;

/// A fault of the library. Please report it.
pub const TAGMAC_INTERNAL: c_int = -5;

thread_local! {
    static LAST: RefCell<String> = RefCell::default();
}

/// Runs the body of a call; what it gives, or `otherwise` of its status, with its failure kept for
/// [`with_last`].
fn run<T>(otherwise: impl FnOnce(c_int) -> T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    guard(body).unwrap_or_else(|failure| {
        let status = match failure.kind() {
            FailureKind::Mismatch => TAGMAC_MISMATCH,
            FailureKind::Misuse => TAGMAC_MISUSE,
            FailureKind::Limit => TAGMAC_LIMIT,
            FailureKind::Input => TAGMAC_INPUT,
            FailureKind::Internal => TAGMAC_INTERNAL,
        };
        // A thread that is about to end has no place for it any more.
        let _ = LAST.try_with(|last| *last.borrow_mut() = failure.into_line());
        otherwise(status)
    })
}

/// Runs the body of a call; what it gives, or `otherwise`.
pub fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    run(|_| otherwise, body)
}

/// Runs the body of a call; the number that it gives, or the status of its failure.
pub fn number(body: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    run(|status| status, body)
}

/// Runs the body of a call: its status.
pub fn status(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    number(|| body().map(|()| TAGMAC_OK))
}

/// A wrong tag.
pub fn mismatch() -> Failure {
    Failure::from(Mismatch).of(FailureKind::Mismatch)
}

/// What a MAC refuses.
pub fn refused(error: Error) -> Failure {
    let kind = match error {
        Error::TooLong { .. } | Error::NoncesUsedUp { .. } => FailureKind::Limit,
        _ => FailureKind::Misuse,
    };
    Failure::from(error).of(kind)
}

/// What a session refuses.
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

/// What a check of a tag's first words refuses.
pub fn refused_grade(error: GradeError) -> Failure {
    match error {
        GradeError::Mismatch => mismatch(),
        GradeError::Refused(error) => refused_session(error.into()),
        _ => Failure::from(error).of(FailureKind::Misuse),
    }
}

/// What a part refuses.
pub fn refused_part(error: PartError) -> Failure {
    match error {
        PartError::Mac(error) => refused(error),
        _ => error.into(),
    }
}

/// Runs `body` with the line of the last failure on this thread.
pub fn with_last<T>(body: impl Fn(&str) -> T) -> T {
    LAST.try_with(|last| body(&last.borrow())).unwrap_or_else(|_| body(""))
}

/// A text that is never freed.
pub fn constant(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}
