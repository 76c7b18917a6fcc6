//! Keys from files, variables and commands, under the rules of the command.

use tagmac_any::KeyFile;

use crate::thrown::Thrown;

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::path::Path;

    use tagmac_any::KeyFile;
    use tagmac_files::escaped::Escaped;
    use tagmac_files::key_source::{Format, KeySourceError, KeyText};
    use tagmac_files::{ReadError, open};

    use crate::thrown::Thrown;

    pub fn from_file(path: &str) -> Result<KeyFile, Thrown> {
        let path = Path::new(path);
        let read = || {
            let (file, facts) = open::given(path).map_err(|error| match error {
                ReadError::Missing(error) | ReadError::Io(error) => KeySourceError::Io(error),
                other => KeySourceError::Closed(other),
            })?;
            KeyText::from_file(path, &file, &facts)
        };
        let about = |thrown: Thrown| thrown.about(format_args!("key file {}", Escaped::name(path)));
        let text = read().map_err(|error| about(Thrown::io(error)))?;
        text.key_file(Format::Auto, None).map_err(|error| about(Thrown::io(error)))
    }

    pub fn from_env(name: &str) -> Result<KeyFile, Thrown> {
        let name = OsStr::new(name);
        let about = |thrown: Thrown| {
            thrown.about(format_args!("environment variable {}", Escaped::name(name)))
        };
        let text = KeyText::from_env(name).map_err(|error| about(Thrown::io(error)))?;
        text.key_file(Format::Auto, None).map_err(|error| about(Thrown::io(error)))
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Read;

    use tagmac_any::KeyFile;
    use tagmac_border::Quoted;
    use zeroize::Zeroizing;

    use crate::thrown::Thrown;

    pub fn from_file(path: &str) -> Result<KeyFile, Thrown> {
        let about = |thrown: Thrown| thrown.about(format_args!("key file {}", Quoted(path)));
        // A vector that grows would leave copies of the key.
        let mut text = Zeroizing::new(Vec::with_capacity(KeyFile::MAX_BYTES + 64));
        std::fs::File::open(path)
            .and_then(|file| file.take(KeyFile::MAX_BYTES as u64 + 1).read_to_end(&mut text))
            .map_err(|error| about(Thrown::io(error)))?;
        KeyFile::parse(&text).map_err(|error| about(Thrown::io(error)))
    }

    pub fn from_env(name: &str) -> Result<KeyFile, Thrown> {
        let about =
            |thrown: Thrown| thrown.about(format_args!("environment variable {}", Quoted(name)));
        let text = std::env::var(name).map(Zeroizing::new);
        let text = text.map_err(|error| about(Thrown::io(error)))?;
        KeyFile::parse(text.as_bytes()).map_err(|error| about(Thrown::io(error)))
    }
}

pub use system::{from_env, from_file};

/// Parses the text of a key file.
pub fn parsed(text: &[u8]) -> Result<KeyFile, Thrown> {
    KeyFile::parse(text).map_err(|error| Thrown::io(error).about("key file"))
}
