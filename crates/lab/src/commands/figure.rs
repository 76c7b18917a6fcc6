//! `tagmac-lab figure`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use tagmac_lab::figures::{FIGURES, find};
use tagmac_lab::unknown;

/// Draw a figure of the papers as SVG; without a name, list them.
#[derive(Args)]
pub struct Figure {
    /// The figure
    name: Option<String>,
    /// The file to write; without it, standard output
    #[arg(short, value_name = "FILE.svg", requires = "name")]
    output: Option<PathBuf>,
    #[command(flatten)]
    record: super::speeds::SpeedsArgs,
}

impl Figure {
    pub fn run(&self) -> super::Exit {
        let mut out = io::stdout().lock();
        let Some(name) = &self.name else {
            for figure in FIGURES {
                writeln!(out, "{:18}{}: {}", figure.name, figure.source, figure.title)?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let names = FIGURES.iter().map(|figure| figure.name);
        let figure = find(name).ok_or_else(|| unknown("figure", name, names))?;
        if let Some(file) = &self.output {
            let name = file.display();
            match file.extension().and_then(|extension| extension.to_str()) {
                Some("svg") => {}
                Some("png") => {
                    return Err(format!(
                        "{name}: pictures are written as SVG; write FILE.svg, then 'rsvg-convert \
                         FILE.svg -o FILE.png'"
                    )
                    .into());
                }
                _ => return Err(format!("{name}: the file name must end with .svg").into()),
            }
        }
        let svg = (figure.draw)(&self.record.read()?)?.svg;
        match &self.output {
            Some(file) => super::write(file, &svg)?,
            None => writeln!(out, "{svg}")?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
