//! The part that one audit reads, and its records for the next one: the ledger and the pin.

use tagmac::Tag;
use tagmac_files::Error;
use tagmac_files::audit::{Plan, Tally};
use tagmac_files::chain::Chain;
use tagmac_files::day::Day;
use tagmac_files::escaped::Escaped;
use tagmac_files::ledger::{self, Ledger};
use tagmac_files::objects::ManifestKey;
use tagmac_files::pin::{PinFile, Seen};
use tagmac_files::position::{Arcs, Positions};
use tagmac_files::proof::{CHANGED, missed};
use tagmac_files::raw_key::RawKey;
use tagmac_files::selection::{Histogram, Order, Request, Selection, random_start};

use crate::args::NightArgs;
use crate::audit::report::{Proof, plural};
use crate::diagnostic::diagnostic;

/// A manifest, as far as its chain is concerned.
pub struct Opened<'a> {
    /// Its name in messages.
    pub shown: &'a str,
    /// Its place in the chain.
    pub chain: &'a Chain,
    /// Its seal.
    pub seal: Tag,
}

impl Opened<'_> {
    fn seen(&self) -> Seen<'_> {
        let Chain { sequence, links, .. } = self.chain;
        let chain = self.chain.name(self.seal);
        Seen { chain, sequence: *sequence, seal: self.seal, links }
    }
}

/// The part that one audit reads, and its records.
pub struct Night<'a> {
    args: &'a NightArgs,
    key: ManifestKey,
    opened: Opened<'a>,
    pin: Option<PinFile>,
    selection: Option<Selection>,
    /// The plan for each entry.
    pub plan: Plan,
}

impl<'a> Night<'a> {
    /// Checks the manifest against `--expect` and the pin, and decides what is read. `sizes` adds
    /// the positions and sizes of all files to a histogram.
    pub fn new(
        args: &'a NightArgs,
        raw: &RawKey,
        key: ManifestKey,
        opened: Opened<'a>,
        sizes: impl FnOnce(&Positions, &mut Histogram) -> Result<(), Error>,
    ) -> Result<Night<'a>, Error> {
        let (shown, seen, today) = (opened.shown, opened.seen(), Day::today());
        if let Some(expected) = &args.expect
            && **expected != *opened.seal.as_bytes()
        {
            let expected = base16ct::lower::encode_string(expected);
            let what = format_args!("{shown}: expected the seal {expected}, found {}", opened.seal);
            return Err(Error::mismatch(what));
        }
        let is_old = opened.chain.sequence == 0;
        if is_old && (args.pin.is_some() || args.ledger.is_some()) {
            let what = "the manifest has version 2, without a chain, which --pin and --ledger need";
            return Err(Error::usage(format_args!("{shown}: {what}; seal it again")));
        }
        if is_old {
            diagnostic(format_args!(
                "{shown}: the manifest has version 2; the next seal writes version 3"
            ));
        }
        let pin = args.pin.as_ref().map(|path| PinFile::open(path, &key)).transpose()?;
        if let Some(pin) = &pin {
            pin.check(shown, &seen)?;
        }
        let mut ledger = None;
        if let Some(path) = &args.ledger {
            let found = ledger::open(path, &key, &seen.chain, today)?;
            let found = found.unwrap_or_else(|| Ledger::new(seen.chain));
            if let Some(pin) = &pin {
                pin.check_ledger(Escaped::name(path), found.sequence)?;
            }
            ledger = Some(found);
        }
        let positions = Positions::new(raw);
        let request = match (args.subset, args.sample, args.max_bytes) {
            (Some((number, of)), ..) => Some(Request::Subset { number, of }),
            (_, Some(share), _) => Some(Request::Sample(share)),
            (.., Some(bytes)) => Some(Request::MaxBytes(bytes)),
            _ => None,
        };
        let mut selection = None;
        if let Some(request) = request {
            let mut histogram = Histogram::default();
            if args.max_bytes.is_some() {
                sizes(&positions, &mut histogram)?;
            }
            let order = match &ledger {
                Some(ledger) if args.oldest_first => Order::OldestFirst(ledger),
                _ => Order::From(random_start()?),
            };
            selection = Selection::new(request, order, &histogram);
        }
        let arcs = match &selection {
            _ if args.quick => Arcs::default(),
            Some(selection) => selection.arcs.clone(),
            None => Arcs::all(),
        };
        let plan = Plan { positions, arcs, ledger };
        Ok(Night { args, key, opened, pin, selection, plan })
    }

    /// Saves the ledger and the pin, and reports what was proven.
    pub fn finish(mut self, tally: &Tally, quiet: bool) -> Result<Proof, Error> {
        let today = Day::today();
        let mut sequence = 0;
        if let (Some(mut ledger), Some(path)) = (self.plan.ledger.take(), &self.args.ledger) {
            let unread = tally.exceptions.iter().copied();
            if ledger.record(&self.plan.arcs, today, unread).is_err() {
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
        let proof = Proof {
            files: tally.files,
            read: tally.read,
            bytes: tally.bytes,
            missed: missed(tally.files, tally.read, CHANGED),
            oldest: tally.oldest.filter(|_| !tally.unknown),
            sequence: seen.sequence,
        };
        if !quiet {
            self.tell(&proof, today);
        }
        Ok(proof)
    }

    /// Reports what was read and what that proves.
    fn tell(&self, proof: &Proof, today: Day) {
        let Proof { files, read, bytes, missed, oldest, .. } = *proof;
        if let Some(selection) = &self.selection {
            diagnostic(format_args!(
                "read {read} of {} ({}), {selection}: a change of {} files was missed with \
                 probability {missed:.2}",
                plural(files, "file", "files"),
                plural(bytes, "byte", "bytes"),
                CHANGED,
            ));
            let too_large = selection.too_large.entries;
            if too_large > 0 {
                diagnostic(format_args!(
                    "{}: not read, as they exceed --max-bytes",
                    plural(too_large, "file", "files")
                ));
            }
        }
        if self.args.quick {
            diagnostic("read no file: a change that keeps size and times is not seen");
        }
        if let (true, Some(oldest)) = (self.args.ledger.is_some(), oldest) {
            let days = i64::from(today.days()) - i64::from(oldest.days());
            let days = plural(days.max(0) as u64, "day", "days");
            diagnostic(format_args!("each file was last read on {oldest} or later: {days} ago"));
        }
    }
}
