//! `tagmac audit`: a tree against its manifest.

mod combined;
mod report;

use tagmac_files::Error;
use tagmac_files::audit::{Audit, Status};

use crate::args;
use crate::exit::Exit;
use crate::mac;
use crate::progress::Progress;
use combined::Combined;
use report::Report;

/// Audits a directory. `Some(exit)` if not all is as it was sealed.
pub fn run(args: &args::Audit) -> Result<Option<Exit>, Error> {
    let (mac, key) = mac::make_with_key(&args.key.options(), false)?;
    let mut audit = Audit::open(&mac, &key, &args.manifest, &args.directory)?;
    let combined = Combined::new(args)?;
    audit.exclude(combined.exclusions())?;
    let mut report = Report::new(args, &mac, audit.manifest(), combined);
    let bar = Progress::new(args.reading.progress).start("auditing", audit.total());
    let put = &mut |path: &[u8], kind, status: Status<'_>| report.put(path, kind, status);
    let audited = audit.run(args.reading.num_threads, &bar, put)?;
    drop(bar);
    Ok(report.finish(audited.skipped, audited.renames_complete))
}
