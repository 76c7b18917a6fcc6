//! The command line. clap is known here, in `main` and where its own pages are printed.

mod seal;
mod shared;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args as Group, Parser, Subcommand, ValueHint};
use tagmac_any::Algorithm;
use tagmac_files::Error;

use crate::{help, number};
pub use seal::{AuditArgs, SealArgs};
pub use shared::MAX_OBJECTS;
use shared::{AlgorithmParser, KeyArgs, KeyOnlyArgs, ListingArgs, Nonce, ReadingArgs};

/// The command line.
#[derive(Parser)]
#[command(name = "tagmac", version, about = "Tags files with a key and checks the tags")]
#[command(bin_name = "tagmac")]
#[command(long_about = help::ABOUT, after_help = help::AFTER, max_term_width = 100)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Make a key
    #[command(after_help = help::KEYGEN)]
    Keygen(KeygenArgs),
    /// Tag files
    #[command(after_help = help::TAG)]
    Tag(TagArgs),
    /// Check files against the tags in a list
    #[command(alias = "verify", after_help = help::CHECK)]
    Check(CheckArgs),
    /// Write a manifest of a directory, closed by one tag; nothing is encrypted
    #[command(after_help = help::SEAL)]
    Seal(SealArgs),
    /// Check a directory against its manifest
    #[command(after_help = help::AUDIT)]
    Audit(AuditArgs),
    /// Hash a range of an object into a small sealed file, on any machine
    #[command(after_help = help::PART)]
    Part(PartArgs),
    /// Make an object's tag from the files that 'part' made
    #[command(after_help = help::COMBINE)]
    Combine(CombineArgs),
    /// Update a large file's tag after an edit, without reading all of the file
    #[command(after_help = help::UPDATE)]
    Update(UpdateArgs),
    /// Show the algorithms
    #[command(after_help = help::LIST)]
    List(ListArgs),
    /// Show how much one key may authenticate
    #[command(after_help = help::BOUNDS)]
    Bounds(BoundsArgs),
    /// Check this build and this machine against known answers
    #[command(after_help = help::SELFTEST)]
    Selftest,
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them, in roff
    #[command(after_help = help::MAN)]
    Man(ManArgs),
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
    /// Tag the files below each directory, in order of their names. Links inside are not followed;
    /// what is skipped is named
    #[arg(short, long, conflicts_with = "raw")]
    pub recursive: bool,
    /// End each line with a zero byte, and do not escape names
    #[arg(short, long)]
    pub zero: bool,
    /// Write lines as sha256sum does: 'HEX  NAME'
    #[arg(long)]
    pub untagged: bool,
    /// Write only the bytes of the tag, for one file
    #[arg(long, conflicts_with_all = ["untagged", "zero"])]
    pub raw: bool,
    /// Write one JSON object per line
    #[arg(long, conflicts_with_all = ["untagged", "zero", "raw"])]
    pub json: bool,
    /// The nonce of one file, if the algorithm takes nonces; by default a random one for each file.
    /// Never use a nonce twice under one key
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse, conflicts_with = "recursive")]
    pub nonce_hex: Option<Nonce>,
    /// Save progress on one large file in CHECKPOINT, and resume from it if the previous run was
    /// interrupted. CHECKPOINT is removed when the tag is written
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "recursive")]
    pub checkpoint: Option<PathBuf>,
    /// Save the checkpoint after each BYTES bytes; by default every 5 seconds
    #[arg(long, value_name = "BYTES", value_parser = number::size, requires = "checkpoint")]
    #[arg(overrides_with = "checkpoint_every")]
    pub checkpoint_every: Option<u64>,
    /// How to read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// How to list.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// The files, or URLs of objects; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub files: Vec<PathBuf>,
}

/// `tagmac check`
#[derive(Group)]
pub struct CheckArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Do not print lines for files that verify
    #[arg(long)]
    pub quiet: bool,
    /// Print nothing for files; only the exit status reports the result
    #[arg(long)]
    pub status: bool,
    /// Accepted for compatibility with sha256sum; malformed lines always fail the check
    #[arg(long)]
    pub strict: bool,
    /// Report every malformed line; by default only the first of each list
    #[arg(short, long)]
    pub warn: bool,
    /// Skip files that are missing
    #[arg(long)]
    pub ignore_missing: bool,
    /// Also read devices and /dev/fd/N that a list names; by default they are refused
    #[arg(long, conflicts_with = "raw_tag")]
    pub special: bool,
    /// Also read the objects that a list names, if their URL is URL or below it, as below a folder;
    /// by default no list makes requests. May be given several times
    #[arg(long, value_name = "URL", conflicts_with = "raw_tag", value_hint = ValueHint::Url)]
    pub allow_url: Vec<OsString>,
    /// The lists' lines end with a zero byte, and their names are not escaped
    #[arg(short, long)]
    pub zero: bool,
    /// Write one JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Check one FILE, or standard input, against a tag that 'tag --raw' wrote
    #[arg(long, value_name = "TAGFILE", conflicts_with_all = ["zero", "warn", "ignore_missing"])]
    pub raw_tag: Option<PathBuf>,
    /// The nonce of a raw tag, or of a list's only line, if the algorithm takes nonces
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// How to read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The lists; '-' is standard input
    #[arg(value_name = "LIST", default_value = "-")]
    pub lists: Vec<PathBuf>,
}

/// `tagmac part`
#[derive(Group)]
pub struct PartArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyOnlyArgs,
    /// Where the range starts in the object: a multiple of the algorithm's block, see 'tagmac list'
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub start: u64,
    /// The length of the range, also a multiple of the block unless it is the last. With --last the
    /// default is the rest of FILE
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub length: Option<u64>,
    /// The object ends with the range
    #[arg(long)]
    pub last: bool,
    /// Where the range starts in FILE, by default as in the object; 0 for a FILE that has only the
    /// range
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub at: Option<u64>,
    /// The object's name: give each object, and each version of it, its own. That of a URL is by
    /// default KEY@VERSION, with the ETag where there are no versions
    #[arg(long, value_name = "ID")]
    pub object: Option<OsString>,
    /// The file to create
    #[arg(short, long, value_name = "PARTIAL")]
    pub output: PathBuf,
    /// How to read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The object, or a file that has the range, see --at; '-' is standard input, which begins with
    /// the range
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
    /// The tag that the last update printed: refuse a file and sidecar that were rolled back
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub expect: Option<Nonce>,
    /// Size of a leaf in the new sidecar, the unit that an edit reads: 64 KiB by default, at most
    /// 64 MiB
    #[arg(long, value_name = "SIZE", value_parser = number::size, conflicts_with = "edit")]
    pub leaf: Option<u64>,
    /// End the line with a zero byte, and do not escape the name
    #[arg(short, long)]
    pub zero: bool,
    /// Write a JSON object
    #[arg(long, conflicts_with = "zero")]
    pub json: bool,
    /// How to read.
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
    /// The name in the line; by default the object's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub name: Option<OsString>,
    /// Write a JSON object
    #[arg(long)]
    pub json: bool,
    /// The nonce, if the algorithm takes nonces; by default a random one. Never use a nonce twice
    /// under one key
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// The partials, in any order
    #[arg(value_name = "PARTIAL", required = true)]
    pub partials: Vec<PathBuf>,
}

/// One edit, or none.
#[derive(Group)]
#[group(id = "edit", multiple = false)]
pub struct EditArgs {
    /// Write the bytes of PATCHFILE into FILE from byte OFFSET on, if the leaves there have not
    /// changed; '-' is standard input
    #[arg(long, num_args = 2, value_names = ["OFFSET", "PATCHFILE"], help_heading = "Edit")]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub patch: Option<Vec<OsString>>,
    /// Accept the bytes added at the end of FILE
    #[arg(long, help_heading = "Edit")]
    pub append: bool,
    /// Shorten FILE to LENGTH bytes, if the bytes that it removes have not changed
    #[arg(long, value_name = "LENGTH", value_parser = number::size, help_heading = "Edit")]
    pub truncate: Option<u64>,
    /// Accept these bytes as they are now, and all others in their leaves
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = EditArgs::span, help_heading = "Edit")]
    pub range: Option<(u64, u64)>,
    /// Finish an interrupted edit, and keep bytes that other programs wrote
    #[arg(long, help_heading = "Edit")]
    pub finish: bool,
    /// Undo an interrupted edit, and keep bytes that other programs wrote
    #[arg(long, help_heading = "Edit")]
    pub undo: bool,
}

impl EditArgs {
    fn span(text: &str) -> Result<(u64, u64), &'static str> {
        let wrong = "expected an offset and a length, such as 4096:512 or 1MiB:4KiB";
        let (offset, length) = text.split_once(':').ok_or(wrong)?;
        Ok((number::size(offset)?, number::size(length)?))
    }

    /// Where the patch goes, and the file that it is in.
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
    /// The algorithm, by default all. May be given several times
    #[arg(short, long = "algorithm", value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true)]
    pub algorithms: Vec<Algorithm>,
    /// Also show the bound after N messages
    #[arg(short, long, value_name = "N", value_parser = number::count)]
    pub messages: Option<u128>,
    /// The longest message: 1 MiB by default, or the algorithm's limit if that is shorter
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    pub length: Option<u64>,
    /// The length of the tags in bits; by default the algorithm's longest
    #[arg(long, value_name = "BITS", value_parser = number::bits)]
    pub tag_bits: Option<usize>,
    /// The probability of a forgery that you accept; by default 2^-32
    #[arg(short, long, value_name = "P", value_parser = number::probability)]
    pub probability: Option<f64>,
    /// The number of keys that an attacker sees: devices, users, tenants. Each key then gets its share
    /// of the probability
    #[arg(long, value_name = "N", value_parser = number::count)]
    pub keys: Option<u128>,
    /// How the nonces are made: drawn at random with full length, as 'tagmac tag' does, or by a counter
    #[arg(long, value_name = "KIND", value_enum)]
    pub nonces: Option<Nonces>,
    /// Write a JSON object for each algorithm
    #[arg(long)]
    pub json: bool,
}

/// How nonces are made.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Nonces {
    /// Drawn at random, with full length
    Random,
    /// By a counter: none serves twice
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
    /// The page of this command instead of the main one
    #[arg(value_name = "COMMAND", action = ArgAction::Set)]
    pub command: Option<String>,
    /// Write all pages into DIR instead, as tagmac.1, tagmac-tag.1 and so on; existing ones are replaced
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    #[arg(value_hint = ValueHint::DirPath)]
    pub output: Option<PathBuf>,
}
