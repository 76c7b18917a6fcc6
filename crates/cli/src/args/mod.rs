//! The command line. clap is known here, in `main` and where its own pages are printed.

mod seal;
mod shared;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args as Group, Parser, Subcommand};
use tagmac::dynamic::Algorithm;
use tagmac_files::Error;

use crate::{help, number};
pub use seal::{Audit, Seal};
use shared::{AlgorithmParser, Key, KeyOnly, Nonce, Reading};

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
    Keygen(Keygen),
    /// Tag files
    #[command(after_help = help::TAG)]
    Tag(Tag),
    /// Check files against the tags in a list
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Seal a directory: its files and that there are no others
    #[command(after_help = help::SEAL)]
    Seal(Seal),
    /// Check a directory against its manifest
    #[command(after_help = help::AUDIT)]
    Audit(Audit),
    /// Hash a range of an object, anywhere, into a sealed file
    #[command(after_help = help::PART)]
    Part(Part),
    /// Make an object's tag from the files that 'part' made
    #[command(after_help = help::COMBINE)]
    Combine(Combine),
    /// Follow an edit of a file in the time of the edit
    #[command(after_help = help::UPDATE)]
    Update(Update),
    /// Show the algorithms
    #[command(after_help = help::LIST)]
    List(List),
    /// Show how much one key may authenticate
    #[command(after_help = help::BOUNDS)]
    Bounds(Bounds),
    /// Check this build and this machine against known answers
    #[command(after_help = help::SELFTEST)]
    Selftest,
    /// Print completions for a shell
    Completions(Completions),
    /// Print the manual page, in roff
    Man(Man),
}

/// `tagmac keygen`
#[derive(Group)]
pub struct Keygen {
    /// The algorithm that the key is for
    #[arg(short, long, value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true, default_value_t)]
    pub algorithm: Algorithm,
    /// The new file
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// `tagmac tag`
#[derive(Group)]
pub struct Tag {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// Tag the files below each directory, in order of their names. Links inside are not followed;
    /// what is skipped is named
    #[arg(short, long, conflicts_with = "raw")]
    pub recursive: bool,
    /// End each line with a zero byte, and do not escape names
    #[arg(short, long)]
    pub zero: bool,
    /// Write 'HEX  NAME' lines
    #[arg(long)]
    pub untagged: bool,
    /// Write the bytes of the tag alone, of one file
    #[arg(long, conflicts_with_all = ["untagged", "zero"])]
    pub raw: bool,
    /// Write a JSON object a line
    #[arg(long, conflicts_with_all = ["untagged", "zero", "raw"])]
    pub json: bool,
    /// The nonce of one file, where the algorithm takes nonces; a random one for each file if not
    /// given. No nonce may serve twice under a key
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse, conflicts_with = "recursive")]
    pub nonce_hex: Option<Nonce>,
    /// Keep what is known of one large file in STATE while it is read, and go on from there if the
    /// run before was interrupted. STATE is removed when the tag is out
    #[arg(long, value_name = "STATE", conflicts_with = "recursive")]
    pub state: Option<PathBuf>,
    /// Save the state every so many bytes; every 5 seconds if not given
    #[arg(long, value_name = "BYTES", value_parser = number::size, requires = "state")]
    pub state_every: Option<u64>,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
    /// The files; '-' is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub files: Vec<PathBuf>,
}

/// `tagmac check`
#[derive(Group)]
pub struct Check {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// Say nothing of files that are good
    #[arg(long)]
    pub quiet: bool,
    /// Say nothing of files: the exit status tells
    #[arg(long)]
    pub status: bool,
    /// Let malformed lines fail the check. They always do; taken for the habit of it
    #[arg(long)]
    pub strict: bool,
    /// Tell of every malformed line, not of a list's first only
    #[arg(short, long)]
    pub warn: bool,
    /// Pass over files that are missing
    #[arg(long)]
    pub ignore_missing: bool,
    /// Also read devices that a list names, and what '/dev/fd/N' stands for there. They are refused
    /// otherwise, and not opened
    #[arg(long, conflicts_with = "raw_tag")]
    pub special: bool,
    /// The lists' lines end with a zero byte, and their names are not escaped
    #[arg(short, long)]
    pub zero: bool,
    /// Write a JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Check one FILE, or standard input, against a tag that 'tag --raw' wrote
    #[arg(long, value_name = "TAGFILE", conflicts_with_all = ["zero", "warn", "ignore_missing"])]
    pub raw_tag: Option<PathBuf>,
    /// The nonce of a raw tag, or of the one line of a list, where the algorithm takes nonces
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
    /// The lists; '-' is standard input
    #[arg(value_name = "LIST", default_value = "-")]
    pub lists: Vec<PathBuf>,
}

/// `tagmac part`
#[derive(Group)]
pub struct Part {
    /// The key.
    #[command(flatten)]
    pub key: KeyOnly,
    /// Where the range starts in the object: a multiple of the algorithm's block, see 'tagmac list'
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub start: u64,
    /// The length of the range, also a multiple of the block unless it is the last. Without it the
    /// last range goes to the end of FILE
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub length: Option<u64>,
    /// The object ends with the range
    #[arg(long)]
    pub last: bool,
    /// Where the range starts in FILE; as in the object if not given, 0 for a FILE that holds the
    /// range alone
    #[arg(long, value_name = "BYTES", value_parser = number::size)]
    pub at: Option<u64>,
    /// The object's name. No two objects, and no two versions of one, may share it
    #[arg(long, value_name = "ID")]
    pub object: OsString,
    /// The new file
    #[arg(short, long, value_name = "PARTIAL")]
    pub output: PathBuf,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
    /// The object, or a file that holds the range, see --at
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `tagmac update`
#[derive(Group)]
pub struct Update {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// What has been edited, or is to be.
    #[command(flatten)]
    pub edit: Edit,
    /// The tag that the last update printed: a file and sidecar that were rolled back are refused
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub expect: Option<Nonce>,
    /// Make the sidecar with leaves of about so many bytes, which an edit reads: 64 KiB if not
    /// given, 64 MiB at most
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
    pub reading: Reading,
    /// The file; beside it is FILE.tagmac, the sidecar
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `tagmac combine`
#[derive(Group)]
pub struct Combine {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// Take partials of this object alone; if not given, of any one
    #[arg(long, value_name = "ID")]
    pub object: Option<OsString>,
    /// The name in the line; the object's if not given
    #[arg(long, value_name = "FILE")]
    pub name: Option<OsString>,
    /// Write a JSON object
    #[arg(long)]
    pub json: bool,
    /// The nonce, where the algorithm takes nonces; a random one if not given. No nonce may serve
    /// twice under a key
    #[arg(long, value_name = "HEX", value_parser = Nonce::parse)]
    pub nonce_hex: Option<Nonce>,
    /// The partials, in any order
    #[arg(value_name = "PARTIAL", required = true)]
    pub partials: Vec<PathBuf>,
}

/// One edit, or none.
#[derive(Group)]
#[group(id = "edit", multiple = false)]
pub struct Edit {
    /// Write the bytes of PATCHFILE into FILE from byte OFFSET on, once the leaves there are found
    /// as they were; '-' is standard input
    #[arg(long, num_args = 2, value_names = ["OFFSET", "PATCHFILE"], help_heading = "Edit")]
    pub patch: Option<Vec<OsString>>,
    /// FILE has grown at its end: vouch for what was added
    #[arg(long, help_heading = "Edit")]
    pub append: bool,
    /// Cut FILE off, once all that goes is found as it was
    #[arg(long, value_name = "LENGTH", value_parser = number::size, help_heading = "Edit")]
    pub truncate: Option<u64>,
    /// Vouch for these bytes as they are now, and for all others in their leaves
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = Edit::span, help_heading = "Edit")]
    pub range: Option<(u64, u64)>,
    /// Finish an edit that was interrupted, and leave bytes alone that are not its own
    #[arg(long, help_heading = "Edit")]
    pub finish: bool,
    /// Take back an edit that was interrupted, and leave bytes alone that are not its own
    #[arg(long, help_heading = "Edit")]
    pub undo: bool,
}

impl Edit {
    fn span(text: &str) -> Result<(u64, u64), &'static str> {
        let wrong = "expected an offset and a length, such as 4096:512 or 1MiB:4KiB";
        let (offset, length) = text.split_once(':').ok_or(wrong)?;
        Ok((number::size(offset)?, number::size(length)?))
    }

    /// Where the patch goes, and the file that it is in.
    pub fn patch(&self) -> Result<Option<(u64, PathBuf)>, Error> {
        let Some([offset, patch]) = self.patch.as_deref() else { return Ok(None) };
        let offset = offset.to_str().ok_or("expected a size, such as 1500, 4KiB or 2^20");
        match offset.and_then(number::size) {
            Ok(offset) => Ok(Some((offset, patch.into()))),
            Err(wrong) => Err(Error::usage(format_args!("--patch: OFFSET: {wrong}"))),
        }
    }
}

/// `tagmac list`
#[derive(Group)]
pub struct List {
    /// Write a JSON object for each algorithm
    #[arg(long)]
    pub json: bool,
}

/// `tagmac bounds`
#[derive(Group)]
pub struct Bounds {
    /// The algorithm; all of them if not given. May be given several times
    #[arg(short, long = "algorithm", value_name = "ALG", value_parser = AlgorithmParser)]
    #[arg(hide_possible_values = true)]
    pub algorithms: Vec<Algorithm>,
    /// Also show the bound once so many messages are tagged
    #[arg(short, long, value_name = "N", value_parser = number::count)]
    pub messages: Option<u128>,
    /// The most bytes of a message; 1 MiB if not given, or the longest that the algorithm takes
    #[arg(short, long, value_name = "SIZE", value_parser = number::size)]
    pub length: Option<u64>,
    /// The length of the tags in bits; the algorithm's longest if not given
    #[arg(long, value_name = "BITS")]
    pub tag_bits: Option<usize>,
    /// The chance that you grant a forger
    #[arg(short, long, value_name = "CHANCE", value_parser = number::chance)]
    #[arg(default_value = "2^-32")]
    pub threshold: f64,
    /// Write a JSON object for each algorithm
    #[arg(long)]
    pub json: bool,
    /// Draw how long messages may be, for so many under a key, and for other algorithms too, in
    /// place of the table
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["algorithms", "messages"])]
    #[arg(conflicts_with_all = ["length", "tag_bits", "threshold", "json"])]
    pub plot: Option<PathBuf>,
}

/// `tagmac completions`
#[derive(Group)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `tagmac man`
#[derive(Group)]
pub struct Man {
    /// The page of this command instead of the main one
    #[arg(value_name = "COMMAND", action = ArgAction::Set)]
    pub command: Option<String>,
}
