//! The interface between an audit and the tree or bucket that it reads.

use tagmac::Tag;

use crate::audit::plan::Turn;
use crate::audit::{Change, Status};
use crate::error::Error;
use crate::scanner::Anew;

/// A tree, or the objects of a bucket, as one thread of an audit reads it.
pub trait Source: Send + Sized {
    /// An entry of the manifest that was found under its name.
    type Both: Send;
    /// A file that has no entry in the manifest.
    type New: Send;
    /// Sealed properties of a file other than its content.
    type Metadata: Send;

    /// The number of entries that a thread is handed at a time.
    const BATCH: usize;
    /// The memory of a [`Source::New`] in bytes, without its name.
    const NEW_BYTES: usize;
    /// The word for a file in reports.
    const FILE: &'static str;

    /// Reads an item as far as its verdict requires. Returns it settled, or unchanged if it is an
    /// [`Item::Both`] that only the main source may read; the main source always settles it. Fails if
    /// the audit cannot go on.
    fn look(&mut self, item: Item<Self>) -> Result<Item<Self>, Error>;

    /// Reads a new file under a nonce.
    fn read(&mut self, new: &Self::New, nonce: &[u8]) -> Reading<Self>;

    /// Returns the name and the size of a new file.
    fn name_and_size(new: &Self::New) -> (&[u8], u64);

    /// Returns the differences other than in content.
    fn changes(sealed: &Self::Metadata, found: &Self::Metadata) -> Vec<Change>;
}

/// An entry of the source, of its manifest, or of both.
pub enum Item<S: Source> {
    /// The entry is in both and was not examined yet.
    Both(S::Both),
    /// The file is in the manifest but was not found.
    Missing(Lost<S::Metadata>),
    /// The file was found but is not in the manifest.
    New(S::New),
    /// An entry with its verdict.
    Settled(Settled),
}

/// An entry with its verdict.
pub struct Settled {
    /// Its name.
    pub name: Vec<u8>,
    /// The word for its kind.
    pub kind: &'static str,
    /// The verdict.
    pub status: Status<'static>,
    /// For a sealed file or object, what the plan says.
    pub turn: Option<Turn>,
    /// The entry under a second key, if it is unchanged and there is such a key.
    pub anew: Option<Box<Anew>>,
}

impl<S: Source> Item<S> {
    /// An entry whose verdict needed no plan.
    pub fn settled(name: Vec<u8>, kind: &'static str, status: Status<'static>) -> Item<S> {
        Item::Settled(Settled { name, kind, status, turn: None, anew: None })
    }
}

/// A missing file.
pub struct Lost<M> {
    /// Its name.
    pub name: Vec<u8>,
    /// Its size.
    pub size: u64,
    /// Empty for deterministic MACs.
    pub nonce: Vec<u8>,
    /// The sealed tag.
    pub tag: Tag,
    /// The other sealed properties.
    pub metadata: M,
    /// The plan for it.
    pub turn: Option<Turn>,
}

/// The result of reading a file.
pub enum Reading<S: Source> {
    /// The size, the tag and the other sealed properties.
    Done(u64, Tag, S::Metadata),
    /// Only the main source may read the file.
    Later,
    /// The file could not be read.
    Failed,
}

/// The threads of an audit.
pub struct Sources<'a, S> {
    /// Reads on the calling thread, and may read everything.
    pub main: &'a mut S,
    /// Each reads on its own thread.
    pub others: &'a mut [S],
}
