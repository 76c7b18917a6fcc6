//! Which records the speeds are from.

use std::path::PathBuf;

use clap::Args;
use tagmac_lab::speeds::{Speeds, kept};

/// The option.
#[derive(Args)]
pub struct SpeedsArgs {
    /// A record of `bench`, a folder such as bench/record/amd-epyc-zen4; without it, those of the
    /// repository
    #[arg(long = "speeds", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl SpeedsArgs {
    /// The speeds, a machine each.
    pub fn read(&self) -> Result<Vec<Speeds>, String> {
        match &self.folder {
            Some(folder) => Ok(vec![Speeds::read(folder)?]),
            None => kept(),
        }
    }
}
