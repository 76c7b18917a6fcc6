//! `tagmac-lab list`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tagmac_lab::comparators::{COMPARATORS, Comparator, Keys};

/// List the comparators with the status of their definitions
///
/// official: a standard or an RFC defines it, with vectors. paper: one of the five papers defines it.
/// pinned: our choice, because the paper that defines it could not be read. not found: the papers name
/// it, and no definition was found.
#[derive(Args)]
pub struct List {
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(&self) -> super::Exit {
        let mut out = io::stdout().lock();
        if self.json {
            for one in COMPARATORS {
                writeln!(out, "{}", object(one))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(
            out,
            "{:16} {:9} {:>11} {:>5}  {:>3}  WHAT",
            "NAME", "STATUS", "KEYS", "NONCE", "TAG"
        )?;
        for one in COMPARATORS {
            let Comparator { name, status, nonce, tag, about, .. } = one;
            let keys = keys(one.keys);
            writeln!(out, "{name:16} {status:9} {keys:>11} {nonce:>5}  {tag:>3}  {about}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The bytes of the keys.
fn keys(keys: Keys) -> String {
    match keys {
        Keys::Any => "any".into(),
        Keys::Sizes(sizes) => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+"),
    }
}

fn object(one: &Comparator) -> serde_json::Value {
    let keys = match one.keys {
        Keys::Any => json!("any"),
        Keys::Sizes(sizes) => json!(sizes),
    };
    json!({
        "name": one.name,
        "status": one.status.to_string(),
        "keys": keys,
        "nonce": one.nonce,
        "tag": one.tag,
        "about": one.about,
        "source": one.source,
    })
}
