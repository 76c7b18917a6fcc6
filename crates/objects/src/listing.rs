//! A page of a listing, as S3 writes it.

use percent_encoding::percent_decode_str;
use quick_xml::events::Event;
use quick_xml::reader::Reader;

use crate::object::{Facts, Listed};

/// Longer keys than any store has: 1024 bytes.
const MAX_KEY: usize = 4096;
const MAX_ETAG: usize = 1024;
const MAX_TOKEN: usize = 8192;

/// A page of a listing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The objects, in order of their keys.
    pub objects: Vec<Listed>,
    /// What stands for the next page, if there is one.
    pub next: Option<String>,
}

/// Reads a page; or what was expected instead.
pub fn parse(text: &str) -> Result<Page, String> {
    let mut reader = Reader::from_str(text);
    let mut page = Page::default();
    let (mut is_truncated, mut is_encoded, mut is_listing) = (None, false, false);
    let mut path: Vec<String> = Vec::new();
    let mut value = String::new();
    let mut object = Object::default();
    loop {
        match reader.read_event().map_err(|_| "expected XML")? {
            Event::Start(start) => {
                path.push(String::from_utf8_lossy(start.local_name().as_ref()).into_owned());
                value.clear();
                let is_root = path.len() == 1;
                // Anything else, an empty answer of a proxy say, would end the listing too soon.
                if is_root && (is_listing || path[0] != "ListBucketResult") || path.len() > 8 {
                    return Err("expected a ListBucketResult, found another answer".into());
                }
                is_listing = true;
            }
            Event::Text(text) => {
                value += &text.decode().map_err(|_| "expected UTF-8")?;
            }
            Event::GeneralRef(reference) => {
                value.push(character(&reference).ok_or("expected an entity of XML")?);
            }
            Event::CData(text) => value += &text.decode().map_err(|_| "expected UTF-8")?,
            Event::End(_) => {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                match names[..] {
                    [_, "Contents", "Key"] => object.key = Some(std::mem::take(&mut value)),
                    [_, "Contents", "Size"] => object.size = value.parse().ok(),
                    [_, "Contents", "ETag"] => object.etag = Some(std::mem::take(&mut value)),
                    [_, "Contents"] => page.objects.push(std::mem::take(&mut object).listed()?),
                    [_, "IsTruncated"] => is_truncated = value.parse().ok(),
                    [_, "EncodingType"] => is_encoded = value == "url",
                    [_, "NextContinuationToken"] => page.next = Some(std::mem::take(&mut value)),
                    _ => {}
                }
                path.pop();
                value.clear();
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return Err("expected its end, found none".into()),
            _ => {}
        }
    }
    match is_truncated {
        None => return Err("expected IsTruncated, found none".into()),
        Some(false) => page.next = None,
        Some(true) if page.next.as_ref().is_none_or(|token| token.len() > MAX_TOKEN) => {
            return Err("expected a token for the next page, found none that can be used".into());
        }
        Some(true) => {}
    }
    if is_encoded {
        for object in &mut page.objects {
            // As forms are: a plus sign is a blank.
            let key = object.key.replace('+', " ");
            let key = percent_decode_str(&key).decode_utf8();
            object.key = key.map_err(|_| "expected keys in UTF-8, found another")?.into_owned();
        }
    }
    // Jobs wait with their keys, so these are the memory that a store has of us.
    let is_long = |object: &Listed| {
        let etag = object.facts.etag.as_ref();
        object.key.len() > MAX_KEY || etag.is_some_and(|etag| etag.len() > MAX_ETAG)
    };
    if page.objects.iter().any(is_long) {
        return Err(format!("expected keys of at most {MAX_KEY} bytes, found a longer one"));
    }
    Ok(page)
}

#[derive(Default)]
struct Object {
    key: Option<String>,
    size: Option<u64>,
    etag: Option<String>,
}

impl Object {
    fn listed(self) -> Result<Listed, String> {
        let Object { key, size, etag } = self;
        let key = key.filter(|key| !key.is_empty()).ok_or("expected a key, found none")?;
        let size = size.ok_or("expected a size, found none")?;
        // Some have it without its quotes, which the header has.
        let etag = etag.filter(|etag| etag.len() > 2).map(|etag| match etag.contains('"') {
            true => etag,
            false => format!("\"{etag}\""),
        });
        Ok(Listed { key, facts: Facts { size, etag, version: None } })
    }
}

/// The character that `&name;` or `&#number;` stands for.
fn character(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character);
    }
    match &**reference {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(contents: &str) -> Result<Page, String> {
        parse(&format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"x\"><Name>b</Name>\
             <IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
        ))
    }

    fn object(key: &str) -> String {
        let inside = "<Size>3</Size><Owner><ID>o</ID></Owner>";
        format!("<Contents><Key>{key}</Key><ETag>&quot;e&#34;</ETag>{inside}</Contents>")
    }

    #[test]
    fn keys_come_as_they_are() {
        let found = page(&format!("{}{}", object("a"), object("b&amp;%20+&lt;"))).unwrap();
        let keys: Vec<&str> = found.objects.iter().map(|object| &*object.key).collect();
        assert_eq!(keys, ["a", "b&%20+<"]);
        let facts = &found.objects[0].facts;
        assert_eq!((facts.size, facts.etag.as_deref(), found.next), (3, Some("\"e\""), None));
    }

    #[test]
    fn encoded_keys_are_decoded() {
        let encoded = "<EncodingType>url</EncodingType>";
        let found = page(&format!("{}{encoded}", object("a+b%2Bc%0A%C3%A9%25"))).unwrap();
        assert_eq!(found.objects[0].key, "a b+c\n\u{e9}%");
        assert!(page(&format!("{}{encoded}", object("%FF"))).is_err());
    }

    #[test]
    fn what_is_no_page_is_refused() {
        let truncated = "<IsTruncated>true</IsTruncated>";
        let token = "<NextContinuationToken>t&amp;</NextContinuationToken>";
        assert_eq!(page(&format!("{truncated}{token}")).unwrap().next.as_deref(), Some("t&"));
        assert_eq!(page(token).unwrap().next, None);
        assert!(page(truncated).is_err());
        assert!(page("<Contents><Size>3</Size></Contents>").is_err());
        assert!(page("<Contents><Key>a</Key><Size>-3</Size></Contents>").is_err());
        assert!(page("<Contents><Key>&a;</Key><Size>3</Size></Contents>").is_err());
        assert!(parse("<ListBucketResult><Contents>").is_err());
        for text in ["", "gone", "<html></html>", "<ListBucketResult></ListBucketResult>"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let twice =
            "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>".repeat(2);
        assert!(parse(&twice).is_err());
        assert!(page("<IsTruncated>maybe</IsTruncated>").is_err());
        assert!(page(&object(&"x".repeat(4096))).is_ok());
        assert!(page(&object(&"x".repeat(4097))).is_err());
        assert!(parse(&"<a>".repeat(1000)).is_err());
    }
}
