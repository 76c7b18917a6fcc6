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
    #[arg(long, help_heading = "Contents")]
    pub special: bool,
    /// Do not enter directories on other file systems
    #[arg(long, help_heading = "Contents")]
    pub one_file_system: bool,
    /// Leave out files and directories that cannot be read
    ///
    /// This includes those that change meanwhile. Each is reported, and the exit status is 4.
    #[arg(long, help_heading = "Contents")]
    pub skip_unreadable: bool,
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
    #[arg(long)]
    pub json: bool,
    /// Write a line for each entry to FILE, as rclone does
    ///
    /// '=' unchanged, '*' changed, '+' missing in DIR, '-' new in DIR, '!' unreadable. If FILE is
    /// '-', the lines replace the verdicts on standard output.
    #[arg(long, value_name = "FILE")]
    pub combined: Option<PathBuf>,
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
}
