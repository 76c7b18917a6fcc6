//! The command line. Only this module, `main`, `help`, `completions` and `pages` use clap.
//!
//! The first paragraph of an option's comment is its line in `--help`. All paragraphs are in
//! `tagmac help COMMAND` and in the manual page.

mod read;
mod rekey;
mod seal;
mod shared;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{ArgAction, Args as Group, CommandFactory, Parser, Subcommand, ValueHint};
use tagmac_any::Algorithm;
use tagmac_files::Error;

use crate::{help, number};
pub use read::{MountArgs, ReadArgs, RepairArgs, SealedArgs};
pub use rekey::RekeyArgs;
pub use seal::{Action, AuditArgs, FilterArgs, ManifestArgs, NightArgs, SealArgs};
pub use shared::FilesFromArgs;
pub use shared::MAX_OBJECTS;
use shared::{AlgorithmParser, KeyArgs, KeyOnlyArgs, ListingArgs, Nonce, ReadingArgs};

/// The command line.
#[derive(Parser)]
#[command(name = "tagmac", version, about = "Tags files with a secret key, and checks the tags")]
#[command(bin_name = "tagmac")]
#[command(after_help = help::overview(), after_long_help = help::overview_and_topics())]
#[command(disable_help_flag = true, disable_help_subcommand = true, max_term_width = 100)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Print help
    // The long help is that of `tagmac help COMMAND`.
    #[arg(short, long, global = true, action = ArgAction::HelpShort, display_order = 999)]
    pub help: Option<bool>,
}

/// A command and its arguments.
#[derive(Subcommand)]
pub enum Command {
    /// Make a key file
    #[command(after_help = help::KEYGEN.short(), after_long_help = help::KEYGEN.long())]
    Keygen(KeygenArgs),
    /// Tag files
    #[command(after_help = help::TAG.short(), after_long_help = help::TAG.long())]
    Tag(TagArgs),
    /// Check files against the tags in a list
    #[command(alias = "verify", after_help = help::CHECK.short(), after_long_help = help::CHECK.long())]
    Check(CheckArgs),
    /// Write a manifest of a directory: its files, and a tag of each
    #[command(after_help = help::SEAL.short(), after_long_help = help::SEAL.long())]
    Seal(SealArgs),
    /// Compare a directory with its manifest
    #[command(after_help = help::AUDIT.short(), after_long_help = help::AUDIT.long())]
    Audit(AuditArgs),
    /// Show the chain of a manifest, its entries, or how it differs from a later one
    #[command(after_help = help::MANIFEST.short(), after_long_help = help::MANIFEST.long())]
    Manifest(ManifestArgs),
    /// Write a range of a sealed file, verified before any byte is written
    #[command(after_help = help::READ.short(), after_long_help = help::READ.long())]
    Read(ReadArgs),
    /// Mount a sealed directory, so that every program reads verified bytes
    #[command(after_help = help::MOUNT.short(), after_long_help = help::MOUNT.long())]
    Mount(MountArgs),
    /// Mend a damaged file from another copy
    #[command(after_help = help::REPAIR.short(), after_long_help = help::REPAIR.long())]
    Repair(RepairArgs),
    /// Check a directory under one key, and seal it under another
    #[command(after_help = help::REKEY.short(), after_long_help = help::REKEY.long())]
    Rekey(RekeyArgs),
    /// Hash a range of an object into a partial, on any machine
    #[command(after_help = help::PART.short(), after_long_help = help::PART.long())]
    Part(PartArgs),
    /// Make an object's tag from its partials
    #[command(after_help = help::COMBINE.short(), after_long_help = help::COMBINE.long())]
    Combine(CombineArgs),
    /// Update a large file's tag after an edit, reading only the edit
    #[command(after_help = help::UPDATE.short(), after_long_help = help::UPDATE.long())]
    Update(UpdateArgs),
    /// List the algorithms
    #[command(after_help = help::LIST.short(), after_long_help = help::LIST.long())]
    List(ListArgs),
    /// Show how much one key may authenticate
    #[command(after_help = help::BOUNDS.short(), after_long_help = help::BOUNDS.long())]
    Bounds(BoundsArgs),
    /// Check this build on this machine against known answers
    #[command(after_help = help::SELFTEST.short(), after_long_help = help::SELFTEST.long())]
    Selftest,
    /// Print a script that completes tagmac's command line in a shell
    #[command(after_help = help::COMPLETIONS.short(), after_long_help = help::COMPLETIONS.long())]
    Completions(CompletionsArgs),
    /// Print a manual page in roff, or write all of them
    #[command(after_help = help::MAN.short(), after_long_help = help::MAN.long())]
    Man(ManArgs),
    /// Show the commands and topics, or all about one of them
    #[command(after_help = help::HELP.short(), after_long_help = help::HELP.long())]
    Help(HelpArgs),
}

/// `tagmac keygen`
#[derive(Group)]
pub struct KeygenArgs {
    /// The algorithm that the key is for
    #[arg(short, long, value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true, default_value_t)]
    pub algorithm: Algorithm,
    /// The file to create
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `tagmac tag`
#[derive(Group)]
pub struct TagArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Tag the files below each directory, in order of their names
    ///
    /// Links inside are not followed. Skipped entries are reported.
    #[arg(short, long, conflicts_with = "raw")]
    pub recursive: bool,
    /// End each line with a zero byte, and do not escape names
    #[arg(short, long)]
    pub zero: bool,
    /// Write lines like those of sha256sum: 'HEX  NAME'
    #[arg(long)]
    pub untagged: bool,
    /// Write only the bytes of the tag of one file
    #[arg(long, conflicts_with_all = ["untagged", "zero"])]
    pub raw: bool,
    /// Write one JSON object per line
    #[arg(long, conflicts_with_all = ["untagged", "zero", "raw"])]
    pub json: bool,
    /// The nonce of one file; by default each file gets a random one
    ///
    /// Only for algorithms that need a nonce. Never use a nonce twice under one key.
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse, conflicts_with = "recursive")]
    pub nonce_hex: Option<Nonce>,
    /// Save progress on one large file, and resume from it
    ///
    /// CHECKPOINT is removed when the tag is written.
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "recursive")]
    pub checkpoint: Option<PathBuf>,
    /// Save the checkpoint every BYTES bytes; by default every 5 seconds
    #[arg(long, value_name = "BYTES", value_parser = number::size, requires = "checkpoint")]
    #[arg(overrides_with = "checkpoint_every")]
    pub checkpoint_every: Option<u64>,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Listing.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// A list of names.
    #[command(flatten)]
    pub names: FilesFromArgs,
    /// Files, or URLs of objects; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-", conflicts_with = "files_from")]
    pub files: Vec<PathBuf>,
}

/// `tagmac check`
#[derive(Group)]
pub struct CheckArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Print nothing for files that verify
    #[arg(long)]
    pub quiet: bool,
    /// Print nothing for any file; the exit status is the result
    #[arg(long)]
    pub status: bool,
    /// Ignored, for compatibility with sha256sum: malformed lines always fail
    #[arg(long)]
    pub strict: bool,
    /// Report every malformed line, not only the first of each list
    #[arg(short, long)]
    pub warn: bool,
    /// Skip files that are missing
    #[arg(long)]
    pub ignore_missing: bool,
    /// Allow lists to name devices and /dev/fd/N
    #[arg(long, conflicts_with = "raw_tag")]
    pub special: bool,
    /// Allow lists to name the objects at or below URL; repeatable
    ///
    /// By default a list cannot cause requests. URL counts as a folder: s3://BUCKET/a allows
    /// s3://BUCKET/a/b but not s3://BUCKET/ab.
    #[arg(long, value_name = "URL", conflicts_with = "raw_tag", value_hint = ValueHint::Url)]
    pub allow_url: Vec<OsString>,
    /// Read lists whose lines end with a zero byte, with names that are not escaped
    #[arg(short, long)]
    pub zero: bool,
    /// Write one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Check one FILE, or standard input, against a tag from 'tag --raw'
    #[arg(long, value_name = "TAGFILE", conflicts_with_all = ["zero", "warn", "ignore_missing"])]
    pub raw_tag: Option<PathBuf>,
    /// The nonce of a raw tag, or of a list's only line
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Lists of tags; '-' is standard input
    #[arg(value_name = "LIST", default_value = "-")]
    pub lists: Vec<PathBuf>,
}

/// `tagmac part`
#[derive(Group)]
pub struct PartArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyOnlyArgs,
    /// Start of the range in the object: a multiple of the block
    ///
    /// 'tagmac list' shows the length of each algorithm's block.
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub start: u64,
    /// Length of the range: a multiple of the block, unless --last
    ///
    /// With --last any length is allowed, and the default is the rest of FILE.
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub length: Option<u64>,
    /// The object ends with this range
    #[arg(long)]
    pub last: bool,
    /// Start of the range in FILE, by default --start
    ///
    /// 0 if FILE contains only the range.
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub at: Option<u64>,
    /// Name of the object: each object and version needs its own
    ///
    /// The default for a URL is KEY@VERSION, with the ETag where there are no versions.
    #[arg(long, value_name = "ID")]
    pub object: Option<OsString>,
    /// The file to create
    #[arg(short, long, value_name = "PARTIAL")]
    pub output: PathBuf,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The object, or with --at a file that has the range; '-' is standard input
    ///
    /// Standard input begins with the range.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `tagmac update`
#[derive(Group)]
pub struct UpdateArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// The edit.
    #[command(flatten)]
    pub edit: EditArgs,
    /// The tag that the last update printed: detects old copies
    ///
    /// It shows that FILE and its sidecar were not both replaced by older copies.
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub expect: Option<Nonce>,
    /// Size of a leaf in a new sidecar: 64 KiB by default, at most 64 MiB
    ///
    /// An edit reads whole leaves.
    #[arg(long, value_name = "SIZE", value_parser = number::size, conflicts_with = "edit")]
    pub leaf: Option<u64>,
    /// End the line with a zero byte, and do not escape the name
    #[arg(short, long)]
    pub zero: bool,
    /// Write a JSON object
    #[arg(long, conflicts_with = "zero")]
    pub json: bool,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The file; its sidecar is FILE.tagmac
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `tagmac combine`
#[derive(Group)]
pub struct CombineArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Accept only partials of this object; by default of any one object
    #[arg(long, value_name = "ID")]
    pub object: Option<OsString>,
    /// The name in the line, by default the object's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub name: Option<OsString>,
    /// Write a JSON object
    #[arg(long)]
    pub json: bool,
    /// The nonce, by default a random one
    ///
    /// Only for algorithms that need a nonce. Never use a nonce twice under one key.
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// The partials, in any order
    #[arg(value_name = "PARTIAL", required = true)]
    pub partials: Vec<PathBuf>,
}

/// At most one edit.
#[derive(Group)]
#[group(id = "edit", multiple = false)]
pub struct EditArgs {
    /// Write PATCHFILE into FILE at byte OFFSET
    ///
    /// The leaves there must not have changed. '-' is standard input.
    #[arg(long, num_args = 2, value_names = ["OFFSET", "PATCHFILE"], help_heading = "Edit")]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub patch: Option<Vec<OsString>>,
    /// Accept the bytes added at the end of FILE
    #[arg(long, help_heading = "Edit")]
    pub append: bool,
    /// Shorten FILE to LENGTH bytes
    ///
    /// The bytes that it removes must not have changed.
    #[arg(long, value_name = "LENGTH", value_parser = number::size, help_heading = "Edit")]
    pub truncate: Option<u64>,
    /// Accept the bytes of a range, and of the leaves that contain it
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = EditArgs::span, help_heading = "Edit")]
    pub range: Option<(u64, u64)>,
    /// Finish an interrupted edit; keeps bytes that other programs wrote
    #[arg(long, help_heading = "Edit")]
    pub finish: bool,
    /// Undo an interrupted edit; keeps bytes that other programs wrote
    #[arg(long, help_heading = "Edit")]
    pub undo: bool,
}

impl EditArgs {
    fn span(text: &str) -> Result<(u64, u64), &'static str> {
        let wrong = "expected an offset and a length, such as 4096:512 or 1MiB:4KiB";
        let (offset, length) = text.split_once(':').ok_or(wrong)?;
        Ok((number::size(offset)?, number::size(length)?))
    }

    /// Returns the offset and the file of `--patch`.
    pub fn patch(&self) -> Result<Option<(u64, PathBuf)>, Error> {
        let Some([offset, patch]) = self.patch.as_deref() else { return Ok(None) };
        let offset = offset.to_str().ok_or(number::NOT_A_SIZE);
        match offset.and_then(number::size) {
            Ok(offset) => Ok(Some((offset, patch.into()))),
            Err(wrong) => Err(Error::usage(format_args!("--patch: OFFSET: {wrong}"))),
        }
    }
}

/// `tagmac list`
#[derive(Group)]
pub struct ListArgs {
    /// Write a JSON object for each algorithm
    #[arg(long)]
    pub json: bool,
}

/// `tagmac bounds`
#[derive(Group)]
pub struct BoundsArgs {
    /// An algorithm, by default all; repeatable
    #[arg(short, long = "algorithm", value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true)]
    pub algorithms: Vec<Algorithm>,
    /// Also show the probability of a forgery after N messages
    #[arg(short, long, value_name = "N", value_parser = number::count)]
    pub messages: Option<u128>,
    /// The longest message: 1 MiB by default, or the algorithm's limit
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub length: Option<u64>,
    /// Length of the tags in bits, by default the algorithm's longest
    #[arg(long, value_name = "BITS", value_parser = number::bits)]
    pub tag_bits: Option<usize>,
    /// The probability of a forgery that you accept, by default 2^-32
    #[arg(short, long, value_name = "P", value_parser = number::probability)]
    pub probability: Option<f64>,
    /// The number of keys, such as one for each device: they share the probability
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub keys: Option<u128>,
    /// Also show how many wrong leaves a reader of ranges may reject
    #[arg(long, conflicts_with = "tag_bits")]
    pub leaves: bool,
    /// Random nonces of full length, as 'tagmac tag' draws them, or a counter's
    #[arg(long, value_name = "KIND", value_enum)]
    pub nonces: Option<Nonces>,
    /// Write a JSON object for each algorithm
    #[arg(long)]
    pub json: bool,
}

/// The source of nonces.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Nonces {
    /// Random, with full length
    Random,
    /// From a counter, which never repeats
    Counter,
}

/// `tagmac completions`
#[derive(Group)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `tagmac man`
#[derive(Group)]
pub struct ManArgs {
    /// Print the page of this command instead of the main page
    #[arg(value_name = "COMMAND", action = ArgAction::Set)]
    pub command: Option<String>,
    /// Write all pages into DIR, as tagmac.1, tagmac-tag.1 and so on
    ///
    /// Existing pages are replaced.
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}

/// `tagmac help`
#[derive(Group)]
pub struct HelpArgs {
    /// A command or a topic; by default, the overview
    #[arg(value_name = "TOPIC", action = ArgAction::Set, value_parser = TopicParser)]
    #[arg(hide_possible_values = true)]
    pub topic: Option<String>,
}

/// Accepts any name, so that `tagmac help` can report an unknown one. Completions offer the known
/// names.
#[derive(Clone)]
struct TopicParser;

impl TypedValueParser for TopicParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        static COMMAND: LazyLock<clap::Command> = LazyLock::new(Args::command);
        let commands = COMMAND.get_subcommands().map(clap::Command::get_name);
        Some(Box::new(help::topic_names().chain(commands).map(PossibleValue::new)))
    }
}
