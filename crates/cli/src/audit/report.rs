//! The output of an audit.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use tagmac::Tag;
use tagmac_files::Error;
use tagmac_files::audit::{Change, Counts, Status, Turn};
use tagmac_files::escaped::Escaped;
use tagmac_files::night::Proof;
use tagmac_files::open_key::OpenKey;
use tagmac_files::position::part_of;

use crate::audit::combined::Combined;
use crate::diagnostic::diagnostic;
use crate::exit::Exit;
use crate::json;
use crate::output;
use crate::say;

/// Collects the verdicts and writes them.
pub struct Report<'a> {
    form: Form,
    key: &'a OpenKey,
    /// The tag of the whole manifest.
    seal: Tag,
    combined: Combined,
    counts: Counts,
    /// Output failed. The verdicts still determine the exit status.
    lost: bool,
}

/// The form of the output.
#[derive(Clone, Copy, Default)]
pub struct Form {
    /// A JSON object for each entry.
    pub json: bool,
    /// Only what differs.
    pub quiet: bool,
    /// The number of parts, if a part is read.
    pub parts: Option<u64>,
}

/// The JSON object of an entry.
#[derive(Serialize)]
struct EntryRecord<'a> {
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_hex: Option<String>,
    kind: &'static str,
    status: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChangeRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_read: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves_read: Option<u64>,
}

/// A difference in an [`EntryRecord`].
#[derive(Serialize)]
struct ChangeRecord<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
}

impl<'a> ChangeRecord<'a> {
    fn new(change: &'a Change) -> ChangeRecord<'a> {
        let Change { what, expected, found, .. } = change;
        ChangeRecord { what, expected: expected.as_deref(), found: found.as_deref() }
    }
}

/// The number of entries for each verdict, of those skipped because of their kind, and of those
/// that the filters left out.
struct Sums {
    counts: Counts,
    skipped: u64,
    left_out: u64,
}

impl Sums {
    /// Returns each word with its number.
    fn with_words(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts
            .with_words()
            .into_iter()
            .chain([("skipped", self.skipped), ("left out", self.left_out)])
    }
}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer
            .collect_map(self.with_words().map(|(word, count)| (word.replace(' ', "_"), count)))
    }
}

/// The [`Proof`] of an audit as JSON.
#[derive(Serialize)]
struct ProofRecord {
    files: u64,
    read: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leaves_read: Option<u64>,
    missed: f64,
    oldest: Option<String>,
    sequence: u64,
}

impl From<Proof> for ProofRecord {
    fn from(proof: Proof) -> ProofRecord {
        let Proof { files, read, bytes, leaves, missed, oldest, sequence } = proof;
        let oldest = oldest.map(|day| day.to_string());
        let (leaves_read, leaves) = leaves.unzip();
        ProofRecord { files, read, bytes, leaves, leaves_read, missed, oldest, sequence }
    }
}

/// The last JSON object.
#[derive(Serialize)]
struct Summary<'a> {
    summary: Sums,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofRecord>,
    /// True if the search for renamed files was complete.
    renames_complete: bool,
    algorithm: &'a str,
    bits: usize,
    key_id: String,
    seal: String,
    status: &'static str,
}

impl<'a> Report<'a> {
    /// Returns a report on standard output and in the file of `--combined`.
    pub fn new(form: Form, key: &'a OpenKey, seal: Tag, combined: Combined) -> Report<'a> {
        Report { form, key, seal, combined, counts: Counts::default(), lost: false }
    }

    /// Adds the verdict on an entry. `kind` is a word for its kind; `turn` has the day on which a
    /// sealed file was last read.
    pub fn put(&mut self, path: &[u8], kind: &'static str, status: Status<'_>, turn: Option<Turn>) {
        let path = if path.is_empty() { b"." } else { path };
        self.counts.add(&status);
        if !self.lost {
            let told = self.tell(path, kind, &status, turn);
            self.taken(told);
        }
    }

    /// Records whether the output was written.
    fn taken(&mut self, told: Result<(), Error>) {
        if let Err(error) = told {
            diagnostic(say::line(&error));
            self.lost = true;
        }
    }

    fn tell(
        &mut self,
        path: &[u8],
        kind: &'static str,
        status: &Status<'_>,
        turn: Option<Turn>,
    ) -> Result<(), Error> {
        let combined = &mut self.combined;
        match status {
            Status::Unchanged => combined.line(b'=', path)?,
            Status::NotRead | Status::Archived => combined.line(b'?', path)?,
            Status::Changed(_) => combined.line(b'*', path)?,
            Status::New => combined.line(b'-', path)?,
            Status::Missing => combined.line(b'+', path)?,
            Status::Unreadable(_) => combined.line(b'!', path)?,
            Status::Renamed(from, _) => {
                combined.line(b'+', from)?;
                combined.line(b'-', path)?;
            }
        }
        let same = matches!(status, Status::Unchanged | Status::NotRead | Status::Archived);
        if self.combined.is_output() || same && (self.form.quiet || !self.form.json) {
            return Ok(());
        }
        if self.form.json {
            return self.json(path, kind, status, turn);
        }
        let verdict = match status {
            Status::Changed(changes) => format!("{}: {}", status.word(), text(changes)),
            Status::Renamed(from, changes) => {
                let end = if changes.is_empty() { "" } else { "; " };
                format!("{}: it was {}{end}{}", status.word(), Escaped::bytes(from), text(changes))
            }
            Status::Unreadable(why) => format!("{}: {why}", status.word()),
            _ => status.word().into(),
        };
        output::verdict(path, &verdict)
    }

    fn json(
        &self,
        path: &[u8],
        kind: &'static str,
        status: &Status<'_>,
        turn: Option<Turn>,
    ) -> Result<(), Error> {
        let part = |turn: Turn| Some(part_of(turn.position, self.form.parts?));
        let leaves = turn.and_then(|turn| turn.leaves).filter(|leaves| leaves.of > 1);
        let (name, path_hex) = json::name(path);
        let mut record = EntryRecord {
            path: name,
            path_hex,
            kind,
            status: status.word().replace(' ', "_"),
            changes: Vec::new(),
            from: None,
            from_hex: None,
            reason: None,
            last_read: turn.and_then(|turn| turn.last).map(|day| day.to_string()),
            part: turn.and_then(part),
            leaves: leaves.map(|leaves| leaves.of),
            leaves_read: leaves.map(|leaves| leaves.read),
        };
        match status {
            Status::Changed(changes) => {
                record.changes = changes.iter().map(ChangeRecord::new).collect()
            }
            Status::Renamed(from, changes) => {
                let (name, hex) = json::name(from);
                (record.from, record.from_hex) = (Some(name), hex);
                record.changes = changes.iter().map(ChangeRecord::new).collect();
            }
            Status::Unreadable(why) => record.reason = Some(why),
            _ => {}
        }
        output::json(&record)
    }

    /// Writes the summary and returns the exit code. `skipped` is the number of entries skipped
    /// because of their kind; `left_out` is the number that the sealed filters left out; `all` is
    /// whether the search for renamed files was complete. `proof` is what was read, if anything
    /// can be.
    pub fn finish(
        mut self,
        skipped: u64,
        left_out: u64,
        all: bool,
        proof: Option<Proof>,
    ) -> Option<Exit> {
        let combined = std::mem::replace(&mut self.combined, Combined::Nowhere);
        if !self.lost {
            self.taken(combined.finish());
        }
        let Counts { changed, new, missing, renamed, unreadable, .. } = self.counts;
        let sums = Sums { counts: self.counts, skipped, left_out };
        let not_read = self.counts.not_read + self.counts.archived;
        let (exit, status) = match (changed + new + missing + renamed, unreadable) {
            (0, 0) if not_read > 0 => (None, "not_read"),
            (0, 0) => (None, "unchanged"),
            (0, _) => (Some(Exit::Io), "unreadable"),
            _ => (Some(Exit::Mismatch), "changed"),
        };
        if !all {
            diagnostic("too many candidates: some renamed files may be listed as new and missing");
        }
        if self.form.json && !self.lost {
            let told = output::json(&Summary {
                summary: sums,
                proof: proof.map(ProofRecord::from),
                renames_complete: all,
                algorithm: self.key.mac.algorithm().name(),
                bits: self.key.mac.tag_bits(),
                key_id: self.key.key_id().to_string(),
                seal: self.seal.to_string(),
                status,
            });
            self.taken(told);
        } else if !self.form.quiet || exit.is_some() {
            // These are rare, so omit them if they are 0.
            let is_told = |(word, count): &(&str, u64)| {
                let rare = ["unreadable", "not read", "archived", "skipped", "left out"];
                *count > 0 || !rare.contains(word)
            };
            let sums = sums.with_words().filter(is_told);
            let texts: Vec<_> = sums.map(|(word, count)| format!("{count} {word}")).collect();
            diagnostic(texts.join(", "));
        }
        exit.or(self.lost.then_some(Exit::Io))
    }
}

/// Returns a number with its noun.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns changes as text.
pub fn text(changes: &[Change]) -> String {
    let one = |change: &Change| match (&change.expected, &change.found) {
        (Some(expected), Some(found)) => {
            format!("{}: expected {expected}, found {found}", change.what)
        }
        _ => change.what.into(),
    };
    changes.iter().map(one).collect::<Vec<_>>().join("; ")
}
