//! `tagmac audit`: a tree against its manifest.
//!
//! The manifest and the walk through the tree have one order, so both are read once, side by side.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::iter::Peekable;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::error::{Error, Exit, Shown, say, why};
use crate::line::{self, End};
use crate::mac::{self, Mac};
use crate::output;
use crate::pool;
use crate::progress::{Bar, Progress};
use crate::read::Trouble;
use crate::seal::args::Audit;
use crate::seal::manifest::{self, Entries, Entry, Manifest, mode_text, mtime_text, word};
use crate::seal::observe::{Observer, Observers, Sight};
use crate::seal::renames::{Found as Match, Renames};
use crate::seal::{say_mount, say_without, start};
use crate::walk::{self, Found, Kind, Spot, Tree, Walk, below};

/// Audits a directory. `Some(exit)` if not all is as it was sealed.
pub fn run(args: &Audit) -> Result<Option<Exit>, Error> {
    let (mac, key) = mac::make_with_key(&args.key, false)?;
    let root = &*args.directory;
    let failed = |error| Error::io(format_args!("{}: {}", Shown::name(root), Trouble::from(error)));
    let manifest = Manifest::open(&args.manifest, &mac, manifest::seal_mac(&key))?;
    let tree = Tree::open(root).map_err(failed)?;
    let mut report = Report::new(args, &mac)?;
    let options = manifest.header.options;
    // Where the manifest really is, if a link was given.
    let place = args.manifest.canonicalize().map_err(failed)?;
    let spots = [Some(&place), args.combined.as_ref()].into_iter().flatten();
    let spots: io::Result<Vec<Spot>> = spots.map(|path| Spot::of(path)).collect();
    let bar = Progress::new(args.reading.progress).start_many(manifest.entries, manifest.bytes);
    let (threads, idle) = (args.reading.num_threads, AtomicBool::new(false));
    let Observers { mut main, mut others } =
        Observers::new(&tree, &mac, options, threads, &bar, &idle).map_err(failed)?;
    let mut merge = Merge {
        root,
        special: options.special,
        found: start(&tree, &spots.map_err(failed)?, options).map_err(failed)?.peekable(),
        sealed: manifest.entries(&mac)?.peekable(),
        closed: None,
        skipped: 0,
        bar: &bar,
    };
    let mut renames = Renames::new(&mac.mac);
    let mut done = 0;
    pool::in_order(&mut others, &mut merge, look, |seen| {
        done += 1;
        if done % 64 == 0 {
            bar.count(done, manifest.entries);
        }
        let seen = match seen {
            Seen::Both(sealed, Sight::Large) => {
                let sight = main.look(&sealed.path, Kind::File, sealed.content.as_ref());
                Seen::Both(sealed, sight)
            }
            other => other,
        };
        match seen {
            Seen::Both(sealed, Sight::Entry(entry)) => {
                let changes = changes(&sealed, &entry);
                let status = match changes.is_empty() {
                    true => Status::Unchanged,
                    false => Status::Changed(changes),
                };
                bar.aside(|| report.put(&sealed.path, entry.kind, status))
            }
            // It was there when its directory was listed.
            Seen::Missing(sealed) | Seen::Both(sealed, Sight::Trouble(Trouble::Missing(_))) => {
                match renames.missing(sealed) {
                    None => Ok(()),
                    Some(sealed) => {
                        bar.aside(|| report.put(&sealed.path, sealed.kind, Status::Missing))
                    }
                }
            }
            Seen::Both(sealed, Sight::Trouble(trouble)) => {
                let status = Status::Unreadable(trouble.to_string());
                bar.aside(|| report.put(&sealed.path, sealed.kind, status))
            }
            Seen::Kind(sealed, found) => {
                let change = Change::new("kind", word(sealed.kind), word(found));
                bar.aside(|| report.put(&sealed.path, found, Status::Changed(vec![change])))
            }
            Seen::New(path, kind, size) => match renames.new_file(path, kind, size) {
                None => Ok(()),
                Some(path) => bar.aside(|| report.put(&path, kind, Status::New)),
            },
            Seen::Unreadable(path, kind, why) => {
                bar.aside(|| report.put(&path, kind, Status::Unreadable(why)))
            }
            Seen::Wrong(error) => Err(error),
            Seen::Both(_, Sight::Large) => unreachable!("this observer leaves nothing to others"),
        }
    })?;
    report.counts.skipped = merge.skipped;
    let all = renames.resolve(&mut main, |found| {
        bar.aside(|| match found {
            Match::Renamed { from, to } => report.put(to, Kind::File, Status::Renamed(from)),
            Match::New(path) => report.put(path, Kind::File, Status::New),
            Match::Missing(path) => report.put(path, Kind::File, Status::Missing),
        })
    })?;
    drop(bar);
    report.finish(&manifest, all)
}

/// What to look at.
enum Job {
    /// An entry of the manifest that is there, as it seems.
    Both(Entry),
    /// One that is there as something else.
    Kind(Entry, Kind),
    Missing(Entry),
    New(Vec<u8>, Kind),
    Unreadable(Vec<u8>, Kind, String),
    Wrong(Error),
}

/// What was seen of a job.
enum Seen {
    Both(Entry, Sight),
    Kind(Entry, Kind),
    Missing(Entry),
    /// With its size, if it is a file that is still there.
    New(Vec<u8>, Kind, Option<u64>),
    Unreadable(Vec<u8>, Kind, String),
    Wrong(Error),
}

fn look(observer: &mut Observer<'_>, job: Job) -> Seen {
    match job {
        Job::Both(sealed) => {
            let sight = observer.look(&sealed.path, sealed.kind, sealed.content.as_ref());
            Seen::Both(sealed, sight)
        }
        Job::New(path, kind) => {
            let size = (kind == Kind::File).then(|| observer.size(&path).ok()).flatten();
            Seen::New(path, kind, size)
        }
        Job::Kind(sealed, found) => Seen::Kind(sealed, found),
        Job::Missing(sealed) => Seen::Missing(sealed),
        Job::Unreadable(path, kind, why) => Seen::Unreadable(path, kind, why),
        Job::Wrong(error) => Seen::Wrong(error),
    }
}

/// The tree and the manifest side by side.
struct Merge<'a> {
    root: &'a Path,
    special: bool,
    found: Peekable<Walk>,
    sealed: Peekable<Entries<'a>>,
    /// A directory that cannot be listed, and why: there is no verdict on what was sealed in it.
    closed: Option<(Vec<u8>, String)>,
    skipped: u64,
    bar: &'a Bar,
}

impl Iterator for Merge<'_> {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            let sealed = match self.sealed.peek() {
                Some(Ok(entry)) => Some(entry),
                Some(Err(_)) => return self.sealed.next()?.err().map(Job::Wrong),
                None => None,
            };
            let found = match self.found.peek() {
                Some(Found::Entry { path, kind }) => Some((path, *kind)),
                Some(_) => match self.found.next()? {
                    Found::Closed { path, error } => {
                        let why = Trouble::from(error).to_string();
                        self.closed = Some((path.clone(), why.clone()));
                        return Some(Job::Unreadable(path, Kind::Directory, why));
                    }
                    Found::Mount { path } => {
                        self.bar.aside(|| say_mount(&below(self.root, &path)));
                        continue;
                    }
                    Found::Without { path, spot } => {
                        if spot == 0 {
                            self.bar.aside(|| say_without(&below(self.root, &path)));
                        }
                        continue;
                    }
                    Found::Entry { .. } => unreachable!("matched above"),
                },
                None => None,
            };
            let order = match (sealed, found) {
                (None, None) => return None,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(sealed), Some((path, _))) => walk::order(&sealed.path, path),
            };
            if order.is_gt() {
                let Some(Found::Entry { path, kind }) = self.found.next() else { return None };
                if kind.is_special() && !self.special {
                    self.skipped += 1;
                    self.bar.aside(|| walk::say_skipped(&below(self.root, &path), kind));
                    continue;
                }
                return Some(Job::New(path, kind));
            }
            let kind = found.map(|(_, kind)| kind).filter(|_| order.is_eq());
            let sealed = self.sealed.next()?.ok()?;
            if order.is_eq() {
                self.found.next();
            }
            return Some(match kind {
                Some(kind) if kind == sealed.kind => Job::Both(sealed),
                Some(kind) => Job::Kind(sealed, kind),
                None => match &self.closed {
                    Some((folder, why)) if is_in(folder, &sealed.path) => {
                        Job::Unreadable(sealed.path, sealed.kind, why.clone())
                    }
                    _ => Job::Missing(sealed),
                },
            });
        }
    }
}

/// Whether a path is below that of a directory; all are below the root, whose path is empty.
fn is_in(folder: &[u8], path: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.starts_with(b"/"))
}

/// A difference between an entry and its line.
#[derive(Serialize)]
struct Change {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

impl Change {
    fn new(what: &'static str, expected: impl ToString, found: impl ToString) -> Change {
        let (expected, found) = (Some(expected.to_string()), Some(found.to_string()));
        Change { what, expected, found }
    }
}

/// What is another than it was. The tag that a file has now is not told: under a sealed nonce it
/// would be a second one.
fn changes(sealed: &Entry, found: &Entry) -> Vec<Change> {
    let mut changes = Vec::new();
    if let (Some(sealed), Some(found)) = (&sealed.content, &found.content) {
        if sealed.size != found.size {
            changes.push(Change::new("size", sealed.size, found.size));
        } else if sealed.tag.is_none() || sealed.tag != found.tag {
            changes.push(Change { what: "content", expected: None, found: None });
        }
    }
    if let (Some(sealed), Some(found)) = (&sealed.target, &found.target)
        && sealed != found
    {
        changes.push(Change::new("target", Shown::bytes(sealed), Shown::bytes(found)));
    }
    if let (Some(sealed), Some(found)) = (sealed.mode, found.mode)
        && sealed != found
    {
        changes.push(Change::new("mode", mode_text(sealed), mode_text(found)));
    }
    if let (Some(sealed), Some(found)) = (sealed.mtime, found.mtime)
        && sealed != found
    {
        changes.push(Change::new("mtime", mtime_text(sealed), mtime_text(found)));
    }
    changes
}

/// The verdict on an entry.
enum Status<'a> {
    Unchanged,
    Changed(Vec<Change>),
    New,
    Missing,
    Renamed(&'a [u8]),
    Unreadable(String),
}

#[derive(Default, Serialize)]
struct Counts {
    unchanged: u64,
    changed: u64,
    new: u64,
    missing: u64,
    renamed: u64,
    unreadable: u64,
    skipped: u64,
}

/// Where verdicts go.
struct Report<'a> {
    args: &'a Audit,
    mac: &'a Mac,
    combined: Option<BufWriter<File>>,
    terminal: bool,
    counts: Counts,
}

/// An entry as `--json` shows it.
#[derive(Serialize)]
struct Record<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    kind: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changes: &'a [Change],
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The last object of `--json`.
#[derive(Serialize)]
struct Summary<'a> {
    summary: &'a Counts,
    /// Whether all renamed files were looked for.
    renames_complete: bool,
    algorithm: &'a str,
    bits: usize,
    key_id: &'a str,
    seal: String,
    status: &'static str,
}

impl<'a> Report<'a> {
    fn new(args: &'a Audit, mac: &'a Mac) -> Result<Report<'a>, Error> {
        let combined = args.combined.as_ref().map(|path| {
            File::create(path).map(BufWriter::new).map_err(|error| combined_failed(path, &error))
        });
        let terminal = io::stdout().is_terminal();
        let combined = combined.transpose()?;
        Ok(Report { args, mac, combined, terminal, counts: Counts::default() })
    }

    fn put(&mut self, path: &[u8], kind: Kind, status: Status<'_>) -> Result<(), Error> {
        let path = if path.is_empty() { b"." } else { path };
        let counts = &mut self.counts;
        let (count, name) = match &status {
            Status::Unchanged => (&mut counts.unchanged, "unchanged"),
            Status::Changed(_) => (&mut counts.changed, "changed"),
            Status::New => (&mut counts.new, "new"),
            Status::Missing => (&mut counts.missing, "missing"),
            Status::Renamed(_) => (&mut counts.renamed, "renamed"),
            Status::Unreadable(_) => (&mut counts.unreadable, "unreadable"),
        };
        *count += 1;
        match &status {
            Status::Unchanged => self.combine(b'=', path)?,
            Status::Changed(_) => self.combine(b'*', path)?,
            Status::New => self.combine(b'-', path)?,
            Status::Missing => self.combine(b'+', path)?,
            Status::Unreadable(_) => self.combine(b'!', path)?,
            Status::Renamed(from) => {
                self.combine(b'+', from)?;
                self.combine(b'-', path)?;
            }
        }
        let unchanged = matches!(status, Status::Unchanged);
        if unchanged && (self.args.quiet || !self.args.json) {
            return Ok(());
        }
        if self.args.json {
            return self.json(path, kind, name, &status);
        }
        let verdict = match &status {
            Status::Changed(changes) => {
                let text = |change: &Change| match (&change.expected, &change.found) {
                    (Some(expected), Some(found)) => {
                        format!("{}: expected {expected}, found {found}", change.what)
                    }
                    _ => change.what.into(),
                };
                format!("changed: {}", changes.iter().map(text).collect::<Vec<_>>().join("; "))
            }
            Status::Renamed(from) => format!("renamed: it was {}", Shown::bytes(from)),
            Status::Unreadable(why) => format!("unreadable: {why}"),
            Status::Unchanged | Status::New | Status::Missing => name.into(),
        };
        output::write(&line::write_verdict(path, &verdict, self.terminal))
    }

    fn json(
        &self,
        path: &[u8],
        kind: Kind,
        name: &'static str,
        status: &Status<'_>,
    ) -> Result<(), Error> {
        let mut record = Record {
            path: String::from_utf8_lossy(path),
            path_hex: None,
            kind: word(kind),
            status: name,
            changes: &[],
            from: None,
            from_hex: None,
            reason: None,
        };
        let hex = |lossy: &Cow<'_, str>, bytes: &[u8]| {
            matches!(lossy, Cow::Owned(_)).then(|| base16ct::lower::encode_string(bytes))
        };
        record.path_hex = hex(&record.path, path);
        match status {
            Status::Changed(changes) => record.changes = changes,
            Status::Renamed(from) => {
                let lossy = String::from_utf8_lossy(from);
                record.from_hex = hex(&lossy, from);
                record.from = Some(lossy);
            }
            Status::Unreadable(why) => record.reason = Some(why),
            Status::Unchanged | Status::New | Status::Missing => {}
        }
        output::json(&record)
    }

    fn combine(&mut self, symbol: u8, path: &[u8]) -> Result<(), Error> {
        let Some(out) = &mut self.combined else { return Ok(()) };
        let mut text = Vec::with_capacity(path.len() + 4);
        let name = line::escaped(path, End::Newline, &mut text);
        text.extend_from_slice(&[symbol, b' ']);
        text.extend_from_slice(&name);
        text.push(b'\n');
        out.write_all(&text).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> Error {
        combined_failed(self.args.combined.as_deref().unwrap_or(Path::new("")), error)
    }

    fn finish(mut self, manifest: &Manifest, all: bool) -> Result<Option<Exit>, Error> {
        if let Some(out) = &mut self.combined
            && let Err(error) = out.flush()
        {
            return Err(self.failed(&error));
        }
        let Counts { unchanged, changed, new, missing, renamed, unreadable, skipped } = self.counts;
        let (exit, status) = match (changed + new + missing + renamed, unreadable) {
            (0, 0) => (None, "unchanged"),
            (0, _) => (Some(Exit::Io), "unreadable"),
            _ => (Some(Exit::Mismatch), "changed"),
        };
        if !all {
            say("not all renamed files were looked for: some may stand as new and missing");
        }
        if self.args.json {
            output::json(&Summary {
                summary: &self.counts,
                renames_complete: all,
                algorithm: self.mac.mac.algorithm().name(),
                bits: self.mac.mac.tag_bits(),
                key_id: &self.mac.key_id,
                seal: manifest.seal.to_string(),
                status,
            })?;
        } else if !self.args.quiet || exit.is_some() {
            let mut text = format!(
                "{unchanged} unchanged, {changed} changed, {new} new, {missing} missing, \
                 {renamed} renamed"
            );
            for (count, word) in [(unreadable, "unreadable"), (skipped, "skipped")] {
                if count > 0 {
                    text.push_str(&format!(", {count} {word}"));
                }
            }
            say(text);
        }
        Ok(exit)
    }
}

fn combined_failed(path: &Path, error: &io::Error) -> Error {
    Error::io(format_args!("--combined: {}: {}", Shown::name(path), why(error)))
}
