//! `Key.from_file`, `from_env` and `from_command`, under the same rules as the command's.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tagmac_any::{Algorithm, KeyFile};
use tagmac_files::diagnostic::diagnostic;
use tagmac_files::escaped::Escaped;
use tagmac_files::key_access;
use tagmac_files::key_source::{Format, KeySourceError, KeyText};
use tagmac_files::{ReadError, open};

use crate::algorithm::named;
use crate::error::os_error;
use crate::memory::extracted;
use crate::say;

/// The format of a key, and its algorithm if that is given.
#[derive(Clone, Copy)]
pub struct Encoding {
    format: Format,
    algorithm: Option<Algorithm>,
}

impl Encoding {
    /// The encoding that the arguments `alg` and `format` name.
    pub fn new(alg: Option<&str>, format: &str) -> PyResult<Encoding> {
        let algorithm = alg.map(named).transpose()?;
        let format = Format::from_name(format).ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            PyValueError::new_err(format!("format: expected one of {names}, found '{format}'"))
        })?;
        Ok(Encoding { format, algorithm })
    }

    fn key(self, name: &str, text: KeyText) -> PyResult<KeyFile> {
        let Encoding { format, algorithm } = self;
        if let Some(warning) = text.warning(format) {
            diagnostic(format_args!("warning: {name}: {warning}"));
        }
        let key = text.key_file(format, algorithm);
        key.map_err(|error| PyValueError::new_err(format!("{name}: {}", say::key(&error))))
    }
}

/// Reads a key file.
pub fn from_file(py: Python<'_>, path: &Path, encoding: Encoding) -> PyResult<KeyFile> {
    let name = format!("key file {}", Escaped::name(path));
    let text = py.detach(|| read_file(path)).map_err(|error| match error {
        // Raise Python's own exception, with the error number and the file name.
        KeySourceError::Io(error) if error.raw_os_error().is_some() => os_error(py, error, path),
        other => PyValueError::new_err(format!("{name}: {}", say::key_source(&other))),
    })?;
    encoding.key(&name, text)
}

fn read_file(path: &Path) -> Result<KeyText, KeySourceError> {
    let (file, facts) = open::given(path).map_err(|error| match error {
        ReadError::Missing(error) | ReadError::Io(error) => KeySourceError::Io(error),
        other => KeySourceError::Closed(other),
    })?;
    let text = KeyText::from_file(path, &file, &facts)?;
    key_access::warn_of_readers(path, &facts);
    Ok(text)
}

/// Reads a key from an environment variable.
pub fn from_env(name: OsString, encoding: Encoding) -> PyResult<KeyFile> {
    let shown = format!("environment variable {}", Escaped::name(&name));
    let text = KeyText::from_env(&name);
    let text = text.map_err(|error| PyValueError::new_err(format!("{shown}: {error}")))?;
    encoding.key(&shown, text)
}

/// Runs a command and reads the key that it writes. The arguments may contain a secret too, so
/// messages show only the first word.
pub fn from_command(
    py: Python<'_>,
    command: &Bound<'_, PyAny>,
    encoding: Encoding,
) -> PyResult<KeyFile> {
    let words = if command.is_instance_of::<PyString>() || command.is_instance_of::<PyBytes>() {
        None
    } else {
        extracted::<OsString>(command).ok()
    };
    let Some((program, arguments)) = words.as_ref().and_then(|words| words.split_first()) else {
        let line = "command: expected a list of words, such as [\"pass\", \"show\", \"backup\"]";
        return Err(PyTypeError::new_err(line));
    };
    let name = format!("command {}", Escaped::name(program));
    let run = || {
        let mut command = Command::new(program);
        KeyText::from_command(command.args(arguments), Command::spawn)
    };
    let text = py.detach(run);
    // Ctrl-C stops the command, which then fails. Raise KeyboardInterrupt instead of that error.
    py.check_signals()?;
    let text = text.map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
    encoding.key(&name, text)
}
