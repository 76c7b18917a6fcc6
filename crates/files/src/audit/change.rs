//! Differences between a sealed entry and the entry found.

use tagmac::Tag;

use crate::escaped::Escaped;
use crate::leaves::repair::Damage;
use crate::manifest::entry::{Entry, mode_text, mtime_text, owner_text};

/// The sealed properties of an entry other than its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    mode: Option<u32>,
    mtime: Option<(i64, u32)>,
    owner: Option<(u32, u32)>,
    xattrs: Option<Tag>,
}

impl Metadata {
    /// Returns the properties of an entry.
    pub fn of(entry: &Entry) -> Metadata {
        let Entry { mode, mtime, owner, xattrs, .. } = *entry;
        Metadata { mode, mtime, owner, xattrs }
    }

    /// Returns the differences between these sealed properties and those found.
    pub fn changes(&self, found: &Metadata) -> Vec<Change> {
        let mut changes = Vec::new();
        metadata(self, found, &mut changes);
        changes
    }
}

/// A difference between a sealed entry and the entry found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The property.
    pub what: &'static str,
    /// The sealed value.
    pub expected: Option<String>,
    /// The value found.
    pub found: Option<String>,
    /// If leaves were sampled, the damage of those that were read.
    pub damage: Option<Box<Damage>>,
}

impl Change {
    /// A property with a sealed value and another one found.
    pub fn new(what: &'static str, expected: impl ToString, found: impl ToString) -> Change {
        let (expected, found) = (Some(expected.to_string()), Some(found.to_string()));
        Change { what, expected, found, damage: None }
    }

    /// A property whose values are not reported.
    pub fn silent(what: &'static str) -> Change {
        Change { what, expected: None, found: None, damage: None }
    }

    /// A content with damaged leaves.
    pub fn damaged(damage: Damage) -> Change {
        Change { damage: Some(Box::new(damage)), ..Change::silent("content") }
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
            changes.push(Change::silent("content"));
        }
    }
    other_changes(sealed, found, &mut changes);
    changes
}

/// Returns the differences that show without reading a file: in size, times and place, and in other
/// sealed properties.
pub fn visible_changes(sealed: &Entry, found: &Entry) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Some(sealed), Some(found)) = (&sealed.content, &found.content)
        && sealed.size != found.size
    {
        changes.push(Change::new("size", sealed.size, found.size));
    }
    other_changes(sealed, found, &mut changes);
    if let (Some(sealed), Some(found), []) = (sealed.stamp, found.stamp, &changes[..]) {
        property("mtime", Some(sealed.mtime), Some(found.mtime), mtime_text, &mut changes);
        property("ctime", Some(sealed.ctime), Some(found.ctime), mtime_text, &mut changes);
        let [one, other] = [sealed.identity, found.identity].map(|id| (id.device, id.inode));
        let text = |(device, inode)| format!("device {device} inode {inode}");
        property("file", Some(one), Some(other), text, &mut changes);
    }
    changes
}

fn other_changes(sealed: &Entry, found: &Entry, changes: &mut Vec<Change>) {
    if let (Some(sealed), Some(found)) = (&sealed.target, &found.target)
        && sealed != found
    {
        changes.push(Change::new("target", Escaped::bytes(sealed), Escaped::bytes(found)));
    }
    metadata(&Metadata::of(sealed), &Metadata::of(found), changes);
}

/// Appends the differences in metadata to `changes`.
fn metadata(sealed: &Metadata, found: &Metadata, changes: &mut Vec<Change>) {
    property("mode", sealed.mode, found.mode, mode_text, changes);
    property("mtime", sealed.mtime, found.mtime, mtime_text, changes);
    property("owner", sealed.owner, found.owner, owner_text, changes);
    if let (Some(sealed), Some(found)) = (sealed.xattrs, found.xattrs)
        && sealed != found
    {
        changes.push(Change::silent("xattrs"));
    }
}

/// Appends the difference in a property that both entries have.
fn property<T: PartialEq>(
    what: &'static str,
    sealed: Option<T>,
    found: Option<T>,
    text: impl Fn(T) -> String,
    changes: &mut Vec<Change>,
) {
    if let (Some(sealed), Some(found)) = (sealed, found)
        && sealed != found
    {
        changes.push(Change::new(what, text(sealed), text(found)));
    }
}
