//! The entries that a night reads: arcs of the circle of positions.

use std::fmt;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::position::{Arcs, length_of};

const BIN_BITS: u32 = 16;
/// The number of equal arcs in a histogram.
const BINS: usize = 1 << BIN_BITS;

/// The way to select entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request {
    /// All entries.
    All,
    /// Part `number` of `of` parts, from 1. The parts are the same in every night and together
    /// contain each entry once.
    Subset {
        /// The part.
        number: u64,
        /// The number of parts.
        of: u64,
    },
    /// A fraction of the circle, from 0 to 1.
    Sample(f64),
    /// Entries with at most this number of bytes in all. Needs a [`Histogram`].
    MaxBytes(u64),
}

/// The place where a sample or a budget begins. A subset ignores it.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// From a position on.
    From(u64),
    /// Where the ledger is oldest, arc by arc.
    OldestFirst(&'a Ledger),
}

/// The arcs to read, and how they were selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The arcs.
    pub arcs: Arcs,
    /// The request.
    pub request: Request,
    /// True if the order was that of a ledger.
    pub oldest_first: bool,
    /// Entries that are left out because their arc of the histogram alone exceeds the budget.
    pub too_large: Total,
}

/// A number of entries, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// The entries.
    pub entries: u64,
    /// The sum of their sizes.
    pub bytes: u64,
}

impl Total {
    fn add(&mut self, other: Total) {
        self.entries += other.entries;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Returns a random position.
pub fn random_start() -> Result<u64, Error> {
    getrandom::u64().map_err(|_| Error::io(tagmac::Error::NoRandomBytes))
}

impl Selection {
    /// Selects arcs. `histogram` is used for [`Request::MaxBytes`] only. Returns `None` if the
    /// request is for a part that does not exist.
    pub fn new(request: Request, order: Order<'_>, histogram: &Histogram) -> Option<Selection> {
        let mut too_large = Total::default();
        let arcs = match (request, order) {
            (Request::All, _) => Arcs::all(),
            (Request::Subset { number, of }, _) => Arcs::part(number, of)?,
            (Request::Sample(fraction), Order::From(start)) => Arcs::from_start(start, fraction),
            (Request::Sample(fraction), Order::OldestFirst(ledger)) => {
                ledger.oldest_arcs(length_of(fraction))
            }
            (Request::MaxBytes(max), Order::From(start)) => {
                let start = bin(start);
                let bins = (0..BINS).map(|number| (start + number) % BINS);
                histogram.first(bins, max, &mut too_large)
            }
            (Request::MaxBytes(max), Order::OldestFirst(ledger)) => {
                histogram.first(ledger.oldest_bins(BIN_BITS), max, &mut too_large)
            }
        };
        let sampled = matches!(request, Request::Sample(_) | Request::MaxBytes(_));
        let oldest_first = sampled && matches!(order, Order::OldestFirst(_));
        Some(Selection { arcs, request, oldest_first, too_large })
    }
}

/// Describes the selection, as in "part 3 of 7".
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.request {
            Request::All => f.write_str("all entries"),
            Request::Subset { number, of } => write!(f, "part {number} of {of}"),
            Request::Sample(fraction) => write!(f, "a sample of {}%", 100.0 * fraction),
            Request::MaxBytes(max) => write!(f, "at most {max} bytes"),
        }?;
        f.write_str(if self.oldest_first { ", oldest first" } else { "" })
    }
}

/// The entries and bytes in each of 65,536 equal arcs of the circle.
///
/// ```
/// use tagmac_files::selection::Histogram;
///
/// let sizes = [(0, 100), (1 << 63, 200)];
/// let mut histogram: Histogram = sizes.into_iter().collect();
/// histogram.add(1, 300);
/// assert_eq!(histogram.total().bytes, 600);
/// ```
#[derive(Clone, Debug)]
pub struct Histogram {
    bins: Vec<Total>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { bins: vec![Total::default(); BINS] }
    }
}

fn bin(position: u64) -> usize {
    (position >> (64 - BIN_BITS)) as usize
}

impl Histogram {
    /// Adds an entry.
    pub fn add(&mut self, position: u64, bytes: u64) {
        self.bins[bin(position)].add(Total { entries: 1, bytes });
    }

    /// Returns the totals of all arcs.
    pub fn total(&self) -> Total {
        let mut total = Total::default();
        self.bins.iter().for_each(|bin| total.add(*bin));
        total
    }

    /// Takes arcs in order until the next one does not fit into `max` bytes. Arcs that alone exceed
    /// `max` are left out and added to `too_large`.
    fn first(
        &self,
        order: impl IntoIterator<Item = usize>,
        max: u64,
        too_large: &mut Total,
    ) -> Arcs {
        let mut left = max;
        let mut taken = Vec::new();
        let mut full = false;
        for number in order {
            let bin = self.bins[number];
            if bin.bytes > max {
                too_large.add(bin);
                continue;
            }
            full = full || bin.bytes > left;
            if !full {
                left -= bin.bytes;
                let first = (number as u64) << (64 - BIN_BITS);
                taken.push((first, first | (u64::MAX >> BIN_BITS)));
            }
        }
        Arcs::from_ranges(taken)
    }
}

impl Extend<(u64, u64)> for Histogram {
    fn extend<I: IntoIterator<Item = (u64, u64)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(position, bytes)| self.add(position, bytes));
    }
}

/// Collects positions and sizes in bytes.
impl FromIterator<(u64, u64)> for Histogram {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(entries: I) -> Histogram {
        let mut histogram = Histogram::default();
        histogram.extend(entries);
        histogram
    }
}
