//! HTTP clients, for the requests of this crate and for those of `object_store` for keys.
//!
//! They do not follow redirects. A redirect could send a session token, or a URL that is itself a
//! key, to another host, and return that host's bytes as the object's.
//!
//! `object_store` could build clients itself, but only with HTTP/2, which S3 does not support and
//! which costs a quarter of a megabyte.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use object_store::{Error, Result};

use crate::endpoint::{Reach, is_beside};

/// A connection is dead after this time without a byte.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for the response to a request that carries a file of a manifest.
const WRITE_TIMEOUT: Duration = Duration::from_secs(600);
/// The time limit and the size limit of a response with keys.
const KEYS_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_KEYS_BYTES: usize = 1 << 20;

/// The certificates to check servers against; those of the system by default.
pub type Roots = Option<Vec<reqwest::Certificate>>;

/// The reach, the timeout and the certificates of a client.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The way to reach the store.
    pub reach: Reach,
    /// True if requests carry files, which takes longer.
    pub writes: bool,
    /// The certificates to trust.
    pub roots: &'a Roots,
}

/// Builds a client.
pub fn client(terms: Terms<'_>) -> Result<HttpClient> {
    let timeout = if terms.writes { WRITE_TIMEOUT } else { READ_TIMEOUT };
    let builder = builder(terms.reach, terms.roots).read_timeout(timeout);
    Ok(HttpClient::new(Http(built(builder)?)))
}

fn builder(reach: Reach, roots: &Roots) -> reqwest::ClientBuilder {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tagmac/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .https_only(reach == Reach::Tls)
        .connect_timeout(CONNECT_TIMEOUT);
    // A proxy on another machine would see requests in plain text that are safe only on this one.
    if reach == Reach::Loopback {
        builder = builder.no_proxy();
    }
    if let Some(roots) = roots {
        builder = builder.tls_certs_only(roots.iter().cloned());
    }
    builder
}

fn built(builder: reqwest::ClientBuilder) -> Result<reqwest::Client> {
    builder.build().map_err(|error| Error::Generic { store: "HTTP", source: Box::new(error) })
}

/// Sends requests with reqwest.
#[derive(Debug)]
struct Http(reqwest::Client);

#[async_trait]
impl HttpService for Http {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        send(&self.0, request).await
    }
}

async fn send(client: &reqwest::Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let request = request.map(reqwest::Body::wrap).try_into().map_err(failure)?;
    let response = client.execute(request).await.map_err(failure)?;
    let response = http::Response::from(response);
    Ok(response.map(|body| HttpResponseBody::new(body.map_err(failure))))
}

/// Converts an error and classifies it for retries. The URL is removed, because it may itself be a
/// key.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        // A retry would fail in the same way.
        () if error.is_builder() || is_tls(&error) => HttpErrorKind::Decode,
        () if error.is_connect() => HttpErrorKind::Connect,
        // The connection ended: `object_store` retries requests that are idempotent.
        () => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, error.without_url())
}

/// Returns whether the certificate is not trusted, or the two sides cannot agree on TLS.
fn is_tls(error: &reqwest::Error) -> bool {
    use rustls::Error::{InvalidCertificate, PeerIncompatible, UnsupportedNameType};
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(tls) = error.downcast_ref() {
            return matches!(
                tls,
                InvalidCertificate(_) | PeerIncompatible(_) | UnsupportedNameType
            );
        }
        // `io::Error::source` skips the error inside it.
        cause = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    false
}

/// Builds clients for `object_store`, which requests keys with them.
#[derive(Debug)]
pub struct Connector {
    /// True if the user allows plain HTTP to any host.
    pub allow_http: bool,
    /// The certificates to trust.
    pub roots: Roots,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> Result<HttpClient> {
        let client = |reach| built(builder(reach, &self.roots).timeout(KEYS_TIMEOUT));
        let (tls, plain) = (client(Reach::Tls)?, client(Reach::Loopback)?);
        Ok(HttpClient::new(Keys { tls, plain, allow_http: self.allow_http }))
    }
}

/// Sends requests for keys: over TLS, or to a service on this machine or its local link.
#[derive(Debug)]
struct Keys {
    tls: reqwest::Client,
    plain: reqwest::Client,
    allow_http: bool,
}

#[async_trait]
impl HttpService for Keys {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let host = request.uri().host().unwrap_or_default();
        let client = match request.uri().scheme_str() {
            Some("http") if self.allow_http || is_beside(host) => &self.plain,
            Some("http") => {
                let what = "the service for keys must use https://, not http://";
                return Err(HttpError::new(HttpErrorKind::Decode, io::Error::other(what)));
            }
            _ => &self.tls,
        };
        let response = send(client, request).await?;
        Ok(response.map(|body| {
            let body = Limited::new(body, MAX_KEYS_BYTES).map_err(|error| {
                HttpError::new(HttpErrorKind::Decode, io::Error::other(error.to_string()))
            });
            HttpResponseBody::new(body)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keys_are_asked_for_over_tls_or_beside_this_machine() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connector = Connector { allow_http: false, roots: None };
        let client = connector.connect(&ClientOptions::new()).unwrap();
        let mut request = HttpRequest::new(object_store::client::HttpRequestBody::empty());
        *request.uri_mut() = "http://192.0.2.1/token".parse().unwrap();
        let error = client.execute(request.clone()).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Decode);
        assert!(crate::failure::root_cause(&error).contains("must use https://"));
        // No server listens on this port.
        *request.uri_mut() = "http://127.0.0.1:1/token".parse().unwrap();
        let error = client.execute(request).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Connect);
    }
}
