//! `tagmac seal`: a manifest of a tree.

pub mod audit;
mod change;
mod combined;
mod entry;
mod error;
mod header;
mod manifest;
mod merge;
mod observe;
mod renames;
mod report;
mod writer;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac_files::dir::{DirTree, Kind};
use tagmac_files::escaped::Escaped;
use tagmac_files::progress::{Progress, Total};
use tagmac_files::walk::{self, Exclusion, Found, Walk, below};
use tagmac_files::{Error, ReadError, pool};

use crate::args::Seal;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::mac;
use crate::progress;
use crate::seal::entry::Entry;
use crate::seal::header::{Header, Options};
use crate::seal::observe::{Observer, Observers, Sight};
use crate::seal::writer::Writer;

/// Seals a directory. `Some(exit)` if not all of it could be.
pub fn run(args: &Seal) -> Result<Option<Exit>, Error> {
    let (mac, key) = mac::make_with_key(&args.key.options(), false)?;
    let Seal { mode, mtime, special, one_file_system, .. } = *args;
    let options = Options { mode, mtime, special, one_file_system };
    let root = &*args.directory;
    let failed =
        |error| Error::io(format_args!("{}: {}", Escaped::name(root), ReadError::from(error)));
    let tree = DirTree::open(root).map_err(failed)?;
    let header = Header::new(&mac, options);
    let writer = Writer::create(&args.output, header, &manifest::seal_mac(&key))?;
    let exclusions = writer.exclusions()?;
    let walk = || start(&tree, &exclusions, options).map_err(failed);
    let progress = progress::Progress::new(args.reading.progress);
    let total = match progress.is_shown() {
        true => walk::total(walk()?, |kind| options.special || !kind.is_special()),
        false => Total::UNKNOWN,
    };
    let bar = progress.start("sealing", total);
    let doomed = AtomicBool::new(false);
    let threads = args.reading.num_threads;
    let Observers { mut main, mut others } =
        Observers::new(&tree, &mac, options, threads, &bar, &doomed).map_err(failed)?;
    let mut sealer = Sealer { args, bar: &bar, writer, counts: Counts::default() };
    let mut skipped = 0;
    let jobs = walk()?.filter_map(|found| match found {
        Found::Entry { path, kind } if kind.is_special() && !options.special => {
            skipped += 1;
            walk::say_skipped(&below(root, &path), kind);
            None
        }
        Found::Entry { path, kind } => Some((path, Ok(kind))),
        Found::UnreadableDir { path, error } | Found::Partly { path, error } => {
            Some((path, Err(error)))
        }
        Found::Mount { path } => {
            say_mount(&below(root, &path));
            None
        }
        Found::Excluded { path, exclusion: 0 } => {
            say_without(&below(root, &path));
            None
        }
        Found::Excluded { path, exclusion: 2 } => {
            say_leftover(&below(root, &path));
            None
        }
        // What is not yet the manifest.
        Found::Excluded { .. } => None,
    });
    let look = |observer: &mut Observer<'_>, (path, kind): (Vec<u8>, io::Result<Kind>)| {
        let sight = match kind {
            Ok(kind) => observer.look(&path, kind, None),
            Err(error) => Sight::Unreadable(error.into()),
        };
        (path, sight)
    };
    pool::in_order(&mut others, jobs, look, |(path, sight)| {
        let sight = match sight {
            Sight::Large => main.look(&path, Kind::File, None),
            other => other,
        };
        match sight {
            Sight::Entry(entry) => sealer.entry(&Entry { path, ..entry }),
            Sight::Unreadable(error) => {
                doomed.store(!args.skip_unreadable, Ordering::Relaxed);
                sealer.unreadable(&path, &error);
                Ok(())
            }
            Sight::Large => unreachable!("this observer leaves nothing to others"),
        }
    })?;
    sealer.counts.skipped = skipped;
    sealer.finish()
}

/// A walk through all of a tree but the exclusions.
fn start(tree: &DirTree, without: &[Exclusion], options: Options) -> io::Result<Walk> {
    let walk = Walk::new(tree.again()?, without.to_vec());
    if options.one_file_system { walk.on_one_file_system() } else { Ok(walk) }
}

fn say_mount(path: &Path) {
    let name = Escaped::name(path);
    diagnostic(format_args!("{name}: not entered: it is on another file system"));
}

fn say_without(path: &Path) {
    diagnostic(format_args!("{}: left out: it is the manifest", Escaped::name(path)));
}

fn say_leftover(path: &Path) {
    diagnostic(format_args!(
        "{}: left out: it has the name of a manifest in the making",
        Escaped::name(path)
    ));
}

/// What was sealed.
#[derive(Default)]
struct Counts {
    files: u64,
    directories: u64,
    links: u64,
    special: u64,
    bytes: u64,
    skipped: u64,
    unreadable: u64,
}

struct Sealer<'a> {
    args: &'a Seal,
    bar: &'a dyn Progress,
    writer: Writer,
    counts: Counts,
}

impl Sealer<'_> {
    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let counts = &mut self.counts;
        match entry.kind {
            Kind::File => counts.files += 1,
            Kind::Directory => counts.directories += 1,
            Kind::Link => counts.links += 1,
            _ => counts.special += 1,
        }
        counts.bytes += entry.content.as_ref().map_or(0, |content| content.size);
        self.bar.file();
        if self.is_doomed() { Ok(()) } else { self.writer.entry(entry) }
    }

    /// Whether the manifest will not be written.
    fn is_doomed(&self) -> bool {
        self.counts.unreadable > 0 && !self.args.skip_unreadable
    }

    fn unreadable(&mut self, path: &[u8], error: &ReadError) {
        self.counts.unreadable += 1;
        let path = below(&self.args.directory, path);
        diagnostic(format_args!("{}: {error}", Escaped::name(&path)));
    }

    fn finish(self) -> Result<Option<Exit>, Error> {
        let (doomed, name) = (self.is_doomed(), Escaped::name(&self.args.output).to_string());
        let Counts { files, directories, links, special, bytes, skipped, unreadable } = self.counts;
        if doomed {
            return Err(Error::io(format_args!(
                "{name}: not written, as {} could not be sealed; --skip-unreadable seals the rest",
                number(unreadable, "entry", "entries")
            )));
        }
        self.writer.finish()?;
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
        diagnostic(format_args!("sealed in {name}: {}", what.join(", ")));
        Ok((unreadable > 0).then_some(Exit::Io))
    }
}

fn number(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
