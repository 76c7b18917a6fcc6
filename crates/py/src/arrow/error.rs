//! Why an array cannot be used.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pub fn released() -> PyErr {
    PyValueError::new_err("expected an Arrow array, found a released one")
}

pub fn invalid(why: impl Display) -> PyErr {
    PyValueError::new_err(format!("invalid Arrow array: {why}"))
}
