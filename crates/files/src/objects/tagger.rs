//! Objects of a listing, and the interface that reads them.

use std::ops::Range;

use tagmac::Tag;

/// An object of a listing, with anything its reader needs besides the name, such as a version or an
/// ETag.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The name below the prefix.
    pub name: Vec<u8>,
    /// The size in bytes.
    pub size: u64,
    /// The store's name for this content, as in [`Object::stamp`](crate::objects::Object::stamp).
    pub stamp: Option<Vec<u8>>,
    /// True if the store shows that the object is archived. It may still be readable.
    pub archived: bool,
    /// Data for the reader.
    pub about: T,
}

/// Reads objects and tags them. Each thread has its own.
pub trait Tagger<T>: Send {
    /// Returns the tag of an object under `nonce`, which is empty for deterministic MACs. The tag
    /// is that of the object listed; if its size or version has changed, this fails.
    fn tag(&mut self, object: &Listed<T>, nonce: &[u8]) -> Result<Tag, Unread>;

    /// Returns a range of the object listed. If its size or version has changed, this fails.
    fn range(&mut self, object: &Listed<T>, range: Range<u64>) -> Result<Vec<u8>, Unread>;

    /// Returns the object with this name, as a listing would show it now.
    fn find(&mut self, name: &[u8]) -> Result<Listed<T>, Unread>;

    /// Returns the reason if an object of this name can never be read. A manifest does not list
    /// such an object, so an audit must not report it as new.
    fn refuses(&self, _name: &[u8]) -> Option<String> {
        None
    }
}

/// The reason why an object has no tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The object no longer exists.
    Gone,
    /// The store has archived the object and must restore it first.
    Archived,
    /// The object cannot be read, or changed since it was listed. The reason is one line without
    /// the name.
    Failed(String),
}
