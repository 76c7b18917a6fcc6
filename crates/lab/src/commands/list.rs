//! `tagmac-lab list`.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use tagmac_lab::comparators::{COMPARATORS, Comparator, Keys};

/// List the comparators with the status of their definitions
///
/// official: a standard, an RFC or its designers define it, with vectors. paper: one of the five
/// papers defines it. pinned: our choice, because the paper that defines it could not be read. not
/// found: the papers name it, but we found no definition.
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
        let head = ["NAME", "KIND", "STATUS", "KEYS", "NONCE", "TAG", "WHAT"].map(String::from);
        let rows: Vec<[String; 7]> =
            [head].into_iter().chain(COMPARATORS.iter().map(cells)).collect();
        let widths: [usize; 6] =
            std::array::from_fn(|i| rows.iter().map(|row| row[i].len()).max().unwrap_or(0));
        for row in &rows {
            for (cell, width) in row.iter().zip(widths) {
                write!(out, "{cell:width$}  ")?;
            }
            writeln!(out, "{}", row[6])?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn cells(one: &Comparator) -> [String; 7] {
    let (kind, status) = (one.kind.to_string(), one.status.to_string());
    let (nonce, tag) = (one.nonce.to_string(), one.tag.to_string());
    [one.name.into(), kind, status, keys(one.keys), nonce, tag, one.about.into()]
}

/// Formats the lengths of the keys.
fn keys(keys: Keys) -> String {
    match keys {
        Keys::Any => "any".into(),
        Keys::AsMessage => "as message".into(),
        Keys::Sizes(sizes) => sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+"),
    }
}

fn object(one: &Comparator) -> serde_json::Value {
    let keys = match one.keys {
        Keys::Sizes(sizes) => json!(sizes),
        other => json!(keys(other)),
    };
    json!({
        "name": one.name,
        "kind": one.kind.to_string(),
        "status": one.status.to_string(),
        "keys": keys,
        "nonce": one.nonce,
        "tag": one.tag,
        "about": one.about,
        "source": one.source,
    })
}
