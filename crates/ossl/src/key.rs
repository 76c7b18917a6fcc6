//! A MAC's key by itself, EVP_PKEY: its bytes and the MAC that they are for. It never changes, so that
//! any number of threads may use it.

use std::sync::OnceLock;

use subtle::ConstantTimeEq;
use tagmac_any::Algorithm;
use tagmac_border::Failure;
use zeroize::Zeroizing;

use crate::names::{Entry, ensure_any};
use crate::param::Param;

/// See the top. Empty until OpenSSL imports one into it.
pub struct Key {
    entry: &'static Entry,
    material: OnceLock<Material>,
}

/// What is in a key.
#[derive(Clone)]
pub struct Material {
    /// The MAC.
    pub algorithm: Algorithm,
    /// The key's bytes.
    pub bytes: Zeroizing<Vec<u8>>,
}

/// A copy of a key's bytes, which is no longer than any MAC's key.
pub fn copied(key: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
    ensure_any("a key", key.len(), |algorithm| *algorithm.key_bytes().end())?;
    Ok(Zeroizing::new(key.into()))
}

/// A key in the making: EVP_PKEY_CTX for a generation, or the parameters of an import.
pub struct Draft {
    entry: &'static Entry,
    algorithm: Option<Algorithm>,
    bytes: Option<Zeroizing<Vec<u8>>>,
}

impl Draft {
    pub fn new(entry: &'static Entry) -> Draft {
        Draft { entry, algorithm: entry.only(), bytes: None }
    }

    /// GEN_SET_PARAMS. What is not known is left alone, as everywhere in OpenSSL.
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
        // A random key, of which nobody else has a copy, would make tags that nobody can check.
        let bytes = self.bytes.clone().ok_or("expected a key, found none")?;
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
        kept.map_err(|_| "expected a key without bytes, found one that has them".into())
    }

    /// DUP.
    pub fn duplicate(&self) -> Key {
        Key { entry: self.entry, material: self.material.clone() }
    }

    /// The entry under whose name it is.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// What is in it.
    pub fn material(&self) -> Result<&Material, Failure> {
        self.material.get().ok_or_else(|| "expected a key with bytes, found one without".into())
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
