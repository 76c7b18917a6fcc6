//! Exceptions. All that concern values are `ValueError`s.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use tagmac::Error;
use tagmac::dynamic::SessionError;
use tagmac::hazmat::PartError;
use tagmac::meter::MeterError;

create_exception!(tagmac, InvalidTag, PyValueError, "The tag is not that of the message.");
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
