//! `tagmac audit`: compares a tree, or the objects of a bucket, with a manifest.

mod combined;
mod report;

use tagmac_files::Error;
use tagmac_files::audit::{Status, TreeAudit};
use tagmac_files::escaped::Escaped;
use tagmac_files::objects::{ManifestKey, ObjectManifest};
use tagmac_files::progress::Total;

use crate::args::AuditArgs;
use crate::exit::Exit;
use crate::mac;
use crate::names;
use crate::objects::{Stores, is_url};
use crate::progress::Progress;
use combined::Combined;
use report::Report;

/// Audits a directory or a bucket. Returns `Some(exit)` unless everything is unchanged.
pub fn run(args: &AuditArgs) -> Result<Option<Exit>, Error> {
    if args.manifest.as_os_str() == "-" {
        return Err(Error::usage(
            "the manifest is read twice, so it cannot come from standard input ('-'); save it in a file",
        ));
    }
    names::object(&args.manifest)?;
    names::directory(&args.directory)?;
    let names = [&*args.manifest, &*args.directory];
    let limits = (args.reading.num_threads, args.listing.max_objects);
    let stores = Stores::open(names.into_iter(), [].into_iter(), limits)?;
    if is_url(&args.directory) {
        return objects(args, &stores.expect("a URL has a store"));
    }
    if is_url(&args.manifest) {
        return Err(Error::usage(format_args!(
            "{}: a directory, but a manifest at a URL describes objects; give their URL",
            Escaped::name(&args.directory)
        )));
    }
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let mut audit = TreeAudit::open(&key, &raw, &args.manifest, &args.directory)?;
    let combined = Combined::new(args)?;
    audit.exclude(combined.exclusions())?;
    let mut report = Report::new(args, &key, audit.manifest().seal, combined);
    let bar = Progress::new(args.reading.progress).start("auditing", audit.total());
    let put = &mut |path: &[u8], kind, status: Status<'_>| report.put(path, kind, status);
    let audited = audit.run(args.reading.num_threads, &bar, put)?;
    drop(bar);
    Ok(report.finish(audited.skipped, audited.renames_complete))
}

/// Audits the objects below a URL.
fn objects(args: &AuditArgs, stores: &Stores) -> Result<Option<Exit>, Error> {
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    stores.check_outside(&args.manifest, &args.directory)?;
    let place = stores.place(&args.manifest)?;
    let manifest = ObjectManifest::open(&manifest_key, &*place)?;
    let mut report = Report::new(args, &key, manifest.root.seal, Combined::new(args)?);
    let root = &manifest.root;
    let total = Total { files: Some(root.entries), bytes: Some(root.bytes) };
    let bar = Progress::new(args.reading.progress).start("auditing", total);
    let put = &mut |name: &[u8], kind, status: Status<'_>| report.put(name, kind, status);
    let renames_complete = stores.audit(&key, &bar, &manifest, &args.directory, put)?;
    drop(bar);
    Ok(report.finish(0, renames_complete))
}
