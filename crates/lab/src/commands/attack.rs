//! `tagmac-lab attack`.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use tagmac_lab::attacks::{ATTACKS, Options, Output};
use tagmac_lab::unknown;

/// Run an attack, or list them all.
#[derive(Args)]
pub struct Attack {
    /// The attack; without a name, all are listed
    name: Option<String>,
    /// Take minutes where the paper's full size takes them
    #[arg(long)]
    long: bool,
}

impl Attack {
    pub fn run(&self) -> super::Exit {
        let mut out = io::stdout().lock();
        let Some(name) = &self.name else {
            let widest = ATTACKS.iter().map(|attack| attack.name.len()).max().unwrap_or(0);
            for attack in ATTACKS {
                let (name, about, source) = (attack.name, attack.about, attack.source);
                writeln!(out, "{name:widest$}  {about} ({source})")?;
            }
            return Ok(ExitCode::SUCCESS);
        };
        let Some(attack) = ATTACKS.iter().find(|attack| attack.name == name) else {
            let names = ATTACKS.iter().map(|attack| attack.name);
            return Err(unknown("attack", name, names).into());
        };
        writeln!(out, "{}: {} ({})", attack.name, attack.about, attack.source)?;
        let start = Instant::now();
        let succeeds = (attack.run)(&mut Output(&mut out), &Options { long: self.long })?;
        let verdict = if succeeds { "as expected" } else { "NOT as expected" };
        writeln!(out, "{verdict}, {:.2} s", start.elapsed().as_secs_f64())?;
        Ok(if succeeds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
