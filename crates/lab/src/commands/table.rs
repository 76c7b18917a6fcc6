//! `tagmac-lab table`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use tagmac_lab::tables::{TABLES, find};
use tagmac_lab::unknown;

/// Print a table of the papers with our figures; without a name, list the tables.
///
/// Speeds come from a record of `bench`; the lab does not measure. A cell that our copy of a paper
/// lost is marked as lost.
#[derive(Args)]
pub struct Table {
    /// The table
    name: Option<String>,
    #[command(flatten)]
    record: super::speeds::SpeedsArgs,
}

impl Table {
    pub fn run(&self) -> super::Exit {
        let mut out = io::stdout().lock();
        let Some(name) = &self.name else {
            for table in TABLES {
                writeln!(out, "{:18}{}: {}", table.name, table.source, table.title)?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let names = TABLES.iter().map(|table| table.name);
        let table = find(name).ok_or_else(|| unknown("table", name, names))?;
        let grid = table.fill(&self.record.read()?);
        write!(
            out,
            "{}: {}\nFrom: {}\n\n{}",
            table.name,
            table.title,
            table.source,
            grid.columns()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
