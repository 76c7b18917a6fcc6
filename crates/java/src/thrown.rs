//! Exceptions: their classes, and those for the errors of the library.

use std::ffi::{CStr, CString};

use tagmac::batch::BatchError;
use tagmac::{Error, Mismatch};
use tagmac_any::SessionError;
use tagmac_any::meter::{MeterError, MeteredVerifyError};
use tagmac_border::{Failure, FailureKind, guard};

/// An exception to throw.
#[derive(Debug)]
pub struct Thrown {
    /// The class; `None` if the JVM has thrown an exception already.
    class: Option<&'static CStr>,
    line: String,
}

impl Thrown {
    fn new(class: &'static CStr, line: impl ToString) -> Thrown {
        Thrown { class: Some(class), line: line.to_string() }
    }

    /// The exception that a call of the JVM has thrown.
    pub const PENDING: Thrown = Thrown { class: None, line: String::new() };

    /// For an argument that is wrong.
    pub fn argument(line: impl ToString) -> Thrown {
        Thrown::new(c"java/lang/IllegalArgumentException", line)
    }

    /// The exception for a call that the object's state does not allow.
    pub fn state(line: impl ToString) -> Thrown {
        Thrown::new(c"java/lang/IllegalStateException", line)
    }

    /// For a range outside of its array or buffer.
    pub fn range(line: impl ToString) -> Thrown {
        Thrown::new(c"java/lang/IndexOutOfBoundsException", line)
    }

    /// For null.
    pub fn null(what: &str) -> Thrown {
        Thrown::new(c"java/lang/NullPointerException", format!("{what} is null"))
    }

    /// For a file that cannot be read or has the wrong contents.
    pub fn io(line: impl ToString) -> Thrown {
        Thrown::new(c"java/io/IOException", line)
    }

    /// For a bug of this library.
    pub fn internal(line: impl ToString) -> Thrown {
        Thrown::new(c"java/lang/InternalError", line)
    }

    /// Puts the name of the object and a colon before the line.
    pub fn about(self, what: impl std::fmt::Display) -> Thrown {
        Thrown { line: format!("{what}: {}", self.line), ..self }
    }

    /// The class and the message; `None` if the JVM has thrown already.
    pub fn into_class(self) -> Option<(&'static CStr, CString)> {
        // JNI reads a form of UTF-8 in which characters of four bytes are invalid.
        let basic = |c: char| if c.len_utf8() > 3 || c == '\0' { '\u{fffd}' } else { c };
        let line: String = self.line.chars().map(basic).collect();
        Some((self.class?, CString::new(line).expect("without NUL")))
    }
}

impl From<Error> for Thrown {
    fn from(error: Error) -> Thrown {
        match error {
            Error::NoncesUsedUp { .. } => Thrown::new(BUDGET, error),
            Error::NoRandomBytes => Thrown::state(error),
            _ => Thrown::argument(error),
        }
    }
}

impl From<BatchError> for Thrown {
    fn from(error: BatchError) -> Thrown {
        Thrown::argument(error)
    }
}

const BUDGET: &CStr = c"org/tagmac/BudgetExhaustedException";
const RESERVE: &CStr = c"org/tagmac/ReserveUsedUpException";

impl From<SessionError> for Thrown {
    fn from(error: SessionError) -> Thrown {
        match error {
            SessionError::ReserveUsedUp => Thrown::new(RESERVE, error),
            // A new key would not help.
            SessionError::Meter(MeterError::BudgetExhausted {
                count: "bytes of a message",
                ..
            }) => Thrown::argument(error),
            SessionError::Meter(MeterError::Mac(error)) => error.into(),
            SessionError::Meter(MeterError::BudgetExhausted { .. }) => Thrown::new(BUDGET, error),
            _ => Thrown::argument(error),
        }
    }
}

#[cfg(unix)]
const DAMAGED: &CStr = c"org/tagmac/DamagedFileException";

#[cfg(unix)]
impl From<tagmac_files::Error> for Thrown {
    fn from(error: tagmac_files::Error) -> Thrown {
        use tagmac_files::ErrorKind;
        use tagmac_files::manifest::ManifestError;

        if let tagmac_files::Error::Manifest(why) = &error
            && matches!(**why, ManifestError::NoEntry { .. })
        {
            return Thrown::new(c"java/io/FileNotFoundException", error);
        }
        match error.kind() {
            ErrorKind::Mismatch => Thrown::new(DAMAGED, error),
            ErrorKind::Usage => Thrown::argument(error),
            ErrorKind::Incomplete | ErrorKind::Foreign | ErrorKind::Key | ErrorKind::Io => {
                Thrown::io(error)
            }
        }
    }
}

/// Returns whether a check of a session succeeded.
pub fn verdict(checked: Result<(), MeteredVerifyError>) -> Result<bool, Thrown> {
    match checked {
        Ok(()) => Ok(true),
        Err(MeteredVerifyError::Mismatch) => Ok(false),
        Err(MeteredVerifyError::Refused(error)) => Err(SessionError::from(error).into()),
    }
}

/// Returns whether a check succeeded.
pub fn passed(checked: Result<(), Mismatch>) -> bool {
    checked.is_ok()
}

/// Runs the body of a call; a panic becomes an exception.
#[inline]
pub fn guarded<T>(body: impl FnOnce() -> Result<T, Thrown>) -> Result<T, Thrown> {
    match guard(|| Ok(body())) {
        Ok(done) => done,
        Err(panic) => Err(internal(panic)),
    }
}

#[cold]
fn internal(panic: Failure) -> Thrown {
    debug_assert_eq!(panic.kind(), FailureKind::Internal);
    Thrown::internal(panic.into_line())
}
