//! What a comparator is, and what it says of keys and nonces of the wrong size.

use std::fmt;

use tagmac::Tag;
use tagmac::isa::Level;

/// A MAC that the papers compare with, or a universal hash.
pub struct Comparator {
    /// Its name, as the papers have it.
    pub name: &'static str,
    /// What it is.
    pub kind: ComparatorKind,
    /// The bytes of its keys, in order.
    pub keys: Keys,
    /// The bytes of its nonce; 0 without one.
    pub nonce: usize,
    /// The bytes of its tag.
    pub tag: usize,
    /// What it computes, in one line.
    pub about: &'static str,
    /// Who vouches for the definition.
    pub status: Status,
    /// Where the definition is from; without one, where it was looked for.
    pub source: &'static str,
    /// The MAC under keys of the right sizes, on a level; `None` where no definition was found.
    pub(super) make: Option<MakeFn>,
}

/// The tag of a message, given a nonce of the right size; or one line that says what was expected and
/// what was found.
pub type TagFn = Box<dyn Fn(&[u8], &[u8]) -> Result<Tag, String> + Send + Sync>;

/// A MAC under keys of the right sizes, on a level.
pub(super) type MakeFn = fn(keys: &[&[u8]], level: Level) -> TagFn;

/// A comparator under its keys.
pub struct Keyed {
    comparator: &'static Comparator,
    tag: TagFn,
}

/// What a comparator is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparatorKind {
    /// A MAC.
    Mac,
    /// A universal hash, which is no MAC by itself; its value stands where a MAC has its tag.
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
    /// As many keys of so many bytes each.
    Sizes(&'static [usize]),
    /// One key of any length.
    Any,
    /// One key as long as the message.
    AsMessage,
}

/// Who vouches for a comparator's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A standard, an RFC or its designers, with published vectors.
    Official,
    /// One of the five papers defines it.
    Paper,
    /// Our choice: the paper that defines it could not be read.
    Pinned,
    /// Named by the papers, and no definition was found.
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
    /// Whether a definition was found, without which there is nothing to compute.
    pub fn has_definition(&self) -> bool {
        self.make.is_some()
    }

    /// The comparator under its keys, on a level.
    ///
    /// # Errors
    ///
    /// One line that says what was expected and what was found.
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
    /// The tag of a message.
    ///
    /// # Errors
    ///
    /// One line that says what was expected and what was found.
    pub fn tag(&self, nonce: &[u8], message: &[u8]) -> Result<Tag, String> {
        match (self.comparator.nonce, nonce.len()) {
            (expected, found) if expected == found => (self.tag)(nonce, message),
            (0, _) => Err("nonce: expected none, found one".into()),
            (expected, 0) => Err(format!("nonce: expected {expected} bytes, found none")),
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
