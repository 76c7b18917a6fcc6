//! Why a store gives no object.

use std::io;
use std::time::Duration;

use tagmac_files::ReadError;
use tokio::task::JoinError;

/// Why a request has no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no such object.
    Missing,
    /// It is no longer the content that was asked for.
    Changed(&'static str),
    /// It may work another time, after so long if the store says so.
    Passing(String, Option<Duration>),
    /// There is an object already.
    Exists,
    /// It will not work.
    Final(String),
}

/// The object is another than before.
pub const CHANGED: Failure = Failure::Changed("the object changed while it was read");

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> ReadError {
        let text = match failure {
            Failure::Missing => {
                let what = io::Error::new(io::ErrorKind::NotFound, "no such object");
                return ReadError::Missing(what);
            }
            Failure::Changed(what) => what.into(),
            Failure::Exists => "expected no object there, found one".into(),
            Failure::Passing(what, _) | Failure::Final(what) => what,
        };
        ReadError::Io(io::Error::other(text))
    }
}

/// What came of a task. One that panicked has no answer, and is asked for no other.
pub fn joined<T>(task: Result<Result<T, Failure>, JoinError>) -> Result<T, Failure> {
    task.unwrap_or_else(|_| Err(Failure::Final("internal error: a request ended too soon".into())))
}

/// What a chain of errors ends with: the text that says what happened. Those above it say which
/// library it happened to, and may name what is nobody's business.
pub fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let end = text.find(" (os error ").unwrap_or(text.len());
    tagmac_files::escaped::Escaped::text(&text.as_bytes()[..end.min(200)]).to_string()
}
