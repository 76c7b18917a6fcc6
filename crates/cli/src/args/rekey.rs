//! The command line of `rekey`.

use std::path::PathBuf;

use clap::{Args as Group, ValueHint};
use tagmac_any::Algorithm;

use super::shared::{AlgorithmParser, KeyArgs, ReadingArgs, format};
use crate::key::{self, Format, Source};
use crate::mac;
use crate::number;

/// `tagmac rekey`
#[derive(Group)]
pub struct RekeyArgs {
    /// The old key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// The new key.
    #[command(flatten)]
    pub new: NewKeyArgs,
    /// Write to FILE, which must not exist, and keep the old manifest or list
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Check the pin in FILE, and seal it under the new key
    #[arg(long, value_name = "FILE", requires = "directory")]
    pub pin: Option<PathBuf>,
    /// Read a list whose lines end with a zero byte, with names that are not escaped
    #[arg(short, long, conflicts_with = "directory")]
    pub zero: bool,
    /// Print a summary only if something differs
    #[arg(long)]
    pub quiet: bool,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The manifest from 'tagmac seal', or a list from 'tagmac tag'
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// The directory of the manifest; without it, MANIFEST is a list
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// The new key, and the length of its tags.
#[derive(Group)]
pub struct NewKeyArgs {
    /// The file of the new key
    #[arg(long, value_name = "FILE", help_heading = "New key")]
    pub new_key: PathBuf,
    /// Format of the new key; others than auto need --new-algorithm
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    #[arg(value_parser = format(), requires = "new_algorithm")]
    #[arg(help_heading = "New key", hide_short_help = true)]
    pub new_key_format: Format,
    /// The algorithm, if the new key is not a key file
    #[arg(long, value_name = "ALG")]
    #[arg(value_parser = AlgorithmParser, hide_possible_values = true, help_heading = "New key")]
    pub new_algorithm: Option<Algorithm>,
    /// Length of the new tags in bits, by default the algorithm's longest
    #[arg(long, value_name = "BITS", value_parser = number::bits)]
    #[arg(help_heading = "New key")]
    pub new_tag_bits: Option<usize>,
}

impl RekeyArgs {
    /// Returns the options of the new MAC. --allow-short and --allow-short-key apply to both keys.
    pub fn new_options(&self) -> mac::MacOptions<'_> {
        let NewKeyArgs { ref new_key, new_key_format, new_algorithm, new_tag_bits } = self.new;
        let KeyArgs { ref only, allow_short, .. } = self.key;
        let key = key::KeyOptions {
            source: Some(Source::File(new_key.into())),
            format: new_key_format,
            algorithm: new_algorithm,
            allow_short: only.allow_short_key,
        };
        mac::MacOptions { key, tag_bits: new_tag_bits, allow_short }
    }
}
