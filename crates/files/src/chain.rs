//! The chain of manifests that were sealed one after another.

use tagmac::Tag;

use crate::day::Day;

/// A manifest as the later ones of its chain list it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The manifest's number in the chain, from 1.
    pub sequence: u64,
    /// The day of sealing; `None` if it is unknown.
    pub day: Option<Day>,
    /// The manifest's seal.
    pub seal: Tag,
}
