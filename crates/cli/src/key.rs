//! The key that the command line names. [`tagmac_files::key_source`] reads the sources and checks
//! them.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
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

/// Names the key file if no option names a key.
const DEFAULT: &str = "TAGMAC_KEY_FILE";

/// Minimum length in bytes of a key without `--allow-short-key`, unless the algorithm's keys are
/// shorter. HMAC accepts shorter keys: a password, or the rest of a truncated key.
const SHORT: usize = 16;

/// The options about the key.
pub struct KeyOptions<'a> {
    /// The source; `None` is that of the environment.
    pub source: Option<Source<'a>>,
    /// The format of the source's bytes.
    pub format: Format,
    /// The algorithm, if no key file names it.
    pub algorithm: Option<Algorithm>,
    /// Accept keys shorter than [`SHORT`].
    pub allow_short: bool,
}

impl KeyOptions<'_> {
    /// Returns whether the key comes from standard input.
    pub fn is_stdin(&self) -> bool {
        matches!(self.source, Some(Source::Fd(0)))
    }
}

/// The source of a key.
#[derive(Clone)]
pub enum Source<'a> {
    /// A file.
    File(Cow<'a, Path>),
    /// An open descriptor.
    Fd(i32),
    /// An environment variable.
    Env(&'a OsStr),
    /// The output of a command.
    Cmd(&'a OsStr),
}

impl fmt::Display for Source<'_> {
    // The command may contain a secret, so it is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path) => write!(f, "key file {}", Escaped::name(&**path)),
            Source::Fd(fd) => write!(f, "--key-fd {fd}"),
            Source::Env(name) => write!(f, "--key-env {}", Escaped::name(name)),
            Source::Cmd(_) => write!(f, "--key-cmd"),
        }
    }
}

/// Reads the key that the command line names. `silent` suppresses warnings.
pub fn get(options: &KeyOptions<'_>, silent: bool) -> Result<RawKey, Error> {
    let KeyOptions { ref source, format, algorithm, allow_short } = *options;
    let source = Source::or_default(source.clone())?;
    if format != Format::Auto && algorithm.is_none() {
        return Err(Error::usage("--key-format: use -a to name the algorithm of the key"));
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
    /// Returns the given source, or that of the environment.
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
            Source::Fd(fd) => KeyText::from_input(stdio::Waiting(stdio::open(*fd)?)),
            Source::Env(name) => KeyText::from_env(name),
            Source::Cmd(line) => {
                let spawn = |shell: &mut Command| harden::unhardened(|| shell.spawn());
                KeyText::from_command(&mut stdio::shell(line), spawn)
            }
        }
    }
}

fn read_file(path: &Path, silent: bool) -> Result<KeyText, KeySourceError> {
    let (file, facts) = given(path).map_err(KeySourceError::Closed)?;
    let text = KeyText::from_file(path, &file, &facts)?;
    if !silent {
        key_access::warn_of_readers(path, &facts);
    }
    Ok(text)
}
