//! The command lines of `seal` and `audit`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as Group, ValueHint, value_parser};

use super::shared::{FilesFromArgs, KeyArgs, ListingArgs, Nonce, ReadingArgs};
use crate::number;

/// `tagmac seal`
#[derive(Group)]
pub struct SealArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// The manifest to write; replaces an existing one
    #[arg(short, long, value_name = "MANIFEST")]
    pub output: PathBuf,
    /// Print no summary
    #[arg(long)]
    pub quiet: bool,
    /// Record the permissions of files and directories
    #[arg(long, help_heading = "Contents")]
    pub mode: bool,
    /// Record the modification times of files and links
    #[arg(long, help_heading = "Contents")]
    pub mtime: bool,
    /// Record pipes, sockets and devices, which are skipped by default
    ///
    /// Their names and kinds are recorded; they are not opened.
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub special: bool,
    /// Record numeric owners and groups
    #[arg(long, help_heading = "Contents")]
    pub owner: bool,
    /// Record extended attributes, such as access control lists
    ///
    /// One tag covers all attributes of a file or directory that the user can read.
    #[arg(long, help_heading = "Contents")]
    pub xattrs: bool,
    /// Do not enter directories on other file systems
    #[arg(long, help_heading = "Contents", hide_short_help = true)]
    pub one_file_system: bool,
    /// Leave out files and directories that cannot be read
    ///
    /// This includes those that change meanwhile. Each is reported, and the exit status is 4.
    #[arg(long, help_heading = "Contents")]
    pub skip_unreadable: bool,
    /// Read only files that changed since OLD, an earlier manifest
    ///
    /// The tag of a file comes from OLD if its size, mtime, ctime, inode and device are those in OLD.
    #[arg(long, value_name = "OLD")]
    pub since: Option<PathBuf>,
    /// Save progress in CHECKPOINT, and resume from it
    ///
    /// A file that changed since is read again. CHECKPOINT is removed when the manifest is written.
    #[arg(long, value_name = "CHECKPOINT")]
    pub checkpoint: Option<PathBuf>,
    /// Save the checkpoint every BYTES bytes; by default every 5 seconds
    #[arg(long, value_name = "BYTES", value_parser = number::size, requires = "checkpoint")]
    #[arg(overrides_with = "checkpoint_every", hide_short_help = true)]
    pub checkpoint_every: Option<u64>,
    /// Tag leaves of SIZE bytes, 64KiB by default, for 'tagmac read'
    ///
    /// Leaf tags are in MANIFEST.N.leaves, where N is the number of the manifest in its chain; those of
    /// objects are in MANIFEST. SIZE is rounded down to a multiple of the algorithm's block.
    #[arg(long, value_name = "SIZE", value_parser = number::leaf, num_args = 0..=1)]
    #[arg(require_equals = true, default_missing_value = "64KiB")]
    pub leaves: Option<u64>,
    /// Start a new chain instead of continuing that of MANIFEST
    #[arg(long)]
    pub new_chain: bool,
    /// Filters.
    #[command(flatten)]
    pub filters: FilterArgs,
    /// A list of names.
    #[command(flatten)]
    pub names: FilesFromArgs,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Listing.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// The directory, or a URL with objects below it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// Which entries are left out. The manifest records it, and an audit applies it.
#[derive(Group)]
pub struct FilterArgs {
    /// Leave out what matches GLOB, in the syntax of gitignore; repeatable
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub exclude: Vec<OsString>,
    /// Keep what matches GLOB, whatever --exclude leaves out; repeatable
    ///
    /// This does not apply below a directory that is left out.
    #[arg(long, value_name = "GLOB", help_heading = "Filters")]
    pub include: Vec<OsString>,
    /// Leave out what matches the patterns in FILE, as a .gitignore does
    #[arg(long, value_name = "FILE", help_heading = "Filters")]
    pub exclude_from: Vec<PathBuf>,
    /// Leave out the contents of directories with a CACHEDIR.TAG
    #[arg(long, help_heading = "Filters")]
    pub exclude_caches: bool,
    /// Do not enter directories at depth N; those in DIR have depth 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    #[arg(help_heading = "Filters", hide_short_help = true)]
    pub max_depth: Option<u32>,
}

/// The arguments that choose the part to read.
const PARTS: [&str; 4] = ["subset", "sample", "sample_leaves", "max_bytes"];

/// `tagmac audit`
#[derive(Group)]
pub struct AuditArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Print a summary only if something differs
    ///
    /// With --json, also leave out unchanged entries.
    #[arg(long)]
    pub quiet: bool,
    /// Write a JSON object for each entry and one for the summary
    ///
    /// "last_read" is the day on which a sealed file was last read. With --subset, "part" is the
    /// number of its part. With --sample-leaves, "leaves" is the number of its leaves, if it has leaf
    /// tags, and "leaves_read" the number of those that were read.
    #[arg(long)]
    pub json: bool,
    /// The part to read.
    #[command(flatten)]
    pub night: NightArgs,
    /// Write a line for each entry to FILE, as rclone does
    ///
    /// '=' unchanged, '*' changed, '+' missing in DIR, '-' new in DIR, '!' unreadable. If FILE is
    /// '-', the lines replace the verdicts on standard output.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub combined: Option<PathBuf>,
    /// Say which bytes of a changed file are damaged; needs leaf tags
    #[arg(long, conflicts_with = "quick", hide_short_help = true)]
    pub locate: bool,
    /// Write a report for people to FILE, as one HTML page
    ///
    /// It replaces only an older report. A failed audit has a report too.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write metrics for Prometheus to FILE
    ///
    /// The textfile collector of its node exporter reads names that end in '.prom'. All users may
    /// read FILE.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Listing.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// The manifest from 'tagmac seal'
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// The directory, or a URL with objects below it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Audit only the entries at and below each PATH in DIR
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    #[arg(conflicts_with_all = PARTS, conflicts_with = "ledger")]
    pub paths: Vec<PathBuf>,
}

/// `tagmac manifest`
#[derive(Group)]
pub struct ManifestArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Print no summary, and with --json no unchanged entries
    #[arg(long)]
    pub quiet: bool,
    /// Write a JSON object per line
    #[arg(long)]
    pub json: bool,
    /// The action
    #[arg(value_name = "ACTION", value_enum)]
    pub action: Action,
    /// The manifest from 'tagmac seal'; for objects, its folder or URL
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// For diff, the later manifest; for cat, entries to print with all below them
    #[arg(value_name = "NAME", value_hint = ValueHint::AnyPath)]
    pub names: Vec<PathBuf>,
}

/// The action of `tagmac manifest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Action {
    /// Print the number, the day and the seal of each manifest of the chain
    Log,
    /// Compare two manifests as 'audit' compares a directory with one
    Diff,
    /// Print the lines of entries
    Cat,
}

/// The part that an audit reads, and the files in which it remembers that.
#[derive(Group)]
pub struct NightArgs {
    /// Read nothing: compare sizes, times and other metadata
    #[arg(long, help_heading = "Every night", conflicts_with_all = PARTS)]
    pub quick: bool,
    /// Read part N of T, the same files each time
    ///
    /// Which file is in which part depends on its name and the key.
    #[arg(long, value_name = "N/T", value_parser = NightArgs::part, help_heading = "Every night")]
    #[arg(conflicts_with_all = ["sample", "sample_leaves", "max_bytes"])]
    pub subset: Option<(u64, u64)>,
    /// Read a random share of the files, such as 5%
    #[arg(long, value_name = "SHARE", value_parser = NightArgs::share, help_heading = "Every night")]
    #[arg(conflicts_with_all = ["sample_leaves", "max_bytes"])]
    pub sample: Option<f64>,
    /// Read a random share of the leaves of each file; needs leaf tags
    ///
    /// A file that is not longer than a leaf has no leaf tags. It counts as one leaf. Nothing is kept
    /// in the ledger.
    #[arg(long, value_name = "SHARE", value_parser = NightArgs::share, help_heading = "Every night")]
    #[arg(conflicts_with_all = ["max_bytes", "oldest_first"], hide_short_help = true)]
    pub sample_leaves: Option<f64>,
    /// Read random files of at most SIZE bytes in all
    #[arg(long, value_name = "SIZE", value_parser = number::size, help_heading = "Every night")]
    pub max_bytes: Option<u64>,
    /// Choose those of --sample or --max-bytes that were read longest ago
    #[arg(long, help_heading = "Every night", requires = "ledger")]
    pub oldest_first: bool,
    /// Keep in FILE when each file was last read
    #[arg(long, value_name = "FILE", help_heading = "Every night", conflicts_with = "quick")]
    pub ledger: Option<PathBuf>,
    /// Keep in FILE which manifest was last seen, and refuse older ones
    ///
    /// The first audit creates FILE. Keep it where those who can change DIR cannot write.
    #[arg(long, value_name = "FILE", help_heading = "Every night")]
    pub pin: Option<PathBuf>,
    /// Accept only the manifest with this seal
    #[arg(long, value_name = "SEAL", value_parser = Nonce::parse, help_heading = "Every night")]
    #[arg(hide_short_help = true)]
    pub expect: Option<Nonce>,
}

impl NightArgs {
    fn part(text: &str) -> Result<(u64, u64), &'static str> {
        let wrong = "expected a part and the number of parts, such as 3/7";
        let (part, parts) = text.split_once('/').ok_or(wrong)?;
        let [part, parts] = [part, parts].map(str::parse);
        let (part, parts): (u64, u64) = (part.map_err(|_| wrong)?, parts.map_err(|_| wrong)?);
        if (1..=parts).contains(&part) { Ok((part, parts)) } else { Err(wrong) }
    }

    fn share(text: &str) -> Result<f64, &'static str> {
        let wrong = "expected a share from 0% to 100%, such as 5% or 0.5%";
        let share = text.strip_suffix('%').and_then(|text| text.parse::<f64>().ok());
        share.filter(|share| (0.0..=100.0).contains(share)).map(|share| share / 100.0).ok_or(wrong)
    }
}
