//! The entries that a night reads: arcs of the circle of positions.

use std::fmt;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::position::{Arcs, length_of};

const BIN_BITS: u32 = 16;
/// The number of equal arcs in a histogram.
const BINS: usize = 1 << BIN_BITS;

/// The way in which entries were selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// All entries.
    All,
    /// One of `of` parts of the circle, counted from 1.
    Subset {
        /// The part.
        number: u64,
        /// The number of parts.
        of: u64,
    },
    /// A fraction of the circle, from 0 to 1.
    Sample(f64),
    /// Entries with at most this number of bytes in all.
    MaxBytes(u64),
}

/// The order in which arcs are taken until the sample or the budget is complete.
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
/// use tagmac_files::selection::{Histogram, Order, Selection};
///
/// let sizes: Histogram = (0..100u64).map(|i| (i << 57, 1000)).collect();
/// let selection = Selection::max_bytes(2500, Order::From(0), &sizes);
/// assert!(selection.arcs.contains(1 << 57) && !selection.arcs.contains(2 << 57));
/// assert_eq!(selection.selected.bytes, 2000);
/// assert_eq!(selection.to_string(), "at most 2500 bytes");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The arcs.
    pub arcs: Arcs,
    /// The way in which they were selected.
    pub method: Method,
    /// True if a ledger determined the order.
    pub oldest_first: bool,
    /// The selected entries of a histogram; zero without one.
    pub selected: Total,
    /// Entries of a histogram that are never selected, because their arc alone exceeds the budget.
    pub too_large: Total,
}

impl Selection {
    fn new(arcs: Arcs, method: Method, oldest_first: bool) -> Selection {
        let (selected, too_large) = (Total::default(), Total::default());
        Selection { arcs, method, oldest_first, selected, too_large }
    }

    /// Selects all entries.
    pub fn all() -> Selection {
        Selection::new(Arcs::all(), Method::All, false)
    }

    /// Selects part `number` of `of` parts, counted from 1. The parts are the same every night and
    /// together contain each entry once. Returns `None` if the part does not exist.
    pub fn subset(number: u64, of: u64) -> Option<Selection> {
        Some(Selection::new(Arcs::part(number, of)?, Method::Subset { number, of }, false))
    }

    /// Selects a fraction of the circle, rounded up.
    pub fn sample(fraction: f64, order: Order<'_>) -> Selection {
        let (arcs, oldest_first) = match order {
            Order::From(start) => (Arcs::from_start(start, fraction), false),
            Order::OldestFirst(ledger) => (ledger.oldest_arcs(length_of(fraction)), true),
        };
        Selection::new(arcs, Method::Sample(fraction), oldest_first)
    }

    /// Selects arcs of the histogram in order, until the next one does not fit into `max` bytes.
    pub fn max_bytes(max: u64, order: Order<'_>, histogram: &Histogram) -> Selection {
        let (order, oldest_first): (Vec<usize>, _) = match order {
            Order::From(start) => {
                let start = bin(start);
                ((0..BINS).map(|number| (start + number) % BINS).collect(), false)
            }
            Order::OldestFirst(ledger) => (ledger.oldest_bins(BIN_BITS), true),
        };
        let [mut selected, mut too_large] = [Total::default(); 2];
        let mut ranges = Vec::new();
        let mut full = false;
        for number in order {
            let bin = histogram.bins[number];
            // Not the end: the arcs after this one would never be read.
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
        let arcs = Arcs::from_ranges(ranges);
        Selection { arcs, method: Method::MaxBytes(max), oldest_first, selected, too_large }
    }
}

/// Describes the selection, as in "part 3 of 7".
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.method {
            Method::All => f.write_str("all entries"),
            Method::Subset { number, of } => write!(f, "part {number} of {of}"),
            Method::Sample(fraction) => {
                // Without the last digits, which may be those of a rounding error.
                write!(f, "a sample of {}%", (fraction * 1e11).round() / 1e9)
            }
            Method::MaxBytes(max) => write!(f, "at most {max} bytes"),
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
                let found = Selection::max_bytes(max, order, &histogram);
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
            let found = Selection::max_bytes(max, Order::OldestFirst(&ledger), &histogram);
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
            let found = Selection::max_bytes(1000, Order::OldestFirst(&ledger), &histogram);
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
        let found = Selection::max_bytes(100, Order::From(0), &histogram);
        assert_eq!(found.selected, Total { entries: 2, bytes: 100 });
        assert_eq!(found.too_large, Total { entries: 1, bytes: 101 });
        assert_eq!(found.arcs.ranges(), [(0, at(2) - 1), (at(3), at(4) - 1)]);
        // From the middle of the circle, and around its end.
        let found = Selection::max_bytes(51, Order::From(at(4) + 7), &histogram);
        assert_eq!(found.arcs.ranges(), [(0, at(2) - 1), (at(4), u64::MAX)]);
        let found = Selection::max_bytes(0, Order::From(0), &histogram);
        assert_eq!(found.arcs.ranges(), [(0, at(1) - 1), (at(5), u64::MAX)]);
    }

    #[test]
    fn a_selection_is_described() {
        let ledger = ledger(&[]);
        let (from, oldest) = (Order::From(7), Order::OldestFirst(&ledger));
        let none = &Histogram::default();
        for (selection, expected) in [
            (Selection::all(), "all entries"),
            (Selection::subset(3, 7).unwrap(), "part 3 of 7"),
            (Selection::sample(0.07, from), "a sample of 7%"),
            (Selection::sample(0.005, oldest), "a sample of 0.5%, oldest first"),
            (Selection::max_bytes(5, from, none), "at most 5 bytes"),
            (Selection::max_bytes(5, oldest, none), "at most 5 bytes, oldest first"),
        ] {
            assert_eq!(selection.to_string(), expected);
        }
        assert_eq!(Selection::subset(8, 7), None);
    }
}
