//! Endpoints and credentials: from the environment, and from the files of AWS's tools.

use std::env;
use std::fs;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{ClientConfigKey, HttpClient};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::url::{Scheme, Url};

use crate::aws::{Environment, Keys};
use crate::connector::{self, Connector, Roots, Terms};
use crate::endpoint::{Names, Reach, check_label, is_true};
use crate::failure::root_cause;
use crate::profile::Profile;
use crate::signer::{Signer, is_plain};

/// A service that gives keys to this machine answers quickly or does not exist.
const KEYS_TIMEOUT: Duration = Duration::from_secs(10);
/// Larger files cannot be files of certificates or keys.
const MAX_FILE_BYTES: u64 = 16 << 20;

const S3: Names<'_> = Names { endpoint: "AWS_ENDPOINT_URL", allow_http: "AWS_ALLOW_HTTP" };
const GOOGLE: Names<'_> = Names { endpoint: "GOOGLE_BASE_URL", allow_http: "GOOGLE_ALLOW_HTTP" };
const AZURE: Names<'_> =
    Names { endpoint: "AZURE_STORAGE_ENDPOINT", allow_http: "AZURE_ALLOW_HTTP" };
/// Services that issue keys.
const STS: Names<'_> = Names { endpoint: "AWS_ENDPOINT_URL_STS", allow_http: "AWS_ALLOW_HTTP" };
const AUTHORITY: Names<'_> =
    Names { endpoint: "AZURE_AUTHORITY_HOST", allow_http: "AZURE_ALLOW_HTTP" };

/// Variables that change where a request goes or how it is signed, and that tagmac does not
/// support, each with an alternative.
const NOT_FOLLOWED: [(Scheme, &str, &str); 8] = [
    (Scheme::Gs, "STORAGE_EMULATOR_HOST", "use GOOGLE_BASE_URL"),
    (Scheme::Gs, "GOOGLE_CLOUD_UNIVERSE_DOMAIN", "use GOOGLE_BASE_URL"),
    (Scheme::Gs, "GOOGLE_PROXY_URL", "use HTTPS_PROXY"),
    (
        Scheme::Az,
        "AZURE_STORAGE_CONNECTION_STRING",
        "use AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    ),
    (Scheme::Az, "AZURE_STORAGE_SERVICE_ENDPOINT", "use AZURE_STORAGE_ENDPOINT"),
    (Scheme::Az, "AZURE_STORAGE_AUTH_MODE", "use the other AZURE_* variables"),
    (
        Scheme::Az,
        "AZURE_STORAGE_ENCRYPTION_KEY",
        "objects with customer-provided keys cannot be read",
    ),
    (Scheme::Az, "AZURE_PROXY_URL", "use HTTPS_PROXY"),
];

/// The clients, the signer and the endpoint for the requests to a bucket.
pub struct Config {
    /// The client for requests without a body.
    pub client: HttpClient,
    /// The client for requests that carry files.
    pub writer: HttpClient,
    /// Signs the requests.
    pub signer: Signer,
    /// The URL that keys are appended to, without a slash at the end.
    pub endpoint: String,
}

impl Config {
    /// Returns the configuration for the bucket of a URL.
    pub fn new(url: &Url) -> Result<Config, Error> {
        for (scheme, name, way_out) in NOT_FOLLOWED {
            if scheme == url.scheme && variable(name).is_some() {
                return Err(Error::usage(format_args!(
                    "{name}: tagmac does not support this variable; {way_out}"
                )));
            }
        }
        match url.scheme {
            Scheme::S3 => Config::s3(url),
            Scheme::Gs => Config::google(url),
            Scheme::Az => Config::azure(url),
        }
    }

    fn with(
        reach: Reach,
        roots: &Roots,
        endpoint: String,
        signer: Signer,
    ) -> Result<Config, Error> {
        let client = |writes| {
            let made = connector::client(Terms { reach, writes, roots });
            made.map_err(|error| Error::usage(format_args!("HTTP: {}", root_cause(&error))))
        };
        Ok(Config { client: client(false)?, writer: client(true)?, signer, endpoint })
    }

    /// A bucket of Google Cloud Storage.
    fn google(url: &Url) -> Result<Config, Error> {
        check_text::<GoogleConfigKey>("GOOGLE_")?;
        let connector = Connector { allow_http: GOOGLE.allows_http(), roots: None };
        let builder = GoogleCloudStorageBuilder::from_env()
            .with_retry(retry())
            .with_http_connector(connector)
            .with_bucket_name(&*url.bucket);
        let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
        let unsigned = value(GoogleConfigKey::SkipSignature).is_some_and(|value| is_true(&value));
        let base = match value(GoogleConfigKey::BaseUrl) {
            Some(base) => base,
            None => {
                check_google_account(
                    value(GoogleConfigKey::ServiceAccount),
                    value(GoogleConfigKey::ServiceAccountKey),
                )?;
                "https://storage.googleapis.com".into()
            }
        };
        let reach = GOOGLE.check(&base, GOOGLE.allows_http())?;
        let store = builder.build().map_err(|_| unusable(url, "GOOGLE_*"))?;
        let credentials = (!unsigned).then(|| Arc::clone(store.credentials()));
        let endpoint = format!("{}/{}", base.trim_end_matches('/'), url.bucket);
        Config::with(reach, &None, endpoint, Signer::Google { credentials })
    }

    /// A container of Azure.
    fn azure(url: &Url) -> Result<Config, Error> {
        check_text::<AzureConfigKey>("AZURE_")?;
        let connector = Connector { allow_http: AZURE.allows_http(), roots: None };
        let mut builder = MicrosoftAzureBuilder::from_env()
            .with_retry(retry())
            .with_http_connector(connector)
            .with_container_name(&*url.bucket);
        let authority = builder.get_config_value(&AzureConfigKey::AuthorityHost);
        let authority = authority.filter(|authority| !authority.is_empty());
        // Azure's own libraries accept only a host here.
        if let Some(host) = authority.filter(|authority| !authority.contains("://")) {
            builder = builder.with_authority_host(format!("https://{host}"));
        }
        let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
        let is = |key| value(key).is_some_and(|value| is_true(&value));
        let (unsigned, fabric) =
            (is(AzureConfigKey::SkipSignature), is(AzureConfigKey::UseFabricEndpoint));
        let named = value(AzureConfigKey::AccountName);
        if let Some(account) = &named {
            check_label("AZURE_STORAGE_ACCOUNT_NAME", account)?;
        }
        // Only a client requests keys from the authority. `object_store` also accepts an empty
        // client ID.
        if builder.get_config_value(&AzureConfigKey::ClientId).is_some() {
            if let Some(tenant) = value(AzureConfigKey::AuthorityId) {
                let name = variable_or("AZURE_", &AzureConfigKey::AuthorityId, "AZURE_TENANT_ID");
                check_tenant(&name, &tenant)?;
            }
            if let Some(authority) = value(AzureConfigKey::AuthorityHost) {
                let key = AzureConfigKey::AuthorityHost;
                let name = variable_or("AZURE_", &key, AUTHORITY.endpoint);
                let names = Names { endpoint: &name, ..AUTHORITY };
                names.check(&authority, AZURE.allows_http())?;
            }
        }
        let (named_by, account, base) = if is(AzureConfigKey::UseEmulator) {
            let account = named.unwrap_or_else(|| "devstoreaccount1".into());
            let base = variable("AZURITE_BLOB_STORAGE_URL");
            let base = base.unwrap_or_else(|| "http://127.0.0.1:10000".into());
            let base = format!("{}/{account}", base.trim_end_matches('/'));
            ("AZURITE_BLOB_STORAGE_URL".into(), account, base)
        } else {
            let account = named.ok_or_else(|| unusable(url, "AZURE_*"))?;
            let host = if fabric { "fabric.microsoft.com" } else { "core.windows.net" };
            let base = value(AzureConfigKey::Endpoint)
                .unwrap_or_else(|| format!("https://{account}.blob.{host}"));
            let named_by = variable_or("AZURE_", &AzureConfigKey::Endpoint, AZURE.endpoint);
            (named_by, account, base)
        };
        let reach = Names { endpoint: &named_by, ..AZURE }.check(&base, AZURE.allows_http())?;
        let store = builder.build().map_err(|_| unusable(url, "AZURE_*"))?;
        let credentials = (!unsigned).then(|| Arc::clone(store.credentials()));
        let endpoint = format!("{}/{}", base.trim_end_matches('/'), url.bucket);
        Config::with(reach, &None, endpoint, Signer::Azure { credentials, account })
    }

    /// A bucket in S3.
    fn s3(url: &Url) -> Result<Config, Error> {
        let bucket = &*url.bucket;
        if bucket.ends_with("--x-s3") {
            return Err(Error::usage(format_args!(
                "{url}: tagmac does not support directory buckets; use a general purpose bucket"
            )));
        }
        let wrong = |error: object_store::Error| {
            Error::usage(format_args!("{url}: {}", root_cause(&error)))
        };
        check_text::<AmazonS3ConfigKey>("AWS_")?;
        let mut builder = from_environment().with_retry(retry()).with_bucket_name(bucket);
        let has = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
        let unsigned = builder.get_config_value(&AmazonS3ConfigKey::SkipSignature);
        let unsigned = unsigned.is_some_and(|value| is_true(&value));
        // Keys in the environment take precedence over a profile. Then, and for unsigned requests,
        // the profile only determines where S3 is.
        let keys = Keys::of_environment(&variable, !unsigned);
        let from_profile = keys.is_none();
        let profile = Profile::load(&|name| env::var_os(name), from_profile)?;
        if from_profile && let Some(name) = variable_of("AWS_", &AmazonS3ConfigKey::Token) {
            return Err(Error::usage(format_args!(
                "{name} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which are not set"
            )));
        }
        let keys = keys.unwrap_or(match profile.get("aws_access_key_id") {
            Some(_) => Keys::Given,
            None => Keys::Machine,
        });
        Environment { variable: &variable, keys }.check(&profile)?;
        let bundle = variable("AWS_CA_BUNDLE").map(|path| ("AWS_CA_BUNDLE", path));
        let bundle = bundle.or_else(|| Some(("ca_bundle", profile.get("ca_bundle")?.into())));
        let roots = bundle.map(|(name, path)| certificates(name, &path)).transpose()?;
        let [no_region, no_endpoint] =
            [AmazonS3ConfigKey::Region, AmazonS3ConfigKey::Endpoint].map(|key| !has(&builder, key));
        let plain = (!unsigned).then_some(check_key as Check);
        let settings = [
            ("aws_access_key_id", AmazonS3ConfigKey::AccessKeyId, from_profile, plain),
            ("aws_secret_access_key", AmazonS3ConfigKey::SecretAccessKey, from_profile, plain),
            ("aws_session_token", AmazonS3ConfigKey::Token, from_profile, plain),
            ("region", AmazonS3ConfigKey::Region, no_region, Some(check_label)),
            ("endpoint_url", AmazonS3ConfigKey::Endpoint, no_endpoint, None),
        ];
        for (setting, key, is_wanted, check) in settings {
            let of_profile = profile.get(setting).filter(|_| is_wanted);
            let name = match of_profile {
                Some(_) => format!("profile {}: {setting}", profile.shown()),
                None => aws_variable(&key),
            };
            if let Some(value) = of_profile {
                builder = builder.with_config(key, value);
            }
            let value = builder.get_config_value(&key).filter(|value| !value.is_empty());
            if let (Some(check), Some(value)) = (check, value) {
                check(&name, &value)?;
            }
        }
        let value = |key| builder.get_config_value(&key).filter(|value| !value.is_empty());
        let is_true = |key| value(key).is_some_and(|value| is_true(&value));
        let region = value(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".into());
        let endpoint =
            value(AmazonS3ConfigKey::S3Endpoint).or_else(|| value(AmazonS3ConfigKey::Endpoint));
        let allow_http = is_true(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        let named_by = match () {
            () if has(&builder, AmazonS3ConfigKey::S3Endpoint) => "AWS_ENDPOINT_URL_S3".into(),
            () if no_endpoint => format!("profile {}: endpoint_url", profile.shown()),
            () => aws_variable(&AmazonS3ConfigKey::Endpoint),
        };
        let reach = match &endpoint {
            Some(endpoint) => Names { endpoint: &named_by, ..S3 }.check(endpoint, allow_http)?,
            None => Reach::Tls,
        };
        let sts = value(AmazonS3ConfigKey::StsEndpoint).filter(|_| keys == Keys::WebIdentity);
        if let Some(sts) = sts {
            STS.check(&sts, allow_http)?;
        }
        let hosted = is_true(AmazonS3ConfigKey::VirtualHostedStyleRequest);
        if let Some(endpoint) = endpoint.as_deref().filter(|_| hosted) {
            check_hosted(&named_by, endpoint, bucket)?;
        }
        let endpoint = match (endpoint, hosted) {
            (Some(endpoint), true) => endpoint.trim_end_matches('/').into(),
            (Some(endpoint), false) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
            (None, true) => format!("https://{bucket}.s3.{region}.amazonaws.com"),
            (None, false) => format!("https://s3.{region}.amazonaws.com/{bucket}"),
        };
        if url::Url::parse(&endpoint).is_err() {
            let shown = Escaped::text(endpoint.as_bytes());
            let what = format_args!("{url}: the bucket's name does not form a URL: {shown}");
            return Err(Error::usage(what));
        }
        let request_payer = is_true(AmazonS3ConfigKey::RequestPayer)
            || value(AmazonS3ConfigKey::RequestPayer).is_some_and(|value| value == "requester");
        let connector = Connector { allow_http, roots: roots.clone() };
        let store = builder.with_http_connector(connector).build().map_err(wrong)?;
        let credentials = (!unsigned).then(|| Arc::clone(store.credentials()));
        let signer = Signer::S3 { credentials, region, request_payer };
        Config::with(reach, &roots, endpoint, signer)
    }
}

/// Returns the value of an environment variable; `None` if it is unset or empty.
fn variable(name: &str) -> Option<String> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}

/// Returns the environment variable that sets a key. If several aliases are set, the last one
/// counts.
fn variable_of<K: FromStr + PartialEq>(prefix: &str, key: &K) -> Option<String> {
    let set = env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = set.filter_map(|(name, _)| name.into_string().ok());
    let is_it = |name: &String| {
        name.starts_with(prefix)
            && name.to_ascii_lowercase().parse::<K>().is_ok_and(|found| found == *key)
    };
    names.filter(is_it).last()
}

/// Returns the variable that sets a key, or `name` if none is set.
fn variable_or<K: FromStr + PartialEq>(prefix: &str, key: &K, name: &str) -> String {
    variable_of(prefix, key).unwrap_or_else(|| name.into())
}

/// Returns the variable that sets an S3 key, or that could set it.
fn aws_variable(key: &AmazonS3ConfigKey) -> String {
    let name = match key {
        AmazonS3ConfigKey::Region => "AWS_DEFAULT_REGION".into(),
        _ => key.as_ref().to_ascii_uppercase(),
    };
    variable_or("AWS_", key, &name)
}

fn retry() -> RetryConfig {
    RetryConfig { max_retries: 2, retry_timeout: KEYS_TIMEOUT, ..RetryConfig::default() }
}

/// The error for settings that `object_store` rejects. Its own message is left out, because it
/// could contain a key.
fn unusable(url: &Url, settings: &str) -> Error {
    Error::usage(format_args!(
        "{url}: the settings for this store in {settings} are missing or invalid"
    ))
}

/// Rejects a service account that also names a store: `object_store` supports that for its tests.
fn check_google_account(path: Option<String>, key: Option<String>) -> Result<(), Error> {
    let path = path.or_else(|| variable("SERVICE_ACCOUNT"));
    // Files that cannot be read are reported by `object_store`.
    let is_small = |path: &String| fs::metadata(path).is_ok_and(|is| is.len() <= MAX_FILE_BYTES);
    let text = path.filter(is_small).and_then(|path| fs::read_to_string(path).ok());
    let setting = match text {
        Some(_) => GoogleConfigKey::ServiceAccount,
        None => GoogleConfigKey::ServiceAccountKey,
    };
    if text.or(key).is_some_and(|text| text.contains("\"gcs_base_url\"")) {
        let name = variable_or("GOOGLE_", &setting, "SERVICE_ACCOUNT");
        return Err(Error::usage(format_args!(
            "{name}: tagmac does not support gcs_base_url in a service account; use \
             GOOGLE_BASE_URL"
        )));
    }
    Ok(())
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

/// Checks the value of the setting with a name.
type Check = fn(&str, &str) -> Result<(), Error>;

/// Rejects a key that cannot be sent in a header. The message does not contain the key.
fn check_key(name: &str, value: &str) -> Result<(), Error> {
    if is_plain(value) {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{name}: contains a blank or a character that is not printable ASCII"
    )))
}

/// Rejects settings that are not UTF-8, because `object_store` would ignore them.
fn check_text<K: FromStr>(prefix: &str) -> Result<(), Error> {
    for (name, value) in env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(prefix)) else { continue };
        if value.to_str().is_none() && name.to_ascii_lowercase().parse::<K>().is_ok() {
            return Err(Error::usage(format_args!("{name}: not valid UTF-8")));
        }
    }
    Ok(())
}

/// Rejects an Azure tenant that is not a single path segment, as an ID or a domain is.
fn check_tenant(name: &str, tenant: &str) -> Result<(), Error> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if tenant.bytes().all(is_plain) && !tenant.starts_with('.') {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{name}: expected a tenant of letters, digits, - . _, found {}",
        Escaped::text(tenant.as_bytes())
    )))
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
