//! `tagmac seal`: a manifest of a tree.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::manifest::header::Options;
use tagmac_files::progress::Total;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};

use crate::args::Seal;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::progress::Progress;

/// Seals a directory. `Some(exit)` if not all of it could be.
pub fn run(args: &Seal) -> Result<Option<Exit>, Error> {
    let (mac, key) = mac::make_with_key(&args.key.options(), false)?;
    let Seal { mode, mtime, special, one_file_system, .. } = *args;
    let options = SealOptions {
        directory: &args.directory,
        output: &args.output,
        sealed: Options { mode, mtime, special, one_file_system },
        skip_unreadable: args.skip_unreadable,
        threads: args.reading.num_threads,
    };
    let sealing = Sealing::new(&mac, &key, options)?;
    let progress = Progress::new(args.reading.progress);
    let total = if progress.is_shown() { sealing.total()? } else { Total::UNKNOWN };
    let bar = progress.start("sealing", total);
    let counts = sealing.run(&bar)?;
    diagnostic(format_args!("sealed in {}: {}", Escaped::name(&args.output), text(&counts)));
    Ok((counts.unreadable > 0).then_some(Exit::Io))
}

fn text(counts: &SealCounts) -> String {
    let SealCounts { files, directories, links, special, bytes, skipped, unreadable } = *counts;
    let mut what = vec![
        number(files, "file", "files"),
        number(directories, "directory", "directories"),
        number(links, "link", "links"),
    ];
    if special > 0 {
        what.push(format!("{special} special"));
    }
    what.push(number(bytes, "byte", "bytes"));
    for (count, word) in [(skipped, "skipped"), (unreadable, "unreadable and left out")] {
        if count > 0 {
            what.push(format!("{count} {word}"));
        }
    }
    what.join(", ")
}

fn number(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
