//! `tagmac audit`: a tree against its manifest.

use std::sync::atomic::AtomicBool;

use tagmac_files::dir::{DirTree, Kind};
use tagmac_files::escaped::Escaped;
use tagmac_files::progress::{Progress as _, Total};
use tagmac_files::walk::Exclusion;
use tagmac_files::{Error, ReadError, pool};

use crate::args::Audit;
use crate::exit::Exit;
use crate::mac;
use crate::progress::Progress;
use crate::seal::change::{Change, changes};
use crate::seal::combined::Combined;
use crate::seal::entry::{Entry, word};
use crate::seal::manifest::{self, Manifest};
use crate::seal::merge::{Item, Merge};
use crate::seal::observe::{Observer, Observers, Sight};
use crate::seal::renames::{Found, Renames};
use crate::seal::report::{Report, Status};
use crate::seal::start;

/// Audits a directory. `Some(exit)` if not all is as it was sealed.
pub fn run(args: &Audit) -> Result<Option<Exit>, Error> {
    let (mac, key) = mac::make_with_key(&args.key.options(), false)?;
    let root = &*args.directory;
    let failed =
        |error| Error::io(format_args!("{}: {}", Escaped::name(root), ReadError::from(error)));
    let manifest = Manifest::open(&args.manifest, &mac, manifest::seal_mac(&key))?;
    let tree = DirTree::open(root).map_err(failed)?;
    let combined = Combined::new(args)?;
    let options = manifest.header.options;
    // Where the manifest really is, if a link was given.
    let place = args.manifest.canonicalize().map_err(failed)?;
    let mut exclusions = vec![Exclusion::of(&place).map_err(failed)?];
    exclusions.extend(combined.exclusions().map_err(failed)?);
    let mut report = Report::new(args, &mac, &manifest, combined);
    let total = Total { files: Some(manifest.entries), bytes: Some(manifest.bytes) };
    let bar = Progress::new(args.reading.progress).start("auditing", total);
    let (threads, idle) = (args.reading.num_threads, AtomicBool::new(false));
    let Observers { mut main, mut others } =
        Observers::new(&tree, &mac, options, threads, &bar, &idle).map_err(failed)?;
    let found = start(&tree, &exclusions, options).map_err(failed)?;
    let mut items = Merge::new(root, options.special, found, manifest.entries(&mac)?);
    let mut renames = Renames::new(&mac.mac);
    pool::in_order(&mut others, &mut items, look, |item| {
        bar.file();
        match item {
            Item::Both(sealed, sight) => {
                let sight = match sight {
                    Some(Sight::Large) | None => {
                        main.look(&sealed.path, sealed.kind, sealed.content.as_ref())
                    }
                    Some(sight) => sight,
                };
                let status = match sight {
                    Sight::Entry(found) => Status::of(changes(&sealed, &found)),
                    // It was there when its directory was listed.
                    Sight::Unreadable(ReadError::Missing(_)) => Status::Missing,
                    Sight::Unreadable(error) => Status::Unreadable(error.to_string()),
                    Sight::Large => unreachable!("this observer leaves nothing to others"),
                };
                match status {
                    Status::Missing => missing(sealed, &mut renames, &mut report),
                    status => report.put(&sealed.path, sealed.kind, status),
                }
            }
            Item::UnreadableDir(sealed, why) => {
                let found = main.look(&sealed.path, sealed.kind, None);
                let changes = match &found {
                    Sight::Entry(found) => changes(&sealed, found),
                    _ => Vec::new(),
                };
                let status = match changes.is_empty() {
                    true => Status::Unreadable(why),
                    false => Status::Changed(changes),
                };
                report.put(&sealed.path, sealed.kind, status)
            }
            Item::Missing(sealed) => missing(sealed, &mut renames, &mut report),
            Item::Kind(sealed, found) => {
                let change = Change::new("kind", word(sealed.kind), word(found));
                report.put(&sealed.path, found, Status::Changed(vec![change]))
            }
            Item::New(path, kind, size) => match renames.new_file(path, kind, size) {
                None => {}
                Some(path) => report.put(&path, kind, Status::New),
            },
            Item::Unreadable(path, kind, why) => report.put(&path, kind, Status::Unreadable(why)),
            Item::Wrong(error) => return Err(error),
        }
        Ok(())
    })?;
    let skipped = items.skipped();
    let all = renames.resolve(&mut main, |found| match found {
        Found::Renamed { from, to, changes } => {
            report.put(to, Kind::File, Status::Renamed(from, changes))
        }
        Found::New(path) => report.put(path, Kind::File, Status::New),
        Found::Missing(path) => report.put(path, Kind::File, Status::Missing),
    });
    drop(bar);
    Ok(report.finish(skipped, all))
}

/// Looks at what is there.
fn look(observer: &mut Observer<'_>, item: Item) -> Item {
    match item {
        Item::Both(sealed, _) => {
            let sight = observer.look(&sealed.path, sealed.kind, sealed.content.as_ref());
            Item::Both(sealed, Some(sight))
        }
        Item::New(path, kind @ Kind::File, _) => {
            let size = observer.size(&path).ok();
            Item::New(path, kind, size)
        }
        other => other,
    }
}

/// A missing file may be a new one under another name; all else is missing.
fn missing(sealed: Entry, renames: &mut Renames, report: &mut Report<'_>) {
    if let Some(sealed) = renames.missing(sealed) {
        report.put(&sealed.path, sealed.kind, Status::Missing);
    }
}
