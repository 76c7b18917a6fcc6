//! Names of objects, such as `s3://bucket/key`.
//!
//! Everything after the bucket is the key, without any decoding. So every key can be written, and
//! the keys of a listing can be used unchanged.

use std::fmt;

/// The kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage.
    Az,
}

const SCHEMES: [(&str, Scheme); 4] =
    [("s3://", Scheme::S3), ("s3a://", Scheme::S3), ("gs://", Scheme::Gs), ("az://", Scheme::Az)];
/// Prefix of file URLs, which are not accepted; files are named by paths.
const FILE: &str = "file://";

/// The name of an object, or the common prefix of several keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// The kind of store.
    pub scheme: Scheme,
    /// The bucket or container.
    pub bucket: String,
    /// The key, or the prefix.
    pub key: String,
    /// Everything before the key, as given.
    root: String,
}

/// Returns whether a name is a URL of an object or a file.
pub fn is_url(name: &[u8]) -> bool {
    let is = |start: &str| name.starts_with(start.as_bytes());
    is(FILE) || SCHEMES.iter().any(|(start, _)| is(start))
}

/// A URL, a web address or an ARN that no store here accepts. Displays as what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignUrl {
    /// An ARN.
    Arn,
    /// A web address.
    Web,
    /// A scheme under another name than the one accepted here.
    OtherName(Scheme),
    /// Another URL.
    Other,
}

impl ForeignUrl {
    /// Returns the kind of a name that no store here accepts; `None` for a file's name or an
    /// object's URL.
    pub fn from_name(name: &[u8]) -> Option<ForeignUrl> {
        let start = |text: &str| {
            name.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
        };
        if is_url(name) {
            return None;
        }
        if start("arn:") {
            return Some(ForeignUrl::Arn);
        }
        if start("http://") || start("https://") {
            return Some(ForeignUrl::Web);
        }
        let colon = name.iter().position(|&byte| byte == b':')?;
        let (scheme, rest) = name.split_at(colon);
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let letter = scheme.first().is_some_and(u8::is_ascii_alphabetic);
        if !(letter && scheme.iter().all(is_scheme) && rest.starts_with(b"://")) {
            return None;
        }
        Some(match &*scheme.to_ascii_lowercase() {
            b"s3" | b"s3a" | b"s3n" => ForeignUrl::OtherName(Scheme::S3),
            b"gs" | b"gcs" => ForeignUrl::OtherName(Scheme::Gs),
            b"az" | b"azure" | b"adl" | b"abfs" | b"abfss" | b"wasb" | b"wasbs" => {
                ForeignUrl::OtherName(Scheme::Az)
            }
            _ => ForeignUrl::Other,
        })
    }
}

impl fmt::Display for ForeignUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ForeignUrl::Arn => "expected s3://BUCKET/KEY, found an ARN",
            ForeignUrl::Web => {
                "expected a file, or s3://, gs:// or az:// with bucket and key, found a web address"
            }
            ForeignUrl::OtherName(Scheme::S3) => {
                "write this URL as s3://BUCKET/KEY"
            }
            ForeignUrl::OtherName(Scheme::Gs) => {
                "write this URL as gs://BUCKET/KEY"
            }
            ForeignUrl::OtherName(Scheme::Az) => {
                "write this URL as az://CONTAINER/KEY"
            }
            ForeignUrl::Other => {
                "this URL is not supported; expected a file, or s3://, gs:// or az:// with bucket and key"
            }
        })
    }
}

/// The reason why a name is not the URL of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// The name is not UTF-8.
    NotUtf8,
    /// The URL is that of a file.
    File,
    /// The URL is one that no store here reads.
    Foreign(ForeignUrl),
    /// The name has no scheme.
    NoScheme,
    /// The bucket is empty or has other characters; this is how the URL starts.
    Bucket(&'static str),
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UrlError::NotUtf8 => f.write_str("expected a URL in UTF-8, as keys of objects are"),
            UrlError::File => f.write_str("write the file's path instead of its URL"),
            UrlError::Foreign(foreign) => foreign.fmt(f),
            UrlError::NoScheme => f.write_str("expected s3://, gs:// or az://"),
            UrlError::Bucket(start) => {
                write!(f, "expected {start}BUCKET/KEY, with a bucket of letters, digits, - . _")
            }
        }
    }
}

impl std::error::Error for UrlError {}

/// The message for a key with dot segments.
pub const DOT_SEGMENTS: &str =
    "expected a key without '.' or '..' between slashes: it cannot be asked for in a URL";

/// Returns whether a key has `.` or `..` between slashes. The rules for URLs remove such segments,
/// so a client or a proxy would request another object.
pub fn has_dot_segments(key: &str) -> bool {
    key.split('/').any(|segment| matches!(segment, "." | ".."))
}

impl Url {
    /// Parses a URL.
    pub fn parse(name: &[u8]) -> Result<Url, UrlError> {
        let text = str::from_utf8(name).map_err(|_| UrlError::NotUtf8)?;
        let found = SCHEMES.iter().find(|(start, _)| text.starts_with(start));
        let (start, scheme) = *found.ok_or(match text.starts_with(FILE) {
            // Paths are opened with more checks than libraries for stores make.
            true => UrlError::File,
            false => ForeignUrl::from_name(name).map_or(UrlError::NoScheme, UrlError::Foreign),
        })?;
        let rest = &text[start.len()..];
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        // The bucket becomes part of a host name or a path, so it must not contain their
        // delimiters.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if bucket.is_empty() || bucket.starts_with('.') || !bucket.chars().all(is_plain) {
            return Err(UrlError::Bucket(start));
        }
        let root = format!("{start}{bucket}/");
        Ok(Url { scheme, bucket: bucket.into(), key: key.into(), root })
    }

    /// Returns the URL of another key in the same bucket.
    pub fn with_key(&self, key: &str) -> Url {
        Url { key: key.into(), ..self.clone() }
    }

    /// Returns the key as a folder: with a slash at the end, unless it is empty.
    pub fn folder(&self) -> String {
        match &*self.key {
            "" => String::new(),
            key if key.ends_with('/') => key.into(),
            key => format!("{key}/"),
        }
    }

    /// Returns whether a URL is that of this object, or of one below it as in a folder.
    pub fn contains(&self, other: &Url) -> bool {
        (self.scheme, &self.bucket) == (other.scheme, &other.bucket)
            && (self.key == other.key || other.key.starts_with(&self.folder()))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.root, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_key_is_taken_as_it_is() {
        for key in ["", "k", "a/b", "/a//b/", "a b%2F?#\u{e9}\n", "..", "./.", "a/"] {
            let text = format!("s3://b/{key}");
            let url = url(&text);
            assert_eq!((url.scheme, &*url.bucket, &*url.key), (Scheme::S3, "b", key));
            assert_eq!(url.to_string(), text);
        }
        assert_eq!(url("s3a://b/k").scheme, Scheme::S3);
        assert_eq!(url("s3a://b").to_string(), "s3a://b/");
    }

    #[test]
    fn a_segment_of_dots_is_one_of_nothing_else() {
        for key in [".", "..", "a/../b", "./a", "a/.", "a//.."] {
            assert!(has_dot_segments(key), "{key}");
        }
        for key in ["", "...", ".a", "a..", "a/.b/c", "a/..b", "a.b"] {
            assert!(!has_dot_segments(key), "{key}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        let names = ["s3://", "s3:///k", "s3://b?x/k", "s3://a@b/k", "s3://../k", "file:///a", "x"];
        for name in names {
            assert!(Url::parse(name.as_bytes()).is_err(), "{name}");
        }
        assert!(Url::parse(b"s3://b/\xff").is_err());
        assert!(!is_url(b"s3:/b/k") && !is_url(b"S3://b/k") && !is_url(b"http://b/k"));
    }

    #[test]
    fn a_url_of_something_else_has_a_hint() {
        for (name, hint) in [
            ("s3n://b/k", "write this URL as s3://BUCKET/KEY"),
            ("S3://b/k", "write this URL as s3://BUCKET/KEY"),
            ("arn:aws:s3:::b/k", "expected s3://BUCKET/KEY, found an ARN"),
            ("https://b.s3.amazonaws.com/k", "found a web address"),
            ("HTTP://host/", "found a web address"),
            ("gcs://b/k", "write this URL as gs://"),
            ("abfss://c@a.dfs.core.windows.net/k", "write this URL as az://"),
            ("hdfs://host/k", "this URL is not supported"),
        ] {
            let found = ForeignUrl::from_name(name.as_bytes()).unwrap();
            assert!(found.to_string().contains(hint), "{name}: {found}");
            assert_eq!(Url::parse(name.as_bytes()).unwrap_err(), UrlError::Foreign(found));
        }
        let files = [
            "",
            "a",
            "a:b",
            "c:\\d",
            "://",
            "a b://c",
            "1://",
            "./s3n://b",
            "s3://b/k",
            "file:///a",
            "arn",
        ];
        for name in files {
            assert_eq!(ForeignUrl::from_name(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn a_folder_ends_with_a_slash() {
        assert_eq!([url("s3://b").folder(), url("s3://b/a").folder()], ["", "a/"]);
        let photos = url("s3://b/photos");
        for (inside, expected) in [
            ("s3://b/photos", true),
            ("s3a://b/photos/x", true),
            ("s3://b/photos2/x", false),
            ("s3://c/photos/x", false),
            ("gs://b/photos/x", false),
        ] {
            assert_eq!(photos.contains(&url(inside)), expected, "{inside}");
        }
        assert!(url("s3://b").contains(&url("s3://b/x")));
    }
}
