//! The facts about an audit that `--report` and `--metrics` show.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use tagmac_files::audit::{Audited, Counts, Status};
use tagmac_files::day::Day;
use tagmac_files::escaped::Escaped;
use tagmac_files::night::{Opened, Proof};
use tagmac_files::open_key::OpenKey;
use tagmac_files::selection::Selection;

use crate::args::AuditArgs;
use crate::audit::report::text;

/// The number of differences of one kind that a report lists.
pub const LISTED: usize = 1000;

/// An entry that differs from the manifest.
pub struct Difference {
    /// The name, safe to show.
    pub name: String,
    /// The changes, the old name, or the reason.
    pub what: String,
}

/// The manifest that was audited.
pub struct ManifestFacts {
    pub algorithm: &'static str,
    pub bits: usize,
    pub key_id: String,
    pub seal: String,
    pub sequence: u64,
    pub day: Option<Day>,
}

/// The facts about an audit, as far as it came.
pub struct Facts {
    pub manifest_name: String,
    pub directory: String,
    pub started: SystemTime,
    clock: Instant,
    pub manifest: Option<ManifestFacts>,
    pub counts: Counts,
    /// The first differences of each kind.
    pub differences: BTreeMap<&'static str, Vec<Difference>>,
    is_listed: bool,
    pub left_out: u64,
    pub skipped: u64,
    /// The number of files by the day on which each was last read.
    pub last_read: BTreeMap<Option<Day>, u64>,
    /// The part that was read, if it was not everything.
    pub part: Option<String>,
    /// Set at the end.
    pub proof: Option<Proof>,
}

impl Facts {
    /// The facts before an audit.
    pub fn new(args: &AuditArgs) -> Facts {
        Facts {
            manifest_name: Escaped::name(&args.manifest).to_string(),
            directory: Escaped::name(&args.directory).to_string(),
            started: SystemTime::now(),
            clock: Instant::now(),
            manifest: None,
            counts: Counts::default(),
            differences: BTreeMap::new(),
            is_listed: args.report.is_some(),
            left_out: 0,
            skipped: 0,
            last_read: BTreeMap::new(),
            part: None,
            proof: None,
        }
    }

    /// Adds the manifest, once its seal is verified, and the part that is read.
    pub fn open(
        &mut self,
        key: &OpenKey,
        opened: &Opened<'_>,
        selection: Option<&Selection>,
        is_quick: bool,
    ) {
        self.manifest = Some(ManifestFacts {
            algorithm: key.mac.algorithm().name(),
            bits: key.mac.tag_bits(),
            key_id: key.key_id().to_string(),
            seal: opened.seal.to_string(),
            sequence: opened.chain.sequence,
            day: opened.chain.day,
        });
        self.part = match selection {
            _ if is_quick => Some("only metadata was compared".into()),
            selection => selection.map(ToString::to_string),
        };
    }

    /// Adds the verdict on an entry.
    pub fn add(&mut self, path: &[u8], status: &Status<'_>) {
        self.counts.add(status);
        let what = match status {
            _ if !self.is_listed => return,
            Status::Unchanged | Status::NotRead | Status::Archived => return,
            Status::Changed(changes) => text(changes),
            Status::Renamed(from, changes) => {
                let end = if changes.is_empty() { "" } else { "; " };
                format!("it was {}{end}{}", Escaped::bytes(from), text(changes))
            }
            Status::Unreadable(why) => why.clone(),
            Status::New | Status::Missing => String::new(),
        };
        let all = self.differences.entry(status.word()).or_default();
        if all.len() < LISTED {
            let path = if path.is_empty() { b"." } else { path };
            all.push(Difference { name: Escaped::bytes(path).to_string(), what });
        }
    }

    /// Adds the end of an audit.
    pub fn finish(&mut self, audited: &Audited, proof: Proof) {
        self.left_out = audited.left_out;
        self.skipped = audited.skipped;
        self.last_read.clone_from(&audited.tally.last_read);
        self.proof = Some(proof);
    }

    /// Returns the time since the start.
    pub fn took(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Returns the number of entries that differ.
    pub fn differing(&self) -> u64 {
        let Counts { changed, new, missing, renamed, .. } = self.counts;
        changed + new + missing + renamed
    }

    /// Returns whether the audit ended, and nothing that it compared differs or is unreadable.
    pub fn is_good(&self) -> bool {
        self.proof.is_some() && self.differing() == 0 && self.counts.unreadable == 0
    }
}
