//! `tagmac seal`: writes a manifest of a tree, or of the objects of a bucket.

use tagmac_files::Error;
use tagmac_files::escaped::Escaped;
use tagmac_files::leaves::{Leaves, check_key};
use tagmac_files::manifest::options::ManifestOptions;
use tagmac_files::objects::{FormatVersion, ManifestKey, ObjectManifest, Start, Totals, Writer};
use tagmac_files::progress::Total;
use tagmac_files::seal::{SealCounts, SealOptions, Sealing};

use crate::args::{FilterArgs, SealArgs};
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::files_from;
use crate::mac;
use crate::names;
use crate::objects::{ObjectCounts, ObjectSealing, Stores, is_url};
use crate::progress::Progress;

const LIST_AND_FILTER: &str = "--files-from names every entry, so no filter can be used with it";

/// Seals a directory or a bucket. Returns `Some(exit)` if a part of it was left out.
pub fn run(args: &SealArgs) -> Result<Option<Exit>, Error> {
    names::output("-o", &args.output)?;
    names::object(&args.output)?;
    names::directory(&args.directory)?;
    let names = [&*args.output, &*args.directory].into_iter().chain(args.since.as_deref());
    let limits = (args.reading.num_threads, args.listing.max_objects);
    let stores = Stores::open(names, [].into_iter(), limits)?;
    if is_url(&args.directory) {
        return objects(args, &stores.expect("a URL has a store"));
    }
    if is_url(&args.output) {
        return Err(Error::usage(format_args!(
            "-o: the manifest of a directory must be a file, not the URL {}",
            Escaped::name(&args.output)
        )));
    }
    if let Some(since) = args.since.as_ref().filter(|since| is_url(since)) {
        return Err(Error::usage(format_args!(
            "--since: the manifest of a directory is a file, not the URL {}",
            Escaped::name(since)
        )));
    }
    if let Some(checkpoint) = &args.checkpoint {
        names::output("--checkpoint", checkpoint)?;
        names::file(checkpoint)?;
    }
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let SealArgs { mode, mtime, owner, xattrs, special, one_file_system, .. } = *args;
    let FilterArgs { exclude_caches, max_depth, .. } = args.filters;
    let filters = files_from::patterns(&args.filters)?;
    let names = files_from::names(&args.names)?;
    if names.is_some() && (!filters.is_empty() || exclude_caches || max_depth.is_some()) {
        return Err(Error::usage(LIST_AND_FILTER));
    }
    let list =
        names.map(|names| files_from::below("--files-from", &args.directory, names)).transpose()?;
    let options = SealOptions {
        directory: &args.directory,
        output: &args.output,
        new_chain: args.new_chain,
        since: args.since.as_deref(),
        filters: &filters,
        list: list.as_ref(),
        sealed: ManifestOptions {
            mode,
            mtime,
            owner,
            xattrs,
            special,
            one_file_system,
            exclude_caches,
            max_depth,
            listed: false,
            leaves: args.leaves.map(|size| key.whole_blocks(size)).transpose()?,
        },
        skip_unreadable: args.skip_unreadable,
        threads: args.reading.num_threads,
        checkpoint: args.checkpoint.as_deref(),
        checkpoint_every: args.checkpoint_every,
    };
    let sealing = Sealing::new(&key, &raw, options)?;
    let progress = Progress::new(args.reading.progress, args.reading.bwlimit);
    let total = if progress.is_shown() { sealing.total()? } else { Total::UNKNOWN };
    let bar = progress.start("sealing", total);
    let counts = sealing.run(&bar)?;
    if !args.quiet {
        diagnostic(format_args!("sealed in {}: {}", Escaped::name(&args.output), text(&counts)));
    }
    Ok((counts.unreadable > 0).then_some(Exit::Io))
}

/// Seals the objects below a URL.
fn objects(args: &SealArgs, stores: &Stores) -> Result<Option<Exit>, Error> {
    let files_alone = [
        (args.mode, "--mode"),
        (args.mtime, "--mtime"),
        (args.owner, "--owner"),
        (args.xattrs, "--xattrs"),
        (args.special, "--special"),
        (args.one_file_system, "--one-file-system"),
        (args.filters.exclude_caches, "--exclude-caches"),
        (args.filters.max_depth.is_some(), "--max-depth"),
        (args.checkpoint.is_some(), "--checkpoint"),
    ];
    if let Some((_, option)) = files_alone.iter().find(|(given, _)| *given) {
        return Err(Error::usage(format_args!(
            "{option}: expected a directory, found the URL of objects"
        )));
    }
    stores.check_outside(&args.output, &args.directory)?;
    let filters = files_from::patterns(&args.filters)?;
    let names = files_from::names(&args.names)?.map(files_from::objects).transpose()?;
    if names.is_some() && !filters.is_empty() {
        return Err(Error::usage(LIST_AND_FILTER));
    }
    let (key, raw) = mac::open_with_raw(&args.key.options(), false)?;
    let leaves = args.leaves.map(|size| {
        check_key(&key)?;
        Ok::<_, Error>(Leaves::new(&raw, key.whole_blocks(size)?))
    });
    let leaves = leaves.transpose()?;
    let manifest_key = ManifestKey::new(&key.mac, &raw);
    let old_place = args.since.as_ref().map(|since| stores.place(since)).transpose()?;
    let since = match &old_place {
        Some(place) => Some(ObjectManifest::open(&manifest_key, &**place)?),
        None => None,
    };
    if let (Some(since), Some(place)) = (&since, &old_place)
        && since.root.version == FormatVersion::V1
    {
        let shown = place.shown();
        diagnostic(format_args!(
            "{shown}: the manifest has version 1, which records no stamps: every object is read"
        ));
    }
    let start = Start {
        replace: true,
        new_chain: args.new_chain,
        since: since.as_ref().map(|since| (&since.root.header.chain, since.root.seal)),
        listed: names.is_some(),
        filters: &filters,
        leaves: leaves.as_ref().map(Leaves::size),
    };
    let place = stores.place(&args.output)?;
    let mut writer = Writer::new(&manifest_key, &*place, start)?;
    let bar =
        Progress::new(args.reading.progress, args.reading.bwlimit).start("sealing", Total::UNKNOWN);
    let sealing = ObjectSealing {
        open_key: &key,
        progress: &bar,
        url: &args.directory,
        filters: &filters,
        names: names.as_ref(),
        since: since.as_ref(),
        leaves,
        skip_unreadable: args.skip_unreadable,
    };
    let failed = match stores.seal(&sealing, &mut writer) {
        Err(error) => Some(error),
        Ok(ObjectCounts { unreadable, .. }) if unreadable > 0 && !args.skip_unreadable => {
            let objects = number(unreadable, "object", "objects");
            Some(Error::io(format_args!(
                "{}: not written, as {objects} could not be sealed; --skip-unreadable seals the rest",
                place.shown()
            )))
        }
        Ok(counts) => {
            let Totals { entries, bytes, .. } = writer.finish()?;
            drop(bar);
            let mut what =
                vec![number(entries, "object", "objects"), number(bytes, "byte", "bytes")];
            let ObjectCounts { unreadable, carried, archived, left_out } = counts;
            for (count, word) in [
                (carried, "not read, as they show no change"),
                (archived, "archived and not read"),
                (left_out, "left out by the filters"),
                (unreadable, "unreadable and left out"),
            ] {
                if count > 0 {
                    what.push(format!("{count} {word}"));
                }
            }
            if !args.quiet {
                diagnostic(format_args!("sealed in {}: {}", place.shown(), what.join(", ")));
            }
            return Ok((unreadable > 0).then_some(Exit::Io));
        }
    };
    writer.abandon();
    failed.map_or(Ok(None), Err)
}

fn text(counts: &SealCounts) -> String {
    let SealCounts { files, directories, links, special, bytes, .. } = *counts;
    let mut what = vec![
        number(files, "file", "files"),
        number(directories, "directory", "directories"),
        number(links, "link", "links"),
    ];
    if special > 0 {
        what.push(format!("{special} special"));
    }
    what.push(number(bytes, "byte", "bytes"));
    let SealCounts { skipped, unreadable, carried, resumed, left_out, .. } = *counts;
    for (count, word) in [
        (carried, "not read, as they show no change"),
        (resumed, "read by the run before"),
        (left_out, "left out by the filters"),
        (skipped, "skipped"),
        (unreadable, "unreadable and left out"),
    ] {
        if count > 0 {
            what.push(format!("{count} {word}"));
        }
    }
    what.join(", ")
}

fn number(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
