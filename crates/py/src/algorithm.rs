//! Looks up algorithms by name, with Python's exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tagmac_any::{Algorithm, UnknownAlgorithm};

/// Returns the algorithm called `name`, or a `ValueError` that says where the names are.
pub fn named(name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name).map_err(|unknown| {
        PyValueError::new_err(match unknown {
            UnknownAlgorithm::Name(name) => {
                format!("unknown algorithm {name:?}: tagmac.algorithms_available lists the names")
            }
            other => other.to_string(),
        })
    })
}
