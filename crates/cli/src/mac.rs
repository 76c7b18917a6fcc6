//! The MAC that the command line describes.

use std::fmt;

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::open_key::OpenKey;
use tagmac_files::raw_key::RawKey;
use tagmac_files::sys::OsStrExt;

use crate::key;

/// Minimum length of tags in bits without `--allow-short`.
pub const SHORT: usize = 64;
const LEVEL: &str = "TAGMAC_LEVEL";

/// The options about the MAC.
pub struct MacOptions<'a> {
    /// The key.
    pub key: key::KeyOptions<'a>,
    /// Length of the tags in bits; `None` is the algorithm's longest.
    pub tag_bits: Option<usize>,
    /// Accept tags shorter than [`SHORT`].
    pub allow_short: bool,
}

/// Returns the nonce of the command line. `alone` is the option that omits the nonce from the
/// output, and so makes `--nonce-hex` mandatory.
pub fn given_nonce<'n>(
    key: &OpenKey,
    given: Option<&'n [u8]>,
    alone: Option<&str>,
) -> Result<Option<&'n [u8]>, Error> {
    let algorithm = key.mac.algorithm();
    if let Some(nonce) = given {
        let wrong = |error| Error::usage(format_args!("--nonce-hex: {algorithm}: {error}"));
        return algorithm.check_nonce(nonce.len()).map_err(wrong).map(|()| Some(nonce));
    }
    match alone.filter(|_| *algorithm.nonce_bytes().start() > 0) {
        Some(option) => {
            Err(Error::usage(format_args!("{option}: {algorithm} needs a nonce; use --nonce-hex")))
        }
        None => Ok(None),
    }
}

/// Returns the level that the environment names, or the best one.
pub fn level() -> Result<Level, Error> {
    let Some(name) = std::env::var_os(LEVEL).filter(|name| !name.is_empty()) else {
        return Ok(Level::best());
    };
    Level::from_name(&name.to_string_lossy()).map_err(|error| {
        let name = Escaped::text(name.as_bytes());
        Error::usage(format_args!("{LEVEL}: {error}, found '{name}'"))
    })
}

/// Reads the key and prepares the MAC. `silent` suppresses warnings.
pub fn open(options: &MacOptions<'_>, silent: bool) -> Result<OpenKey, Error> {
    open_with_raw(options, silent).map(|(key, _)| key)
}

/// Like [`open`], and also returns the key's bytes, to derive other keys from them.
pub fn open_with_raw(options: &MacOptions<'_>, silent: bool) -> Result<(OpenKey, RawKey), Error> {
    let level = level()?;
    // Report errors that do not depend on the key before reading it.
    if let Some(bits) = options.tag_bits {
        long_enough(options, "--tag-bits", bits)?;
    }
    if let Some(algorithm) = options.key.algorithm {
        tag_bits(options, algorithm)?;
    }
    let raw = key::get(&options.key, silent)?;
    let bits = tag_bits(options, raw.algorithm)?;
    Ok((OpenKey::new(&raw, bits, level)?, raw))
}

/// Reads the key and prepares the MAC with the algorithm's longest tags.
pub fn open_full(options: &key::KeyOptions<'_>) -> Result<OpenKey, Error> {
    let (level, raw) = (level()?, key::get(options, false)?);
    let bits = raw.algorithm.default_tag_bits();
    OpenKey::new(&raw, bits, level)
}

/// Returns the length of the tags: the value of `--tag-bits`, or the algorithm's longest.
fn tag_bits(options: &MacOptions<'_>, algorithm: Algorithm) -> Result<usize, Error> {
    let bits = options.tag_bits.unwrap_or(algorithm.default_tag_bits());
    algorithm
        .check_tag_bits(bits)
        .map_err(|error| Error::usage(format_args!("--tag-bits: {algorithm}: {error}")))?;
    long_enough(options, algorithm, bits)?;
    Ok(bits)
}

fn long_enough(
    options: &MacOptions<'_>,
    what: impl fmt::Display,
    bits: usize,
) -> Result<(), Error> {
    if bits >= SHORT || options.allow_short {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{what}: expected tags of at least {SHORT} bits, found {bits}; \
         --allow-short permits shorter tags"
    )))
}
