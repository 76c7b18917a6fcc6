//! Clients for HTTP, for what is asked here and for the keys that `object_store` asks for.
//!
//! A redirect is not followed: it would take a session's token, or a URL that is a key itself, to
//! another host, and bring that host's bytes as the object's.
//!
//! `object_store` could make clients by itself, but only ones that know HTTP/2 too, which S3 does
//! not speak: a quarter of a megabyte.

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

/// Without a byte for so long a connection is dead.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an answer may take to a request that carries a file of a manifest.
const WRITE_TIMEOUT: Duration = Duration::from_secs(600);
/// How long an answer with keys may take, and its size.
const KEYS_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_KEYS_BYTES: usize = 1 << 20;

/// The certificates that servers are checked against; those of the system unless given.
pub type Roots = Option<Vec<reqwest::Certificate>>;

/// Which hosts a client speaks with, and how long it waits.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// How the store is reached.
    pub reach: Reach,
    /// Whether requests carry files.
    pub writes: bool,
    /// The certificates to trust.
    pub roots: &'a Roots,
}

/// A client.
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
    // A proxy would get in clear what may be plain HTTP only because nobody else hears it.
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

/// Sends requests.
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

/// What went wrong, and whether it may pass. Without the URL, which may be a key itself.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        // The next connection finds the same certificate.
        () if error.is_builder() || is_tls(&error) => HttpErrorKind::Decode,
        () if error.is_connect() => HttpErrorKind::Connect,
        // The connection ended: `object_store` asks again where that changes nothing.
        () => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, error.without_url())
}

/// Whether a server's certificate is not trusted, or the two sides have no way to speak TLS.
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
        // The source of an `io::Error` skips the error inside it.
        cause = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    false
}

/// Makes clients for `object_store`, which asks for keys with them.
#[derive(Debug)]
pub struct Connector {
    /// Whether the user allows plain HTTP to any host.
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

/// Sends requests for keys: over TLS, or to a service beside this machine.
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
                let what = "expected https:// for the service that gives keys, found http://";
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
        assert!(crate::failure::root_cause(&error).contains("expected https://"));
        // Nobody listens there.
        *request.uri_mut() = "http://127.0.0.1:1/token".parse().unwrap();
        let error = client.execute(request).await.unwrap_err();
        assert_eq!(error.kind(), HttpErrorKind::Connect);
    }
}
