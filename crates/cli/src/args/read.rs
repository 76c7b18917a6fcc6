//! The command lines of `read`, `repair` and `mount`.

use std::path::PathBuf;

use clap::{Args as Group, ValueHint};

use super::shared::{KeyArgs, ReadingArgs};
use crate::number;

/// A sealed directory, its manifest and the key.
#[derive(Group)]
pub struct SealedArgs {
    /// The key.
    #[command(flatten)]
    pub key: KeyArgs,
    /// The manifest from 'tagmac seal --leaves'; for objects, its folder or URL
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,
    /// The directory; for 'read', also a URL with objects below it
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// `tagmac read`
#[derive(Group)]
pub struct ReadArgs {
    /// Write LENGTH bytes from byte OFFSET on; without LENGTH, all from there
    ///
    /// OFFSET and LENGTH are sizes, such as 1MiB:64KiB. The range may reach beyond the end.
    #[arg(long, value_name = "OFFSET:LENGTH", value_parser = ReadArgs::range)]
    pub range: Option<(u64, u64)>,
    /// The sealed directory.
    #[command(flatten)]
    pub sealed: SealedArgs,
    /// The file, in DIR, or the name of the object below the URL
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
}

impl ReadArgs {
    fn range(text: &str) -> Result<(u64, u64), &'static str> {
        let (offset, length) = text.split_once(':').ok_or("expected OFFSET:LENGTH")?;
        let length = if length.is_empty() { u64::MAX } else { number::size(length)? };
        Ok((number::size(offset)?, length))
    }
}

/// `tagmac mount`
#[derive(Group)]
pub struct MountArgs {
    /// Let other users read the files, as the sealed permissions allow
    ///
    /// By default only the user who mounts can see them.
    #[arg(long)]
    pub allow_other: bool,
    /// Print no message when the files are mounted
    #[arg(long)]
    pub quiet: bool,
    /// The sealed directory.
    #[command(flatten)]
    pub sealed: SealedArgs,
    /// The directory at which the files appear
    #[arg(value_name = "MOUNTPOINT", value_hint = ValueHint::DirPath)]
    pub mountpoint: PathBuf,
}

/// `tagmac repair`
#[derive(Group)]
pub struct RepairArgs {
    /// Take what is damaged from COPY, another copy of the file
    #[arg(long, value_name = "COPY")]
    pub from: PathBuf,
    /// Print no summary
    #[arg(long)]
    pub quiet: bool,
    /// Reading.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The sealed directory.
    #[command(flatten)]
    pub sealed: SealedArgs,
    /// The damaged file, in DIR
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub path: PathBuf,
}
