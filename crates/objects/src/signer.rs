//! Signs requests for each kind of store.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use object_store::aws::AwsAuthorizer;
use object_store::azure::{AzureAuthorizer, AzureCredential, AzureCredentialProvider};
use object_store::client::HttpRequest;
use object_store::gcp::GcpCredentialProvider;

use crate::aws::{Provider, check_key};
use crate::dialect::{AZURE, Dialect, GOOGLE, S3};
use crate::failure::{Failure, root_cause};

/// Signs requests. Without credentials it leaves them unsigned, for public buckets.
pub enum Signer {
    /// For S3.
    S3 {
        /// The source of the keys.
        credentials: Option<Box<Provider>>,
        /// The region in the signatures.
        region: String,
        /// True if the requester pays.
        request_payer: bool,
    },
    /// For Google Cloud Storage.
    Google {
        /// The source of the tokens.
        credentials: Option<GcpCredentialProvider>,
    },
    /// For Azure.
    Azure {
        /// The source of the keys, tokens or signatures.
        credentials: Option<AzureCredentialProvider>,
        /// The account in the signatures.
        account: String,
    },
}

impl Signer {
    /// Returns the dialect of the store.
    pub fn dialect(&self) -> &'static Dialect {
        match self {
            Signer::S3 { .. } => &S3,
            Signer::Google { .. } => &GOOGLE,
            Signer::Azure { .. } => &AZURE,
        }
    }

    /// Signs a request with a body of `bytes` bytes.
    pub async fn sign(&self, request: &mut HttpRequest, bytes: usize) -> Result<(), Failure> {
        // The library's message is dropped, because it could contain the credentials.
        let none = |_| Failure::Final(self.dialect().no_credentials.into());
        match self {
            Signer::S3 { credentials: Some(credentials), region, request_payer } => {
                let key = credentials.key().await?;
                check_key(key.credential())?;
                let authorizer = AwsAuthorizer::new(key.credential(), "s3", region)
                    .with_request_payer(*request_payer);
                authorizer.try_authorize(request, None).map_err(wrong)
            }
            Signer::Google { credentials: Some(credentials) } => {
                let key = credentials.get_credential().await.map_err(none)?;
                bearer(request, &key.bearer)
            }
            Signer::Azure { credentials, account } => {
                if bytes > 0 {
                    // The signature covers this header.
                    request.headers_mut().insert(CONTENT_LENGTH, bytes.into());
                }
                let Some(credentials) = credentials else { return Ok(()) };
                let key = credentials.get_credential().await.map_err(none)?;
                match &*key {
                    AzureCredential::BearerToken(token) => bearer(request, token),
                    key => AzureAuthorizer::new(key, account).try_authorize(request).map_err(wrong),
                }
            }
            Signer::S3 { .. } | Signer::Google { .. } => Ok(()),
        }
    }
}

/// Adds a token. A token from a service may contain any bytes.
fn bearer(request: &mut HttpRequest, token: &str) -> Result<(), Failure> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
        Failure::Final("the token contains characters that a header cannot carry".into())
    })?;
    value.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(())
}

fn wrong(error: object_store::Error) -> Failure {
    Failure::Final(root_cause(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aws::Key;

    #[tokio::test]
    async fn keys_that_no_header_can_have_are_refused() {
        let with = |key_id: &str, secret_key: &str, token: Option<&str>| {
            let key = Key::new(key_id.into(), secret_key.into(), token.map(String::from));
            let credentials = Some(Box::new(Provider::fixed(key)));
            Signer::S3 { credentials, region: "r".into(), request_payer: false }
        };
        for (key, secret, token, is_good) in [
            ("k", "s", None, true),
            ("k", "s+/=", Some("t+/="), true),
            ("k\u{e9}", "s", None, false),
            ("k\n", "s", None, false),
            ("k", "s\u{e9}", None, false),
            ("k", "s", Some("t\r\nx: y"), false),
            ("k", "s", Some("\u{0}"), false),
        ] {
            let mut request = HttpRequest::new(object_store::client::HttpRequestBody::empty());
            *request.uri_mut() = "https://example.org/b/k".parse().unwrap();
            let signed = with(key, secret, token).sign(&mut request, 0).await;
            assert_eq!(signed.is_ok(), is_good, "{key:?} {secret:?} {token:?}");
            if let Err(failure) = signed {
                assert!(matches!(failure, Failure::Final(what) if what.contains("cannot carry")));
            }
        }
    }
}
