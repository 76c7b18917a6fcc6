//! `tagmac repair`: mends a damaged file from another copy.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::repair::{Damage, repair};
use tagmac_files::progress::Total;

use crate::args::RepairArgs;
use crate::diagnostic::diagnostic;
use crate::names;
use crate::progress::Progress;
use crate::read;

/// Ranges in a message; a JSON object has all.
const SHOWN: usize = 8;

/// Repairs the file.
pub fn run(args: &RepairArgs) -> Result<(), Error> {
    read::names(&args.sealed)?;
    names::output("--from", &args.from)?;
    names::file(&args.from)?;
    let mut tree = read::open(&args.sealed)?;
    let path = read::path(&args.sealed, &args.path)?;
    let bytes = tree.contents().entry(&path)?.content.map(|content| content.size);
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let bar = progress.start("repairing", Total { files: None, bytes });
    let damage = repair(&mut tree, &path, &args.from, &bar)?;
    drop(bar);
    if !args.quiet {
        let name = Escaped::name(&args.path);
        match damage.is_none() {
            true => diagnostic(format_args!("{name}: undamaged")),
            false => diagnostic(format_args!("{name}: repaired: {}", text(&damage))),
        }
    }
    Ok(())
}

/// Describes the damage of a file.
pub fn text(damage: &Damage) -> String {
    let Damage { leaves, of, ranges, size } = damage;
    let ranges: Vec<String> = ranges
        .iter()
        .take(SHOWN)
        .map(|range| format!("{} to {}", range.start, range.end))
        .collect();
    let more = if damage.ranges.len() > SHOWN { " and more" } else { "" };
    let size = size.map(|size| format!(", {size} bytes in all")).unwrap_or_default();
    format!("{leaves} of {of} leaves: bytes {}{more}{size}", ranges.join(", "))
}
