//! The reasons why a request fails.

use std::io;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};
use tagmac_files::ReadError;
use tokio::task::JoinError;

/// The reason why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The object does not exist.
    Missing,
    /// The object no longer has the expected content.
    Changed(&'static str),
    /// A retry may succeed, after this time if the store named one.
    Passing(String, Option<Duration>),
    /// The object is archived and must be restored first.
    Archived(String),
    /// The object already exists.
    Exists,
    /// A retry would fail too.
    Final(String),
}

impl Failure {
    /// Adds the name of the service that failed to the reason.
    pub fn about(self, who: &str) -> Failure {
        match self {
            Failure::Passing(what, after) => Failure::Passing(format!("{who}: {what}"), after),
            Failure::Final(what) => Failure::Final(format!("{who}: {what}")),
            other => other,
        }
    }
}

/// The start of the reason for a denied request.
pub const DENIED: &str = "the store denies access";

/// The object is not the same as before.
pub const CHANGED: Failure = Failure::Changed("the object changed while it was read");

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> ReadError {
        let text = match failure {
            Failure::Missing => {
                let what = io::Error::new(io::ErrorKind::NotFound, "no such object");
                return ReadError::Missing(what);
            }
            Failure::Archived(what) => return ReadError::Archived(what),
            Failure::Changed(what) => what.into(),
            Failure::Exists => "the object already exists".into(),
            Failure::Passing(what, _) | Failure::Final(what) => what,
        };
        ReadError::Io(io::Error::other(text))
    }
}

/// Returns the result of a task. A panic becomes a failure that is not retried.
pub fn joined<T>(task: Result<Result<T, Failure>, JoinError>) -> Result<T, Failure> {
    task.unwrap_or_else(|_| Err(Failure::Final("internal error: a request ended too soon".into())))
}

/// Returns the failure of a request without an answer. `certificates` is the variable that names
/// the certificates to trust.
pub fn unsent(error: &HttpError, certificates: &str) -> Failure {
    let what = root_cause(error);
    if error.kind() != HttpErrorKind::Decode {
        return Failure::Passing(what, None);
    }
    let hint = match what.contains("certificate") {
        true => format!("; set {certificates} to a file of trusted certificates"),
        false => String::new(),
    };
    Failure::Final(format!("{what}{hint}"))
}

/// Returns the message of the last error in a chain, which has the cause. The errors before it name
/// libraries, and may contain secrets.
pub fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    tagmac_files::escaped::Escaped::text(&text.as_bytes()[..end.min(200)]).to_string()
}

/// Returns the code of an S3 error. Its message is not shown, because it could contain anything.
pub fn error_code(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    is_word(code).then(|| code.into())
}

/// Returns whether a text from outside is a plain word.
pub fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (1..=64).contains(&text.len()) && text.chars().all(is_plain)
}
