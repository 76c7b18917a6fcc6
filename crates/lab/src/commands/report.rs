//! `tagmac-lab report`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use tagmac_lab::attacks::{ATTACKS, Finding};
use tagmac_lab::report::{attack_all, files};

/// Write the report: a page with all tables, figures, attacks and comparators, and
/// docs/design/lab.md and docs/guide/choosing-a-mac.md with their pictures.
///
/// It runs all attacks first, which takes a minute or two, and writes nothing until everything is
/// ready. The exit status is 1 if an attack is not as expected.
#[derive(Args)]
pub struct Report {
    /// The folder; in a clone `-o .` writes the repository's own pages
    #[arg(short, value_name = "DIR", default_value = "lab-report")]
    output: PathBuf,
    #[command(flatten)]
    record: super::speeds::SpeedsArgs,
}

impl Report {
    pub fn run(&self) -> super::Exit {
        let speeds = self.record.read()?;
        // Create the folders before the attacks, which take minutes.
        for name in ["docs/design", "docs/guide", "docs/pictures", "crates/lab"] {
            folder(&self.output.join(name))?;
        }
        let mut number = 0;
        let outcomes = attack_all(|attack| {
            number += 1;
            eprintln!("attack {number} of {}: {}", ATTACKS.len(), attack.name);
        });
        eprintln!("tables and figures");
        for file in files(&speeds, &outcomes)? {
            super::write(&self.output.join(file.path), &file.text)?;
        }
        eprintln!("wrote {}", self.output.join("lab.html").display());
        let holds = outcomes.iter().flat_map(|one| &one.findings).all(Finding::holds);
        Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Creates a folder for writing.
fn folder(folder: &Path) -> Result<(), String> {
    let named = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(named)?;
    let probe = folder.join(".tagmac-lab");
    fs::write(&probe, "").and_then(|()| fs::remove_file(&probe)).map_err(named)
}
