//! Keys from the program of a profile's `credential_process`.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tagmac_files::error::io_reason;
use zeroize::Zeroizing;

use crate::aws::ask::{MAX_BYTES, Secret, key};
use crate::aws::key::Issued;
use crate::failure::Failure;

/// The program may wait for the user, for example in a browser.
const TIMEOUT: Duration = Duration::from_secs(120);
const LATE: &str = "the program ran longer than two minutes";
/// The interval for checking whether a program that closed its output has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// A program that prints keys.
pub struct Process {
    /// The profile, escaped for a message.
    pub profile: String,
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl Process {
    /// Runs the program.
    pub async fn fetch(&self) -> Result<Issued, Failure> {
        let words = self.words.clone();
        let run = tokio::task::spawn_blocking(move || run(&words, TIMEOUT)).await;
        let out = run.unwrap_or_else(|_| Err("internal error: its thread ended too soon".into()));
        let key = out.and_then(|out| key(&out, true));
        key.map_err(|what| {
            Failure::Final(format!("profile {}: credential_process: {what}", self.profile))
        })
    }
}

/// Runs a program without a shell and returns its output. The program writes to the command's
/// standard error. The error is a description of the problem, without the output, which may contain
/// keys.
fn run(words: &[String], timeout: Duration) -> Result<Secret, String> {
    let Some((program, args)) = words.split_first() else { return Err("no program".into()) };
    let end = Instant::now() + timeout;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    let failed = |error| format!("cannot run the program: {}", io_reason(&error));
    let mut child = command.spawn().map_err(failed)?;
    let result = output(&mut child, end);
    if result.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    result
}

/// Returns the output of a program that ends in time.
fn output(child: &mut Child, end: Instant) -> Result<Secret, String> {
    let left = || end.saturating_duration_since(Instant::now());
    let Some(stdout) = child.stdout.take() else { return Err("no output".into()) };
    let (sender, receiver) = channel();
    // In another thread, because the program's children can hold the pipe open.
    let reader = move || {
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 1));
        let read = stdout.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    };
    thread::Builder::new().spawn(reader).map_err(|error| io_reason(&error).to_string())?;
    let bytes = match receiver.recv_timeout(left()) {
        Ok(read) => read.map_err(|error| io_reason(&error).to_string())?,
        Err(RecvTimeoutError::Timeout) => return Err(LATE.into()),
        Err(RecvTimeoutError::Disconnected) => return Err("no output".into()),
    };
    if bytes.len() > MAX_BYTES {
        return Err("the program printed more than 64 KiB".into());
    }
    loop {
        match child.try_wait().map_err(|error| io_reason(&error).to_string())? {
            Some(status) if status.success() => return Ok(bytes),
            Some(status) => return Err(format!("the program failed: {status}")),
            None if left().is_zero() => return Err(LATE.into()),
            None => thread::sleep(PAUSE),
        }
    }
}

/// Splits a line into words, as Python's `shlex.split` does for AWS's tools. Nothing is expanded.
/// `None` if a quotation has no end.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        match next {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(rest.next()?),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inside => word.push(inside),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => match rest.next()? {
                            escaped @ ('"' | '\\') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inside => word.push(inside),
                    }
                }
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_shlex() {
        let is = |line: &str, words: &[&str]| {
            let found = split(line);
            assert_eq!(found.as_deref().unwrap(), words, "{line}");
        };
        // From Python 3.12: `shlex.split(line)`.
        is("", &[]);
        is(" a  b\tc ", &["a", "b", "c"]);
        is(r"a\ b '' x''y", &["a b", "", "xy"]);
        is(r#"'a "b\' "c 'd"e"#, &[r#"a "b\"#, "c 'de"]);
        is(r#""a\"b\\c\d" # $HOME ~ *"#, &[r#"a"b\c\d"#, "#", "$HOME", "~", "*"]);
        is("a;b|c>d", &["a;b|c>d"]);
        for line in ["'a", "\"a", "a\\", "\"a\\"] {
            assert_eq!(split(line), None, "{line}");
        }
    }

    fn sh(line: &str, timeout: Duration) -> Result<String, String> {
        let words = ["sh", "-c", line].map(String::from);
        run(&words, timeout).map(|out| String::from_utf8(out.to_vec()).unwrap())
    }

    #[test]
    fn a_program_ends_in_time_with_a_limited_output() {
        let long = Duration::from_secs(60);
        assert_eq!(sh("printf x; cat", long).as_deref(), Ok("x"));
        let error = |line, timeout| sh(line, timeout).unwrap_err();
        assert!(error("printf secret; exit 3", long).contains("failed: exit status: 3"));
        assert!(error("yes", long).contains("more than 64 KiB"));
        let short = Duration::from_millis(50);
        assert!(error("exec sleep 60", short).contains("longer than two minutes"));
        assert!(error("exec >&-; exec sleep 60", short).contains("longer than two minutes"));
        let missing = run(&["/no/such/program".into()], long).unwrap_err();
        assert!(missing.contains("cannot run the program: "), "{missing}");
        assert!(run(&[], long).is_err());
    }

    #[tokio::test]
    async fn a_program_prints_a_key() {
        let fetch = async |json: &str| {
            let words = ["printf", "%s", json].map(String::from).into();
            let process = Process { profile: "p".into(), words };
            match process.fetch().await {
                Ok(issued) => {
                    let key = issued.key.credential();
                    let token = key.token.as_deref().unwrap_or("-");
                    let expires = issued.expires.is_some();
                    Ok(format!("{} {} {token} {expires}", key.key_id, key.secret_key))
                }
                Err(Failure::Final(what)) => Err(what),
                Err(other) => panic!("{other:?}"),
            }
        };
        let keys = r#""AccessKeyId": "k", "SecretAccessKey": "s""#;
        let plain = fetch(&format!(r#"{{"Version": 1, {keys}}}"#)).await;
        assert_eq!(plain.as_deref(), Ok("k s - false"));
        let more = r#""SessionToken": "t", "Expiration": "2038-01-01T00:00:00+00:00", "More": 1"#;
        let full = fetch(&format!(r#"{{"Version": 1, {keys}, {more}}}"#)).await;
        assert_eq!(full.as_deref(), Ok("k s t true"));
        for (json, what) in [
            (format!("{{{keys}}}"), "has no \"Version\": 1"),
            (format!(r#"{{"Version": 2, {keys}}}"#), "has no \"Version\": 1"),
            (r#"{"Version": 1, "AccessKeyId": "k"}"#.into(), "no AccessKeyId and SecretAccessKey"),
            (format!(r#"{{"Version": 1, {keys}, "Expiration": "x"}}"#), "expiration is not valid"),
            ("secret".into(), "not valid JSON"),
            (String::new(), "not valid JSON"),
        ] {
            let error = fetch(&json).await.unwrap_err();
            assert!(error.starts_with("profile p: credential_process: the "), "{error}");
            assert!(error.contains(what) && !error.contains("secret"), "{error}");
        }
    }
}
