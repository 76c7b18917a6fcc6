//! Objects as a listing has them, and what reads them.

use tagmac::Tag;

/// An object as a listing has it, with what its reader needs beside the name: a version, an ETag.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// Its name below the prefix.
    pub name: Vec<u8>,
    /// Its size in bytes.
    pub size: u64,
    /// For its reader.
    pub about: T,
}

/// Reads objects and tags them. Each thread has one.
pub trait Tagger<T>: Send {
    /// The tag of an object under a nonce, which is empty for deterministic MACs. It is the tag of
    /// the very object that was listed: one that has another size or version by now is unread.
    fn tag(&mut self, object: &Listed<T>, nonce: &[u8]) -> Result<Tag, Unread>;

    /// Why no object of this name can ever be read, if so. Such an object is in no manifest, and not
    /// because it is new.
    fn refuses(&self, _name: &[u8]) -> Option<String> {
        None
    }
}

/// Why an object has no tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not there any more.
    Gone,
    /// It cannot be read, or changed since it was listed, and why: one line without its name.
    Failed(String),
}
