//! The Python package `tagmac`: the registry's MACs with the interfaces of Python's hashes and
//! MACs.
//!
//! All work goes through [`tagmac_any`], so a MAC that is added there is available here. Objects
//! are frozen, except that [`mac::Mac`] and [`session::Session`] have a state behind a lock.
//! `docs/guide/python.md` is for users, and `python/tagmac/_tagmac.pyi` has the types.
//!
//! Two rules hold everywhere. A thread detaches from the interpreter for work on more than 2 KiB.
//! It never waits for the interpreter while it holds a lock.

mod algorithm;
mod arrow;
mod audit;
mod batch;
mod buffer;
mod diagnostic;
mod error;
mod file;
mod key;
mod key_source;
mod mac;
mod manifest;
mod many;
mod memory;
mod nonce;
mod objects;
mod part;
mod place;
mod progress;
mod say;
mod secret;
mod session;
#[cfg(feature = "objects")]
mod store;
mod tree;
mod verified;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tagmac_any::Algorithm;

use crate::buffer::{bytes, released};
use crate::error::{
    BudgetExhausted, IncompleteObject, InvalidTag, NonceRequired, NonceReuse, ReserveUsedUp,
    WrongKey, WrongObject, refused,
};
use crate::key::{Key, mac_of};
use crate::mac::{Mac, check};
use crate::nonce::nonce_of;

/// The compiled part of the package tagmac; import tagmac instead.
#[pymodule(gil_used = false)]
mod _tagmac {
    use super::*;

    #[pymodule_export]
    use super::{
        Key, Mac, digest, file::file_digest, many::tag_many, many::verify_many, new,
        session::Session, verify,
    };

    #[pymodule_export]
    use super::objects::{
        Filter, record_fields, rename_pairs, rename_readings, root_open, root_seal, shard_name,
        shard_open, shard_seal,
    };
    #[pymodule_export]
    use super::{
        audit::{AuditReport, Difference, audit},
        manifest::{Sealed, seal},
        part::{Part, Partial, combine},
        tree::Tree,
        verified::{Content, Manifest, ManifestEntry, SealedFile},
    };

    #[cfg(feature = "objects")]
    #[pymodule_export]
    use super::store::{Store, StoreListing};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        diagnostic::log_remarks();
        module.add("BudgetExhausted", py.get_type::<BudgetExhausted>())?;
        module.add("IncompleteObject", py.get_type::<IncompleteObject>())?;
        let invalid_tag = py.get_type::<InvalidTag>();
        // `verify_many` sets it to the wrong messages' indices.
        invalid_tag.setattr("indices", PyTuple::empty(py))?;
        module.add("InvalidTag", invalid_tag)?;
        module.add("NonceRequired", py.get_type::<NonceRequired>())?;
        module.add("NonceReuse", py.get_type::<NonceReuse>())?;
        module.add("ReserveUsedUp", py.get_type::<ReserveUsedUp>())?;
        module.add("WrongKey", py.get_type::<WrongKey>())?;
        module.add("WrongObject", py.get_type::<WrongObject>())?;
        let names = PyTuple::new(py, Algorithm::all().map(Algorithm::name).collect::<Vec<_>>())?;
        module.add("algorithms_available", names)?;
        module.add("SHARD_ENTRIES", tagmac_files::objects::SHARD_ENTRIES)?;
        module.add("STATUSES", PyTuple::new(py, tagmac_files::audit::Status::WORDS)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Returns a `Mac` for one message, which is given in pieces. `msg` is the first piece.
///
/// The parameters have the order of `hmac.new`. `key` is bytes or a `Key`, and `alg` an algorithm's
/// name, by default the key's, or PMAC-AES128 for bytes. `tag_bits` is the length of the tag in
/// bits.
///
/// Raises `NonceRequired` if the MAC needs a nonce and none is given, and `ValueError` for an
/// unknown algorithm and for a key, nonce or tag of the wrong length.
#[pyfunction]
#[pyo3(signature = (key, msg=None, alg=None, *, nonce=None, tag_bits=None))]
fn new(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    msg: Option<&Bound<'_, PyAny>>,
    alg: Option<&str>,
    nonce: Option<&Bound<'_, PyAny>>,
    tag_bits: Option<usize>,
) -> PyResult<Mac> {
    let mac = mac_of(key, alg, tag_bits)?;
    match key.cast::<Key>() {
        Ok(key) => key.get().start_of(py, &mac, msg, nonce),
        Err(_) => Mac::start(py, &mac, bytes(key)?.len(), None, msg, nonce),
    }
}

/// Returns the tag of a message as bytes. The parameters are those of `new`.
#[pyfunction]
#[pyo3(signature = (key, msg, alg=None, *, nonce=None, tag_bits=None))]
fn digest<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    msg: &Bound<'py, PyAny>,
    alg: Option<&str>,
    nonce: Option<&Bound<'py, PyAny>>,
    tag_bits: Option<usize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mac = mac_of(key, alg, tag_bits)?;
    let (msg, nonce) = (bytes(msg)?, nonce_of(mac.algorithm(), nonce)?);
    let tag = released(py, msg.len(), || mac.tag(&nonce, &*msg)).map_err(refused)?;
    Ok(PyBytes::new(py, tag.as_bytes()))
}

/// Checks the tag of a message in constant time. The other parameters are those of `new`.
///
/// Raises `InvalidTag` if the tag is wrong.
#[pyfunction]
#[pyo3(signature = (key, msg, tag, alg=None, *, nonce=None, tag_bits=None))]
fn verify(
    py: Python<'_>,
    key: &Bound<'_, PyAny>,
    msg: &Bound<'_, PyAny>,
    tag: &Bound<'_, PyAny>,
    alg: Option<&str>,
    nonce: Option<&Bound<'_, PyAny>>,
    tag_bits: Option<usize>,
) -> PyResult<()> {
    let mac = mac_of(key, alg, tag_bits)?;
    let (msg, nonce) = (bytes(msg)?, nonce_of(mac.algorithm(), nonce)?);
    let expected = released(py, msg.len(), || mac.tag(&nonce, &*msg)).map_err(refused)?;
    check(&expected, &bytes(tag)?)
}
