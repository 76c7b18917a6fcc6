//! The description of a comparator, and its errors for keys and nonces of the wrong size.

use std::fmt;

use tagmac::Tag;
use tagmac::isa::Level;

/// A MAC or universal hash that the papers compare with.
pub struct Comparator {
    /// The name in the papers.
    pub name: &'static str,
    /// The kind of function.
    pub kind: ComparatorKind,
    /// The lengths of the keys in bytes, in order.
    pub keys: Keys,
    /// The length of the nonce in bytes; 0 without one.
    pub nonce: usize,
    /// The length of the tag in bytes.
    pub tag: usize,
    /// A description of the function in one line.
    pub about: &'static str,
    /// The status of the definition.
    pub status: Status,
    /// The source of the definition; if none was found, the places that were searched.
    pub source: &'static str,
    /// Makes the MAC under keys of the right sizes, on a level; `None` if no definition was found.
    pub(super) make: Option<MakeFn>,
}

/// Returns the tag of a message under a nonce of the right size. The error is one line with the
/// expected and the actual size.
pub type TagFn = Box<dyn Fn(&[u8], &[u8]) -> Result<Tag, String> + Send + Sync>;

/// Makes a MAC under keys of the right sizes, on a level.
pub(super) type MakeFn = fn(keys: &[&[u8]], level: Level) -> TagFn;

/// A comparator under its keys.
pub struct Keyed {
    comparator: &'static Comparator,
    tag: TagFn,
}

/// The kind of a comparator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparatorKind {
    /// A MAC.
    Mac,
    /// A universal hash, which is weaker than a MAC; its value takes the place of the tag.
    Hash,
}

impl fmt::Display for ComparatorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ComparatorKind::Mac => "MAC",
            ComparatorKind::Hash => "hash",
        })
    }
}

/// The keys of a comparator.
#[derive(Clone, Copy)]
pub enum Keys {
    /// A key of each of these lengths in bytes.
    Sizes(&'static [usize]),
    /// One key of any length.
    Any,
    /// One key as long as the message.
    AsMessage,
}

/// The status of a comparator's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A standard, an RFC or its designers, with published vectors.
    Official,
    /// A definition in one of the five papers.
    Paper,
    /// Our choice, because the paper that defines it could not be read.
    Pinned,
    /// The papers name it, but we found no definition.
    NotFound,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Official => "official",
            Status::Paper => "paper",
            Status::Pinned => "pinned",
            Status::NotFound => "not found",
        })
    }
}

impl Comparator {
    /// Returns true if a definition was found, so that there is something to compute.
    pub fn has_definition(&self) -> bool {
        self.make.is_some()
    }

    /// Makes the comparator under its keys, on a level.
    ///
    /// # Errors
    ///
    /// Returns one line with the expected and the actual sizes.
    pub fn with_keys(&'static self, keys: &[&[u8]], level: Level) -> Result<Keyed, String> {
        let Some(make) = self.make else {
            return Err(format!("no definition found; looked at: {}", self.source));
        };
        match self.keys {
            Keys::Sizes(sizes) => check_keys(sizes, keys)?,
            Keys::Any | Keys::AsMessage => check_count(1, keys.len())?,
        }
        Ok(Keyed { comparator: self, tag: make(keys, level) })
    }
}

impl Keyed {
    /// Returns the tag of a message.
    ///
    /// # Errors
    ///
    /// Returns one line with the expected and the actual sizes.
    pub fn tag(&self, nonce: &[u8], message: &[u8]) -> Result<Tag, String> {
        match (self.comparator.nonce, nonce.len()) {
            (expected, found) if expected == found => (self.tag)(nonce, message),
            (0, _) => Err("nonce: this MAC needs no nonce".into()),
            (expected, 0) => Err(format!("nonce: this MAC needs a nonce of {expected} bytes")),
            (expected, found) => Err(format!("nonce: expected {expected} bytes, found {found}")),
        }
    }
}

fn check_keys(sizes: &[usize], keys: &[&[u8]]) -> Result<(), String> {
    check_count(sizes.len(), keys.len())?;
    for (number, (expected, key)) in (1..).zip(sizes.iter().zip(keys)) {
        if key.len() != *expected {
            return Err(format!("key {number}: expected {expected} bytes, found {}", key.len()));
        }
    }
    Ok(())
}

fn check_count(expected: usize, found: usize) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let keys = if expected == 1 { "key" } else { "keys" };
    Err(format!("keys: expected {expected} {keys}, found {found}"))
}
