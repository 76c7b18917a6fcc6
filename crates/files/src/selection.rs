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
    /// Part `number` of `of` parts, counted from 1. The parts are the same every night and together
    /// contain each entry once.
    Subset {
        /// The part.
        number: u64,
        /// The number of parts.
        of: u64,
    },
    /// A fraction of the circle, from 0 to 1, rounded up.
    Sample(f64),
    /// A fraction of the leaves of each file, and of the files without leaves, from 0 to 1.
    SampleLeaves(f64),
    /// Arcs of a [`Histogram`], until the next one does not fit into this number of bytes.
    MaxBytes(u64),
}

/// The order in which arcs are taken until the sample or the budget is complete. Subsets ignore it.
#[derive(Clone, Copy, Debug)]
pub enum Order<'a> {
    /// From a position on.
    From(u64),
    /// Where the ledger is oldest, arc by arc.
    OldestFirst(&'a Ledger),
}

/// Returns a random position, for [`Order::From`].
pub fn random_start() -> Result<u64, Error> {
    getrandom::u64().map_err(|_| Error::io(tagmac::Error::NoRandomBytes))
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

/// The arcs to read, and how they were selected.
///
/// ```
/// use tagmac_files::selection::{Histogram, Order, Request, Selection};
///
/// let sizes: Histogram = (0..100u64).map(|i| (i << 57, 1000)).collect();
/// let request = Request::MaxBytes(2500);
/// let selection = Selection::new(request, Order::From(0), &sizes).unwrap();
/// assert!(selection.arcs.contains(1 << 57) && !selection.arcs.contains(2 << 57));
/// assert_eq!(selection.selected.bytes, 2000);
/// assert_eq!(selection.to_string(), "at most 2500 bytes");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The arcs.
    pub arcs: Arcs,
    /// The request.
    pub request: Request,
    /// True if a ledger determined the order.
    pub oldest_first: bool,
    /// The selected entries of a histogram; zero without one.
    pub selected: Total,
    /// Entries of a histogram that are never selected, because their arc alone exceeds the budget.
    pub too_large: Total,
}

impl Selection {
    /// Selects arcs. The histogram matters for [`Request::MaxBytes`] only. Returns `None` if the
    /// request is for a part that does not exist, or for leaves in the order of a ledger.
    pub fn new(request: Request, order: Order<'_>, histogram: &Histogram) -> Option<Selection> {
        let [mut selected, mut too_large] = [Total::default(); 2];
        let arcs = match (request, order) {
            (Request::All, _) => Arcs::all(),
            (Request::Subset { number, of }, _) => Arcs::part(number, of)?,
            (Request::Sample(fraction), Order::From(start))
            | (Request::SampleLeaves(fraction), Order::From(start)) => {
                Arcs::from_start(start, fraction)
            }
            // No ledger has leaves.
            (Request::SampleLeaves(_), Order::OldestFirst(_)) => return None,
            (Request::Sample(fraction), Order::OldestFirst(ledger)) => {
                ledger.oldest_arcs(length_of(fraction))
            }
            (Request::MaxBytes(max), order) => {
                let bins = histogram.first(order, max);
                (selected, too_large) = (bins.selected, bins.too_large);
                bins.arcs
            }
        };
        let sampled = matches!(request, Request::Sample(_) | Request::MaxBytes(_));
        let oldest_first = sampled && matches!(order, Order::OldestFirst(_));
        Some(Selection { arcs, request, oldest_first, selected, too_large })
    }
}

/// Describes the selection, as in "part 3 of 7".
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.request {
            Request::All => f.write_str("all entries"),
            Request::Subset { number, of } => write!(f, "part {number} of {of}"),
            // Without the last digits, which may be those of a rounding error.
            Request::Sample(fraction) => {
                write!(f, "a sample of {}%", (fraction * 1e11).round() / 1e9)
            }
            Request::SampleLeaves(fraction) => {
                write!(f, "a sample of {}% of the leaves", (fraction * 1e11).round() / 1e9)
            }
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
    /// `max` are left out.
    fn first(&self, order: Order<'_>, max: u64) -> Fitting {
        let order: Vec<usize> = match order {
            Order::From(start) => {
                let start = bin(start);
                (0..BINS).map(|number| (start + number) % BINS).collect()
            }
            Order::OldestFirst(ledger) => ledger.oldest_bins(BIN_BITS),
        };
        let [mut selected, mut too_large] = [Total::default(); 2];
        let mut ranges = Vec::new();
        let mut full = false;
        for number in order {
            let bin = self.bins[number];
            // It does not end the selection: the arcs after it would never be read.
            if bin.bytes > max {
                too_large.add(bin);
                continue;
            }
            full = full || bin.bytes > max - selected.bytes;
            if !full {
                selected.add(bin);
                let first = (number as u64) << (64 - BIN_BITS);
                ranges.push((first, first | (u64::MAX >> BIN_BITS)));
            }
        }
        Fitting { arcs: Arcs::from_ranges(ranges), selected, too_large }
    }
}

/// Arcs of a histogram that fit into a budget.
struct Fitting {
    arcs: Arcs,
    selected: Total,
    too_large: Total,
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tagmac::Tag;

    use super::*;
    use crate::day::Day;

    fn ledger(nights: &[(u64, u64, i32)]) -> Ledger {
        let mut ledger = Ledger::new(Tag::try_from(&[7; 32][..]).unwrap());
        for &(start, length, day) in nights {
            let arcs = Arcs::arc(start, length.into());
            ledger.record(&arcs, Day::from_days(day).unwrap(), []).unwrap();
        }
        ledger
    }

    fn max_bytes(max: u64, order: Order<'_>, histogram: &Histogram) -> Selection {
        Selection::new(Request::MaxBytes(max), order, histogram).unwrap()
    }

    fn entries() -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((any::<u64>(), 0..1000u64), 0..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_budget_is_kept(
            entries in entries(),
            max in 0..20_000u64,
            start: u64,
            nights in proptest::collection::vec((any::<u64>(), any::<u64>(), 0..9i32), 0..9),
        ) {
            let histogram: Histogram = entries.iter().copied().collect();
            let ledger = ledger(&nights);
            for order in [Order::From(start), Order::OldestFirst(&ledger)] {
                let found = max_bytes(max, order, &histogram);
                let inside = entries.iter().filter(|(at, _)| found.arcs.contains(*at));
                let (count, bytes) = inside.fold((0, 0), |sum, (_, bytes)| (sum.0 + 1, sum.1 + bytes));
                prop_assert!(bytes <= max);
                prop_assert_eq!(found.selected, Total { entries: count, bytes });
                // Everything is selected if it fits.
                let rest = histogram.total().bytes - found.too_large.bytes;
                prop_assert_eq!(rest <= max, found.selected.bytes == rest && {
                    let left = histogram.total().entries - found.too_large.entries;
                    found.selected.entries == left
                });
            }
        }

        #[test]
        fn what_was_not_read_comes_before_what_was(
            entries in entries(),
            max in 1000..20_000u64,
            read in 1..(BINS as u64),
        ) {
            let histogram: Histogram = entries.iter().copied().collect();
            let ledger = ledger(&[(0, read << 48, 7)]);
            let found = max_bytes(max, Order::OldestFirst(&ledger), &histogram);
            let has = |old: bool| entries.iter().any(|(at, _)| {
                found.arcs.contains(*at) && (bin(*at) as u64 >= read) == old
            });
            let left_out = entries.iter().any(|(at, _)| {
                let too_large = histogram.bins[bin(*at)].bytes > max;
                !too_large && bin(*at) as u64 >= read && !found.arcs.contains(*at)
            });
            prop_assert!(!(has(false) && left_out), "a new one and not an old one");
        }
    }

    #[test]
    fn nights_within_a_budget_read_everything_in_turn() {
        let mut histogram: Histogram = (0..1000u64).map(|i| (i * (u64::MAX / 1000), 10)).collect();
        histogram.add(1 << 63, 2000);
        let mut ledger = ledger(&[]);
        for day in 1..=10 {
            let found = max_bytes(1000, Order::OldestFirst(&ledger), &histogram);
            assert!(found.selected.bytes <= 1000);
            assert_eq!(found.too_large.entries, 1);
            ledger.record(&found.arcs, Day::from_days(day).unwrap(), []).unwrap();
        }
        let never = ledger.arcs().filter(|(_, _, day)| day.is_none());
        let never: Vec<_> = never.map(|(first, last, _)| (first, last)).collect();
        assert_eq!(never, [(1 << 63, (1 << 63) + (1 << 48) - 1)]);
    }

    #[test]
    fn arcs_that_do_not_fit_end_the_selection_and_those_that_never_fit_do_not() {
        let at = |bin: u64| bin << 48;
        let histogram: Histogram =
            [(at(1), 50), (at(2), 101), (at(3), 50), (at(4), 1)].into_iter().collect();
        let found = max_bytes(100, Order::From(0), &histogram);
        assert_eq!(found.selected, Total { entries: 2, bytes: 100 });
        assert_eq!(found.too_large, Total { entries: 1, bytes: 101 });
        assert_eq!(found.arcs.ranges(), [(0, at(2) - 1), (at(3), at(4) - 1)]);
        // From the middle of the circle, and around its end.
        let found = max_bytes(51, Order::From(at(4) + 7), &histogram);
        assert_eq!(found.arcs.ranges(), [(0, at(2) - 1), (at(4), u64::MAX)]);
        let found = max_bytes(0, Order::From(0), &histogram);
        assert_eq!(found.arcs.ranges(), [(0, at(1) - 1), (at(5), u64::MAX)]);
    }

    #[test]
    fn a_selection_is_described() {
        let ledger = ledger(&[]);
        let (from, oldest) = (Order::From(7), Order::OldestFirst(&ledger));
        let none = &Histogram::default();
        let new = |request, order| Selection::new(request, order, none).unwrap();
        for (selection, expected) in [
            (new(Request::All, from), "all entries"),
            (new(Request::Subset { number: 3, of: 7 }, oldest), "part 3 of 7"),
            (new(Request::Sample(0.07), from), "a sample of 7%"),
            (new(Request::Sample(0.005), oldest), "a sample of 0.5%, oldest first"),
            (new(Request::SampleLeaves(0.07), from), "a sample of 7% of the leaves"),
            (max_bytes(5, from, none), "at most 5 bytes"),
            (max_bytes(5, oldest, none), "at most 5 bytes, oldest first"),
        ] {
            assert_eq!(selection.to_string(), expected);
        }
        assert_eq!(Selection::new(Request::Subset { number: 8, of: 7 }, from, none), None);
        assert_eq!(Selection::new(Request::SampleLeaves(0.07), oldest, none), None);
    }
}
