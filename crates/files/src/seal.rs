//! Seals a tree: writes its manifest.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::chain::Chain;
use crate::day::Day;
use crate::diagnostic::diagnostic;
use crate::dir::{DirTree, EntryKind, FileStat};
use crate::earlier::{Earlier, Old, OldLeafTags};
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::filter::Filter;
use crate::found::{Found, Listed};
use crate::identity::Identity;
use crate::leaves;
use crate::manifest::entry::Entry;
use crate::manifest::header::Header;
use crate::manifest::listed::{
    remark_checkpoint, remark_leftover, remark_manifest, remark_mount, start,
};
use crate::manifest::options::ManifestOptions;
use crate::manifest::writer::Writer;
use crate::manifest::{Manifest, ManifestError, seal_mac, writer};
use crate::name_list::NameList;
use crate::open_key::OpenKey;
use crate::pool;
use crate::progress::{Progress, Total, stopped};
use crate::raw_key::RawKey;
use crate::read_error::ReadError;
use crate::scanner::{Observation, Reading, Scanner, Scanners};
use crate::seal_checkpoint::Checkpoint;
use crate::sys;
use crate::walk::{self, WalkItem, below};
use tagmac_any::AnyMac;

/// Options of a seal.
#[derive(Clone, Copy, Debug)]
pub struct SealOptions<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The manifest to write. If a manifest exists there, the new one continues its chain.
    pub output: &'a Path,
    /// Starts a new chain instead.
    pub new_chain: bool,
    /// An earlier manifest: files that have its stamps are not read.
    pub since: Option<&'a Path>,
    /// Patterns of entries to leave out.
    pub filters: &'a [Vec<u8>],
    /// The paths to seal, instead of everything below the directory. Their directories are sealed
    /// too.
    pub list: Option<&'a NameList>,
    /// Properties that are sealed in addition to names and contents.
    pub sealed: ManifestOptions,
    /// Leaves out unreadable entries instead of failing.
    pub skip_unreadable: bool,
    /// The number of threads that read; 0 means one per core.
    pub threads: usize,
    /// A file that keeps what was read, so that a run after a kill does not read it again.
    pub checkpoint: Option<&'a Path>,
    /// The bytes between two saves of the checkpoint; `None` to save by time.
    pub checkpoint_every: Option<u64>,
}

impl<'a> SealOptions<'a> {
    /// Seals everything in `directory`, with nothing but names and contents, on one thread per core.
    pub fn new(directory: &'a Path, output: &'a Path) -> SealOptions<'a> {
        SealOptions {
            directory,
            output,
            new_chain: false,
            since: None,
            filters: &[],
            list: None,
            sealed: ManifestOptions::default(),
            skip_unreadable: false,
            threads: 0,
            checkpoint: None,
            checkpoint_every: None,
        }
    }
}

/// A manifest that is being made.
pub struct Sealing<'a> {
    key: &'a OpenKey,
    options: SealOptions<'a>,
    tree: DirTree,
    writer: Writer,
    exclusions: Vec<Exclusion>,
    checkpoint: Option<Checkpoint<'a>>,
    filter: Filter,
    since: Option<Manifest>,
    leaves: Option<leaves::sealing::Sealing>,
    /// The manifest that this one replaces has leaf tags.
    had_leaves: bool,
    seal_mac: AnyMac,
    /// The file at the output when the run began.
    replaces: Option<Identity>,
}

/// Counts of sealed entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealCounts {
    /// Regular files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub links: u64,
    /// Pipes, sockets and devices.
    pub special: u64,
    /// The sum of all file sizes in bytes.
    pub bytes: u64,
    /// Pipes, sockets and devices that were skipped.
    pub skipped: u64,
    /// Entries left out because they could not be read.
    pub unreadable: u64,
    /// Files that were not read, because they have the stamp of the earlier manifest.
    pub carried: u64,
    /// Files that were not read, because an interrupted run had read them.
    pub resumed: u64,
    /// Entries that the filters left out, where a directory counts as one.
    pub left_out: u64,
}

impl<'a> Sealing<'a> {
    /// Opens the directory and starts the manifest, which appears only when it is complete.
    pub fn new(
        key: &'a OpenKey,
        raw: &RawKey,
        options: SealOptions<'a>,
    ) -> Result<Sealing<'a>, Error> {
        let tree = DirTree::open(options.directory).map_err(|error| failed(&options, error))?;
        let filter = Filter::new(options.filters).map_err(Error::usage)?;
        let seal_mac = seal_mac(raw);
        let open = |path: &Path| Manifest::open(path, key, seal_mac.clone());
        let since = options.since.map(open).transpose()?;
        let replaces = there(options.output);
        let verified = |path: &Path| Manifest::verified(path, key, seal_mac.clone());
        let (chain, had_leaves) = chain(&options, since.as_ref(), verified)?;
        let sealed = ManifestOptions { listed: options.list.is_some(), ..options.sealed };
        let leaves = match sealed.leaves {
            Some(size) => {
                let since = since.as_ref().zip(options.since);
                let file = leaves::file::path(options.output, chain.sequence);
                let directory = options.directory;
                Some(leaves::sealing::Sealing::new((key, raw), size, directory, file, since)?)
            }
            None => None,
        };
        let header = Header::new(key, sealed, chain, options.filters.to_vec());
        let writer = Writer::create(options.output, header, &seal_mac)?;
        let mut exclusions = writer.exclusions()?.to_vec();
        let checkpoint = checkpoint(&options, key, &seal_mac, &tree)?;
        if let Some(checkpoint) = &checkpoint {
            exclusions.push(checkpoint.exclusion().map_err(|error| failed(&options, error))?);
        }
        Ok(Sealing {
            key,
            options,
            tree,
            writer,
            exclusions,
            checkpoint,
            filter,
            since,
            leaves,
            had_leaves,
            seal_mac,
            replaces,
        })
    }

    /// Returns the entries to seal.
    fn found(&self) -> Result<Found<'a>, Error> {
        let failed = |error| failed(&self.options, error);
        Ok(match self.options.list {
            None => {
                let (sealed, filter) = (self.options.sealed, self.filter.clone());
                let walk = start(&self.tree, &self.exclusions, sealed, filter);
                Found::Walk(walk.map_err(failed)?)
            }
            Some(paths) => {
                let tree = self.tree.again().map_err(failed)?;
                Found::List(Listed::new(tree, paths, self.exclusions.clone()))
            }
        })
    }

    /// Returns the number of entries and bytes to seal.
    pub fn total(&self) -> Result<Total, Error> {
        let special = self.options.sealed.special;
        let tree = self.tree.again().map_err(|error| failed(&self.options, error))?;
        Ok(walk::total(tree, self.found()?, |kind| special || !kind.is_special()))
    }

    /// Seals the tree. Fails if an entry could not be read, unless unreadable entries may be left
    /// out.
    pub fn run(self, progress: &dyn Progress) -> Result<SealCounts, Error> {
        let mut found = self.found()?;
        let Sealing { key, options, tree, writer, checkpoint, since, leaves, .. } = self;
        let (seal_mac, replaces, had_leaves) = (self.seal_mac, self.replaces, self.had_leaves);
        let (root, sealed) = (options.directory, options.sealed);
        let will_fail = AtomicBool::new(false);
        let failed = |error| failed(&options, error);
        let scanners =
            Scanners::new(&tree, key, &seal_mac, sealed, options.threads, progress, &will_fail);
        let made = leaves.as_ref().map(|leaves| leaves.leaves().clone());
        let Scanners { mut main, mut others } =
            scanners.map_err(failed)?.with_leaves(made.as_ref());
        let entries = since.as_ref().map(|manifest| manifest.entries(key)).transpose()?;
        let entries = entries.map(|all| all.map(|entry| Ok((entry?, None))));
        let mut earlier =
            Earlier::new(entries, leaves.as_ref().map(leaves::sealing::Sealing::earlier));
        let entries = checkpoint.as_ref().map(Checkpoint::entries).transpose()?;
        let entries = entries
            .map(|all| all.map(|found| found.map(|(entry, leaf_tags)| (entry, Some(leaf_tags)))));
        let mut resumed = Earlier::new(entries, None);
        let counts = SealCounts::default();
        let mut sealer =
            Sealer { options, progress, writer, leaves, had_leaves, checkpoint, counts };
        let (mut skipped, mut left_out) = (0, 0);
        let jobs = found.by_ref().filter_map(|found| match found {
            WalkItem::Entry { path, kind } if kind.is_special() && !sealed.special => {
                skipped += 1;
                walk::say_skipped(&below(root, &path), kind);
                None
            }
            WalkItem::Entry { path, kind } => {
                let olds = earlier.find(&path).and_then(|old| Ok((old, resumed.find(&path)?)));
                Some(olds.map(|(old, saved)| {
                    let is_saved = saved.is_some();
                    Job { path, kind: Ok(kind), old: saved.or(old), is_saved }
                }))
            }
            WalkItem::UnreadableDir { path, error } | WalkItem::Partly { path, error } => {
                Some(Ok(Job { path, kind: Err(error), old: None, is_saved: false }))
            }
            WalkItem::Mount { path } => {
                remark_mount(&below(root, &path));
                None
            }
            WalkItem::Excluded { path, exclusion: 0 } => {
                remark_manifest(&below(root, &path));
                None
            }
            WalkItem::Excluded { path, exclusion: 2 } => {
                remark_leftover(&below(root, &path));
                None
            }
            WalkItem::Excluded { path, exclusion: 3 } => {
                remark_checkpoint(&below(root, &path));
                None
            }
            WalkItem::LeftOut { .. } => {
                left_out += 1;
                None
            }
            // The temporary file of this manifest.
            WalkItem::Excluded { .. } => None,
        });
        let scan = |scanner: &mut Scanner<'_>, job: Result<Job, Error>| {
            job.map(|Job { path, kind, old, is_saved }| {
                let reading = old.as_ref().map_or(Reading::All, |old| Reading::Since(&old.entry));
                let observed = match kind {
                    Ok(kind) => scanner.scan(&path, kind, reading),
                    Err(error) => Observation::Unreadable(error.into()),
                };
                (path, old, is_saved, observed, scanner.leaf_tags())
            })
        };
        // With an earlier manifest, most jobs are a single call of the system.
        let batch = if since.is_some() { 16 * pool::BATCH } else { pool::BATCH };
        let done = pool::in_batches(batch, &mut others, jobs, scan, |scanned| {
            stopped(progress)?;
            let (path, old, is_saved, observed, leaf_tags) = scanned?;
            let (observed, leaf_tags) = match observed {
                // Its stamp was compared before its size.
                Observation::Large => {
                    let observed = main.scan(&path, EntryKind::File, Reading::All);
                    (observed, main.leaf_tags())
                }
                other => (other, leaf_tags),
            };
            match observed {
                Observation::Entry(entry) => {
                    let carried = old.filter(|Old { entry: old, .. }| {
                        old.stamp.is_some() && (old.stamp, old.read) == (entry.stamp, entry.read)
                    });
                    sealer.counts.carried += u64::from(carried.is_some() && !is_saved);
                    sealer.counts.resumed += u64::from(carried.is_some() && is_saved);
                    let leaf_tags = match carried {
                        Some(old) => LeafTags::Old(old.leaf_tags),
                        None => LeafTags::Made(leaf_tags),
                    };
                    sealer.entry(&Entry { path, ..entry }, &leaf_tags)
                }
                Observation::Unreadable(error) => {
                    will_fail.store(!options.skip_unreadable, Ordering::Relaxed);
                    sealer.unreadable(&path, &error);
                    Ok(())
                }
                Observation::Large => unreachable!("the main scanner reads every file"),
            }
        });
        if done.is_err() || sealer.will_fail() {
            sealer.checkpoint.iter_mut().for_each(Checkpoint::save);
        }
        done?;
        // The tags from earlier runs count only if their seals still match.
        earlier.finish()?;
        resumed.finish()?;
        (sealer.counts.skipped, sealer.counts.left_out) = (skipped, left_out);
        let SealCounts { files, directories, links, special, .. } = sealer.counts;
        let nothing = left_out > 0 && files + directories + links + special == 0;
        found.remark(options.filters, nothing);
        tree.in_place(root).map_err(failed)?;
        // The chain would lose the manifest of a run that finished meanwhile.
        if there(options.output) != replaces {
            let manifest = options.output.into();
            return Err(ManifestError::OtherRun { manifest }.into());
        }
        sealer.finish()
    }
}

/// Returns the identity of the file at a path, if there is one.
pub(crate) fn there(path: &Path) -> Option<Identity> {
    sys::symlink_metadata(path).ok().map(|file| Identity::new(&file))
}

/// An entry to seal.
struct Job {
    path: Vec<u8>,
    kind: io::Result<EntryKind>,
    /// The file as an earlier manifest has it.
    old: Option<Old>,
    /// True if that is from the checkpoint.
    is_saved: bool,
}

/// The leaf tags of an entry.
enum LeafTags {
    /// Of a file that was read; none for other entries.
    Made(Vec<u8>),
    /// Of a file that was carried over.
    Old(OldLeafTags),
}

/// Returns the place of the new manifest in a chain, after the manifest that it replaces, or else after
/// the one that it takes stamps from; and whether the replaced one has leaf tags.
fn chain(
    options: &SealOptions<'_>,
    since: Option<&Manifest>,
    open: impl Fn(&Path) -> Result<Manifest, Error>,
) -> Result<(Chain, bool), Error> {
    let today = Day::today();
    if options.new_chain {
        return Ok((Chain::start(today), false));
    }
    let after = |manifest: &Manifest| manifest.header.chain.next(manifest.seal, today);
    let old = options.output.symlink_metadata();
    if !old.is_ok_and(|old| old.is_file() && old.len() > 0) {
        return Ok((since.map_or_else(|| Chain::start(today), after), false));
    }
    let is_other = || !writer::begins_like_a_manifest(options.output).unwrap_or(false);
    match open(options.output) {
        Ok(manifest) => Ok((after(&manifest), manifest.header.options.leaves.is_some())),
        // The writer will refuse to replace it.
        Err(_) if is_other() => Ok((Chain::start(today), false)),
        Err(error) => {
            Err(ManifestError::NoChain { why: error.to_string(), kind: error.kind() }.into())
        }
    }
}

/// Opens the checkpoint, if the options name one.
fn checkpoint<'a>(
    options: &SealOptions<'a>,
    key: &OpenKey,
    seal_mac: &AnyMac,
    tree: &DirTree,
) -> Result<Option<Checkpoint<'a>>, Error> {
    let Some(path) = options.checkpoint else { return Ok(None) };
    let named = |error| Error::file(path, ReadError::from(error));
    if Exclusion::new(path).map_err(named)?
        == Exclusion::new(options.output).map_err(|error| failed(options, error))?
    {
        let name = Escaped::name(path);
        return Err(Error::usage(format_args!("{name}: the checkpoint would be the manifest")));
    }
    let root = FileStat::from_fd(tree.root()).map_err(|error| failed(options, error))?.identity;
    let (leaves, every) = (options.sealed.leaves, options.checkpoint_every);
    Checkpoint::open(path, key, seal_mac, root, leaves, every).map(Some)
}

fn failed(options: &SealOptions<'_>, error: io::Error) -> Error {
    Error::io(format_args!("{}: {}", Escaped::name(options.directory), ReadError::from(error)))
}

struct Sealer<'a> {
    options: SealOptions<'a>,
    progress: &'a dyn Progress,
    writer: Writer,
    leaves: Option<leaves::sealing::Sealing>,
    had_leaves: bool,
    checkpoint: Option<Checkpoint<'a>>,
    counts: SealCounts,
}

impl Sealer<'_> {
    /// Adds an entry and its leaf tags.
    fn entry(&mut self, entry: &Entry, leaf_tags: &LeafTags) -> Result<(), Error> {
        let counts = &mut self.counts;
        match entry.kind {
            EntryKind::File => counts.files += 1,
            EntryKind::Directory => counts.directories += 1,
            EntryKind::Link => counts.links += 1,
            _ => counts.special += 1,
        }
        counts.bytes += entry.size();
        self.progress.file();
        if !self.will_fail() {
            self.writer.entry(entry)?;
            if let Some(leaves) = &mut self.leaves {
                match leaf_tags {
                    LeafTags::Made(tags) | LeafTags::Old(OldLeafTags::Saved(tags)) => {
                        leaves.add(entry, tags)?;
                    }
                    LeafTags::Old(OldLeafTags::From(first)) => leaves.carry(entry, *first)?,
                }
            }
        }
        if let Some(checkpoint) = &mut self.checkpoint {
            if let LeafTags::Made(tags) = leaf_tags {
                checkpoint.record(entry, tags);
            }
            checkpoint.save_if_due();
        }
        Ok(())
    }

    /// Returns whether the manifest will not be written.
    fn will_fail(&self) -> bool {
        self.counts.unreadable > 0 && !self.options.skip_unreadable
    }

    fn unreadable(&mut self, path: &[u8], error: &ReadError) {
        self.counts.unreadable += 1;
        let path = below(self.options.directory, path);
        diagnostic(format_args!("{}: {error}", Escaped::name(&path)));
    }

    fn finish(self) -> Result<SealCounts, Error> {
        if self.will_fail() {
            let (manifest, entries) = (self.options.output.into(), self.counts.unreadable);
            return Err(ManifestError::Unsealed { manifest, entries }.into());
        }
        let has_leaves = self.leaves.is_some();
        self.leaves.map(leaves::sealing::Sealing::finish).transpose()?;
        let sequence = self.writer.sequence();
        self.writer.finish()?;
        // Until here, the old manifest has its leaf tags.
        if has_leaves || self.had_leaves {
            leaves::file::sweep(self.options.output, has_leaves.then_some(sequence));
        }
        self.checkpoint.into_iter().for_each(Checkpoint::done);
        Ok(self.counts)
    }
}
