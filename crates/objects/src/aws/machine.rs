//! Keys from the machine: from the service of its container, or from the metadata service of its
//! instance, in version 2.

use std::path::PathBuf;
use std::time::Duration;

use http::Method;
use object_store::client::HttpClient;
use zeroize::Zeroizing;

use crate::aws::ask::{Answer, ask, key, request, token};
use crate::aws::key::Issued;
use crate::dialect::S3;
use crate::failure::Failure;

/// The service of a container is on the same machine.
const CONTAINER_TIMEOUT: Duration = Duration::from_secs(2);
const CONTAINER_ATTEMPTS: u32 = 3;
/// The seconds that the metadata service's token is valid. A new one is requested for each key.
const TOKEN_SECONDS: &str = "600";

/// A service on the machine.
struct Near<'a> {
    client: &'a HttpClient,
    who: String,
    timeout: Duration,
    attempts: u32,
}

impl Near<'_> {
    async fn ask(
        &self,
        method: Method,
        url: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Answer, Failure> {
        let mut attempt = 1;
        loop {
            let request = request(method.clone(), url, headers, String::new())?;
            let asked = ask(self.client, request, &self.who);
            let answer = match tokio::time::timeout(self.timeout, asked).await {
                Ok(answer) => answer.and_then(|answer| answer.successful(&self.who, |_| None)),
                Err(_) => Err(Failure::Passing(format!("{}: no answer in time", self.who), None)),
            };
            match answer {
                Err(Failure::Passing(..)) if attempt < self.attempts => attempt += 1,
                Err(Failure::Passing(what, _)) => return Err(Failure::Final(what)),
                done => return done,
            }
        }
    }

    fn key(&self, answer: &Answer) -> Result<Issued, Failure> {
        key(&answer.body, false).map_err(|what| Failure::Final(format!("{}: {what}", self.who)))
    }
}

/// The token for the service of a container.
pub enum Token {
    /// The service needs no token.
    None,
    /// The token itself.
    Text(Zeroizing<String>),
    /// The file that holds it. Its owner replaces the token before it expires.
    File(PathBuf),
}

/// The service of a container.
pub struct Container {
    /// The URL of the keys.
    pub url: String,
    /// The token for them.
    pub token: Token,
}

impl Container {
    /// Gets a key.
    pub async fn fetch(&self, client: &HttpClient) -> Result<Issued, Failure> {
        let token = match &self.token {
            Token::None => Zeroizing::default(),
            Token::Text(token) => token.clone(),
            Token::File(path) => token(path).map_err(Failure::Final)?,
        };
        let header = [("authorization", token.as_str())];
        let headers = if token.is_empty() { &[][..] } else { &header };
        let near = Near {
            client,
            // The URL could contain a key.
            who: "keys of the container".into(),
            timeout: CONTAINER_TIMEOUT,
            attempts: CONTAINER_ATTEMPTS,
        };
        near.key(&near.ask(Method::GET, &self.url, headers).await?)
    }
}

/// The metadata service of an instance.
pub struct Instance {
    /// The URL, without a slash at the end.
    pub url: String,
    /// The time limit of an answer.
    pub timeout: Duration,
    /// The number of attempts for each answer.
    pub attempts: u32,
    /// True if no setting names the instance: it is the last place where keys could be.
    pub is_last: bool,
}

impl Instance {
    /// Gets a key.
    pub async fn fetch(&self, client: &HttpClient) -> Result<Issued, Failure> {
        match self.key(client).await {
            Err(_) if self.is_last => Err(Failure::Final(S3.no_credentials.into())),
            fetched => fetched,
        }
    }

    async fn key(&self, client: &HttpClient) -> Result<Issued, Failure> {
        let Instance { url, timeout, attempts, .. } = self;
        let who = format!("keys of the instance from {url}");
        let near = Near { client, who, timeout: *timeout, attempts: *attempts };
        let seconds = [("x-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS)];
        let token = near.ask(Method::PUT, &format!("{url}/latest/api/token"), &seconds).await?;
        let token = String::from_utf8_lossy(&token.body);
        let headers = [("x-aws-ec2-metadata-token", token.trim())];
        let url = format!("{url}/latest/meta-data/iam/security-credentials/");
        let role = near.ask(Method::GET, &url, &headers).await?;
        let role = String::from_utf8_lossy(&role.body);
        let role = role.lines().next().unwrap_or_default().trim();
        // The name becomes part of a path.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+=,.@_-".contains(&byte);
        if role.is_empty() || role.starts_with('.') || !role.bytes().all(is_plain) {
            let what = format!("{}: the name of the role is not valid", near.who);
            return Err(Failure::Final(what));
        }
        near.key(&near.ask(Method::GET, &format!("{url}{role}"), &headers).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::TcpListener;
    use std::time::SystemTime;

    use super::*;
    use crate::aws::server::{Request, Server};
    use crate::aws::tests::client;

    const KEYS: &str = r#"{"Code": "Success", "AccessKeyId": "k", "SecretAccessKey": "s",
        "Token": "t", "Expiration": "2038-01-01T00:00:00Z"}"#;

    fn instance(url: &str) -> Instance {
        let timeout = Duration::from_secs(10);
        Instance { url: url.into(), timeout, attempts: 1, is_last: false }
    }

    /// Answers as a metadata service whose role has a name.
    fn metadata(role: &'static str) -> Server {
        Server::new(move |Request { head, .. }| {
            let keys = "GET /latest/meta-data/iam/security-credentials/";
            let has_token = head.contains("x-aws-ec2-metadata-token: T\r\n");
            match () {
                () if head.starts_with("PUT /latest/api/token ")
                    && head.contains("x-aws-ec2-metadata-token-ttl-seconds: 600\r\n") =>
                {
                    (200, "T".into())
                }
                () if !has_token => (401, String::new()),
                () if head.starts_with(&format!("{keys} ")) => (200, role.into()),
                () if head.starts_with(&format!("{keys}r+1 ")) => (200, KEYS.into()),
                () => (404, String::new()),
            }
        })
    }

    fn what(fetched: Result<Issued, Failure>) -> String {
        match fetched {
            Err(Failure::Final(what)) => what,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("keys"),
        }
    }

    #[tokio::test]
    async fn an_instance_gives_keys_for_a_token() {
        let server = metadata("r+1\nother\n");
        let issued = instance(&server.url).fetch(&client()).await.ok().unwrap();
        let key = issued.key.credential();
        assert_eq!((&*key.key_id, &*key.secret_key, key.token.as_deref()), ("k", "s", Some("t")));
        assert!(issued.expires.unwrap() > SystemTime::now());
        assert_eq!(server.requests().len(), 3);
    }

    #[tokio::test]
    async fn the_role_of_an_instance_is_a_name() {
        for role in ["", "\n", "..", "a/b", "a?b", "a b", "<html>", "\u{e9}"] {
            let server = metadata(role);
            let found = what(instance(&server.url).fetch(&client()).await);
            assert!(found.ends_with("the name of the role is not valid"), "{found}");
            assert_eq!(server.requests().len(), 2);
        }
    }

    #[tokio::test]
    async fn the_last_place_says_that_there_are_no_keys() {
        let server = Server::new(|_| (404, String::new()));
        let named = instance(&server.url);
        let found = what(named.fetch(&client()).await);
        assert!(found.ends_with(": the service rejects the request (404)"), "{found}");
        let last = Instance { is_last: true, ..named };
        assert_eq!(what(last.fetch(&client()).await), S3.no_credentials);
    }

    #[tokio::test]
    async fn attempts_have_a_limit() {
        let server = Server::new(|_| (500, String::new()));
        let found = Instance { attempts: 3, ..instance(&server.url) };
        assert!(what(found.fetch(&client()).await).ends_with("busy (500)"));
        assert_eq!(server.requests().len(), 3);
        // A server that accepts no connection and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", silent.local_addr().unwrap());
        let found = Instance { timeout: Duration::from_millis(20), attempts: 2, ..instance(&url) };
        assert!(what(found.fetch(&client()).await).ends_with("no answer in time"));
    }

    #[tokio::test]
    async fn a_container_gives_keys_for_a_token_or_without() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "from file\n").unwrap();
        for (token, header) in [
            (Token::None, None),
            (Token::Text(Zeroizing::new("Basic x".into())), Some("authorization: Basic x\r\n")),
            (Token::File(file), Some("authorization: from file\r\n")),
        ] {
            let server = Server::new(|_| (200, KEYS.into()));
            let container = Container { url: format!("{}/v2?x=y", server.url), token };
            let issued = container.fetch(&client()).await.ok().unwrap();
            assert_eq!(issued.key.credential().key_id, "k");
            let Request { head, .. } = &server.requests()[0];
            assert!(head.starts_with("GET /v2?x=y HTTP/1.1\r\n"), "{head}");
            match header {
                Some(header) => assert!(head.contains(header), "{head}"),
                None => assert!(!head.contains("authorization"), "{head}"),
            }
        }
    }

    #[tokio::test]
    async fn a_container_s_token_fits_in_a_header() {
        let server = Server::new(|_| (200, KEYS.into()));
        let token = Token::Text(Zeroizing::new("secret\r\nx: y".into()));
        let container = Container { url: server.url.clone(), token };
        let found = what(container.fetch(&client()).await);
        assert!(found.contains("a header cannot carry") && !found.contains("secret"), "{found}");
        let token = Token::File("/no/such/file".into());
        let container = Container { url: server.url.clone(), token };
        assert!(what(container.fetch(&client()).await).starts_with("/no/such/file: "));
        assert!(server.requests().is_empty());
    }

    #[tokio::test]
    async fn a_wrong_answer_gives_no_keys() {
        for (status, body, expected) in [
            (400, KEYS, "the service rejects the request (400)"),
            (302, KEYS, "the service rejects the request (302)"),
            (200, "", "the answer is not valid JSON"),
            (200, "{}", "the answer has no AccessKeyId and SecretAccessKey"),
            (200, r#"{"Code": "Failed"}"#, "no AccessKeyId and SecretAccessKey (Failed)"),
            (200, r#"{"Code": "a b"}"#, "the answer has no AccessKeyId and SecretAccessKey"),
        ] {
            let server = Server::new(move |_| (status, body.into()));
            let container = Container { url: server.url.clone(), token: Token::None };
            let found = what(container.fetch(&client()).await);
            assert!(found.starts_with("keys of the container: "), "{found}");
            assert!(found.ends_with(expected), "{found}");
        }
    }
}
