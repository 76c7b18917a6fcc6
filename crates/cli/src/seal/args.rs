//! The command lines of `seal` and `audit`.

use std::path::PathBuf;

use clap::Args as Group;

use crate::args::{Key, Reading};

/// `tagmac seal`
#[derive(Group)]
pub struct Seal {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// The manifest to write. One that is there is replaced once the new one is whole
    #[arg(short, long, value_name = "MANIFEST")]
    pub output: PathBuf,
    /// Record the permissions of files and directories
    #[arg(long, help_heading = "What is sealed")]
    pub mode: bool,
    /// Record when files and links were last written to
    #[arg(long, help_heading = "What is sealed")]
    pub mtime: bool,
    /// Record pipes, sockets and devices by their names and kinds. They are skipped otherwise, and
    /// never opened
    #[arg(long, help_heading = "What is sealed")]
    pub special: bool,
    /// Do not enter directories on other file systems
    #[arg(long, help_heading = "What is sealed")]
    pub one_file_system: bool,
    /// Seal the rest where files or directories cannot be read or do not stay as they are. Each is
    /// named, and the exit status is 4
    #[arg(long, help_heading = "What is sealed")]
    pub skip_unreadable: bool,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// `tagmac audit`
#[derive(Group)]
pub struct Audit {
    /// The key.
    #[command(flatten)]
    pub key: Key,
    /// Say nothing of what is as it was sealed
    #[arg(long)]
    pub quiet: bool,
    /// Write a JSON object for each entry, and one that sums up
    #[arg(long)]
    pub json: bool,
    /// Write a line for each entry to FILE, as rclone does: '=' unchanged, '*' changed, '+' missing
    /// in DIR, '-' new in DIR, '!' unreadable. FILE '-' is standard output, in place of the verdicts
    #[arg(long, value_name = "FILE")]
    pub combined: Option<PathBuf>,
    /// How to read.
    #[command(flatten)]
    pub reading: Reading,
    /// The manifest that 'tagmac seal' wrote
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// The directory
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// Examples of `seal`.
pub const SEAL: &str = "\
The manifest lists every file below DIR with its size and tag, every directory, and every symbolic
link with its target. One more tag closes it, under a key of its own that comes from yours. So the
audit sees every change of a file, and that files were added, removed or renamed.

Links are not followed. A manifest that lies in DIR leaves itself out. It is written beside the old
one and takes its place when it is whole; a file that is no manifest is not replaced. If a file or
directory cannot be read, vanishes, or changes while it is read, nothing is written and the old
manifest stays; --skip-unreadable leaves such files out instead. Paths below DIR of more than 4096
bytes cannot be read: the directory that they begin in is named. What changes after it was read is
not seen: seal a tree that rests.

Where the algorithm takes nonces, each file gets a random one, as with 'tagmac tag'.

A seal does not tell that it is the newest: who can put an old tree back can put its manifest back
too. The name of DIR, owners and extended attributes are not sealed.

Examples:
  tagmac seal -k my.key photos -o photos.manifest
  tagmac seal -k my.key --mode --mtime /etc -o /var/backups/etc.manifest
  tagmac audit -k my.key photos.manifest photos";

/// Examples of `audit`.
pub const AUDIT: &str = "\
First the seal over the whole manifest is checked: nothing is believed of a manifest that another
key sealed, or that was changed or cut off. Then each entry of DIR is compared with its line:

  new        in DIR only
  missing    in the manifest only
  changed    another content, size, kind or target, or another mode or mtime if these are sealed
  renamed    a new file with the size and tag of a missing one; if mode or mtime are sealed and are
             others, this is told too
  unreadable no verdict

A file whose size has changed is not read. Renamed files are looked for among the first 8 MiB of
new and missing names; after that they are told as new and missing, with a note. Where the algorithm
takes nonces, a new file is compared with eight missing ones of its size.

In the lines of --combined a renamed file is '+' under its old name and '-' under its new one, and
names are escaped as in a list of tags. FILE appears when it is whole. It has to be new or empty: all
else stays as it is, an old report and a link too. '--combined - > FILE' writes over what is there.

Examples:
  tagmac audit -k my.key photos.manifest photos
  tagmac audit -k my.key --quiet --json photos.manifest photos
  tagmac audit -k my.key --combined report photos.manifest photos

Exit status: 0 if all is as it was sealed, 1 if anything differs or the manifest is not as it was
sealed, 3 if it was sealed under another key, 4 if something could not be read and nothing differs.";
