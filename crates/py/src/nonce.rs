//! The nonce argument of a call.

use pyo3::prelude::*;
use tagmac_any::Algorithm;

use crate::buffer::{Bytes, bytes};
use crate::error::NonceRequired;

/// The nonce's bytes; empty for a deterministic MAC.
///
/// # Errors
///
/// [`NonceRequired`] if the MAC needs a nonce and `nonce` is `None`.
#[inline]
pub fn nonce_of<'a>(
    algorithm: Algorithm,
    nonce: Option<&'a Bound<'_, PyAny>>,
) -> PyResult<Bytes<'a>> {
    match nonce {
        Some(nonce) => bytes(nonce),
        None if *algorithm.nonce_bytes().start() > 0 => Err(no_nonce(algorithm)),
        None => Ok(Bytes::Fixed(&[])),
    }
}

#[cold]
fn no_nonce(algorithm: Algorithm) -> PyErr {
    let (min, max) = algorithm.nonce_bytes().into_inner();
    let bytes = if min == max { format!("{min}") } else { format!("{min} to {max}") };
    NonceRequired::new_err(format!("{algorithm} needs a nonce of {bytes} bytes for each message"))
}
