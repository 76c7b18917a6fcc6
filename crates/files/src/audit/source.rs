//! What an audit asks of the things that it audits.

use tagmac::Tag;

use crate::audit::{Change, Status};

/// A tree, or the objects of a bucket, as one thread of an audit reads it.
pub trait Source: Send + Sized {
    /// An entry of the manifest that was found under its name.
    type Both: Send;
    /// A file that has no entry in the manifest.
    type New: Send;
    /// What is sealed of a file besides its content.
    type Metadata: Send;

    /// Entries that a thread takes at a time.
    const BATCH: usize;
    /// The memory that a [`Source::New`] takes, besides its name.
    const NEW_BYTES: usize;
    /// The word for a file.
    const FILE: &'static str;

    /// Reads what the verdict on an item needs, and returns the item with what came out. An
    /// [`Item::Both`] comes back if it is for the main source, which returns none.
    fn look(&mut self, item: Item<Self>) -> Item<Self>;

    /// Reads a new file under a nonce.
    fn read(&mut self, new: &Self::New, nonce: &[u8]) -> Reading<Self>;

    /// The name and the size of a new file.
    fn name_and_size(new: &Self::New) -> (&[u8], u64);

    /// What differs besides the content.
    fn changes(sealed: &Self::Metadata, found: &Self::Metadata) -> Vec<Change>;
}

/// An entry of the source, of its manifest, or of both.
pub enum Item<S: Source> {
    /// One of both, which is still to be looked at.
    Both(S::Both),
    /// A file of the manifest that is not there.
    Missing(Lost<S::Metadata>),
    /// A file that is not in the manifest.
    New(S::New),
    /// The verdict on the entry of a name and a kind.
    Settled(Vec<u8>, &'static str, Status<'static>),
}

/// A missing file.
pub struct Lost<M> {
    /// Its name.
    pub name: Vec<u8>,
    /// Its size.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// The tag that was sealed.
    pub tag: Tag,
    /// What else was.
    pub metadata: M,
}

/// What came of a reading.
pub enum Reading<S: Source> {
    /// The size and the tag, and what is sealed besides.
    Done(u64, Tag, S::Metadata),
    /// It is for the main source.
    Later,
    /// It could not be read.
    Failed,
}

/// The threads of an audit.
pub struct Sources<'a, S> {
    /// Reads everything, on the calling thread.
    pub main: &'a mut S,
    /// Each reads on a thread of its own.
    pub others: &'a mut [S],
}
