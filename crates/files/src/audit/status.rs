//! The eight verdicts, the words for them, and their counts.

use crate::audit::Change;

/// The verdict on an entry.
#[derive(Debug)]
pub enum Status<'a> {
    /// The entry is unchanged.
    Unchanged,
    /// The entry was not read. Nothing differs in what shows without reading it.
    NotRead,
    /// The entry differs from the sealed one.
    Changed(Vec<Change>),
    /// The entry was not sealed.
    New,
    /// The entry was sealed but not found.
    Missing,
    /// The entry was sealed under this other name; further differences follow.
    Renamed(&'a [u8], Vec<Change>),
    /// The entry cannot be judged, for this reason.
    Unreadable(String),
    /// The object is archived, so it was not read. Its size and version are unchanged.
    Archived,
}

impl Status<'_> {
    /// The words for all verdicts.
    pub const WORDS: [&'static str; 8] =
        ["unchanged", "changed", "new", "missing", "renamed", "unreadable", "not read", "archived"];

    /// Returns the verdict on an entry with these changes.
    pub(crate) fn from_changes(changes: Vec<Change>) -> Self {
        if changes.is_empty() { Status::Unchanged } else { Status::Changed(changes) }
    }

    /// Returns the word for this verdict.
    pub fn word(&self) -> &'static str {
        Status::WORDS[match self {
            Status::Unchanged => 0,
            Status::Changed(_) => 1,
            Status::New => 2,
            Status::Missing => 3,
            Status::Renamed(..) => 4,
            Status::Unreadable(_) => 5,
            Status::NotRead => 6,
            Status::Archived => 7,
        }]
    }
}

/// The number of entries with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the words for the verdicts")]
pub struct Counts {
    pub unchanged: u64,
    pub changed: u64,
    pub new: u64,
    pub missing: u64,
    pub renamed: u64,
    pub unreadable: u64,
    pub not_read: u64,
    pub archived: u64,
}

impl Counts {
    /// Counts a verdict.
    pub fn add(&mut self, status: &Status<'_>) {
        *match status {
            Status::Unchanged => &mut self.unchanged,
            Status::Changed(_) => &mut self.changed,
            Status::New => &mut self.new,
            Status::Missing => &mut self.missing,
            Status::Renamed(..) => &mut self.renamed,
            Status::Unreadable(_) => &mut self.unreadable,
            Status::NotRead => &mut self.not_read,
            Status::Archived => &mut self.archived,
        } += 1;
    }

    /// Returns each verdict's word and count.
    pub fn with_words(&self) -> [(&'static str, u64); 8] {
        let Counts { unchanged, changed, new, missing, renamed, unreadable, not_read, archived } =
            *self;
        let counts = [unchanged, changed, new, missing, renamed, unreadable, not_read, archived];
        std::array::from_fn(|number| (Status::WORDS[number], counts[number]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verdict_is_counted_under_its_word() {
        let mut counts = Counts::default();
        for count in 1.. {
            let status = match count {
                1 => Status::Unchanged,
                2 => Status::from_changes(vec![Change::new("size", 1, 2)]),
                3 => Status::New,
                4 => Status::Missing,
                5 => Status::Renamed(b"old", Vec::new()),
                6 => Status::Unreadable("why".into()),
                7 => Status::NotRead,
                8 => Status::Archived,
                _ => break,
            };
            assert_eq!(status.word(), Status::WORDS[count - 1]);
            (0..count).for_each(|_| counts.add(&status));
        }
        let expected = Status::WORDS.into_iter().zip(1..);
        assert!(counts.with_words().into_iter().eq(expected));
        assert!(matches!(Status::from_changes(Vec::new()), Status::Unchanged));
    }
}
