//! `tagmac-lab list`.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tagmac_lab::comparators::{COMPARATORS, Comparator, Keys};

/// List the comparators, each with the status of its definition.
#[derive(Args)]
pub struct List {
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(&self) -> super::Exit {
        let mut out = std::io::stdout().lock();
        let widest = COMPARATORS.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for one in COMPARATORS {
            if self.json {
                writeln!(out, "{}", row(one))?;
            } else {
                let (name, status) = (one.name, one.status.name());
                let keys = match one.keys {
                    Keys::Any => "any".into(),
                    Keys::Sizes(sizes) => {
                        sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+")
                    }
                };
                let nonce = one.nonce;
                let about = one.about;
                writeln!(out, "{name:widest$}  {status:9} {keys:>11} {nonce:>3}  {about}")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(one: &Comparator) -> serde_json::Value {
    let keys = match one.keys {
        Keys::Any => json!("any"),
        Keys::Sizes(sizes) => json!(sizes),
    };
    json!({
        "name": one.name,
        "status": one.status.name(),
        "keys": keys,
        "nonce": one.nonce,
        "about": one.about,
        "source": one.source,
    })
}
