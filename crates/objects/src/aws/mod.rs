//! S3's settings and keys, from the places of AWS's tools.
//!
//! | what | where |
//! |---|---|
//! | `~/.aws/config` and `~/.aws/credentials` | `files` |
//! | the endpoints of S3 and of the services that issue keys | `endpoints` |
//! | the place of the keys: environment, profile, container, instance | `chain` |
//! | keys that expire, and their renewal | `key`, `provider` |
//! | the services and programs that issue keys | `sts`, `sso`, `process`, `machine`, over `ask` |
//! | settings that are rejected | `unsupported` |
//! | the configuration of a bucket | `store` |
//!
//! The order of the places is that of AWS's tools. They ignore some incomplete settings. This crate
//! rejects them, because otherwise a request could go to another host, or another key could sign it.
//! Requests for keys go to a service that a profile or the environment names. They use TLS, except
//! to this machine and its local link, and follow no redirect.

mod ask;
mod chain;
mod endpoints;
mod files;
mod key;
mod machine;
mod process;
mod provider;
mod sso;
mod store;
mod sts;
mod unsupported;

#[cfg(test)]
pub use key::Key;
pub use key::check_key;
pub use provider::Provider;
pub use store::config;

#[cfg(test)]
mod server;

#[cfg(test)]
mod tests {
    use object_store::client::{ClientOptions, HttpClient, HttpConnector};

    use crate::connector::Connector;

    /// Returns the value of a variable in a list.
    pub fn value(variables: &[(&str, &str)], name: &str) -> Option<String> {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| String::from(*value)).filter(|value| !value.is_empty())
    }

    /// Returns a client for requests for keys.
    pub fn client() -> HttpClient {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connector = Connector { allow_http: false, roots: None };
        connector.connect(&ClientOptions::new()).expect("a client")
    }
}
