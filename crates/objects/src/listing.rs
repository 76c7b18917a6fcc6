//! Parses a page of a listing: a `ListBucketResult` of S3 and Google Cloud Storage, or an
//! `EnumerationResults` of Azure.

use percent_encoding::percent_decode_str;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::object::{Listed, ObjectVersion};

/// The maximum length of a key. Stores allow 1024 bytes.
const MAX_KEY: usize = 4096;
const MAX_ETAG: usize = 1024;
const MAX_TOKEN: usize = 8192;
/// The maximum number of objects in a page. Stores return up to 5000.
const MAX_OBJECTS: usize = 10_000;

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A `ListBucketResult`.
    Bucket,
    /// An `EnumerationResults`.
    Container,
}

impl Form {
    fn root(self) -> &'static str {
        match self {
            Form::Bucket => "ListBucketResult",
            Form::Container => "EnumerationResults",
        }
    }
}

/// A page of a listing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The objects, in order of their keys.
    pub objects: Vec<Listed>,
    /// The token for the next page, if any.
    pub next: Option<String>,
}

/// Parses a page. The error is a description of the problem.
pub fn parse(text: &str, form: Form) -> Result<Page, String> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut page = Page::default();
    let (mut is_truncated, mut is_encoded, mut is_listing) = (None, false, false);
    let mut path: Vec<String> = Vec::new();
    let mut value = String::new();
    let mut object = Object::default();
    loop {
        match reader.read_event().map_err(|_| "not valid XML")? {
            Event::Start(start) => {
                path.push(String::from_utf8_lossy(start.local_name().as_ref()).into_owned());
                value.clear();
                let is_root = path.len() == 1;
                // Any other document, such as an empty page from a proxy, would end the listing
                // early.
                if is_root && (is_listing || path[0] != form.root()) || path.len() > 8 {
                    return Err(format!("the document is not a {}", form.root()));
                }
                is_listing = true;
                if path.last().is_some_and(|name| name == "Name") {
                    object.is_encoded = is_encoded_name(&start);
                }
            }
            Event::Text(text) => {
                value += &text.decode().map_err(|_| "not valid UTF-8")?;
            }
            Event::GeneralRef(reference) => {
                value.push(character(&reference).ok_or("unknown XML entity")?);
            }
            Event::CData(text) => value += &text.decode().map_err(|_| "not valid UTF-8")?,
            Event::End(_) => {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                let mut text = || Some(std::mem::take(&mut value));
                match (form, &names[1.min(names.len())..]) {
                    (Form::Bucket, ["Contents", "Key"]) => object.key = text(),
                    (Form::Bucket, ["Contents", "Size"]) => object.size = value.parse().ok(),
                    (Form::Bucket, ["Contents", "ETag"]) => object.etag = text(),
                    (Form::Bucket, ["Contents", "StorageClass"]) => {
                        object.archived = matches!(&*value, "GLACIER" | "DEEP_ARCHIVE");
                    }
                    (Form::Bucket, ["Contents"]) | (Form::Container, ["Blobs", "Blob"]) => {
                        if let Some(listed) = std::mem::take(&mut object).listed()? {
                            page.objects.push(listed);
                        }
                        if page.objects.len() > MAX_OBJECTS {
                            return Err(format!("a page has more than {MAX_OBJECTS} objects"));
                        }
                    }
                    (Form::Bucket, ["IsTruncated"]) => is_truncated = value.parse().ok(),
                    (Form::Bucket, ["EncodingType"]) => is_encoded = value == "url",
                    (Form::Bucket, ["NextContinuationToken"]) => page.next = text(),
                    (Form::Container, ["Blobs", "Blob", "Name"]) => object.key = text(),
                    (Form::Container, ["Blobs", "Blob", "Properties", property]) => match *property
                    {
                        "Content-Length" => object.size = value.parse().ok(),
                        "Etag" => object.etag = text(),
                        "AccessTier" => object.archived = value == "Archive",
                        "ResourceType" => object.is_folder = value == "directory",
                        _ => {}
                    },
                    (Form::Container, ["NextMarker"]) => {
                        page.next = text();
                        is_truncated = page.next.as_ref().map(|token| !token.is_empty());
                    }
                    _ => {}
                }
                path.pop();
                value.clear();
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return Err("the document is truncated".into()),
            _ => {}
        }
    }
    match is_truncated {
        None if form == Form::Container => return Err("NextMarker is missing".into()),
        None => return Err("IsTruncated is missing or not a boolean".into()),
        Some(false) => page.next = None,
        Some(true) if page.next.as_ref().is_none_or(|token| token.len() > MAX_TOKEN) => {
            return Err("a token for the next page is missing or too long".into());
        }
        Some(true) => {}
    }
    if is_encoded {
        for object in &mut page.objects {
            // As in HTML forms, a plus sign encodes a blank.
            object.key = decoded(&object.key.replace('+', " "))?;
        }
    }
    // Keys are queued with their jobs, so a store could fill memory with them.
    let is_long = |object: &Listed| {
        let etag = object.facts.etag.as_ref();
        object.key.len() > MAX_KEY || etag.is_some_and(|etag| etag.len() > MAX_ETAG)
    };
    if page.objects.iter().any(is_long) {
        return Err(format!(
            "a key has more than {MAX_KEY} bytes, or its ETag more than {MAX_ETAG}"
        ));
    }
    Ok(page)
}

#[derive(Default)]
struct Object {
    key: Option<String>,
    size: Option<u64>,
    etag: Option<String>,
    is_encoded: bool,
    is_folder: bool,
    archived: bool,
}

impl Object {
    /// Returns the object, unless it is a folder: Azure lists the folders of a hierarchical
    /// namespace.
    fn listed(self) -> Result<Option<Listed>, String> {
        let Object { key, size, etag, is_encoded, is_folder, archived } = self;
        let key = key.filter(|key| !key.is_empty()).ok_or("an object has no key")?;
        if is_folder {
            return Ok(None);
        }
        let key = if is_encoded { decoded(&key)? } else { key };
        let size = size.ok_or("an object has no valid size")?;
        // Some stores omit the quotes here, but include them in the header.
        let etag = etag.filter(|etag| etag.len() > 2).map(|etag| match etag.contains('"') {
            true => etag,
            false => format!("\"{etag}\""),
        });
        let facts = ObjectVersion { size, etag, version: None };
        Ok(Some(Listed { key, facts, archived }))
    }
}

/// Decodes the percent signs of a key.
fn decoded(key: &str) -> Result<String, String> {
    let key = percent_decode_str(key).decode_utf8();
    Ok(key.map_err(|_| "a key is not valid UTF-8")?.into_owned())
}

/// Returns whether Azure encoded a name, because XML cannot contain some of its characters.
fn is_encoded_name(start: &BytesStart<'_>) -> bool {
    let encoded = start.try_get_attribute("Encoded").ok().flatten();
    encoded.is_some_and(|encoded| &*encoded.value == b"true")
}

/// Returns the character of `&name;` or `&#number;`.
pub fn character(reference: &quick_xml::events::BytesRef<'_>) -> Option<char> {
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

    fn parse(text: &str) -> Result<Page, String> {
        super::parse(text, Form::Bucket)
    }

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
    fn archives_are_recognized() {
        let class = |class: &str| {
            let inside = format!("<Size>3</Size><StorageClass>{class}</StorageClass>");
            page(&format!("<Contents><Key>a</Key>{inside}</Contents>")).unwrap().objects[0].archived
        };
        assert!(class("GLACIER") && class("DEEP_ARCHIVE"));
        // Read at once, like any other.
        assert!(!class("GLACIER_IR") && !class("STANDARD") && !class(""));
        let tier = |tier: &str| {
            let more = format!("<AccessTier>{tier}</AccessTier>");
            let blob = blob("<Name>a</Name>", &more);
            container(&blob, "<NextMarker/>").unwrap().objects[0].archived
        };
        assert!(tier("Archive") && !tier("Cool"));
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

    #[test]
    fn a_page_has_a_limit() {
        assert_eq!(page(&object("a").repeat(MAX_OBJECTS)).unwrap().objects.len(), MAX_OBJECTS);
        let error = page(&object("a").repeat(MAX_OBJECTS + 1)).unwrap_err();
        assert!(error.contains("more than 10000 objects"), "{error}");
    }

    fn container(blobs: &str, marker: &str) -> Result<Page, String> {
        let text = format!(
            "<?xml version=\"1.0\"?><EnumerationResults><Blobs>{blobs}</Blobs>{marker}\
             </EnumerationResults>"
        );
        super::parse(&text, Form::Container)
    }

    fn blob(name: &str, more: &str) -> String {
        let inside = "<Content-Length>3</Content-Length><Etag>0x8D</Etag>";
        format!("<Blob>{name}<Properties>{inside}{more}</Properties><OrMetadata/></Blob>")
    }

    #[test]
    fn a_container_is_a_listing_too() {
        let folder = blob("<Name>a</Name>", "<ResourceType>directory</ResourceType>");
        let file = blob("<Name>a/b&amp;%20+</Name>", "<ResourceType>file</ResourceType>");
        let encoded = blob("<Name Encoded=\"true\">c%EF%BF%BE+%25</Name>", "");
        let plain = blob("<Name>d%25</Name>", "");
        let all = [folder, file, encoded, plain].concat();
        let found = container(&all, "<NextMarker />").unwrap();
        let keys: Vec<&str> = found.objects.iter().map(|object| &*object.key).collect();
        assert_eq!(keys, ["a/b&%20+", "c\u{fffe}+%", "d%25"]);
        let facts = &found.objects[0].facts;
        assert_eq!((facts.size, facts.etag.as_deref(), found.next), (3, Some("\"0x8D\""), None));
        let next = container("", "<NextMarker>2!8!x&amp;</NextMarker>").unwrap().next;
        assert_eq!(next.as_deref(), Some("2!8!x&"));
        assert!(container("", "").is_err());
        assert!(container(&blob("", ""), "<NextMarker/>").is_err());
        assert!(container("<Blob><Name>a</Name></Blob>", "<NextMarker/>").is_err());
        for text in ["", "<EnumerationResults/>", "<ListBucketResult/>"] {
            assert!(super::parse(text, Form::Container).is_err(), "{text}");
        }
    }
}
