//! Endpoints and credentials: from the environment, and from the files of AWS's tools.

use std::env;
use std::fs;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::RetryConfig;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::HttpClient;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::url::{Scheme, Url};

use crate::aws;
use crate::connector::{self, Connector, Roots, Terms};
use crate::endpoint::{Names, Reach, check_label, is_true};
use crate::failure::root_cause;
use crate::signer::Signer;

/// A service that gives keys to this machine answers quickly or does not exist.
const KEYS_TIMEOUT: Duration = Duration::from_secs(10);
/// Larger files cannot be files of certificates or keys.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

const GOOGLE: Names<'_> = Names { endpoint: "GOOGLE_BASE_URL", allow_http: "GOOGLE_ALLOW_HTTP" };
const AZURE: Names<'_> =
    Names { endpoint: "AZURE_STORAGE_ENDPOINT", allow_http: "AZURE_ALLOW_HTTP" };
/// The service that issues keys.
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
            Scheme::S3 => aws::config(url),
            Scheme::Gs => Config::google(url),
            Scheme::Az => Config::azure(url),
        }
    }

    /// Returns a configuration with clients for an endpoint.
    pub fn with(
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
}

/// Returns the value of an environment variable; `None` if it is unset or empty.
pub fn variable(name: &str) -> Option<String> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map(|value| value.to_string_lossy().into_owned())
}

/// Returns the environment variable that sets a key. If several aliases are set, the last one
/// counts.
pub fn variable_of<K: FromStr + PartialEq>(prefix: &str, key: &K) -> Option<String> {
    let set = env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = set.filter_map(|(name, _)| name.into_string().ok());
    let is_it = |name: &String| {
        name.starts_with(prefix)
            && name.to_ascii_lowercase().parse::<K>().is_ok_and(|found| found == *key)
    };
    names.filter(is_it).last()
}

/// Returns the variable that sets a key, or `name` if none is set.
pub fn variable_or<K: FromStr + PartialEq>(prefix: &str, key: &K, name: &str) -> String {
    variable_of(prefix, key).unwrap_or_else(|| name.into())
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

/// Rejects settings that are not UTF-8, because `object_store` would ignore them.
pub fn check_text<K: FromStr>(prefix: &str) -> Result<(), Error> {
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
