//! Keys of roles, from AWS STS or a service that speaks its protocol.

use std::path::PathBuf;

use http::Method;
use object_store::aws::AwsAuthorizer;
use object_store::client::{HttpClient, HttpRequest};
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use tagmac_files::escaped::Escaped;
use url::form_urlencoded::Serializer;

use crate::aws::ask::{Secret, ask, issued, request, token};
use crate::aws::endpoints::Service;
use crate::aws::key::{Issued, Key, check_key};
use crate::failure::error_code;
use crate::failure::{Failure, root_cause};
use crate::listing::character;

/// The version of the protocol.
const VERSION: &str = "2011-06-15";
const CONTENT_TYPE: (&str, &str) =
    ("content-type", "application/x-www-form-urlencoded; charset=utf-8");

/// A role that other keys assume.
pub struct Role {
    /// The role.
    pub arn: String,
    /// The name of the session, which AWS logs.
    pub session: String,
    /// The ID that the role may require.
    pub external_id: Option<String>,
    /// The seconds that the keys are valid.
    pub seconds: Option<u32>,
    /// The service.
    pub sts: Service,
}

impl Role {
    /// Gets a key. `base` signs the request.
    pub async fn fetch(&self, client: &HttpClient, base: &Key) -> Result<Issued, Failure> {
        let Role { arn, session, external_id, seconds, sts } = self;
        let seconds = seconds.map(|seconds| seconds.to_string());
        let form = form(&[
            ("Action", Some("AssumeRole")),
            ("DurationSeconds", seconds.as_deref()),
            ("ExternalId", external_id.as_deref()),
            ("RoleArn", Some(arn)),
            ("RoleSessionName", Some(session)),
        ]);
        let mut request = request(Method::POST, &format!("{}/", sts.url), &[CONTENT_TYPE], form)?;
        let credential = base.credential();
        check_key(credential)?;
        let authorizer = AwsAuthorizer::new(credential, "sts", &sts.region);
        let signed = authorizer.try_authorize(&mut request, None);
        signed.map_err(|error| Failure::Final(root_cause(&error)))?;
        answer(client, request, arn, sts).await
    }
}

/// A role in exchange for a web identity token.
pub struct WebIdentity {
    /// The file that holds the token. Its owner replaces the token before it expires.
    pub token_file: PathBuf,
    /// The role.
    pub arn: String,
    /// The name of the session, which AWS logs.
    pub session: String,
    /// The service.
    pub sts: Service,
}

impl WebIdentity {
    /// Gets a key.
    pub async fn fetch(&self, client: &HttpClient) -> Result<Issued, Failure> {
        let WebIdentity { token_file, arn, session, sts } = self;
        let token = token(token_file).map_err(Failure::Final)?;
        let form = form(&[
            ("Action", Some("AssumeRoleWithWebIdentity")),
            ("RoleArn", Some(arn)),
            ("RoleSessionName", Some(session)),
            ("WebIdentityToken", Some(&token)),
        ]);
        let request = request(Method::POST, &format!("{}/", sts.url), &[CONTENT_TYPE], form)?;
        answer(client, request, arn, sts).await
    }
}

/// Encodes the parameters that are set.
fn form(pairs: &[(&str, Option<&str>)]) -> String {
    let mut form = Serializer::new(String::new());
    form.append_pair("Version", VERSION);
    for (name, value) in pairs {
        if let Some(value) = value {
            form.append_pair(name, value);
        }
    }
    form.finish()
}

async fn answer(
    client: &HttpClient,
    request: HttpRequest,
    arn: &str,
    sts: &Service,
) -> Result<Issued, Failure> {
    let [arn, url] = [arn, &sts.url].map(|text| Escaped::text(text.as_bytes()).to_string());
    let who = format!("keys of the role {arn} from {url}");
    let code = |body: &[u8]| error_code(std::str::from_utf8(body).ok()?);
    let answer = ask(client, request, &who).await?.successful(&who, code)?;
    key(&answer.body).map_err(|what| Failure::Final(format!("{who}: {what}")))
}

/// Reads the key in an answer. The error is a description of the problem.
fn key(xml: &Secret) -> Result<Issued, String> {
    let xml = std::str::from_utf8(xml).map_err(|_| "the answer is not valid UTF-8")?;
    let mut reader = Reader::from_str(xml);
    let (mut path, mut value) = (Vec::<Vec<u8>>::new(), String::new());
    let (mut id, mut secret, mut token, mut expiration) = (None, None, None, None);
    loop {
        match reader.read_event().map_err(|_| "the answer is not valid XML")? {
            Event::Start(start) => {
                path.push(start.local_name().as_ref().to_vec());
                value.clear();
            }
            Event::Text(text) => {
                value += &text.decode().map_err(|_| "the answer is not valid UTF-8")?;
            }
            Event::GeneralRef(reference) => {
                value.push(character(&reference).ok_or("the answer is not valid XML")?);
            }
            Event::End(_) => {
                let text = || Some(String::from(value.trim()));
                let name = path.pop().unwrap_or_default();
                if path.last().is_some_and(|outer| outer == b"Credentials") {
                    match &*name {
                        b"AccessKeyId" => id = text(),
                        b"SecretAccessKey" => secret = text(),
                        b"SessionToken" => token = text(),
                        b"Expiration" => expiration = text(),
                        _ => {}
                    }
                }
                value.clear();
            }
            Event::Eof if path.is_empty() => break,
            Event::Eof => return Err("the answer is truncated".into()),
            _ => {}
        }
    }
    match (id, secret, token) {
        (Some(id), Some(secret), Some(token)) => {
            issued(id, secret, Some(token), expiration.as_deref())
        }
        _ => Err("the answer has no keys".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::aws::provider::Source;
    use crate::aws::server::{Request, Server};
    use crate::aws::tests::client;

    const ANSWER: &str = r#"<?xml version="1.0"?>
<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<AssumedRoleUser><Arn>a</Arn></AssumedRoleUser>
<Credentials><AccessKeyId>role</AccessKeyId><SecretAccessKey>s+&amp;/</SecretAccessKey>
<SessionToken>
t=</SessionToken><Expiration>2038-01-01T00:00:00Z</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>"#;

    fn base() -> Key {
        Key::new("base".into(), "s".into(), Some("token".into()))
    }

    fn role(url: &str) -> Role {
        Role {
            arn: "arn:aws:iam::1:role/r".into(),
            session: "s@1".into(),
            external_id: None,
            seconds: None,
            sts: Service { url: url.into(), region: "eu-1".into(), is_aws: false },
        }
    }

    fn shown(issued: Result<Issued, Failure>) -> Result<String, Failure> {
        issued.map(|issued| {
            let key = issued.key.credential();
            let token = key.token.as_deref().unwrap_or_default();
            format!("{} {} {token} {}", key.key_id, key.secret_key, issued.expires.is_some())
        })
    }

    #[tokio::test]
    async fn a_role_is_assumed_with_a_signature() {
        let server = Server::new(|_| (200, ANSWER.into()));
        let role =
            Role { external_id: Some("x&y".into()), seconds: Some(900), ..role(&server.url) };
        let found = shown(role.fetch(&client(), &base()).await);
        assert_eq!(found.as_deref(), Ok("role s+&/ t= true"));
        let Request { head, body } = &server.requests()[0];
        assert!(head.starts_with("POST / HTTP/1.1\r\n"), "{head}");
        for header in [
            "authorization: AWS4-HMAC-SHA256 Credential=base/",
            "/eu-1/sts/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;\
             x-amz-date;x-amz-security-token, ",
            "x-amz-security-token: token\r\n",
            "content-type: application/x-www-form-urlencoded; charset=utf-8\r\n",
        ] {
            assert!(head.contains(header), "{head}");
        }
        let expected = "Version=2011-06-15&Action=AssumeRole&DurationSeconds=900&ExternalId=x%26y&\
                        RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=s%401";
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn roles_are_assumed_one_after_the_other() {
        let server = Server::new(|_| (200, ANSWER.into()));
        let inner = Source::Role(role(&server.url), Box::new(Source::Fixed(Arc::new(base()))));
        let outer = Source::Role(role(&server.url), Box::new(inner));
        assert!(outer.fetch(&client()).await.is_ok());
        let requests = server.requests();
        let signers: Vec<_> = requests.iter().map(|request| request.signer()).collect();
        assert_eq!(signers, ["base", "role"]);
    }

    #[tokio::test]
    async fn a_token_is_exchanged_without_a_signature() {
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        fs::write(&token_file, "a.b&c\n").unwrap();
        let server = Server::new(|_| (200, ANSWER.into()));
        let Role { arn, session, sts, .. } = role(&server.url);
        let identity = WebIdentity { token_file, arn, session, sts };
        assert!(identity.fetch(&client()).await.is_ok());
        let Request { head, body } = &server.requests()[0];
        assert!(!head.contains("authorization"), "{head}");
        assert!(body.contains("Action=AssumeRoleWithWebIdentity&"), "{body}");
        assert!(body.ends_with("&WebIdentityToken=a.b%26c"), "{body}");
        for text in ["", " \n", "x".repeat(65537).as_str()] {
            fs::write(&identity.token_file, text).unwrap();
            let failure = identity.fetch(&client()).await.err();
            assert!(matches!(failure, Some(Failure::Final(what)) if what.contains("/token: ")));
        }
        fs::remove_file(&identity.token_file).unwrap();
        assert!(identity.fetch(&client()).await.is_err());
        assert_eq!(server.requests().len(), 1);
    }

    #[tokio::test]
    async fn a_wrong_answer_gives_no_keys() {
        let fetch = async |status, body: &str| {
            let body = String::from(body);
            let server = Server::new(move |_| (status, body.clone()));
            shown(role(&server.url).fetch(&client(), &base()).await).unwrap_err()
        };
        let error = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>secret</Message>";
        let what = |failure| match failure {
            Failure::Final(what) => what,
            other => panic!("{other:?}"),
        };
        let denied = what(fetch(403, error).await);
        let start = "keys of the role arn:aws:iam::1:role/r from http://127.0.0.1:";
        assert!(denied.starts_with(start), "{denied}");
        assert!(
            denied.ends_with(": the service rejects the request (403 AccessDenied)"),
            "{denied}"
        );
        // A redirect could lead to another host.
        assert!(what(fetch(302, "").await).ends_with("rejects the request (302)"));
        for status in [500, 503, 429] {
            let failure = fetch(status, "<Code>a b</Code>").await;
            assert!(matches!(failure, Failure::Passing(what, _)
                if what.ends_with(&format!("busy ({status})"))));
        }
        for (body, expected) in [
            ("", "the answer has no keys"),
            ("{}", "the answer has no keys"),
            (ANSWER.split_once("</Creden").unwrap().0, "the answer is truncated"),
            (&ANSWER.replace("SessionToken", "Other"), "the answer has no keys"),
            (&ANSWER.replace("2038-", ""), "the time of expiration is not valid"),
            (&ANSWER.replace("&amp;", "&other;"), "the answer is not valid XML"),
            (&ANSWER.replace("Credentials", "Others"), "the answer has no keys"),
            (&"x".repeat(65537), "the answer has more than 65536 bytes"),
        ] {
            let found = what(fetch(200, body).await);
            assert!(found.ends_with(expected), "{found}");
        }
    }

    #[tokio::test]
    async fn keys_that_no_header_can_have_sign_nothing() {
        let server = Server::new(|_| (200, ANSWER.into()));
        let key = Key::new("k\n".into(), "s".into(), None);
        assert!(role(&server.url).fetch(&client(), &key).await.is_err());
        assert_eq!(server.requests().len(), 0);
    }
}
