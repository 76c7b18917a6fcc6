//! Exceptions for arrays that cannot be read.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

pub fn released() -> PyErr {
    PyValueError::new_err("the Arrow array was released; export it again")
}

pub fn invalid(why: impl Display) -> PyErr {
    PyValueError::new_err(format!("invalid Arrow array: {why}"))
}
