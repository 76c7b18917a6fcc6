//! Clients for HTTP, for what is asked here and for what `object_store` asks.
//!
//! A redirect is not followed: it would take a session's token, or a URL that is a key itself, to
//! another host, and bring that host's bytes as the object's.
//!
//! `object_store` could make clients by itself, but only ones that know HTTP/2 too, which S3 does
//! not speak: a quarter of a megabyte.

use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use object_store::client::{
    ClientConfigKey, ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind,
    HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use object_store::{Error, Result};

/// Without a byte for so long a connection is dead.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an answer may take to a request that carries a file of a manifest.
const WRITE_TIMEOUT: Duration = Duration::from_secs(600);

/// Which hosts a client speaks with, and how long it waits.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Whether connections may be plain HTTP.
    pub http: bool,
    /// Whether a proxy of the environment may stand between.
    pub proxy: bool,
    /// Whether requests carry files.
    pub writes: bool,
}

/// A client.
pub fn client(terms: Terms) -> Result<HttpClient> {
    let timeout = if terms.writes { WRITE_TIMEOUT } else { READ_TIMEOUT };
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tagmac/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .https_only(!terms.http)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(timeout);
    if !terms.proxy {
        builder = builder.no_proxy();
    }
    let client = builder.build();
    let failed = |error| Error::Generic { store: "HTTP", source: Box::new(error) };
    Ok(HttpClient::new(Http(client.map_err(failed)?)))
}

/// Sends requests.
#[derive(Debug)]
struct Http(reqwest::Client);

#[async_trait]
impl HttpService for Http {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let request = request.map(reqwest::Body::wrap).try_into().map_err(failure)?;
        let response = self.0.execute(request).await.map_err(failure)?;
        let response = http::Response::from(response);
        Ok(response.map(|body| HttpResponseBody::new(body.map_err(failure))))
    }
}

/// What went wrong, and whether it may pass. Without the URL, which may be a key itself.
fn failure(error: reqwest::Error) -> HttpError {
    let kind = match () {
        () if error.is_timeout() => HttpErrorKind::Timeout,
        () if error.is_connect() => HttpErrorKind::Connect,
        () if error.is_builder() => HttpErrorKind::Decode,
        // The connection ended: `object_store` asks again where that changes nothing.
        () => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, error.without_url())
}

/// Makes clients for `object_store`, which says whether they may be plain HTTP: for a machine's own
/// service for keys.
#[derive(Debug)]
pub struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let allowed = options.get_config_value(&ClientConfigKey::AllowHttp);
        let http = allowed.is_some_and(|allowed| allowed == "true");
        client(Terms { http, proxy: !http, writes: false })
    }
}
