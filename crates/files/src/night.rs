//! One night's audit: the manifest that it accepts, the part that it reads, and its records for the
//! next one, the ledger and the pin.

use std::path::Path;

use tagmac::Tag;

use crate::audit::{LeafPlan, Plan, Tally};
use crate::chain::Chain;
use crate::day::Day;
use crate::diagnostic::diagnostic;
use crate::error::Error;
use crate::escaped::Escaped;
use crate::exclusion::Exclusion;
use crate::leaves::content::Contents;
use crate::ledger::{self, Ledger};
use crate::objects::ManifestKey;
use crate::pin::{PinFile, Seen};
use crate::position::{Arcs, Positions};
use crate::proof::{CHANGED, missed};
use crate::raw_key::RawKey;
use crate::selection::{Histogram, Order, Request, Selection, random_start};

/// The part that an audit reads, and the files of its records.
#[derive(Clone, Copy, Debug)]
pub struct NightOptions<'a> {
    /// The part to read.
    pub request: Request,
    /// Reads nothing, whatever the request is.
    pub quick: bool,
    /// Reads those that were read longest ago. Needs a ledger.
    pub oldest_first: bool,
    /// The ledger.
    pub ledger: Option<&'a Path>,
    /// The pin.
    pub pin: Option<&'a Path>,
    /// The only seal that is accepted.
    pub expect: Option<&'a [u8]>,
}

impl NightOptions<'_> {
    /// Returns the exclusions of the ledger and the pin, which may be in the audited directory. A
    /// path in a missing directory is skipped: opening it fails later, with its name.
    pub fn exclusions(&self) -> Vec<Exclusion> {
        let paths = self.ledger.into_iter().chain(self.pin);
        paths.filter_map(|path| Exclusion::new(path).ok()).collect()
    }
}

impl Default for NightOptions<'_> {
    /// Reads everything, and keeps no records.
    fn default() -> Self {
        NightOptions {
            request: Request::All,
            quick: false,
            oldest_first: false,
            ledger: None,
            pin: None,
            expect: None,
        }
    }
}

/// A manifest, as far as its chain is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    /// Its name in messages.
    pub shown: &'a str,
    /// Its place in the chain.
    pub chain: &'a Chain,
    /// Its seal.
    pub seal: Tag,
    /// True if it describes objects.
    pub is_bucket: bool,
}

impl Opened<'_> {
    fn seen(&self) -> Seen<'_> {
        let Chain { sequence, links, .. } = self.chain;
        let chain = self.chain.name(self.seal);
        Seen { chain, sequence: *sequence, seal: self.seal, links }
    }

    /// Returns the contents if they are those of this manifest and have leaf tags.
    fn with_leaf_tags(&self, contents: Contents) -> Result<Contents, Error> {
        let shown = self.shown;
        if !contents.has_leaf_tags() {
            return Err(Error::usage(format_args!(
                "{shown}: no leaf tags; seal it with leaf tags, or sample files instead of leaves"
            )));
        }
        if contents.seal() != self.seal {
            return Err(Error::io(format_args!("{shown}: the manifest was replaced meanwhile")));
        }
        Ok(contents)
    }
}

/// The part that one audit reads, and its records.
pub struct Night<'a> {
    options: NightOptions<'a>,
    key: ManifestKey,
    opened: Opened<'a>,
    pin: Option<PinFile>,
    /// The part, unless it is everything or nothing.
    pub selection: Option<Selection>,
    /// The plan for each entry.
    pub plan: Plan,
}

/// The part that an audit read, and the proof that it gives.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// The number of sealed files or objects that were found.
    pub files: u64,
    /// The number of those that were read as a whole.
    pub read: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of leaves that were read, and that of all files, if leaves were sampled.
    pub leaves: Option<(u64, u64)>,
    /// The probability that a change of [`CHANGED`] files was missed; of leaves, if they were sampled.
    pub missed: f64,
    /// The earliest day on which one of the files was last read, if it is known.
    pub oldest: Option<Day>,
    /// The manifest's number in its chain; 0 for a version without chains.
    pub sequence: u64,
}

impl<'a> Night<'a> {
    /// Checks the manifest against the expected seal and the pin, and decides what is read. `sizes`
    /// adds the positions and sizes of all files to a histogram. `contents` opens the manifest again,
    /// with its leaf tags.
    pub fn new(
        options: NightOptions<'a>,
        raw: &RawKey,
        key: ManifestKey,
        opened: Opened<'a>,
        sizes: impl FnOnce(&Positions, &mut Histogram) -> Result<(), Error>,
        contents: impl FnOnce() -> Result<Contents, Error>,
    ) -> Result<Night<'a>, Error> {
        let (shown, seen, today) = (opened.shown, opened.seen(), Day::today());
        if let Some(expected) = options.expect
            && *expected != *opened.seal.as_bytes()
        {
            let expected = base16ct::lower::encode_string(expected);
            let what = format_args!("{shown}: expected the seal {expected}, found {}", opened.seal);
            return Err(Error::mismatch(what));
        }
        if opened.chain.sequence == 0 {
            let (old, new) = if opened.is_bucket { (1, 2) } else { (2, 3) };
            if options.pin.is_some() || options.ledger.is_some() {
                return Err(Error::usage(format_args!(
                    "{shown}: the manifest has version {old}, without the chain that a pin or ledger \
                     needs; seal it again"
                )));
            }
            diagnostic(format_args!(
                "{shown}: the manifest has version {old}; the next seal writes version {new}"
            ));
        }
        let pin = options.pin.map(|path| PinFile::open(path, &key)).transpose()?;
        if let Some(pin) = &pin {
            pin.check(shown, &seen)?;
        }
        let mut ledger = None;
        if let Some(path) = options.ledger {
            let found = ledger::open(path, &key, &seen.chain, today)?;
            let found = found.unwrap_or_else(|| Ledger::new(seen.chain));
            if let Some(pin) = &pin {
                pin.check_ledger(Escaped::name(path), found.sequence)?;
            }
            ledger = Some(found);
        }
        let positions = Positions::new(raw);
        let (mut selection, mut leaves) = (None, None);
        if options.request != Request::All {
            let mut histogram = Histogram::default();
            if matches!(options.request, Request::MaxBytes(_)) {
                sizes(&positions, &mut histogram)?;
            }
            let start = random_start()?;
            let order = match &ledger {
                Some(ledger) if options.oldest_first => Order::OldestFirst(ledger),
                _ => Order::From(start),
            };
            selection = Selection::new(options.request, order, &histogram);
            if matches!(options.request, Request::SampleLeaves(_)) {
                let contents = opened.with_leaf_tags(contents()?)?;
                leaves = Some(LeafPlan { contents, start });
            }
        }
        let arcs = match &selection {
            _ if options.quick => Arcs::default(),
            Some(selection) => selection.arcs.clone(),
            None => Arcs::all(),
        };
        let plan = Plan { positions, arcs, ledger, leaves };
        Ok(Night { options, key, opened, pin, selection, plan })
    }

    /// Saves the ledger and the pin, and returns what the audit proves.
    pub fn finish(&mut self, tally: &Tally) -> Result<Proof, Error> {
        let today = Day::today();
        let mut sequence = 0;
        if let (Some(mut ledger), Some(path)) = (self.plan.ledger.take(), self.options.ledger) {
            let unread = tally.exceptions.iter().copied();
            if self.plan.leaves.is_some() {
                // Nothing is recorded of leaves: a file is read when all of it is.
                sequence = ledger.sequence;
            } else if ledger.record(&self.plan.arcs, today, unread).is_err() {
                diagnostic(format_args!(
                    "{}: not updated, as too many files were not read or are not unchanged",
                    Escaped::name(path)
                ));
                sequence = ledger.sequence;
            } else {
                sequence = ledger::save(path, &self.key, &ledger, today)?.sequence;
            }
        }
        let (shown, seen) = (self.opened.shown, self.opened.seen());
        if let Some(pin) = &mut self.pin {
            pin.save(shown, &seen, sequence)?;
        }
        let leaves = self.plan.leaves.as_ref().map(|_| (tally.leaves_read, tally.leaves));
        let (read, all) = leaves.unwrap_or((tally.read, tally.files));
        Ok(Proof {
            files: tally.files,
            read: tally.read,
            bytes: tally.bytes,
            leaves,
            missed: missed(all, read, CHANGED),
            oldest: tally.oldest(),
            sequence: seen.sequence,
        })
    }
}
