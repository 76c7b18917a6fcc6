//! Exceptions. All that concern values are `ValueError`s.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use tagmac::Error;
use tagmac::hazmat::PartError;

create_exception!(tagmac, InvalidTag, PyValueError, "The tag is not that of the message.");
create_exception!(tagmac, NonceRequired, PyValueError, "The MAC takes a nonce, and got none.");
create_exception!(
    tagmac,
    NonceReuse,
    PyValueError,
    "The call could lead to two tags under one nonce, from which others can be forged."
);

/// The exception for what a MAC refuses.
pub fn refused(error: impl Into<PartError>) -> PyErr {
    let error = error.into();
    match error {
        PartError::Mac(Error::NonceReused) => NonceReuse::new_err(error.to_string()),
        PartError::Mac(Error::NoRandomBytes) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
