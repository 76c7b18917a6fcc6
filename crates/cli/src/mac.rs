//! The MAC that the command line asks for.

use std::fmt;
use std::os::unix::ffi::OsStrExt;

use tagmac::isa::Level;
use tagmac_any::Algorithm;
use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::key::Key;
use tagmac_files::mac::Mac;

use crate::key;

/// Shorter tags need `--allow-short`.
pub const SHORT: usize = 64;
const LEVEL: &str = "TAGMAC_LEVEL";

/// Which MAC to make.
pub struct Options<'a> {
    /// The key.
    pub key: key::Options<'a>,
    /// The length of the tags in bits; the algorithm's longest if not given.
    pub tag_bits: Option<usize>,
    /// Whether tags may be shorter than 64 bits.
    pub allow_short: bool,
}

/// The nonce that the command line gives. `alone` is the option by which a tag goes without its
/// nonce, so that one has to be given.
pub fn given_nonce<'n>(
    mac: &Mac,
    given: Option<&'n [u8]>,
    alone: Option<&str>,
) -> Result<Option<&'n [u8]>, Error> {
    let algorithm = mac.mac.algorithm();
    if let Some(nonce) = given {
        let wrong = |error| Error::usage(format_args!("--nonce-hex: {algorithm}: {error}"));
        return algorithm.check_nonce(nonce.len()).map_err(wrong).map(|()| Some(nonce));
    }
    match alone.filter(|_| *algorithm.nonce_bytes().start() > 0) {
        Some(option) => Err(Error::usage(format_args!(
            "{option}: expected --nonce-hex with the nonce that {algorithm} takes, found none"
        ))),
        None => Ok(None),
    }
}

/// The level that the environment names, or the best.
pub fn level() -> Result<Level, Error> {
    let Some(name) = std::env::var_os(LEVEL).filter(|name| !name.is_empty()) else {
        return Ok(Level::best());
    };
    Level::from_name(&name.to_string_lossy()).map_err(|error| {
        let name = Escaped::text(name.as_bytes());
        Error::usage(format_args!("{LEVEL}: {error}, found '{name}'"))
    })
}

/// Gets the key and makes the MAC. `silent` keeps warnings back.
pub fn make(options: &Options<'_>, silent: bool) -> Result<Mac, Error> {
    make_with_key(options, silent).map(|(mac, _)| mac)
}

/// The same, with the key, from which others can be derived.
pub fn make_with_key(options: &Options<'_>, silent: bool) -> Result<(Mac, Key), Error> {
    let level = level()?;
    // What is wrong whatever the key is said before the key is asked for.
    if let Some(bits) = options.tag_bits {
        long_enough(options, "--tag-bits", bits)?;
    }
    if let Some(algorithm) = options.key.algorithm {
        tag_bits(options, algorithm)?;
    }
    let key = key::get(&options.key, silent)?;
    let bits = tag_bits(options, key.algorithm)?;
    Ok((Mac::new(&key, bits, level)?, key))
}

/// Gets the key and makes the MAC with its longest tags.
pub fn full(options: &key::Options<'_>) -> Result<Mac, Error> {
    let (level, key) = (level()?, key::get(options, false)?);
    let bits = key.algorithm.default_tag_bits();
    Mac::new(&key, bits, level)
}

/// The length of the tags: the one asked for, or the algorithm's longest.
fn tag_bits(options: &Options<'_>, algorithm: Algorithm) -> Result<usize, Error> {
    let bits = options.tag_bits.unwrap_or(algorithm.default_tag_bits());
    algorithm
        .check_tag_bits(bits)
        .map_err(|error| Error::usage(format_args!("--tag-bits: {algorithm}: {error}")))?;
    long_enough(options, algorithm, bits)?;
    Ok(bits)
}

fn long_enough(options: &Options<'_>, what: impl fmt::Display, bits: usize) -> Result<(), Error> {
    if bits >= SHORT || options.allow_short {
        return Ok(());
    }
    Err(Error::usage(format_args!(
        "{what}: expected tags of at least {SHORT} bits, found {bits}; \
         --allow-short permits shorter tags"
    )))
}
