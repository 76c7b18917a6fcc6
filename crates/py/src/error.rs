//! Exceptions. All that concern values are `ValueError`s.

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
    "The partials make no whole: a range is missing, or there twice."
);
create_exception!(tagmac, WrongKey, PyValueError, "Something belongs to another key.");
create_exception!(tagmac, WrongObject, PyValueError, "A partial is of another object or version.");
create_exception!(tagmac, NonceRequired, PyValueError, "The MAC takes a nonce, and got none.");
create_exception!(
    tagmac,
    NonceReuse,
    PyValueError,
    "The call could lead to two tags under one nonce, from which others can be forged."
);
create_exception!(tagmac, BudgetExhausted, PyValueError, "The key may do no more: take a new one.");
create_exception!(
    tagmac,
    ReserveUsedUp,
    PyValueError,
    "The session's last save covers no more: reserve, save and store."
);

/// The exception for what a session refuses.
pub fn session_refused(error: SessionError) -> PyErr {
    let line = error.to_string();
    match error {
        SessionError::ReserveUsedUp => ReserveUsedUp::new_err(line),
        // No new key would help.
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

/// The exception for what a MAC refuses.
pub fn refused(error: impl Into<PartError>) -> PyErr {
    let error = error.into();
    match error {
        PartError::Mac(Error::NonceReused) => NonceReuse::new_err(error.to_string()),
        PartError::Mac(Error::NoRandomBytes) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The exception for what ended a piece of work on files, partials or manifests.
#[cfg(unix)]
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

/// The exception for a pickle or a copy of what holds a key or its state. `instead` is what to do with
/// what else it holds.
#[cold]
pub fn stays(what: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a tagmac.{what} is neither pickled nor copied, so that no key enters a closure, a plan or a \
         log: {instead} tagmac.KeyRef.file(path), .env(name), .command(words) or .secret(name), and \
         call its resolve() where the key is used"
    ))
}

/// The `OSError` that Python itself would raise: its class goes by the number.
pub fn os_error(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let why = py.import("os").and_then(|os| os.call_method1("strerror", (number,)));
    match why {
        Ok(why) => PyOSError::new_err((number, why.unbind(), path.as_os_str().to_owned())),
        Err(error) => error,
    }
}
