//! The differences between the stores: names of headers and parameters, and conditions for writes.
//!
//! Google Cloud Storage supports the requests of S3, with generations instead of versions.

use http::header::{HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};

use crate::failure::Failure;
use crate::listing::Form;
use crate::object::{ObjectVersion, Over};

/// The requests and headers of one kind of store.
pub struct Dialect {
    /// The response header with an object's version.
    pub version_header: &'static str,
    /// The prefix of the headers with an object's metadata.
    pub metadata: &'static str,
    /// The parameter that selects a version.
    pub version: &'static str,
    /// The parameters of every listing.
    pub listing: &'static [(&'static str, &'static str)],
    /// The parameter that selects the next page.
    pub token: &'static str,
    /// The format of a page of a listing.
    pub form: Form,
    /// The headers of every request.
    pub headers: &'static [(&'static str, &'static str)],
    /// The headers of every write.
    pub put: &'static [(&'static str, &'static str)],
    /// True if writes are conditional on a generation instead of an ETag.
    by_generation: bool,
    /// The message if no credentials were found; names the places searched.
    pub no_credentials: &'static str,
    /// The variable that names the certificates to trust.
    pub certificates: &'static str,
}

/// S3 and compatible stores.
pub static S3: Dialect = Dialect {
    version_header: "x-amz-version-id",
    metadata: "x-amz-meta-",
    version: "versionId",
    listing: &[("encoding-type", "url"), ("list-type", "2")],
    token: "continuation-token",
    form: Form::Bucket,
    headers: &[],
    put: &[],
    by_generation: false,
    no_credentials: "no credentials for S3 in the environment, in AWS's files or from the \
                     machine's role",
    certificates: "AWS_CA_BUNDLE",
};

/// Google Cloud Storage.
pub static GOOGLE: Dialect = Dialect {
    version_header: "x-goog-generation",
    metadata: "x-goog-meta-",
    version: "generation",
    listing: &[("list-type", "2")],
    token: "continuation-token",
    form: Form::Bucket,
    headers: &[],
    put: &[],
    by_generation: true,
    no_credentials: "no credentials for Google Cloud Storage in GOOGLE_* or from the machine",
    certificates: "SSL_CERT_FILE",
};

/// Azure Blob Storage.
pub static AZURE: Dialect = Dialect {
    version_header: "x-ms-version-id",
    metadata: "x-ms-meta-",
    version: "versionid",
    listing: &[("comp", "list"), ("restype", "container")],
    token: "marker",
    form: Form::Container,
    headers: &[("x-ms-version", "2023-11-03")],
    put: &[("x-ms-blob-type", "BlockBlob"), ("content-type", "application/octet-stream")],
    by_generation: false,
    no_credentials: "no credentials for Azure in AZURE_* or from the machine",
    certificates: "SSL_CERT_FILE",
};

impl Dialect {
    /// Returns the headers that make a write conditional on the object that it may replace.
    pub fn condition(&self, over: Over<'_>) -> Result<HeaderMap, Failure> {
        let generation = HeaderName::from_static("x-goog-if-generation-match");
        let unbound = |what| {
            Failure::Final(format!(
                "the store did not return {what}; without it a concurrent write could be lost"
            ))
        };
        let (name, value) = match over {
            Over::Nothing if self.by_generation => (generation, HeaderValue::from_static("0")),
            Over::Nothing => (IF_NONE_MATCH, HeaderValue::from_static("*")),
            Over::This(facts) if self.by_generation => {
                let version = facts.version.as_deref().ok_or_else(|| unbound("a generation"))?;
                (generation, value(version)?)
            }
            Over::This(facts) => {
                let etag = facts.strong_etag().ok_or_else(|| unbound("a strong ETag"))?;
                (IF_MATCH, value(etag)?)
            }
            Over::Anything => return Ok(HeaderMap::new()),
        };
        Ok(HeaderMap::from_iter([(name, value)]))
    }

    /// Reads the version of an object of `size` bytes from the headers of a response.
    pub fn facts(&self, headers: &HeaderMap, size: u64) -> ObjectVersion {
        let text = |name: &str| Some(String::from(headers.get(name)?.to_str().ok()?));
        ObjectVersion {
            size,
            etag: text("etag").filter(|etag| etag.len() > 2),
            version: text(self.version_header).filter(|version| version != "null"),
        }
    }
}

/// Makes a header of a text from a store.
pub fn value(text: &str) -> Result<HeaderValue, Failure> {
    let wrong = |_| Failure::Final("the store's ETag is not valid in a header".into());
    HeaderValue::from_str(text).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_is_named_to_the_store() {
        let this = |etag: &str, version: Option<&str>| ObjectVersion {
            etag: Some(etag.into()),
            version: version.map(String::from),
            ..ObjectVersion::default()
        };
        for dialect in [&S3, &AZURE] {
            assert_eq!(dialect.condition(Over::Nothing).unwrap()[IF_NONE_MATCH], "*");
            let facts = this("\"e\"", None);
            assert_eq!(dialect.condition(Over::This(&facts)).unwrap()[IF_MATCH], "\"e\"");
            assert!(dialect.condition(Over::Anything).unwrap().is_empty());
            for facts in [this("W/\"e\"", None), ObjectVersion::default()] {
                let refused = dialect.condition(Over::This(&facts)).unwrap_err();
                assert!(matches!(refused, Failure::Final(what) if what.contains("a strong ETag")));
            }
        }
        let name = "x-goog-if-generation-match";
        assert_eq!(GOOGLE.condition(Over::Nothing).unwrap()[name], "0");
        let facts = this("\"e\"", Some("17"));
        assert_eq!(GOOGLE.condition(Over::This(&facts)).unwrap()[name], "17");
        let refused = GOOGLE.condition(Over::This(&this("\"e\"", None))).unwrap_err();
        assert!(matches!(refused, Failure::Final(what) if what.contains("a generation")));
    }

    #[test]
    fn an_etag_with_a_line_break_makes_no_header() {
        let facts = ObjectVersion { etag: Some("\"e\n\"".into()), ..ObjectVersion::default() };
        assert!(S3.condition(Over::This(&facts)).is_err());
    }
}
