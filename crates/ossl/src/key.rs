//! A key of a MAC as an object, EVP_PKEY: its bytes and its algorithm. It never changes, so any
//! number of threads may use it.

use std::sync::OnceLock;

use subtle::ConstantTimeEq;
use tagmac_any::Algorithm;
use tagmac_border::Failure;
use zeroize::Zeroizing;

use crate::names::{Entry, ensure_any};
use crate::param::Param;

/// See the top of this file. Empty until OpenSSL imports a key into it.
pub struct Key {
    entry: &'static Entry,
    material: OnceLock<Material>,
}

/// The contents of a key.
#[derive(Clone)]
pub struct Material {
    /// The MAC.
    pub algorithm: Algorithm,
    /// The key's bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// Copies a key's bytes. Rejects keys that are too long for every MAC.
pub fn copied(key: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
    ensure_any("a key", key.len(), |algorithm| *algorithm.key_bytes().end())?;
    Ok(Zeroizing::new(key.into()))
}

/// An unfinished key: EVP_PKEY_CTX during generation, or the parameters of an import.
pub struct Draft {
    entry: &'static Entry,
    algorithm: Option<Algorithm>,
    bytes: Option<Zeroizing<Vec<u8>>>,
}

impl Draft {
    pub fn new(entry: &'static Entry) -> Draft {
        Draft { entry, algorithm: entry.only(), bytes: None }
    }

    /// GEN_SET_PARAMS. Ignores unknown parameters, as OpenSSL's own providers do.
    pub fn set<'p>(&mut self, params: impl Iterator<Item = &'p Param>) -> Result<(), Failure> {
        for param in params {
            match param.name() {
                "priv" => self.bytes = Some(copied(param.octets()?)?),
                "cipher" => self.algorithm = Some(self.entry.chosen(param.text()?)?),
                _ => {}
            }
        }
        Ok(())
    }

    fn material(&self) -> Result<Material, Failure> {
        let algorithm = self.algorithm.ok_or_else(|| self.entry.wants_cipher())?;
        // No random key is generated: without a copy elsewhere, its tags could never be checked.
        let bytes = self.bytes.clone().ok_or("no key is set")?;
        let checked = algorithm.check_key(bytes.len());
        checked.map_err(|error| Failure::from(error).about(algorithm))?;
        Ok(Material { algorithm, bytes })
    }

    /// GEN.
    pub fn key(&self) -> Result<Key, Failure> {
        Ok(Key { entry: self.entry, material: OnceLock::from(self.material()?) })
    }
}

impl Key {
    pub fn new(entry: &'static Entry) -> Key {
        Key { entry, material: OnceLock::new() }
    }

    /// IMPORT.
    pub fn import<'p>(&self, params: impl Iterator<Item = &'p Param>) -> Result<(), Failure> {
        let mut draft = Draft::new(self.entry);
        draft.set(params)?;
        let kept = self.material.set(draft.material()?);
        kept.map_err(|_| "the key already has its bytes: import into a new one".into())
    }

    /// DUP.
    pub fn duplicate(&self) -> Key {
        Key { entry: self.entry, material: self.material.clone() }
    }

    /// Returns the entry that the key belongs to.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Returns the contents.
    pub fn material(&self) -> Result<&Material, Failure> {
        self.material
            .get()
            .ok_or_else(|| "the key has no bytes: import or generate it first".into())
    }

    /// MATCH, in constant time for keys of one length.
    pub fn matches(&self, other: &Key) -> bool {
        match (self.material.get(), other.material.get()) {
            (Some(one), Some(two)) => {
                one.algorithm == two.algorithm && bool::from(one.bytes[..].ct_eq(&two.bytes[..]))
            }
            (one, two) => one.is_none() && two.is_none(),
        }
    }

    /// GET_PARAMS.
    pub fn get<'p>(&self, params: impl Iterator<Item = &'p mut Param>) -> Result<(), Failure> {
        let Some(Material { algorithm, bytes }) = self.material.get() else { return Ok(()) };
        for param in params {
            match param.name() {
                "bits" => param.set_number(8 * bytes.len())?,
                "max-size" => param.set_number(algorithm.default_tag_bits().div_ceil(8))?,
                _ => {}
            }
        }
        Ok(())
    }
}
