//! Objects, ranges of them, and what is known of them.

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::failure::Failure;

/// What tells a content of an object from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectVersion {
    /// The size in bytes.
    pub size: u64,
    /// The store's name for the content, with its quotes.
    pub etag: Option<String>,
    /// The version, where the bucket keeps versions and it is known.
    pub version: Option<String>,
}

impl ObjectVersion {
    /// An ETag that a request can be bound to.
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| !etag.starts_with("W/"))
    }

    /// Whether what was found is the content that was expected.
    pub fn is(&self, found: &ObjectVersion) -> bool {
        let versions = self.version.as_ref().zip(found.version.as_ref());
        self.size == found.size
            && (self.etag.is_none() || self.etag == found.etag)
            && versions.is_none_or(|(expected, found)| expected == found)
    }

    /// Whether a request can be bound to this content, so that what two requests bring is of one. A weak
    /// ETag may be that of several contents.
    pub fn is_bound(&self) -> bool {
        self.strong_etag().is_some() || self.version.is_some()
    }

    /// The version, or the ETag without its quotes: what a partial's object is called besides its key.
    pub fn version_name(&self) -> Option<&str> {
        let etag = self.etag.as_deref().map(|etag| etag.trim_start_matches("W/").trim_matches('"'));
        self.version.as_deref().or(etag)
    }
}

/// An object of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// What the listing says of it.
    pub facts: ObjectVersion,
}

/// What a written object may take the place of.
#[derive(Clone, Copy, Debug)]
pub enum Over<'a> {
    /// No other one.
    Nothing,
    /// The content that is known by these facts.
    This(&'a ObjectVersion),
    /// Whatever is there.
    Anything,
}

/// A range of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: u64,
    /// The byte after it.
    pub end: u64,
}

impl Span {
    /// The header `Range`, unless it is all.
    pub fn header(self) -> Option<String> {
        let Span { start, end } = self;
        ((start, end) != (0, u64::MAX)).then(|| format!("bytes={start}-{}", end.saturating_sub(1)))
    }
}

/// The bytes of an object, or of a range of it.
pub struct Body {
    /// What they are of.
    pub facts: ObjectVersion,
    /// Where the first one is in the object.
    pub start: u64,
    /// The bytes.
    pub pieces: BoxStream<'static, Result<Bytes, Failure>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(size: u64, etag: &str, version: &str) -> ObjectVersion {
        let some = |text: &str| Some(text.into()).filter(|text: &String| !text.is_empty());
        ObjectVersion { size, etag: some(etag), version: some(version) }
    }

    #[test]
    fn contents_are_told_apart() {
        let expected = facts(3, "\"e\"", "");
        assert!(expected.is(&facts(3, "\"e\"", "v")));
        let others = [facts(4, "\"e\"", ""), facts(3, "\"f\"", ""), facts(3, "", "")];
        assert!(others.iter().all(|other| !expected.is(other)));
        assert!(!facts(3, "\"e\"", "v").is(&facts(3, "\"e\"", "w")));
        assert!(facts(3, "", "").is(&facts(3, "\"e\"", "")));
    }

    #[test]
    fn a_weak_etag_binds_nothing() {
        for (etag, version, expected) in [
            ("\"e\"", "", true),
            ("W/\"e\"", "", false),
            ("W/\"e\"", "v", true),
            ("", "v", true),
            ("", "", false),
        ] {
            assert_eq!(facts(3, etag, version).is_bound(), expected, "{etag} {version}");
        }
    }

    #[test]
    fn the_name_of_a_version() {
        assert_eq!(facts(0, "\"e\"", "v").version_name(), Some("v"));
        assert_eq!(facts(0, "W/\"e\"", "").version_name(), Some("e"));
        assert_eq!(facts(0, "", "").version_name(), None);
        assert_eq!(facts(0, "W/\"e\"", "").strong_etag(), None);
    }

    #[test]
    fn ranges_in_headers() {
        assert_eq!(Span { start: 0, end: u64::MAX }.header(), None);
        assert_eq!(Span { start: 5, end: 10 }.header().as_deref(), Some("bytes=5-9"));
    }
}
