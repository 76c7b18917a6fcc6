//! Where S3 is and who asks: from the environment, and from the files of AWS's tools.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredentialProvider};
use object_store::client::{ClientConfigKey, HttpClient};
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;

use crate::connector::{self, Connector, Terms};
use crate::failure::root_cause;
use crate::profile::Profile;
use tagmac_files::url::Url;

/// Who gives keys to a machine answers soon, or is not there.
const KEYS_TIMEOUT: Duration = Duration::from_secs(10);

/// What it takes to send requests to a bucket of S3.
pub struct Config {
    /// Sends requests.
    pub client: HttpClient,
    /// Sends those that carry files.
    pub writer: HttpClient,
    /// Gives keys; none for a bucket that anybody may read.
    pub credentials: Option<AwsCredentialProvider>,
    /// The region, which signatures name.
    pub region: String,
    /// What the bucket's keys are behind, without a slash at the end.
    pub endpoint: String,
    /// Whether the one who asks pays.
    pub request_payer: bool,
}

impl Config {
    /// For a bucket.
    pub fn new(url: &Url) -> Result<Config, Error> {
        let bucket = &*url.bucket;
        if bucket.ends_with("--x-s3") {
            return Err(Error::usage(format_args!(
                "{url}: expected a general purpose bucket, found a directory bucket"
            )));
        }
        let wrong = |error: object_store::Error| {
            Error::usage(format_args!("{url}: {}", root_cause(&error)))
        };
        let retry =
            RetryConfig { max_retries: 2, retry_timeout: KEYS_TIMEOUT, ..RetryConfig::default() };
        let mut builder = from_environment()
            .with_retry(retry)
            .with_http_connector(Connector)
            .with_bucket_name(bucket);
        check_variables()?;
        let has = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
        let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let own_keys = is_set("AWS_ACCESS_KEY_ID") || is_set("AWS_WEB_IDENTITY_TOKEN_FILE");
        // Keys in the environment come first; a profile then says no more than where S3 is.
        let profile = match own_keys {
            true if !is_set("AWS_PROFILE") => Profile::load(false).unwrap_or_default(),
            own_keys => Profile::load(!own_keys)?,
        };
        if !own_keys && is_set("AWS_SESSION_TOKEN") {
            return Err(Error::usage(
                "AWS_SESSION_TOKEN: expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY beside it, \
                 found none",
            ));
        }
        let settings = [
            ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId, !own_keys),
            ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey, !own_keys),
            ("aws_session_token", AmazonS3ConfigKey::Token, !own_keys),
            ("region", AmazonS3ConfigKey::Region, !has(&builder, AmazonS3ConfigKey::Region)),
            (
                "endpoint_url",
                AmazonS3ConfigKey::Endpoint,
                !has(&builder, AmazonS3ConfigKey::Endpoint),
            ),
        ];
        for (setting, key, is_wanted) in settings {
            if let Some(value) = profile.get(setting).filter(|_| is_wanted) {
                builder = builder.with_config(key, value);
            }
        }
        let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
        let is_true = |key| value(key).is_some_and(|value| is_true(&value));
        let region = value(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".into());
        let endpoint =
            value(AmazonS3ConfigKey::S3Endpoint).or_else(|| value(AmazonS3ConfigKey::Endpoint));
        let allow_http = is_true(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        let reach = match &endpoint {
            Some(endpoint) => check_endpoint(endpoint, allow_http)?,
            None => Reach::Tls,
        };
        let hosted = is_true(AmazonS3ConfigKey::VirtualHostedStyleRequest);
        if let Some(endpoint) = endpoint.as_deref().filter(|_| hosted) {
            check_hosted(endpoint, bucket)?;
        }
        let endpoint = match (endpoint, hosted) {
            (Some(endpoint), true) => endpoint.trim_end_matches('/').into(),
            (Some(endpoint), false) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
            (None, true) => format!("https://{bucket}.s3.{region}.amazonaws.com"),
            (None, false) => format!("https://s3.{region}.amazonaws.com/{bucket}"),
        };
        if url::Url::parse(&endpoint).is_err() {
            let shown = Escaped::text(endpoint.as_bytes());
            let what = format_args!("{url}: expected a bucket that can be in a URL, found {shown}");
            return Err(Error::usage(what));
        }
        // A proxy would get in clear what may be plain HTTP only because nobody else hears it.
        let (http, proxy) = (reach != Reach::Tls, reach != Reach::Loopback);
        let client = |writes| connector::client(Terms { http, proxy, writes }).map_err(wrong);
        let (client, writer) = (client(false)?, client(true)?);
        let request_payer = is_true(AmazonS3ConfigKey::RequestPayer)
            || value(AmazonS3ConfigKey::RequestPayer).is_some_and(|value| value == "requester");
        let unsigned = is_true(AmazonS3ConfigKey::SkipSignature);
        let store = builder.build().map_err(wrong)?;
        let credentials = (!unsigned).then(|| Arc::clone(store.credentials()));
        Ok(Config { client, writer, credentials, region, endpoint, request_payer })
    }
}

/// What the environment says of S3. An empty variable says nothing.
fn from_environment() -> AmazonS3Builder {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        let key = name.strip_prefix("AWS_").map(|_| name.to_ascii_lowercase().parse());
        if let (Some(Ok(key)), false) = (key, value.is_empty()) {
            builder = builder.with_config(key, value);
        }
    }
    builder
}

fn is_true(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

/// How an endpoint is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Over TLS.
    Tls,
    /// On this machine, where nobody else listens.
    Loopback,
    /// Over plain HTTP, because the user allows it.
    Plain,
}

/// Refuses values that no header can have: they go into every request.
fn check_variables() -> Result<(), Error> {
    let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"];
    for name in names {
        let is_plain = |byte: &u8| byte.is_ascii_graphic();
        let value = env::var_os(name).unwrap_or_default();
        if !value.as_encoded_bytes().iter().all(is_plain) {
            return Err(Error::usage(format_args!(
                "{name}: expected letters, digits and signs, found a blank or another character"
            )));
        }
    }
    Ok(())
}

/// Refuses an endpoint that is not the bucket's own.
fn check_hosted(endpoint: &str, bucket: &str) -> Result<(), Error> {
    let uri: Option<http::Uri> = endpoint.parse().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    if host.strip_prefix(bucket).is_some_and(|rest| rest.starts_with('.')) {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "AWS_ENDPOINT_URL: expected a host that begins with '{bucket}.', as \
         AWS_VIRTUAL_HOSTED_STYLE_REQUEST says, found {}",
        Escaped::text(host.as_bytes())
    )))
}

/// How an endpoint is reached. Refuses one that others could listen to, unless the user allows that.
fn check_endpoint(endpoint: &str, allow_http: bool) -> Result<Reach, Error> {
    let shown = Escaped::text(endpoint.as_bytes()).to_string();
    let wrong = |what| Error::usage(format_args!("AWS_ENDPOINT_URL: {what}, found {shown}"));
    let uri: http::Uri = endpoint.parse().map_err(|_| wrong("expected a URL"))?;
    url::Url::parse(endpoint).map_err(|_| wrong("expected a URL"))?;
    let host = uri.host().ok_or_else(|| wrong("expected https:// and a host"))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        // Not shown: it could be a password.
        return Err(Error::usage(
            "AWS_ENDPOINT_URL: expected a URL without a user, found one with '@'",
        ));
    }
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback =
        host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => Ok(Reach::Tls),
        Some("http") if is_loopback => Ok(Reach::Loopback),
        Some("http") if allow_http => Ok(Reach::Plain),
        Some("http") => Err(wrong("expected https://, or AWS_ALLOW_HTTP=true")),
        _ => Err(wrong("expected https://")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_this_machine_or_for_who_asks_for_it() {
        for (endpoint, allow, expected) in [
            ("https://example.org", false, Some(Reach::Tls)),
            ("http://127.0.0.1:9000", false, Some(Reach::Loopback)),
            ("http://[::1]:9000/", true, Some(Reach::Loopback)),
            ("http://localhost", false, Some(Reach::Loopback)),
            ("http://example.org", true, Some(Reach::Plain)),
            ("http://127.0.0.1:99999", true, None),
            ("http://example.org", false, None),
            ("http://127.0.0.1.example.org", false, None),
            ("http://localhost.example.org", false, None),
            ("ftp://127.0.0.1", true, None),
            ("127.0.0.1:9000", true, None),
            ("https://user:secret@example.org", false, None),
            ("", false, None),
        ] {
            let found = check_endpoint(endpoint, allow);
            if let Err(error) = &found {
                assert!(!error.to_string().contains("secret"), "{error}");
            }
            assert_eq!(found.ok(), expected, "{endpoint}");
        }
    }

    #[test]
    fn a_virtual_host_is_its_bucket_s() {
        assert!(check_hosted("https://b.example.org:80/", "b").is_ok());
        for endpoint in ["https://example.org", "https://bb.example.org", "https://b", ""] {
            assert!(check_hosted(endpoint, "b").is_err(), "{endpoint}");
        }
    }
}
