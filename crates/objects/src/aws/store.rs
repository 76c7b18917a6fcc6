//! The configuration of a bucket in S3 or a compatible store.

use std::env;
use std::fs;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::{ClientConfigKey, ClientOptions, HttpConnector};
use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::url::Url;

use crate::aws::chain::{Chain, is_in_environment};
use crate::aws::endpoints::{Endpoints, Kind, aws_url};
use crate::aws::files::Files;
use crate::aws::provider::Provider;
use crate::aws::unsupported::Used;
use crate::config::{Config, MAX_FILE_BYTES, check_text, variable, variable_or};
use crate::connector::Connector;
use crate::endpoint::{Names, Reach, check_label, is_true};
use crate::failure::root_cause;
use crate::signer::Signer;

/// The region, if none is set.
const REGION: &str = "us-east-1";

/// Returns the configuration for the bucket of a URL. Sends no request yet.
pub fn config(url: &Url) -> Result<Config, Error> {
    let bucket = &*url.bucket;
    if bucket.ends_with("--x-s3") {
        return Err(Error::usage(format_args!(
            "{url}: tagmac does not support directory buckets; use a general purpose bucket"
        )));
    }
    check_text::<AmazonS3ConfigKey>("AWS_")?;
    let builder = from_environment();
    let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
    let is_true = |key| value(key).is_some_and(|value| is_true(&value));
    let is_signed = !is_true(AmazonS3ConfigKey::SkipSignature);
    // With keys in the environment, and for unsigned requests, the profile only determines where S3
    // is.
    let needs_keys = is_signed && !is_in_environment(&variable);
    let files = Files::load(&|name| env::var_os(name), needs_keys)?;
    let profile = files.chosen(&|name| env::var_os(name))?;
    let (named_by, region) = match (value(AmazonS3ConfigKey::Region), profile.get("region")) {
        (Some(region), _) => (aws_variable(&AmazonS3ConfigKey::Region), region),
        (None, Some(region)) => (format!("profile {}: region", profile.shown()), region.into()),
        (None, None) => (String::new(), REGION.into()),
    };
    check_label(&named_by, &region)?;
    let allow_http = is_true(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
    let endpoints = Endpoints { variable: &variable, files: &files, profile: &profile, allow_http };
    let configured = endpoints.configured(Kind::S3)?;
    let reach = match &configured {
        Some(found) => {
            let names = Names { endpoint: &found.named_by, allow_http: "AWS_ALLOW_HTTP" };
            names.check(&found.url, allow_http)?
        }
        None => Reach::Tls,
    };
    let source = is_signed.then(|| Chain { endpoints: &endpoints, region: &region }.source());
    let source = source.transpose()?;
    Used { variable: &variable, is_s3_aws: configured.is_none(), source: source.as_ref() }
        .check(&profile)?;
    let bundle = variable("AWS_CA_BUNDLE").map(|path| ("AWS_CA_BUNDLE", path));
    let bundle = bundle.or_else(|| Some(("ca_bundle", profile.get("ca_bundle")?.into())));
    let roots = bundle.map(|(name, path)| certificates(name, &path)).transpose()?;
    let hosted = is_true(AmazonS3ConfigKey::VirtualHostedStyleRequest);
    if let Some(found) = configured.as_ref().filter(|_| hosted) {
        check_hosted(&found.named_by, &found.url, bucket)?;
    }
    let aws = aws_url(Kind::S3, &region);
    let endpoint = match (configured.as_ref().map(|found| &*found.url), hosted) {
        (Some(endpoint), true) => endpoint.trim_end_matches('/').into(),
        (Some(endpoint), false) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
        (None, true) => aws.replacen("://", &format!("://{bucket}."), 1),
        (None, false) => format!("{aws}/{bucket}"),
    };
    if url::Url::parse(&endpoint).is_err() {
        let shown = Escaped::text(endpoint.as_bytes());
        let what = format_args!("{url}: the bucket's name does not form a URL: {shown}");
        return Err(Error::usage(what));
    }
    let request_payer = is_true(AmazonS3ConfigKey::RequestPayer)
        || value(AmazonS3ConfigKey::RequestPayer).is_some_and(|value| value == "requester");
    let credentials = source.map(|source| {
        let connector = Connector { allow_http, roots: roots.clone() };
        let client = connector
            .connect(&ClientOptions::new())
            .map_err(|error| Error::usage(format_args!("{url}: {}", root_cause(&error))))?;
        Ok::<_, Error>(Box::new(Provider::new(source, client)))
    });
    let signer = Signer::S3 { credentials: credentials.transpose()?, region, request_payer };
    Config::with(reach, &roots, endpoint, signer)
}

/// Returns the variable that sets an S3 key, or that could set it.
fn aws_variable(key: &AmazonS3ConfigKey) -> String {
    let name = match key {
        AmazonS3ConfigKey::Region => "AWS_DEFAULT_REGION".into(),
        _ => key.as_ref().to_ascii_uppercase(),
    };
    variable_or("AWS_", key, &name)
}

/// Reads a file of certificates in PEM.
fn certificates(name: &str, path: &str) -> Result<Vec<reqwest::Certificate>, Error> {
    let shown = Escaped::text(path.as_bytes());
    let failed = |what: &str| Error::usage(format_args!("{name}: {shown}: {what}"));
    let unread = |error| failed(&io_reason(&error).to_string());
    let facts = fs::metadata(path).map_err(unread)?;
    if !facts.is_file() || facts.len() > MAX_FILE_BYTES {
        return Err(failed("not a regular file, or larger than 16 MiB"));
    }
    let found = reqwest::Certificate::from_pem_bundle(&fs::read(path).map_err(unread)?);
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(failed("no certificates in PEM format found")),
    }
}

/// Applies the environment variables for S3, except empty ones.
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

/// Rejects an endpoint that is not the bucket's own host.
fn check_hosted(name: &str, endpoint: &str, bucket: &str) -> Result<(), Error> {
    let uri: Option<http::Uri> = endpoint.parse().ok();
    let host = uri.as_ref().and_then(http::Uri::host).unwrap_or_default();
    if host.strip_prefix(bucket).is_some_and(|rest| rest.starts_with('.')) {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{name}: AWS_VIRTUAL_HOSTED_STYLE_REQUEST needs a host that begins with '{bucket}.', \
         not {}",
        Escaped::text(host.as_bytes())
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_host_is_its_bucket_s() {
        assert!(check_hosted("E", "https://b.example.org:80/", "b").is_ok());
        for endpoint in ["https://example.org", "https://bb.example.org", "https://b", ""] {
            assert!(check_hosted("E", endpoint, "b").is_err(), "{endpoint}");
        }
    }
}
