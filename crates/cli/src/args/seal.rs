//! The command lines of `seal` and `audit`.

use std::path::PathBuf;

use clap::{Args as Group, ValueHint};

use super::shared::{KeyArgs, ListingArgs, ReadingArgs};

/// `tagmac seal`
#[derive(Group)]
pub struct SealArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// The manifest to write; an existing one is replaced atomically
    #[arg(short, long, value_name = "MANIFEST")]
    pub output: PathBuf,
    /// Do not say at the end what was sealed
    #[arg(long)]
    pub quiet: bool,
    /// Record the permissions of files and directories
    #[arg(long, help_heading = "What is recorded")]
    pub mode: bool,
    /// Record when files and links were last written to
    #[arg(long, help_heading = "What is recorded")]
    pub mtime: bool,
    /// Record pipes, sockets and devices by name and kind, without opening them; by default they are
    /// skipped
    #[arg(long, help_heading = "What is recorded")]
    pub special: bool,
    /// Do not enter directories on other file systems
    #[arg(long, help_heading = "What is recorded")]
    pub one_file_system: bool,
    /// Leave out files and directories that cannot be read or change meanwhile. Each is named, and
    /// the exit status is 4
    #[arg(long, help_heading = "What is recorded")]
    pub skip_unreadable: bool,
    /// How to read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// How to list.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// The directory, or the URL that objects are below
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// `tagmac audit`
#[derive(Group)]
pub struct AuditArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// Print no summary if nothing differs, and with --json no unchanged entries
    #[arg(long)]
    pub quiet: bool,
    /// Write a JSON object for each entry, and one for the summary
    #[arg(long)]
    pub json: bool,
    /// Write a line for each entry to FILE, as rclone does: '=' unchanged, '*' changed, '+' missing
    /// in DIR, '-' new in DIR, '!' unreadable. FILE '-' is standard output, instead of the verdicts
    #[arg(long, value_name = "FILE")]
    pub combined: Option<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// How to list.
    #[command(flatten)]
    pub listing: ListingArgs,
    /// The manifest that 'tagmac seal' wrote
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// The directory, or the URL that objects are below
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}
