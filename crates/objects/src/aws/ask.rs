//! Requests for keys, and files that hold tokens.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, StatusCode};
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use serde::Deserialize;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use zeroize::Zeroizing;

use crate::aws::key::{Issued, Key, time};
use crate::dialect::S3;
use crate::failure::{Failure, is_word, unsent};

/// The limit of an answer, and of a file with a token.
pub const MAX_BYTES: usize = 64 << 10;

/// Bytes that may be a key.
pub type Secret = Zeroizing<Vec<u8>>;

/// An answer.
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Secret,
    /// The pause that the service requests before a retry, in seconds.
    after: Option<u64>,
}

/// Makes a request. Marks its headers as sensitive, because most are keys.
pub fn request(
    method: Method,
    url: &str,
    headers: &[(&'static str, &str)],
    body: impl Into<HttpRequestBody>,
) -> Result<HttpRequest, Failure> {
    let mut request = HttpRequest::new(body.into());
    *request.method_mut() = method;
    let wrong = |_| Failure::Final("the URL of the service for keys is not valid".into());
    *request.uri_mut() = url.parse().map_err(wrong)?;
    for (name, value) in headers {
        let mut value = HeaderValue::try_from(*value).map_err(|_| {
            Failure::Final("the token contains characters that a header cannot carry".into())
        })?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    Ok(request)
}

/// Sends a request and reads the answer. `who` names the service in a message.
pub async fn ask(client: &HttpClient, request: HttpRequest, who: &str) -> Result<Answer, Failure> {
    let sent = client.execute(request).await;
    let response = sent.map_err(|error| unsent(&error, S3.certificates).about(who))?;
    let status = response.status();
    let after = response.headers().get(RETRY_AFTER);
    let after = after.and_then(|after| after.to_str().ok()?.parse().ok());
    // A growing vector would leave copies of the keys.
    let mut body = Zeroizing::new(Vec::with_capacity(MAX_BYTES));
    let mut pieces = response.into_body().bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| unsent(&error, S3.certificates).about(who))?;
        if body.len() + piece.len() > MAX_BYTES {
            let what = format!("{who}: the answer has more than {MAX_BYTES} bytes");
            return Err(Failure::Final(what));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Answer { status, body, after })
}

impl Answer {
    /// Returns the answer if its status is a success. `code` is the service's code for an error;
    /// its message is not shown, because it could contain anything.
    pub fn successful(
        self,
        who: &str,
        code: impl FnOnce(&[u8]) -> Option<String>,
    ) -> Result<Answer, Failure> {
        let Answer { status, .. } = self;
        if status.is_success() {
            return Ok(self);
        }
        let code = code(&self.body).filter(|code| is_word(code));
        let shown = match code {
            Some(code) => format!("{} {code}", status.as_u16()),
            None => status.as_u16().to_string(),
        };
        let is_passing = status.is_server_error()
            || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        Err(match is_passing {
            true => {
                let after = self.after.map(std::time::Duration::from_secs);
                Failure::Passing(format!("{who}: the service is busy ({shown})"), after)
            }
            false => Failure::Final(format!("{who}: the service rejects the request ({shown})")),
        })
    }
}

/// The JSON of containers, instances and programs.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Json {
    version: Option<u32>,
    code: Option<String>,
    access_key_id: Option<String>,
    secret_access_key: Option<String>,
    #[serde(alias = "SessionToken")]
    token: Option<String>,
    expiration: Option<String>,
}

/// Parses a key in JSON. A program's JSON must have version 1. The error is a description of the
/// problem.
pub fn key(json: &[u8], of_program: bool) -> Result<Issued, String> {
    // The parser's message could contain a key.
    let json: Json = serde_json::from_slice(json).map_err(|_| "the answer is not valid JSON")?;
    if of_program && json.version != Some(1) {
        return Err("the answer has no \"Version\": 1".into());
    }
    let parts = (json.access_key_id, json.secret_access_key);
    let (Some(id), Some(secret)) = parts else {
        let code = json.code.filter(|code| is_word(code) && code != "Success");
        let code = code.map_or(String::new(), |code| format!(" ({code})"));
        return Err(format!("the answer has no AccessKeyId and SecretAccessKey{code}"));
    };
    issued(id, secret, json.token, json.expiration.as_deref())
}

/// Makes a key from the parts of an answer.
pub fn issued(
    id: String,
    secret: String,
    token: Option<String>,
    expiration: Option<&str>,
) -> Result<Issued, String> {
    let key = Arc::new(Key::new(id, secret, token));
    let expires = expiration.map(|text| time(text).ok_or("the time of expiration is not valid"));
    let expires: Option<SystemTime> = expires.transpose()?;
    Ok(Issued { key, expires })
}

/// Reads a file that holds a token. The error is a description of the problem.
pub fn file(path: &Path) -> Result<Secret, String> {
    let failed = |what: &str| format!("{}: {what}", Escaped::name(path));
    let unread = |error| failed(&io_reason(&error));
    let file = File::open(path).map_err(unread)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > MAX_BYTES {
        return Err(failed("larger than 64 KiB"));
    }
    Ok(bytes)
}

/// Reads a file that holds a token as a line of text.
pub fn token(path: &Path) -> Result<Zeroizing<String>, String> {
    let bytes = file(path)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.trim().is_empty() => Ok(Zeroizing::new(text.trim().into())),
        _ => Err(format!("{}: the file has no token", Escaped::name(path))),
    }
}
