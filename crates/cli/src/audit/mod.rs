//! `tagmac audit`: compares a tree, or the objects of a bucket, with a manifest.

mod combined;
mod facts;
mod html;
mod located;
mod metrics;
mod night;
mod published;
mod report;

use std::io;

use tagmac_files::Error;
use tagmac_files::audit::{Audited, BucketAudit, Status, TreeAudit};
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::content::Contents;
use tagmac_files::leaves::tree::SealedTree;
use tagmac_files::night::{Night, Opened};
use tagmac_files::objects::{ManifestKey, ObjectManifest};
use tagmac_files::position::Positions;
use tagmac_files::progress::Total;
use tagmac_files::selection::Histogram;
use tagmac_files::sys::OsStrExt;

use crate::args::AuditArgs;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::files_from;
use crate::mac;
use crate::names;
use crate::objects::{Stores, is_url};
use crate::progress::Progress;
use crate::say;
pub use combined::Combined;
use facts::Facts;
use located::Located;
use published::Published;
pub use report::{Form, Report};

/// Audits a directory or a bucket. Returns `Some(exit)` unless everything is unchanged.
pub fn run(args: &AuditArgs) -> Result<Option<Exit>, Error> {
    let published = Published::open(args)?;
    let mut facts = Facts::new(args);
    let result = audit(args, &published, &mut facts);
    match published.finish(&facts, result.as_ref().err()) {
        Err(lost) if matches!(result, Ok(None)) => Err(lost),
        Err(lost) => {
            diagnostic(say::line(&lost));
            result
        }
        Ok(()) => result,
    }
}

fn audit(
    args: &AuditArgs,
    published: &Published,
    facts: &mut Facts,
) -> Result<Option<Exit>, Error> {
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
        return objects(args, &stores.expect("a URL has a store"), facts);
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
    let options = night::options(&args.night);
    let others = [combined.exclusions(), published.exclusions(), Ok(options.exclusions())];
    let others: io::Result<Vec<_>> = others.into_iter().collect();
    audit.exclude(others.map(|all| all.concat()))?;
    let manifest = audit.manifest();
    let shown = Escaped::name(&args.manifest).to_string();
    let opened = Opened {
        shown: &shown,
        chain: &manifest.header.chain,
        seal: manifest.seal,
        is_bucket: false,
    };
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    let sizes =
        |positions: &Positions, histogram: &mut Histogram| audit.sizes(positions, histogram);
    let contents = || Contents::open(&key, &raw, &args.manifest);
    let mut night = Night::new(options, &raw, manifest_key, opened, sizes, contents)?;
    let paths = files_from::given(&args.paths);
    let paths = files_from::below("PATH", &args.directory, paths)?;
    let paths: Vec<Vec<u8>> = paths.iter().map(<[u8]>::to_vec).collect();
    facts.open(&key, &opened, night.selection.as_ref(), args.night.quick);
    let mut report = Report::new(form(args), &key, manifest.seal, combined);
    let bar =
        Progress::new(args.reading.progress, args.reading.bwlimit).start("auditing", audit.total());
    let mut located = Located::default();
    let put = &mut |path: &[u8], kind, status: Status<'_>, turn| {
        facts.add(path, &status);
        match args.locate {
            true => located.add(path, &status),
            false => located::sampled(path, &status, args.json),
        }
        report.put(path, kind, status, turn);
    };
    let threads = args.reading.num_threads;
    let audited = audit.run(&night.plan, &paths, threads, &bar, put)?;
    located.report(args.json, || {
        let mut tree = SealedTree::open(&key, &raw, &args.manifest, &args.directory)?;
        let bar = &bar;
        Ok(Box::new(move |path: &[u8]| tree.damage(path, bar)))
    })?;
    drop(bar);
    let proof = night.finish(&audited.tally)?;
    facts.finish(&audited, proof);
    let Audited { skipped, renames_complete, left_out, .. } = audited;
    if !args.quiet {
        night::tell(&args.night, &night, &proof, opened.is_bucket);
    }
    Ok(report.finish(skipped, left_out, renames_complete, Some(proof)))
}

/// Audits the objects below a URL.
fn objects(args: &AuditArgs, stores: &Stores, facts: &mut Facts) -> Result<Option<Exit>, Error> {
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    stores.check_outside(&args.manifest, &args.directory)?;
    let place = stores.place(&args.manifest)?;
    let manifest = ObjectManifest::open(&manifest_key, &*place)?;
    let root = &manifest.root;
    let shown = place.shown();
    let opened =
        Opened { shown: &shown, chain: &root.header.chain, seal: root.seal, is_bucket: true };
    let sizes = |positions: &Positions, histogram: &mut Histogram| {
        manifest.objects().try_for_each(|object| {
            let object = object?;
            histogram.add(positions.of(&object.name), object.size);
            Ok(())
        })
    };
    let options = night::options(&args.night);
    let contents = || Contents::open_bucket(&key, &raw, stores.place(&args.manifest)?);
    let mut night = Night::new(options, &raw, manifest_key.clone(), opened, sizes, contents)?;
    facts.open(&key, &opened, night.selection.as_ref(), args.night.quick);
    let mut report = Report::new(form(args), &key, root.seal, Combined::new(args)?);
    let total = Total { files: Some(root.entries), bytes: Some(root.bytes) };
    let bar = Progress::new(args.reading.progress, args.reading.bwlimit).start("auditing", total);
    let mut located = Located::default();
    let put = &mut |name: &[u8], kind, status: Status<'_>, turn| {
        facts.add(name, &status);
        match args.locate {
            true => located.add(name, &status),
            false => located::sampled(name, &status, args.json),
        }
        report.put(name, kind, status, turn);
    };
    let paths = args.paths.iter().map(|path| path.as_os_str().as_bytes());
    let paths: Vec<Vec<u8>> = paths.map(files_from::object).collect();
    let plan = &night.plan;
    let audit = BucketAudit { manifest: &manifest, progress: &bar, plan, paths: &paths };
    let audited = stores.audit(&key, &audit, &args.directory, put)?;
    located.report(args.json, || {
        let contents = Contents::open_bucket(&key, &raw, stores.place(&args.manifest)?)?;
        let (bar, url) = (&bar, &*args.directory);
        let damage = move |path: &[u8]| stores.damage(&contents, (url, path), bar);
        Ok(Box::new(damage))
    })?;
    drop(bar);
    let proof = night.finish(&audited.tally)?;
    facts.finish(&audited, proof);
    let Audited { skipped, renames_complete, left_out, .. } = audited;
    if !args.quiet {
        night::tell(&args.night, &night, &proof, opened.is_bucket);
    }
    Ok(report.finish(skipped, left_out, renames_complete, Some(proof)))
}

fn form(args: &AuditArgs) -> Form {
    let parts = args.night.subset.map(|(_, of)| of);
    Form { json: args.json, quiet: args.quiet, parts }
}
