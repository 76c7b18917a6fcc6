//! `tagmac-lab attack`.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use tagmac_lab::attacks::{ATTACKS, AttackOptions, Finding, Role};
use tagmac_lab::unknown;

/// Run an attack, or all of them with a line for each.
///
/// An attack requests tags, then forges. The real MAC is attacked in the same way and must resist.
/// The exit status is 1 if an attack does not succeed as often as its paper says, or the real MAC
/// falls.
#[derive(Args)]
pub struct Attack {
    /// The attack; without a name, all attacks that take seconds
    name: Option<String>,
    /// Run the paper's full size where that takes minutes
    #[arg(long, requires = "name")]
    long: bool,
}

impl Attack {
    pub fn run(&self) -> super::Exit {
        let mut out = io::stdout().lock();
        let Some(name) = &self.name else { return all(&mut out) };
        let Some(attack) = ATTACKS.iter().find(|attack| attack.name == name) else {
            let names = ATTACKS.iter().map(|attack| attack.name);
            return Err(unknown("attack", name, names).into());
        };
        writeln!(
            out,
            "{}: {}\nFrom: {}\n\n{}\n",
            attack.name, attack.about, attack.source, attack.how
        )?;
        let start = Instant::now();
        let findings = (attack.run)(&AttackOptions { long: self.long, progress });
        for finding in &findings {
            writeln!(out, "{finding}")?;
        }
        writeln!(out, "{:.2} s", start.elapsed().as_secs_f64())?;
        Ok(code(findings.iter().all(Finding::holds)))
    }
}

fn code(holds: bool) -> ExitCode {
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Shows the progress on the terminal; ^C ends the run.
fn progress(percent: u32) {
    if io::stderr().is_terminal() {
        let end = if percent == 100 { "\r     \r" } else { " %" };
        eprint!("\r{percent:3}{end}");
    }
}

/// Runs every attack and prints the first of its findings. Fails if one is not as expected.
fn all(out: &mut impl Write) -> super::Exit {
    let heads = ["attack", "queries", "expected", "found (99 % interval)", "control", "s", ""];
    let mut rows = vec![heads.map(String::from)];
    let mut holds = true;
    for attack in ATTACKS {
        let start = Instant::now();
        let findings = (attack.run)(&AttackOptions::default());
        let of = |role| findings.iter().filter(move |finding| finding.role == role);
        let (first, control) = (of(Role::Attack).next(), of(Role::Control).next());
        let (Some(first), Some(control)) = (first, control) else {
            return Err(format!("{}: the finding or its control is missing", attack.name).into());
        };
        let as_expected = findings.iter().all(Finding::holds);
        holds &= as_expected;
        rows.push([
            attack.name.into(),
            first.queries.to_string(),
            first.probability(),
            first.measured(),
            format!("{}/{}", control.found, control.keys),
            format!("{:.2}", start.elapsed().as_secs_f64()),
            if as_expected { "as expected" } else { "NOT as expected" }.into(),
        ]);
    }
    let widths: [usize; 7] =
        core::array::from_fn(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0));
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    writeln!(
        out,
        "\nFirst lines only; 'tagmac-lab attack NAME' prints all lines, and how the \
         attack works."
    )?;
    Ok(code(holds))
}
