//! The option that chooses the records of speeds.

use std::path::PathBuf;

use clap::Args;
use tagmac_lab::speeds::{Speeds, kept};

/// The option of the records.
#[derive(Args)]
pub struct SpeedsArgs {
    /// A record of `bench`, a folder such as bench/record/amd-epyc-zen4; without it, all of the
    /// repository's
    #[arg(long = "speeds", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl SpeedsArgs {
    /// Returns the speeds of each machine.
    pub fn read(&self) -> Result<Vec<Speeds>, String> {
        match &self.folder {
            Some(folder) => Ok(vec![Speeds::read(folder)?]),
            None => kept(),
        }
    }
}
