//! The metadata of objects, from the manifest.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use object_store::path::Path;
use object_store::{ObjectMeta, Result};
use tagmac_files::manifest::entry::{Content, Entry};

use crate::verified::error::generic;

/// Returns the path of an entry as the path of an object.
pub fn location(path: &[u8]) -> Result<Path> {
    let text = str::from_utf8(path).ok();
    let location = text.and_then(|text| Path::parse(text).ok());
    // Parsing drops slashes at the ends.
    location.filter(|location| Some(location.as_ref()) == text).ok_or_else(|| {
        let name = tagmac_files::escaped::Escaped::bytes(path);
        generic(format!("{name}: this name in the manifest cannot be the name of an object"))
    })
}

/// Returns the metadata of a file. `None` if the entry is not a file.
pub fn of(entry: &Entry, location: Path) -> Option<ObjectMeta> {
    let content = entry.content.as_ref()?;
    Some(ObjectMeta {
        location,
        last_modified: last_modified(entry),
        size: content.size,
        e_tag: Some(e_tag(content)),
        version: None,
    })
}

/// Returns a name of the content: equal for the same content under the same key.
fn e_tag(content: &Content) -> String {
    let tag = content.tag.iter().flat_map(|tag| tag.as_bytes());
    let mut text = format!("\"{:x}-", content.size);
    for byte in content.nonce.iter().chain(tag) {
        write!(text, "{byte:02x}").expect("a string has no limit");
    }
    text + "\""
}

/// Returns the modification time, as far as it was sealed. Otherwise the end of the day on which the
/// file was read: it has not changed since.
fn last_modified(entry: &Entry) -> DateTime<Utc> {
    let stamp = entry.stamp.map(|stamp| stamp.mtime);
    let read = entry.read.map(|day| (86_400 * (i64::from(day.days()) + 1), 0));
    let time = entry.mtime.or(stamp).or(read);
    let time = time.and_then(|(seconds, nanos)| DateTime::from_timestamp(seconds, nanos));
    time.unwrap_or(DateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use tagmac::Tag;
    use tagmac_files::day::Day;
    use tagmac_files::dir::EntryKind;
    use tagmac_files::identity::Identity;
    use tagmac_files::manifest::stamp::Stamp;

    use super::*;

    #[test]
    fn a_file_was_not_modified_after_the_time() {
        let mut entry = Entry::new(EntryKind::File);
        let seconds = |entry: &Entry| last_modified(entry).timestamp();
        assert_eq!(seconds(&entry), 0);
        entry.read = Day::from_days(20_785);
        assert_eq!(last_modified(&entry).to_string(), "2026-11-29 00:00:00 UTC");
        let identity = Identity { device: 1, inode: 1 };
        entry.stamp = Some(Stamp { mtime: (1000, 5), ctime: (2000, 0), identity });
        assert_eq!(last_modified(&entry).timestamp_nanos_opt(), Some(1_000_000_000_005));
        entry.mtime = Some((-7, 0));
        assert_eq!(seconds(&entry), -7);
        // A time that no calendar has.
        entry.mtime = Some((i64::MAX, 0));
        assert_eq!(seconds(&entry), 0);
    }

    #[test]
    fn the_etag_names_the_content() {
        let tag = Some(Tag::new(&[0xab; 16], 128).unwrap());
        let content = Content { size: 300, nonce: vec![1, 2], tag };
        assert_eq!(e_tag(&content), format!("\"12c-0102{}\"", "ab".repeat(16)));
    }

    #[test]
    fn a_name_is_a_location_as_it_is() {
        assert_eq!(location(b"a b/%25#").unwrap().as_ref(), "a b/%25#");
        for name in ["a/", "/a", "a//b", "a/../b", "a\nb", "\u{7f}"] {
            assert!(location(name.as_bytes()).is_err(), "{name}");
        }
        assert!(location(b"\xff").is_err());
    }
}
