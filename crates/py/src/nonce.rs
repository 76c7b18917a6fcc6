//! The nonce of a call, which a MAC takes or not.

use pyo3::prelude::*;
use tagmac_any::Algorithm;

use crate::buffer::{Bytes, bytes};
use crate::error::NonceRequired;

/// The nonce's bytes; none for a deterministic MAC.
///
/// # Errors
///
/// [`NonceRequired`] if the MAC takes a nonce and there is none.
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
    NonceRequired::new_err(format!("{algorithm}: expected a nonce of {bytes} bytes, found none"))
}
