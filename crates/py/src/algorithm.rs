//! Algorithms by the names that Python's callers give.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tagmac_any::{Algorithm, UnknownAlgorithm};

/// The algorithm of this name.
pub fn named(name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name).map_err(|unknown| {
        PyValueError::new_err(match unknown {
            UnknownAlgorithm::Name(name) => {
                format!("expected one of tagmac.algorithms_available, found the algorithm {name:?}")
            }
            other => other.to_string(),
        })
    })
}
