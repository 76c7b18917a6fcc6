//! Exceptions. Those about values are subclasses of `ValueError`.

use std::io;
use std::path::Path;

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use tagmac::Error;
use tagmac::hazmat::PartError;
use tagmac_any::SessionError;
use tagmac_any::meter::MeterError;

create_exception!(tagmac, InvalidTag, PyValueError, "A tag or a seal is wrong.");
create_exception!(
    tagmac,
    IncompleteObject,
    PyValueError,
    "Partials do not cover the object: a range is missing or present twice."
);
create_exception!(tagmac, WrongKey, PyValueError, "The data belongs to another key.");
create_exception!(
    tagmac,
    WrongObject,
    PyValueError,
    "A partial belongs to another object or version."
);
create_exception!(tagmac, NonceRequired, PyValueError, "The MAC needs a nonce for each message.");
create_exception!(
    tagmac,
    NonceReuse,
    PyValueError,
    "The call could produce two tags under one nonce, which lets an attacker forge others."
);
create_exception!(
    tagmac,
    BudgetExhausted,
    PyValueError,
    "The key's budget is used up; use a new key."
);
create_exception!(
    tagmac,
    ReserveUsedUp,
    PyValueError,
    "The session has used its reserve; call reserve and save, and store the result."
);

/// The exception for a session's error.
pub fn session_refused(error: SessionError) -> PyErr {
    let line = error.to_string();
    match error {
        SessionError::ReserveUsedUp => ReserveUsedUp::new_err(line),
        // A new key would not help.
        SessionError::Meter(MeterError::BudgetExhausted {
            count: "bytes of a message", ..
        }) => PyValueError::new_err(line),
        SessionError::Meter(
            MeterError::BudgetExhausted { .. } | MeterError::Mac(Error::NoncesUsedUp { .. }),
        ) => BudgetExhausted::new_err(line),
        SessionError::Meter(MeterError::Mac(error)) => refused(error),
        _ => PyValueError::new_err(line),
    }
}

/// The exception for a MAC's error.
pub fn refused(error: impl Into<PartError>) -> PyErr {
    let error = error.into();
    match error {
        PartError::Mac(Error::NonceReused) => NonceReuse::new_err(error.to_string()),
        PartError::Mac(Error::NoRandomBytes) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for an error in work on files, partials or manifests.
pub fn failed(error: impl Into<tagmac_files::Error>) -> PyErr {
    use tagmac_files::ErrorKind;
    let error = error.into();
    let line = crate::say::line(&error);
    match error.kind() {
        ErrorKind::Mismatch => InvalidTag::new_err(line),
        ErrorKind::Incomplete => IncompleteObject::new_err(line),
        ErrorKind::Foreign => WrongObject::new_err(line),
        ErrorKind::Key => WrongKey::new_err(line),
        ErrorKind::Usage => PyValueError::new_err(line),
        ErrorKind::Io => PyOSError::new_err(line),
    }
}

/// The exception for pickling or copying an object that contains a key or its state, so that no key
/// ends up in a closure, a plan or a log. `instead` says what to do with the rest of the state.
#[cold]
pub fn stays(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "tagmac.{what} cannot be pickled or copied; {instead} a tagmac.KeyRef and call resolve() where \
         the key is used"
    ))
}

/// The `OSError` that Python itself would raise. Its class depends on the error number.
pub fn os_error(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let why = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
    match why {
        Ok(why) => PyOSError::new_err((number, why.unbind(), path.as_os_str().to_owned())),
        Err(error) => error,
    }
}
