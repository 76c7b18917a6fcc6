//! Requests to a store: for an object's content or properties, for a page of a listing, and for the
//! writes and deletes of a manifest. All stores are treated with the same caution: responses have
//! limits, and each must match the content expected.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RANGE, RETRY_AFTER,
};
use http::{Method, StatusCode};
use object_store::client::{HttpRequest, HttpRequestBody, HttpResponse};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tagmac_files::Error;

use crate::config::Config;
use crate::dialect::{Dialect, value};
use crate::failure::{CHANGED, DENIED, Failure, error_code, is_word, root_cause, unsent};
use crate::listing::{self, Page};
use crate::object::{Body, Metadata, ObjectVersion, Over, Span};
use crate::pace::Pace;
use tagmac_files::url::{DOT_SEGMENTS, Url, has_dot_segments};

/// The characters that signatures leave unencoded.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The same characters and `/`, for paths.
const PATH: &AsciiSet = &STRICT.remove(b'/');
/// The limit of an error response.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// A page has at most 1000 keys of 1 KiB, or three times that when encoded.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// The store of a bucket.
pub struct Store {
    config: Config,
    dialect: &'static Dialect,
}

impl Store {
    /// Returns the store of a URL's bucket. Sends no request yet.
    pub fn new(url: &Url) -> Result<Store, Error> {
        Ok(Store::with(Config::new(url)?))
    }

    /// Returns the store with a configuration.
    pub fn with(config: Config) -> Store {
        let dialect = config.signer.dialect();
        Store { config, dialect }
    }

    /// Requests a range of the content expected.
    pub async fn get(
        &self,
        key: &str,
        span: Span,
        expected: &ObjectVersion,
    ) -> Result<Body, Failure> {
        let mut headers = HeaderMap::new();
        if let Some(range) = span.header() {
            headers.insert(RANGE, range.parse().map_err(final_error)?);
        }
        let response = self.object(Method::GET, key, Some(expected), headers, Bytes::new()).await?;
        let (head, body) = response.into_parts();
        let length: Option<u64> = header(&head.headers, CONTENT_LENGTH.as_str());
        let (start, size) = match head.status {
            StatusCode::PARTIAL_CONTENT => {
                let range: Option<String> = header(&head.headers, CONTENT_RANGE.as_str());
                range.as_deref().and_then(content_range).ok_or_else(|| {
                    Failure::Final("the answer has no valid Content-Range header".into())
                })?
            }
            // The whole object, even if a range was requested.
            _ => (0, length.ok_or_else(no_length)?),
        };
        let pieces = body.bytes_stream().map(|piece| piece.map_err(|error| passing(&error)));
        Ok(Body { facts: self.dialect.facts(&head.headers, size), start, pieces: Box::pin(pieces) })
    }

    /// Requests the properties of an object.
    pub async fn facts(&self, key: &str) -> Result<ObjectVersion, Failure> {
        Ok(self.described(key).await?.0)
    }

    /// Requests the properties of an object, and its metadata. The store's prefix of the names is
    /// removed; a value that is not ASCII is left out.
    pub async fn described(&self, key: &str) -> Result<(ObjectVersion, Metadata), Failure> {
        let response = self.object(Method::HEAD, key, None, HeaderMap::new(), Bytes::new()).await?;
        let headers = response.headers();
        // Azure has folders with names like those of objects.
        if headers.get("x-ms-resource-type").is_some_and(|kind| kind != "file") {
            return Err(Failure::Missing);
        }
        let size = header(headers, CONTENT_LENGTH.as_str());
        let size = size.ok_or_else(no_length)?;
        let metadata = headers.iter().filter_map(|(name, value)| {
            let name = name.as_str().strip_prefix(self.dialect.metadata)?;
            Some((name.into(), value.to_str().ok()?.into()))
        });
        Ok((self.dialect.facts(headers, size), metadata.collect()))
    }

    /// Writes an object. Replaces another one only if `over` allows it.
    pub async fn put(&self, key: &str, bytes: Bytes, over: Over<'_>) -> Result<(), Failure> {
        let mut headers = self.dialect.condition(over)?;
        headers.extend(fixed(self.dialect.put));
        match (self.object(Method::PUT, key, None, headers, bytes).await, over) {
            (Ok(_), _) => Ok(()),
            (Err(CHANGED), Over::Nothing) => Err(Failure::Exists),
            (Err(Failure::Missing), Over::This(_)) => Err(CHANGED),
            (Err(failure), _) => Err(failure),
        }
    }

    /// Deletes an object, which may be gone already.
    pub async fn delete(&self, key: &str) -> Result<(), Failure> {
        match self.object(Method::DELETE, key, None, HeaderMap::new(), Bytes::new()).await {
            Ok(_) | Err(Failure::Missing) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Requests a page of the listing of a prefix: the one of `token`, or the first.
    pub async fn page(&self, prefix: &str, token: Option<&str>) -> Result<Page, Failure> {
        let encoded = |text| utf8_percent_encode(text, STRICT).to_string();
        let Dialect { listing, token: name, form, .. } = self.dialect;
        let mut query: Vec<_> = listing.iter().map(|(name, is)| (*name, (*is).into())).collect();
        query.extend(token.map(|token| (*name, encoded(token))));
        query.push(("prefix", encoded(prefix)));
        query.sort();
        let query: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        // The path of a bucket with its own host is a slash; other paths do not end with one.
        let endpoint = &self.config.endpoint;
        let is_host = endpoint.matches('/').count() == 2;
        let uri = format!("{endpoint}{}?{}", if is_host { "/" } else { "" }, query.join("&"));
        let response = self.send(Method::GET, uri, HeaderMap::new(), Bytes::new()).await?;
        let response = checked(response).await?;
        let text = text(response, MAX_PAGE_BYTES).await?;
        listing::parse(&text, *form).map_err(|what| Failure::Final(format!("the listing: {what}")))
    }

    /// Sends a request for an object and checks the response.
    async fn object(
        &self,
        method: Method,
        key: &str,
        expected: Option<&ObjectVersion>,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpResponse, Failure> {
        if has_dot_segments(key) {
            return Err(Failure::Final(DOT_SEGMENTS.into()));
        }
        let mut uri = format!("{}/{}", self.config.endpoint, utf8_percent_encode(key, PATH));
        if let Some(etag) = expected.and_then(ObjectVersion::strong_etag) {
            headers.insert(IF_MATCH, value(etag)?);
        }
        if let Some(version) = expected.and_then(|facts| facts.version.as_deref()) {
            let version = utf8_percent_encode(version, STRICT);
            uri += &format!("?{}={version}", self.dialect.version);
        }
        checked(self.send(method, uri, headers, body).await?).await
    }

    async fn send(
        &self,
        method: Method,
        uri: String,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpResponse, Failure> {
        let bytes = body.len();
        let body = if bytes == 0 { HttpRequestBody::empty() } else { body.into() };
        let mut request = HttpRequest::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri.parse().map_err(final_error)?;
        *request.headers_mut() = headers;
        request.headers_mut().extend(fixed(self.dialect.headers));
        let Config { client, writer, signer, .. } = &self.config;
        signer.sign(&mut request, bytes).await?;
        let client = if bytes > 0 { writer } else { client };
        let certificates = self.dialect.certificates;
        client.execute(request).await.map_err(|error| unsent(&error, certificates))
    }
}

fn no_length() -> Failure {
    Failure::Final("the answer has no valid Content-Length header".into())
}

fn fixed(
    headers: &[(&'static str, &'static str)],
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
}

/// Returns a successful response; turns any other into a failure.
async fn checked(response: HttpResponse) -> Result<HttpResponse, Failure> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let region: Option<String> = header(response.headers(), "x-amz-bucket-region");
    let after: Option<u64> = header(response.headers(), RETRY_AFTER.as_str());
    // A response to HEAD has no body. A body that cannot be read is ignored in the same way.
    let named: Option<String> = header(response.headers(), "x-ms-error-code");
    let code = text(response, MAX_ERROR_BYTES).await.ok().and_then(|text| error_code(&text));
    let code = named.filter(|code| is_word(code)).or(code);
    let shown = match &code {
        Some(code) => format!("{} {code}", status.as_u16()),
        None => status.as_u16().to_string(),
    };
    let code = code.as_deref().unwrap_or_default();
    Err(match status {
        StatusCode::NOT_FOUND if !matches!(code, "NoSuchBucket" | "ContainerNotFound") => {
            Failure::Missing
        }
        _ if matches!(code, "InvalidObjectState" | "BlobArchived") => Failure::Archived(format!(
            "the object is archived; restore it before reading it ({shown})"
        )),
        StatusCode::CONFLICT if code == "BlobAlreadyExists" => Failure::Exists,
        StatusCode::PRECONDITION_FAILED => CHANGED,
        // The range was within the object before.
        StatusCode::RANGE_NOT_SATISFIABLE => CHANGED,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Failure::Final(format!("{DENIED} ({shown})"))
        }
        _ if status.is_redirection() || code == "AuthorizationHeaderMalformed" => {
            let region = region.filter(|region| is_word(region));
            let hint = region.map_or(String::new(), |region| {
                format!("; the bucket is in the region {region}: set AWS_REGION")
            });
            Failure::Final(format!("the store is elsewhere ({shown}){hint}"))
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            Failure::Passing(format!("the store is busy ({shown})"), seconds(after))
        }
        // Two concurrent writers: a retry finds out which was first.
        StatusCode::CONFLICT if code == "ConditionalRequestConflict" => {
            Failure::Passing(format!("the store is busy ({shown})"), None)
        }
        _ if status.is_server_error() || matches!(code, "SlowDown" | "RequestTimeout") => {
            Failure::Passing(format!("the store is busy ({shown})"), seconds(after))
        }
        _ => Failure::Final(format!("the store refuses the request ({shown})")),
    })
}

fn seconds(after: Option<u64>) -> Option<Duration> {
    after.map(Duration::from_secs)
}

/// Reads the text of a response, with a limit of `most` bytes.
async fn text(response: HttpResponse, most: usize) -> Result<String, Failure> {
    let pieces = response.into_body().bytes_stream();
    let mut pieces = pieces.map(|piece| piece.map_err(|error| passing(&error)));
    let (mut bytes, mut pace) = (Vec::new(), Pace::default());
    while let Some(piece) = pace.next(&mut pieces).await {
        let piece = piece?;
        if bytes.len() + piece.len() > most {
            return Err(Failure::Final(format!("the answer has more than {most} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes).map_err(final_error)
}

/// Returns the start of a range and the size of its object, as in `bytes 0-99/1000`.
fn content_range(text: &str) -> Option<(u64, u64)> {
    let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    Some((start.parse().ok()?, size.parse().ok()?))
}

fn header<T: std::str::FromStr>(headers: &HeaderMap, name: &str) -> Option<T> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

fn final_error(error: impl std::error::Error + 'static) -> Failure {
    Failure::Final(root_cause(&error))
}

/// Classifies a failed connection: a retry may succeed.
fn passing(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::Passing(root_cause(error), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_error_only_the_code_is_taken() {
        let error = |code: &str| format!("<Error><Code>{code}</Code><Message>x</Message></Error>");
        assert_eq!(error_code(&error("SlowDown")).as_deref(), Some("SlowDown"));
        for code in ["", "a b", "\u{1b}[2J", &"x".repeat(65)] {
            assert_eq!(error_code(&error(code)), None);
        }
        assert_eq!(error_code("<html>"), None);
    }

    #[test]
    fn ranges_of_answers() {
        assert_eq!(content_range("bytes 5-9/100"), Some((5, 100)));
        for text in ["bytes */100", "bytes 5-9/*", "5-9/100", "bytes -/", ""] {
            assert_eq!(content_range(text), None, "{text}");
        }
    }
}
