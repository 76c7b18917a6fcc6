//! Keys from IAM Identity Center, for the token that `aws sso login` stored.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use http::{Method, StatusCode};
use object_store::client::HttpClient;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde::Deserialize;
use serde_json::{Map, Value};
use tagmac_files::atomic::AtomicFile;
use tagmac_files::overwrite::Overwrite;
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

use crate::aws::ask::{Answer, ask, file, issued, request};
use crate::aws::endpoints::Service;
use crate::aws::key::{Issued, time};
use crate::failure::Failure;

/// The time before a token expires when it is renewed, as in AWS's tools.
const RENEWAL: Duration = Duration::from_secs(15 * 60);
/// The rights of a file with a token.
const MODE: u32 = 0o600;

/// An account and a role in IAM Identity Center.
pub struct Sso {
    /// The profile, escaped for a message.
    pub profile: String,
    /// The account.
    pub account: String,
    /// The role.
    pub role: String,
    /// The file with the token.
    pub token_file: PathBuf,
    /// The service that issues keys.
    pub portal: Service,
    /// The service that renews tokens.
    pub oidc: Service,
}

/// Returns the file where AWS's tools store the token of a session, or of a start URL.
pub fn token_file(home: &Path, session_or_url: &str) -> PathBuf {
    let name = digest(&SHA1_FOR_LEGACY_USE_ONLY, session_or_url.as_bytes());
    let name: String = name.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    home.join(".aws/sso/cache").join(format!("{name}.json"))
}

/// The answer with keys.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    role_credentials: RoleKeys,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoleKeys {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    /// In milliseconds since 1970.
    expiration: i64,
}

/// The answer with a renewed token.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Renewed {
    access_token: String,
    expires_in: u32,
    refresh_token: Option<String>,
}

impl Sso {
    /// Gets a key.
    pub async fn fetch(&self, client: &HttpClient) -> Result<Issued, Failure> {
        let token = self.token(client).await?;
        let query = Serializer::new(String::new())
            .append_pair("account_id", &self.account)
            .append_pair("role_name", &self.role)
            .finish();
        let url = format!("{}/federation/credentials?{query}", self.portal.url);
        let headers = [("x-amz-sso_bearer_token", token.as_str())];
        let request = request(Method::GET, &url, &headers, String::new())?;
        let who = format!("profile {}: keys from {}", self.profile, self.portal.url);
        let answer = ask(client, request, &who).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            return Err(self.login("the token of IAM Identity Center is no longer valid"));
        }
        let answer = answer.successful(&who, error_code)?;
        let wrong = |what: &str| Failure::Final(format!("{who}: {what}"));
        let keys: Keys = serde_json::from_slice(&answer.body)
            .map_err(|_| wrong("the answer is not the JSON expected"))?;
        let RoleKeys { access_key_id, secret_access_key, session_token, expiration } =
            keys.role_credentials;
        let expires = DateTime::from_timestamp_millis(expiration);
        let expires = expires.ok_or_else(|| wrong("the time of expiration is not valid"))?;
        let made = issued(access_key_id, secret_access_key, Some(session_token), None);
        let made = made.map_err(|what| wrong(&what))?;
        Ok(Issued { expires: Some(expires.into()), ..made })
    }

    /// Returns a valid token. Renews it if it expires soon.
    async fn token(&self, client: &HttpClient) -> Result<Zeroizing<String>, Failure> {
        let cached = self.cached()?;
        let text = |name: &str| cached.get(name).and_then(Value::as_str);
        let now = SystemTime::now();
        let until = |name: &str| text(name).and_then(time);
        let token = text("accessToken").filter(|token| !token.is_empty());
        let valid = token.filter(|_| until("expiresAt").is_some_and(|until| until > now));
        let is_new = until("expiresAt").is_some_and(|until| until > now + RENEWAL);
        if let Some(valid) = valid.filter(|_| is_new) {
            return Ok(Zeroizing::new(valid.into()));
        }
        let is_registered = until("registrationExpiresAt").is_none_or(|until| until > now);
        let parts = [text("clientId"), text("clientSecret"), text("refreshToken")];
        let renewed = match parts {
            [Some(id), Some(secret), Some(refresh)] if is_registered => {
                self.renew(client, [id, secret, refresh]).await.map(Some)
            }
            _ => Ok(None),
        };
        match (renewed, valid) {
            (Ok(Some(renewed)), _) => {
                let token = Zeroizing::new(renewed.access_token.clone());
                self.store(&cached, renewed);
                Ok(token)
            }
            (_, Some(valid)) => Ok(Zeroizing::new(valid.into())),
            (Err(failure @ Failure::Passing(..)), None) => Err(failure),
            (_, None) => Err(self.login("the token of IAM Identity Center has expired")),
        }
    }

    fn cached(&self) -> Result<Map<String, Value>, Failure> {
        if let Err(error) = fs::metadata(&self.token_file)
            && error.kind() == io::ErrorKind::NotFound
        {
            return Err(self.login("there is no token of IAM Identity Center"));
        }
        let bytes = file(&self.token_file)
            .map_err(|what| Failure::Final(format!("profile {}: {what}", self.profile)))?;
        serde_json::from_slice(&bytes)
            .map_err(|_| self.login("the stored token of IAM Identity Center is not valid JSON"))
    }

    fn login(&self, what: &str) -> Failure {
        let name = &self.profile;
        Failure::Final(format!("profile {name}: {what}; run 'aws sso login --profile {name}'"))
    }

    async fn renew(
        &self,
        client: &HttpClient,
        [id, secret, refresh]: [&str; 3],
    ) -> Result<Renewed, Failure> {
        let body = serde_json::json!({
            "clientId": id, "clientSecret": secret, "refreshToken": refresh,
            "grantType": "refresh_token",
        });
        let url = format!("{}/token", self.oidc.url);
        let headers = [("content-type", "application/json")];
        let request = request(Method::POST, &url, &headers, body.to_string())?;
        let who = format!("profile {}: token from {}", self.profile, self.oidc.url);
        let answer: Answer = ask(client, request, &who).await?.successful(&who, error_code)?;
        serde_json::from_slice(&answer.body)
            .map_err(|_| Failure::Final(format!("{who}: the answer is not the JSON expected")))
    }

    /// Stores a renewed token for AWS's tools, because a refresh token may be valid only once.
    /// Errors are ignored, because this run has its token.
    fn store(&self, cached: &Map<String, Value>, renewed: Renewed) {
        let mut cached = cached.clone();
        let Renewed { access_token, expires_in, refresh_token } = renewed;
        let expires = SystemTime::now().checked_add(Duration::from_secs(expires_in.into()));
        let Some(expires) = expires.map(DateTime::<Utc>::from) else { return };
        cached.insert("accessToken".into(), access_token.into());
        let expires = expires.to_rfc3339_opts(SecondsFormat::Secs, true);
        cached.insert("expiresAt".into(), expires.into());
        if let Some(token) = refresh_token {
            cached.insert("refreshToken".into(), token.into());
        }
        let text = Zeroizing::new(Value::from(cached).to_string());
        // The old token is in this file.
        let over = Overwrite::Kind("a token", |_| Ok(true));
        let _ = AtomicFile::new(&self.token_file, MODE, over).and_then(|made| {
            made.file().write_all(text.as_bytes())?;
            made.finish()
        });
    }
}

/// Returns the code of an error.
fn error_code(body: &[u8]) -> Option<String> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let code = ["__type", "error"].into_iter().find_map(|name| json.get(name)?.as_str());
    // Such as `com.amazonaws.sso#ForbiddenException`, or `invalid_grant`.
    Some(code?.rsplit('#').next()?.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;
    use crate::aws::server::{Request, Server};
    use crate::aws::tests::client;

    const KEYS: &str = r#"{"roleCredentials": {"accessKeyId": "k", "secretAccessKey": "s",
        "sessionToken": "t", "expiration": 2145916800000}}"#;
    const FUTURE: &str = "2038-01-01T00:00:00Z";
    const PAST: &str = "2001-01-01T00:00:00Z";

    /// Returns a role whose token has been stored.
    fn stored(url: &str, token: &str) -> (TempDir, Sso) {
        let home = tempfile::tempdir().unwrap();
        let file = token_file(home.path(), "my-sso");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        if !token.is_empty() {
            fs::write(&file, token).unwrap();
        }
        let service = Service { url: url.into(), region: "eu-1".into(), is_aws: false };
        let sso = Sso {
            profile: "p".into(),
            account: "1".into(),
            role: "a&b".into(),
            token_file: file,
            portal: service.clone(),
            oidc: service,
        };
        (home, sso)
    }

    fn token(expires: &str, more: &str) -> String {
        format!(r#"{{"accessToken": "old", "expiresAt": "{expires}", "startUrl": "u"{more}}}"#)
    }

    fn refresh(registered: &str) -> String {
        format!(
            r#", "clientId": "i", "clientSecret": "c", "refreshToken": "r1",
            "registrationExpiresAt": "{registered}""#
        )
    }

    /// Answers as the portal, and renews tokens with this answer.
    fn service(status: u16, renewed: &'static str) -> Server {
        Server::new(move |Request { head, .. }| match head.starts_with("POST /token ") {
            true => (status, renewed.into()),
            false => (200, KEYS.into()),
        })
    }

    async fn fetch(sso: &Sso) -> Result<String, String> {
        match sso.fetch(&client()).await {
            Ok(issued) => {
                let key = issued.key.credential();
                let token = key.token.as_deref().unwrap_or_default();
                assert_eq!(issued.expires, time(FUTURE));
                Ok(format!("{} {} {token}", key.key_id, key.secret_key))
            }
            Err(Failure::Final(what) | Failure::Passing(what, _)) => Err(what),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn tokens_are_stored_where_aws_s_tools_store_them() {
        let file = token_file(Path::new("/h"), "my-sso");
        let expected = "/h/.aws/sso/cache/0ad374308c5a4e22f723adf10145eafad7c4031c.json";
        assert_eq!(file, Path::new(expected));
    }

    #[tokio::test]
    async fn a_stored_token_gives_keys() {
        let server = service(500, "");
        let (_home, sso) = stored(&server.url, &token(FUTURE, &refresh(FUTURE)));
        assert_eq!(fetch(&sso).await.as_deref(), Ok("k s t"));
        let requests = server.requests();
        assert_eq!(requests.len(), 1);
        let line = "GET /federation/credentials?account_id=1&role_name=a%26b HTTP/1.1\r\n";
        assert!(requests[0].head.starts_with(line), "{}", requests[0].head);
        assert!(requests[0].head.contains("x-amz-sso_bearer_token: old\r\n"));
    }

    #[tokio::test]
    async fn a_token_is_renewed_and_stored() {
        let renewed = r#"{"accessToken": "new", "expiresIn": 3600, "refreshToken": "r2"}"#;
        let server = service(200, renewed);
        let (_home, sso) = stored(&server.url, &token(PAST, &refresh(FUTURE)));
        for _ in 0..2 {
            assert_eq!(fetch(&sso).await.as_deref(), Ok("k s t"));
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "the second time the new token is found");
        let body: Value = serde_json::from_str(&requests[0].body).unwrap();
        let expected = serde_json::json!({
            "clientId": "i", "clientSecret": "c", "refreshToken": "r1",
            "grantType": "refresh_token",
        });
        assert_eq!(body, expected);
        assert!(requests[2].head.contains("x-amz-sso_bearer_token: new\r\n"));
        let found: Value = serde_json::from_slice(&fs::read(&sso.token_file).unwrap()).unwrap();
        assert_eq!(found["accessToken"], "new");
        assert_eq!(found["refreshToken"], "r2");
        assert_eq!(found["startUrl"], "u");
        assert!(time(found["expiresAt"].as_str().unwrap()).unwrap() > SystemTime::now());
        // The file keeps its rights.
        let rights = fs::metadata(&sso.token_file).unwrap().permissions().mode() & 0o777;
        assert_eq!(rights & 0o111, 0);
    }

    #[tokio::test]
    async fn a_token_that_expires_soon_is_used_if_it_cannot_be_renewed() {
        let server = service(400, r#"{"error": "invalid_grant"}"#);
        let soon = (Utc::now() + Duration::from_secs(60)).to_rfc3339();
        let (_home, sso) = stored(&server.url, &token(&soon, &refresh(FUTURE)));
        assert_eq!(fetch(&sso).await.as_deref(), Ok("k s t"));
        assert_eq!(server.requests().len(), 2);
    }

    #[tokio::test]
    async fn without_a_token_the_user_logs_in() {
        let login = "; run 'aws sso login --profile p'";
        for (token, renewals, what) in [
            (String::new(), 0, "there is no token of IAM Identity Center"),
            ("{".into(), 0, "the stored token of IAM Identity Center is not valid JSON"),
            ("{}".into(), 0, "the token of IAM Identity Center has expired"),
            (token(PAST, ""), 0, "the token of IAM Identity Center has expired"),
            (token("x", ""), 0, "the token of IAM Identity Center has expired"),
            (token(PAST, &refresh(PAST)), 0, "the token of IAM Identity Center has expired"),
            (token(PAST, &refresh(FUTURE)), 1, "the token of IAM Identity Center has expired"),
        ] {
            let server = service(400, r#"{"error": "invalid_grant"}"#);
            let (_home, sso) = stored(&server.url, &token);
            let error = fetch(&sso).await.unwrap_err();
            assert_eq!(error, format!("profile p: {what}{login}"), "{token}");
            assert_eq!(server.requests().len(), renewals);
        }
        let server = Server::new(|_| (401, String::new()));
        let (_home, sso) = stored(&server.url, &token(FUTURE, ""));
        let error = fetch(&sso).await.unwrap_err();
        let what = "the token of IAM Identity Center is no longer valid";
        assert_eq!(error, format!("profile p: {what}{login}"));
    }

    #[tokio::test]
    async fn a_service_that_fails_is_named() {
        let forbidden = r#"{"__type": "com.amazonaws.sso#ForbiddenException", "message": "x"}"#;
        for (status, body, expected) in [
            (403, forbidden, "the service rejects the request (403 ForbiddenException)"),
            (302, "", "the service rejects the request (302)"),
            (503, "", "the service is busy (503)"),
            (200, "{}", "the answer is not the JSON expected"),
            (200, "", "the answer is not the JSON expected"),
        ] {
            let server = Server::new(move |_| (status, body.into()));
            let (_home, sso) = stored(&server.url, &token(FUTURE, ""));
            let error = fetch(&sso).await.unwrap_err();
            assert_eq!(error, format!("profile p: keys from {}: {expected}", server.url));
        }
        // The token may be good later.
        let server = service(503, "");
        let (_home, sso) = stored(&server.url, &token(PAST, &refresh(FUTURE)));
        let error = fetch(&sso).await.unwrap_err();
        assert_eq!(
            error,
            format!("profile p: token from {}: the service is busy (503)", server.url)
        );
    }

    #[tokio::test]
    async fn a_token_fits_in_a_header() {
        let server = service(500, "");
        let (_home, sso) =
            stored(&server.url, &token(FUTURE, "").replace("old", r"secret\r\nx: y"));
        let error = fetch(&sso).await.unwrap_err();
        assert!(error.contains("a header cannot carry") && !error.contains("secret"), "{error}");
        assert!(server.requests().is_empty());
    }
}
