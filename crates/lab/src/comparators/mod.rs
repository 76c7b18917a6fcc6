//! The MACs that the papers compare with. [`COMPARATORS`] has them all.

/// A MAC that the papers compare with.
pub struct Comparator {
    /// Its name, as the papers have it.
    pub name: &'static str,
    /// The bytes of its keys, in order.
    pub keys: Keys,
    /// The bytes of its nonce; 0 without one.
    pub nonce: usize,
    /// What it computes, in one line.
    pub about: &'static str,
    /// Who vouches for the definition.
    pub status: Status,
    /// Where the definition is from; without one, where it was looked for.
    pub source: &'static str,
    /// The tag; `None` where no definition was found.
    pub tag: Option<TagFn>,
}

/// The tag of a message under keys and a nonce of the right sizes.
pub type TagFn = fn(keys: &[&[u8]], nonce: &[u8], message: &[u8]) -> Result<Vec<u8>, String>;

/// The keys of a comparator.
#[derive(Clone, Copy)]
pub enum Keys {
    /// As many keys of so many bytes each.
    Sizes(&'static [usize]),
    /// One key of any length.
    Any,
}

/// Who vouches for a comparator's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A standard or an RFC, with published vectors.
    Official,
    /// One of the five papers defines it.
    Paper,
    /// Our choice: the paper that defines it could not be read.
    Pinned,
    /// Named by the papers, and no definition was found.
    NotFound,
}

impl Status {
    /// The status in words, printed wherever the name is.
    pub fn name(self) -> &'static str {
        match self {
            Status::Official => "official",
            Status::Paper => "paper",
            Status::Pinned => "pinned",
            Status::NotFound => "no definition found",
        }
    }
}

impl Comparator {
    /// The tag of a message.
    ///
    /// # Errors
    ///
    /// One line that says what was expected and what was found.
    pub fn tag(&self, keys: &[&[u8]], nonce: &[u8], message: &[u8]) -> Result<Vec<u8>, String> {
        let Some(tag) = self.tag else {
            return Err(format!("no definition found; looked at: {}", self.source));
        };
        self.check_keys(keys)?;
        match (self.nonce, nonce.len()) {
            (expected, found) if expected == found => tag(keys, nonce, message),
            (0, found) => Err(format!("nonce: expected none, found {found} bytes")),
            (expected, 0) => Err(format!("nonce: expected {expected} bytes, found none")),
            (expected, found) => Err(format!("nonce: expected {expected} bytes, found {found}")),
        }
    }

    fn check_keys(&self, keys: &[&[u8]]) -> Result<(), String> {
        let sizes = match self.keys {
            Keys::Sizes(sizes) => sizes,
            Keys::Any if keys.len() == 1 => return Ok(()),
            Keys::Any => return Err(format!("keys: expected 1, found {}", keys.len())),
        };
        if sizes.len() != keys.len() {
            return Err(format!("keys: expected {}, found {}", sizes.len(), keys.len()));
        }
        for (number, (&expected, key)) in (1..).zip(sizes.iter().zip(keys)) {
            if key.len() != expected {
                let found = key.len();
                return Err(format!("key {number}: expected {expected} bytes, found {found}"));
            }
        }
        Ok(())
    }
}

/// All comparators, in the order of the papers' tables.
pub const COMPARATORS: &[Comparator] = &[];

/// The comparator of a name.
pub fn find(name: &str) -> Option<&'static Comparator> {
    COMPARATORS.iter().find(|comparator| comparator.name == name)
}
