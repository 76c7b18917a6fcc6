//! Objects, their versions, and ranges of them.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use tagmac_files::objects::MAX_STAMP;

use crate::failure::Failure;

/// The properties that distinguish one content of an object from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectVersion {
    /// The size in bytes.
    pub size: u64,
    /// The ETag, with its quotes.
    pub etag: Option<String>,
    /// The version, if known and if the bucket keeps versions.
    pub version: Option<String>,
}

impl ObjectVersion {
    /// Returns the ETag if it is strong, so that a request can be bound to it.
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| !etag.starts_with("W/"))
    }

    /// Returns the store's name for this content: a strong ETag, or else the version. All listings
    /// have ETags, and none has versions. Without either, contents of one size look the same.
    pub fn stamp(&self) -> Option<&str> {
        // S3 names all contents `null` that it stored without versions.
        let version = self.version.as_deref().filter(|version| *version != "null");
        let is_stamp = |stamp: &&str| (1..=MAX_STAMP).contains(&stamp.len()) && *stamp != "-";
        self.strong_etag().or(version).filter(is_stamp)
    }

    /// Returns whether `found` may be the content expected.
    pub fn is(&self, found: &ObjectVersion) -> bool {
        let versions = self.version.as_ref().zip(found.version.as_ref());
        self.size == found.size
            && (self.etag.is_none() || self.etag == found.etag)
            && versions.is_none_or(|(expected, found)| expected == found)
    }

    /// Returns whether a request can be bound to this content, so that several requests return
    /// bytes of the same one. A weak ETag may apply to several contents.
    pub fn is_bound(&self) -> bool {
        self.strong_etag().is_some() || self.version.is_some()
    }

    /// Returns the version, or the ETag without its quotes: the name of the content in a partial.
    pub fn version_name(&self) -> Option<&str> {
        let etag = self.etag.as_deref().map(|etag| etag.trim_start_matches("W/").trim_matches('"'));
        self.version.as_deref().or(etag)
    }
}

/// The names and values that a writer stored with an object.
pub type Metadata = Vec<(String, String)>;

/// An object of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub key: String,
    /// The properties that the listing has.
    pub facts: ObjectVersion,
    /// True if the object's storage class is an archive. After a request to restore it, it can be
    /// read for some days.
    pub archived: bool,
}

/// The object that a write may replace.
#[derive(Clone, Copy, Debug)]
pub enum Over<'a> {
    /// None: the key must be new.
    Nothing,
    /// Only the object with these properties.
    This(&'a ObjectVersion),
    /// Any object.
    Anything,
}

/// A range of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Span {
    /// Returns the header `Range`, unless the span is the whole object.
    pub fn header(self) -> Option<String> {
        let Span { start, end } = self;
        ((start, end) != (0, u64::MAX)).then(|| format!("bytes={start}-{}", end.saturating_sub(1)))
    }
}

/// The bytes of an object, or of a range of it.
pub struct Body {
    /// The properties of the object.
    pub facts: ObjectVersion,
    /// The position of the first byte in the object.
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
    fn the_stamp_of_a_content() {
        let long = "e".repeat(1025);
        for (etag, version, expected) in [
            ("\"e\"", "v", Some("\"e\"")),
            ("W/\"e\"", "v", Some("v")),
            ("W/\"e\"", "null", None),
            ("", "-", None),
            ("", "", None),
            (&*long, "v", None),
        ] {
            assert_eq!(facts(0, etag, version).stamp(), expected, "{etag} {version}");
        }
    }

    #[test]
    fn ranges_in_headers() {
        assert_eq!(Span { start: 0, end: u64::MAX }.header(), None);
        assert_eq!(Span { start: 5, end: 10 }.header().as_deref(), Some("bytes=5-9"));
    }
}
