//! Where keys come from, and in which formats. A key is wiped after use and is in no message.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64ct::Encoding;
use tagmac::dynamic::{Algorithm, KeyFile};
use tagmac_files::Error;
use tagmac_files::error::io_reason;
use tagmac_files::escaped::Escaped;
use tagmac_files::key::Key;
use tagmac_files::key_file::{self, read};
use zeroize::Zeroizing;

use crate::given::given;
use crate::{harden, stdio};

/// The key file where no option names a key.
const DEFAULT: &str = "TAGMAC_KEY_FILE";

/// Which key to take.
pub struct Options<'a> {
    /// Where it is; if nothing is said, where the environment says.
    pub source: Option<Source<'a>>,
    /// What is there.
    pub format: Format,
    /// The algorithm, where no key file names it.
    pub algorithm: Option<Algorithm>,
}

impl Options<'_> {
    /// Whether the key comes from standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(self.source, Some(Source::Fd(0)))
    }
}

/// What the source of a key gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The command's own key file, nothing else.
    Auto,
    /// The bytes.
    Raw,
    /// The bytes in hex.
    Hex,
    /// The bytes in base64, with padding.
    Base64,
}

/// Where a key is.
#[derive(Clone)]
pub enum Source<'a> {
    /// In a file.
    File(Cow<'a, Path>),
    /// Behind an open descriptor.
    Fd(i32),
    /// In a variable of the environment.
    Env(&'a OsStr),
    /// In what a command writes.
    Cmd(&'a OsStr),
}

impl fmt::Display for Source<'_> {
    // A command may hold a secret of its own, so it is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => write!(f, "key file {}", Escaped::name(&**path)),
            Source::Fd(fd) => write!(f, "--key-fd {fd}"),
            Source::Env(name) => write!(f, "--key-env {}", Escaped::name(name)),
            Source::Cmd(_) => write!(f, "--key-cmd"),
        }
    }
}

/// Gets the key that the command line asks for.
pub fn get(options: &Options<'_>, silent: bool) -> Result<Key, Error> {
    let Options { ref source, format, algorithm } = *options;
    let source = Source::or_default(source.clone())?;
    if format != Format::Auto && algorithm.is_none() {
        return Err(Error::usage("--key-format: expected -a with the key's algorithm, found none"));
    }
    let mut text = source.read(silent)?;
    if format == Format::Auto && !matches!(source, Source::File(_)) {
        end_line(&mut text);
    }
    let wrong = |what: &dyn fmt::Display| Error::key(format_args!("{source}: {what}"));
    let (algorithm, bytes) = match (format, algorithm) {
        (Format::Auto, asked) => key_file::parse(&text, asked).map_err(|what| wrong(&what))?,
        (_, Some(asked)) => (asked, foreign(&text, format).map_err(|what| wrong(&what))?),
        (_, None) => unreachable!("refused above"),
    };
    Key::new(algorithm, bytes).map_err(|what| wrong(&what))
}

/// Gives back the last line feed, which a shell's `$(...)` takes and much that keeps secrets too.
/// The line that it ends has its full length otherwise, so nothing else can be missing. A file has
/// its line feed, or was cut.
fn end_line(text: &mut Zeroizing<Vec<u8>>) {
    if text.is_empty() || text.ends_with(b"\n") {
        return;
    }
    // A vector that grows would leave a copy of the key behind.
    let mut ended = Zeroizing::new(Vec::with_capacity(text.len() + 1));
    ended.extend_from_slice(text);
    ended.push(b'\n');
    *text = ended;
}

/// A key that another program made.
fn foreign(text: &[u8], format: Format) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // What was decoded is wiped even where the rest cannot be.
    let mut key = Zeroizing::new(text.to_vec());
    let bytes = match format {
        Format::Hex => base16ct::mixed::decode(line, &mut key)
            .map_err(|_| "expected an even number of hex digits, found something else")?,
        Format::Base64 => base64ct::Base64::decode(line, &mut key)
            .map_err(|_| "expected one line of base64 with padding, found something else")?,
        Format::Raw | Format::Auto => text,
    };
    let length = bytes.len();
    key.truncate(length);
    Ok(key)
}

impl Source<'_> {
    /// The one that is given, or that of the environment.
    fn or_default(given: Option<Source<'_>>) -> Result<Source<'_>, Error> {
        match given {
            Some(Source::File(path)) if path.as_os_str() == "-" => {
                Err(Error::usage("-k: expected a file, found '-'; --key-fd 0 is standard input"))
            }
            Some(source) => Ok(source),
            None => match std::env::var_os(DEFAULT).filter(|path| !path.is_empty()) {
                Some(path) => Ok(Source::File(PathBuf::from(path).into())),
                None => Err(Error::usage(format_args!(
                    "no key given: use -k FILE, --key-fd, --key-env, --key-cmd or {DEFAULT}; \
                     'tagmac keygen -o my.key' makes one"
                ))),
            },
        }
    }

    fn read(&self, silent: bool) -> Result<Zeroizing<Vec<u8>>, Error> {
        let failed = |error: io::Error| Error::key(format_args!("{self}: {}", io_reason(&error)));
        let bytes = match self {
            Source::File(path) => read_file(path, silent).map_err(failed)?,
            Source::Fd(fd) => open(*fd).and_then(read).map_err(failed)?,
            Source::Env(name) => match std::env::var_os(name) {
                Some(value) => Zeroizing::new(value.into_vec()),
                None => {
                    let what = "expected a variable that is set, found none";
                    return Err(Error::key(format_args!("{self}: {what}")));
                }
            },
            Source::Cmd(command) => run(command).map_err(failed)?,
        };
        if bytes.len() > KeyFile::MAX_BYTES {
            let what = format_args!("{self}: expected at most 64 KiB, found more");
            return Err(Error::key(what));
        }
        Ok(bytes)
    }
}

/// An open descriptor. To open /dev/fd instead would fail for sockets, and where there is no /proc.
fn open(fd: i32) -> io::Result<File> {
    stdio::given(fd)?;
    // SAFETY: nothing else runs yet, so nothing closes the descriptor during the one call that it
    // is borrowed for. If it is not open, the call fails.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fd.try_clone_to_owned().map(File::from)
}

fn read_file(path: &Path, silent: bool) -> io::Result<Zeroizing<Vec<u8>>> {
    let (file, metadata) = given(path).map_err(|error| io::Error::other(error.to_string()))?;
    key_file::check_owner(path, &metadata).map_err(io::Error::other)?;
    if !silent {
        key_file::warn_of_readers(path, &metadata);
    }
    read(file)
}

fn run(command: &OsStr) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = harden::unhardened(|| shell.spawn())?;
    let bytes = child.stdout.take().map(read).transpose();
    // The pipe is closed by now, so a command that writes on and on ends too.
    let status = child.wait()?;
    let bytes = bytes?.unwrap_or_default();
    if bytes.len() <= KeyFile::MAX_BYTES && !status.success() {
        return Err(io::Error::other(format!("expected the command to succeed, found {status}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_trailing_newline_is_lost() {
        for text in [b"00ff".as_slice(), b"00FF\n", b"00ff\r\n"] {
            assert_eq!(**foreign(text, Format::Hex).unwrap(), [0, 0xff]);
        }
        for text in [b"AP8=".as_slice(), b"AP8=\n"] {
            assert_eq!(**foreign(text, Format::Base64).unwrap(), [0, 0xff]);
        }
        assert!(foreign(b"00ff\n\n", Format::Hex).is_err());
        assert!(foreign(b"00f", Format::Hex).is_err());
        assert!(foreign(b"AP8", Format::Base64).is_err());
        assert_eq!(**foreign(b"00ff\n", Format::Raw).unwrap(), *b"00ff\n");
    }
}
