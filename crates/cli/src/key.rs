//! The key that the command line asks for. What each source gives, and what is refused, is in
//! [`tagmac_files::key_source`].

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use tagmac_any::Algorithm;
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::key_access;
pub use tagmac_files::key_source::Format;
use tagmac_files::key_source::{KeySourceError, KeyText};
use tagmac_files::raw_key::RawKey;
use zeroize::Zeroizing;

use crate::diagnostic::diagnostic;
use crate::given::given;
use crate::{harden, names, say, stdio};

/// The key file where no option names a key.
const DEFAULT: &str = "TAGMAC_KEY_FILE";

/// Bytes of the keys that need no `--allow-short-key`, where the algorithm's own have as many. HMAC
/// takes shorter ones: a password, or what is left of a key that was cut off.
const SHORT: usize = 16;

/// Which key to take.
pub struct KeyOptions<'a> {
    /// Where it is; if nothing is said, where the environment says.
    pub source: Option<Source<'a>>,
    /// What is there.
    pub format: Format,
    /// The algorithm, where no key file names it.
    pub algorithm: Option<Algorithm>,
    /// Whether the key may be shorter than [`SHORT`].
    pub allow_short: bool,
}

impl KeyOptions<'_> {
    /// Whether the key comes from standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(self.source, Some(Source::Fd(0)))
    }
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
pub fn get(options: &KeyOptions<'_>, silent: bool) -> Result<RawKey, Error> {
    let KeyOptions { ref source, format, algorithm, allow_short } = *options;
    let source = Source::or_default(source.clone())?;
    if format != Format::Auto && algorithm.is_none() {
        return Err(Error::usage("--key-format: expected -a with the key's algorithm, found none"));
    }
    let wrong = |what: &dyn fmt::Display| Error::key(format_args!("{source}: {what}"));
    let text = source.read(silent).map_err(|error| wrong(&say::key_source(&error)))?;
    if let Some(warning) = text.warning(format).filter(|_| !silent) {
        diagnostic(format_args!("warning: {source}: {warning}"));
    }
    let file = text.key_file(format, algorithm);
    let file = file.map_err(|error| wrong(&say::key(&error)))?;
    let (least, found) = (SHORT.min(file.algorithm().new_key_bytes()), file.key().len());
    if found < least && !allow_short {
        return Err(wrong(&format_args!(
            "expected a key of at least {least} bytes, found {found}, which can be guessed; \
             --allow-short-key permits shorter keys"
        )));
    }
    let bytes = Zeroizing::new(file.key().to_vec());
    RawKey::new(file.algorithm(), bytes).map_err(|what| wrong(&what))
}

impl Source<'_> {
    /// The one that is given, or that of the environment.
    fn or_default(given: Option<Source<'_>>) -> Result<Source<'_>, Error> {
        match given {
            Some(Source::File(path)) if path.as_os_str() == "-" => {
                Err(Error::usage("-k: expected a file, found '-'; --key-fd 0 is standard input"))
            }
            Some(Source::File(path)) => {
                names::file(&path)?;
                Ok(Source::File(path))
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

    fn read(&self, silent: bool) -> Result<KeyText, KeySourceError> {
        match self {
            Source::File(path) => read_file(path, silent),
            Source::Fd(fd) => KeyText::from_input(stdio::Waiting(open(*fd)?)),
            Source::Env(name) => KeyText::from_env(name),
            Source::Cmd(line) => {
                let spawn = |shell: &mut Command| harden::unhardened(|| shell.spawn());
                KeyText::from_command(Command::new("sh").arg("-c").arg(line), spawn)
            }
        }
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

fn read_file(path: &Path, silent: bool) -> Result<KeyText, KeySourceError> {
    let (file, facts) = given(path).map_err(KeySourceError::Closed)?;
    let text = KeyText::from_file(path, &file, &facts)?;
    if !silent {
        key_access::warn_of_readers(path, &facts);
    }
    Ok(text)
}
