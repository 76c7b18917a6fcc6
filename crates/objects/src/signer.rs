//! Signs requests, as each kind of store wants it.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderValue};
use object_store::aws::{AwsAuthorizer, AwsCredentialProvider};
use object_store::azure::{AzureAuthorizer, AzureCredential, AzureCredentialProvider};
use object_store::client::HttpRequest;
use object_store::gcp::GcpCredentialProvider;

use crate::dialect::{AZURE, Dialect, GOOGLE, S3};
use crate::failure::{Failure, root_cause};

/// Signs requests. Without credentials a bucket is one that anybody may read.
pub enum Signer {
    /// For S3.
    S3 {
        /// Give keys.
        credentials: Option<AwsCredentialProvider>,
        /// Which signatures name.
        region: String,
        /// Whether the one who asks pays.
        request_payer: bool,
    },
    /// For Google Cloud Storage.
    Google {
        /// Give tokens.
        credentials: Option<GcpCredentialProvider>,
    },
    /// For Azure.
    Azure {
        /// Give keys, tokens or signatures.
        credentials: Option<AzureCredentialProvider>,
        /// Which signatures name.
        account: String,
    },
}

impl Signer {
    /// How the store is spoken with.
    pub fn dialect(&self) -> &'static Dialect {
        match self {
            Signer::S3 { .. } => &S3,
            Signer::Google { .. } => &GOOGLE,
            Signer::Azure { .. } => &AZURE,
        }
    }

    /// Signs a request with `bytes` bytes.
    pub async fn sign(&self, request: &mut HttpRequest, bytes: usize) -> Result<(), Failure> {
        // What the library says of credentials may hold what it sent.
        let none = |_| Failure::Final(self.dialect().no_credentials.into());
        match self {
            Signer::S3 { credentials: Some(credentials), region, request_payer } => {
                let key = credentials.get_credential().await.map_err(none)?;
                let authorizer =
                    AwsAuthorizer::new(&key, "s3", region).with_request_payer(*request_payer);
                authorizer.try_authorize(request, None).map_err(wrong)
            }
            Signer::Google { credentials: Some(credentials) } => {
                let key = credentials.get_credential().await.map_err(none)?;
                bearer(request, &key.bearer)
            }
            Signer::Azure { credentials, account } => {
                if bytes > 0 {
                    // The signature names it.
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

/// Adds a token. One of a service for keys may have any bytes in it.
fn bearer(request: &mut HttpRequest, token: &str) -> Result<(), Failure> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
        Failure::Final("expected a token of letters, digits and signs, found another".into())
    })?;
    value.set_sensitive(true);
    request.headers_mut().insert(AUTHORIZATION, value);
    Ok(())
}

fn wrong(error: object_store::Error) -> Failure {
    Failure::Final(root_cause(&error))
}
