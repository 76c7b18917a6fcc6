//! Differences between a sealed entry and the entry found.

use crate::escaped::Escaped;
use crate::manifest::entry::{Entry, mode_text, mtime_text};

/// The mode and the modification time, if they are sealed.
pub type Metadata = (Option<u32>, Option<(i64, u32)>);

/// A difference between a sealed entry and the entry found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The property.
    pub what: &'static str,
    /// The sealed value.
    pub expected: Option<String>,
    /// The value found.
    pub found: Option<String>,
}

impl Change {
    /// A property with a sealed value and another one found.
    pub fn new(what: &'static str, expected: impl ToString, found: impl ToString) -> Change {
        let (expected, found) = (Some(expected.to_string()), Some(found.to_string()));
        Change { what, expected, found }
    }
}

/// Returns the differences. A changed file's new tag is not reported: under the sealed nonce it
/// would be a second tag.
pub fn changes(sealed: &Entry, found: &Entry) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Some(sealed), Some(found)) = (&sealed.content, &found.content) {
        if sealed.size != found.size {
            changes.push(Change::new("size", sealed.size, found.size));
        } else if sealed.tag.is_none() || sealed.tag != found.tag {
            changes.push(Change { what: "content", expected: None, found: None });
        }
    }
    if let (Some(sealed), Some(found)) = (&sealed.target, &found.target)
        && sealed != found
    {
        changes.push(Change::new("target", Escaped::bytes(sealed), Escaped::bytes(found)));
    }
    metadata((sealed.mode, sealed.mtime), (found.mode, found.mtime), &mut changes);
    changes
}

/// Appends the differences in mode and modification time to `changes`.
pub fn metadata(sealed: Metadata, found: Metadata, changes: &mut Vec<Change>) {
    if let (Some(sealed), Some(found)) = (sealed.0, found.0)
        && sealed != found
    {
        changes.push(Change::new("mode", mode_text(sealed), mode_text(found)));
    }
    if let (Some(sealed), Some(found)) = (sealed.1, found.1)
        && sealed != found
    {
        changes.push(Change::new("mtime", mtime_text(sealed), mtime_text(found)));
    }
}
