//! Options of several commands: the key, a nonce, reading and listing.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, ValueEnum, ValueHint, value_parser};
use tagmac_any::{Algorithm, UnknownAlgorithm};
use tagmac_files::hex;

use crate::key::{self, Format, Source};
use crate::mac;
use crate::number;
use crate::progress::When;

/// The key, and the length of its tags.
#[derive(Group)]
pub struct KeyArgs {
    /// The key.
    #[command(flatten)]
    pub only: KeyOnlyArgs,
    /// Length of the tags in bits, by default the algorithm's longest
    #[arg(long, value_name = "BITS", value_parser = number::bits, help_heading = "Key")]
    pub tag_bits: Option<usize>,
    /// Allow tags shorter than 64 bits, as UMAC-32 needs
    ///
    /// Short tags are easier to guess.
    #[arg(long, help_heading = "Key", hide_short_help = true)]
    pub allow_short: bool,
}

impl KeyArgs {
    /// Returns the options of the MAC.
    pub fn options(&self) -> mac::MacOptions<'_> {
        let KeyArgs { ref only, tag_bits, allow_short } = *self;
        mac::MacOptions { key: only.options(), tag_bits, allow_short }
    }
}

/// The key.
#[derive(Group)]
pub struct KeyOnlyArgs {
    /// Its source.
    #[command(flatten)]
    pub source: KeySourceArgs,
    /// Format of the key
    ///
    /// auto is a key file from 'tagmac keygen'. raw, hex and base64 are keys of other programs,
    /// which need -a. hex and base64 ignore a newline at the end and join lines of equal length.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format())]
    #[arg(help_heading = "Key", hide_short_help = true)]
    pub key_format: Format,
    /// The algorithm, if the key is not a key file
    #[arg(short, long, value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true, help_heading = "Key")]
    pub algorithm: Option<Algorithm>,
    /// Allow HMAC keys shorter than 16 bytes
    ///
    /// Some programs make such keys. Anyone who has a tag can search for them.
    #[arg(long, help_heading = "Key", hide_short_help = true)]
    pub allow_short_key: bool,
}

impl KeyOnlyArgs {
    /// Returns the options of the key.
    pub fn options(&self) -> key::KeyOptions<'_> {
        let KeySourceArgs { key_file, key_fd, key_env, key_cmd } = &self.source;
        let file = key_file.as_deref().map(|path| Source::File(path.into()));
        let source = file
            .or(key_fd.map(Source::Fd))
            .or(key_env.as_deref().map(Source::Env))
            .or(key_cmd.as_deref().map(Source::Cmd));
        key::KeyOptions {
            source,
            format: self.key_format,
            algorithm: self.algorithm,
            allow_short: self.allow_short_key,
        }
    }
}

/// The source of the key: at most one.
#[derive(Group)]
#[group(multiple = false)]
pub struct KeySourceArgs {
    /// The key file, by default $TAGMAC_KEY_FILE
    #[arg(short, long, value_name = "FILE", help_heading = "Key")]
    pub key_file: Option<PathBuf>,
    /// Read the key from an open file descriptor
    #[arg(long, value_name = "N", value_parser = value_parser!(i32).range(0..))]
    #[arg(help_heading = "Key", hide_short_help = true)]
    pub key_fd: Option<i32>,
    /// Read the key from an environment variable
    #[arg(long, value_name = "VAR", help_heading = "Key", hide_short_help = true)]
    pub key_env: Option<OsString>,
    /// Read the key from the output of 'sh -c CMD'
    #[arg(long, value_name = "CMD", help_heading = "Key", hide_short_help = true)]
    #[arg(value_hint = ValueHint::CommandString)]
    pub key_cmd: Option<OsString>,
}

/// A nonce: at least one byte.
#[derive(Clone)]
pub struct Nonce(Vec<u8>);

impl Nonce {
    /// Parses hex digits.
    pub fn parse(digits: &str) -> Result<Nonce, &'static str> {
        hex::decode(digits.as_bytes()).map(Nonce).ok_or("expected two hex digits for each byte")
    }
}

impl Deref for Nonce {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A list of names.
#[derive(Group)]
pub struct FilesFromArgs {
    /// Take the names from FILE, one per line; '-' is standard input
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub files_from: Option<PathBuf>,
    /// Names in --files-from end with a zero byte, as from 'find -print0'
    #[arg(short = '0', long, help_heading = "Reading", requires = "files_from")]
    pub null: bool,
}

/// Reading.
#[derive(Group)]
pub struct ReadingArgs {
    /// Threads for a large file; 0 is one per core
    ///
    /// For objects, the number of concurrent requests.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Reading")]
    #[arg(overrides_with = "num_threads")]
    pub num_threads: usize,
    /// Show progress on standard error
    ///
    /// auto shows it if standard error is a terminal and the work is long. json writes objects with
    /// the phase, files, bytes, their totals if known, and seconds: two per second, and one at the
    /// end.
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Reading")]
    #[arg(hide_possible_values = true)]
    #[arg(overrides_with = "progress")]
    pub progress: When,
    /// Read at most RATE bytes per second, such as 20MiB
    ///
    /// All threads share the limit. The bytes of one object's request arrive at once, and the next
    /// request waits.
    #[arg(long, value_name = "RATE", value_parser = number::rate, help_heading = "Reading")]
    #[arg(overrides_with = "bwlimit")]
    pub bwlimit: Option<u64>,
}

/// The default of `--max-objects`. A store could send an endless listing.
pub const MAX_OBJECTS: u64 = 100_000_000;

/// Listing the objects below a URL.
#[derive(Group)]
pub struct ListingArgs {
    /// Maximum number of objects below a URL
    ///
    /// More are an error.
    #[arg(long, value_name = "N", default_value_t = MAX_OBJECTS, help_heading = "Reading")]
    #[arg(hide_short_help = true)]
    pub max_objects: u64,
}

/// Parses the name of a key's format.
pub(super) fn format() -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::name));
    names.map(|name| Format::from_name(&name).expect("one of the names"))
}

impl ValueEnum for When {
    fn value_variants<'a>() -> &'a [When] {
        &[When::Auto, When::Always, When::Never, When::Json]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            When::Auto => "auto",
            When::Always => "always",
            When::Never => "never",
            When::Json => "json",
        }))
    }
}

/// Parses the name of an algorithm, and offers all names to completions.
#[derive(Clone)]
pub struct AlgorithmParser;

impl TypedValueParser for AlgorithmParser {
    type Value = Algorithm;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Algorithm, clap::Error> {
        let named = |name: &str| {
            Algorithm::from_name(name).map_err(|error| match error {
                UnknownAlgorithm::Name(name) => unknown(&name),
                _ => error.to_string(),
            })
        };
        TypedValueParser::parse_ref(&named, command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Algorithm::all().map(|algorithm| PossibleValue::new(algorithm.name()))))
    }
}

/// The message for an unknown algorithm.
fn unknown(name: &str) -> String {
    let hint = nearest(name).map_or(String::new(), |near| format!("did you mean {near}? "));
    format!("unknown algorithm '{name}'; {hint}'tagmac list' shows all")
}

/// Returns the algorithm that was probably meant: one with the same letters and digits, else the
/// first that begins with the name, else the first whose words begin with the name's, in any order.
fn nearest(name: &str) -> Option<Algorithm> {
    let name = name.to_ascii_uppercase();
    let letters = |text: &str| text.replace(['-', '_'], "");
    let bare = letters(&name);
    if bare.is_empty() {
        return None;
    }
    let words = |algorithm: Algorithm| {
        name.split(['-', '_'])
            .all(|word| algorithm.name().split('-').any(|whole| whole.starts_with(word)))
    };
    let is = |near: &dyn Fn(Algorithm) -> bool| Algorithm::all().find(|found| near(*found));
    is(&|algorithm| letters(algorithm.name()) == bare)
        .or_else(|| is(&|algorithm| letters(algorithm.name()).starts_with(&bare)))
        .or_else(|| is(&words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_algorithm() {
        for (name, expected) in [
            ("PMAC", "PMAC-AES128"),
            ("pmac_aes128", "PMAC-AES128"),
            ("hmac", "HMAC-SHA256"),
            ("HMAC-SHA-256", "HMAC-SHA256"),
            ("CMAC", "CMAC-AES128"),
            ("AES-CMAC", "CMAC-AES128"),
            ("POLY1305", "POLY1305-AES"),
            ("UMAC32", "UMAC-32"),
        ] {
            assert_eq!(nearest(name).map(|found| found.name()), Some(expected), "{name}");
        }
        assert!(["", "-", "MD5"].iter().all(|name| nearest(name).is_none()));
        assert_eq!(unknown("MD5"), "unknown algorithm 'MD5'; 'tagmac list' shows all");
    }
}
