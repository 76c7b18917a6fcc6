//! The MAC that the command line asks for.

use tagmac::any::AnyMac;
use tagmac::isa::Level;

use crate::args;
use crate::error::Error;
use crate::key;

/// Shorter tags need `--allow-short`.
const SHORT: usize = 64;
const LEVEL: &str = "TAGMAC_LEVEL";

/// A MAC under a key.
pub struct Mac {
    /// The MAC.
    pub mac: AnyMac,
    /// The key's public id.
    pub key_id: String,
}

/// The level that the environment names, or the best.
pub fn level() -> Result<Level, Error> {
    let Some(name) = std::env::var_os(LEVEL).filter(|name| !name.is_empty()) else {
        return Ok(Level::best());
    };
    let name = name.to_string_lossy();
    Level::named(&name).map_err(|error| {
        let name = name.escape_default();
        Error::usage(format_args!("{LEVEL}: {error}, found '{name}'"))
    })
}

/// Gets the key and makes the MAC. `silent` keeps warnings back.
pub fn make(args: &args::Key, silent: bool) -> Result<Mac, Error> {
    let level = level()?;
    if let Some(bits) = args.length.filter(|&bits| bits < SHORT && !args.allow_short) {
        return Err(Error::usage(format_args!(
            "-l: expected at least {SHORT} bits, found {bits}; --allow-short lets shorter tags be"
        )));
    }
    let check = |algorithm: tagmac::any::Algorithm, bits| {
        algorithm
            .check_tag_bits(bits)
            .map_err(|error| Error::usage(format_args!("-l: {algorithm}: {error}")))
    };
    // Before the key is asked for, where that can be.
    if let (Some(algorithm), Some(bits)) = (args.algorithm, args.length) {
        check(algorithm, bits)?;
    }
    let key = key::get(args, silent)?;
    let bits = args.length.unwrap_or(*key.algorithm.tag_bits().end());
    check(key.algorithm, bits)?;
    let mac = AnyMac::with(key.algorithm, &key.bytes, bits, level).map_err(Error::key)?;
    Ok(Mac { mac, key_id: key.id })
}
