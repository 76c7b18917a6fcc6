//! The part that an audit reads, and the count of what it has read.

use std::collections::BTreeMap;

use crate::audit::Status;
use crate::day::Day;
use crate::ledger::Ledger;
use crate::position::{Arcs, Positions};

/// The part that an audit reads: the files and objects with positions in arcs of the circle. Of
/// the others it compares the metadata.
pub struct Plan {
    /// Computes positions.
    pub positions: Positions,
    /// The arcs to read.
    pub arcs: Arcs,
    /// When each arc was last read.
    pub ledger: Option<Ledger>,
}

/// The plan for one entry.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// True if it must be read.
    pub read: bool,
    /// Its position; 0 if everything is read and nobody keeps a ledger.
    pub position: u64,
    /// The day on which it was last read, as far as it is known.
    pub last: Option<Day>,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Receives the name of an entry, the word for its kind, and the verdict on it. For a sealed file or
/// object that was found under its name, also its position and the day on which it was last read.
pub type Put<'a> = dyn FnMut(&[u8], &'static str, Status<'_>, Option<Turn>) + 'a;

impl Plan {
    /// A plan to read everything, without a ledger.
    pub fn all(positions: Positions) -> Plan {
        Plan { positions, arcs: Arcs::all(), ledger: None }
    }

    /// Returns whether everything is read.
    pub fn is_all(&self) -> bool {
        self.arcs == Arcs::all()
    }

    /// Returns the plan for an entry that a seal read on the day `sealed`.
    pub fn turn(&self, name: &[u8], bytes: u64, sealed: Option<Day>) -> Turn {
        let is_all = self.is_all();
        let needed = !is_all || self.ledger.is_some();
        let position = if needed { self.positions.of(name) } else { 0 };
        let audited = self.ledger.as_ref().and_then(|ledger| ledger.day_at(position));
        let read = is_all || self.arcs.contains(position);
        Turn { read, position, last: sealed.max(audited), bytes }
    }
}

/// Counts of what an audit has read.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of sealed files or objects that were found.
    pub files: u64,
    /// The number of those in the plan's arcs that are unchanged or changed.
    pub read: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The number of those by the day on which each was last read; `None` is an unknown day.
    pub last_read: BTreeMap<Option<Day>, u64>,
    /// The positions of sealed files in the plan's arcs that were not read and found unchanged.
    pub exceptions: Vec<u64>,
}

impl Tally {
    /// Adds the verdict on a sealed file that was found. Returns its turn with the day on which it
    /// was last read, now included.
    pub fn add(&mut self, turn: Turn, status: &Status<'_>, today: Day) -> Turn {
        self.files += 1;
        let is_unchanged = turn.read && matches!(status, Status::Unchanged);
        if is_unchanged || turn.read && matches!(status, Status::Changed(_)) {
            self.read += 1;
            self.bytes += turn.bytes;
        }
        if turn.read && !is_unchanged {
            self.exceptions.push(turn.position);
        }
        let last = if is_unchanged { Some(today) } else { turn.last };
        *self.last_read.entry(last).or_default() += 1;
        Turn { last, ..turn }
    }

    /// Returns the earliest day on which one of the files was last read; `None` without files, or
    /// if it is unknown for some.
    pub fn oldest(&self) -> Option<Day> {
        *self.last_read.first_key_value()?.0
    }

    /// Adds a sealed file that is missing.
    pub fn add_missing(&mut self, turn: Turn) {
        self.exceptions.extend(turn.read.then_some(turn.position));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tagmac_any::Algorithm;

    use super::*;
    use crate::raw_key::RawKey;
    use crate::selection::{Histogram, Order, Request, Selection};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn each_entry_is_read_in_exactly_one_part(
            key in any::<[u8; 16]>(),
            start in any::<u64>(),
            names in proptest::collection::btree_set(
                proptest::collection::vec(any::<u8>(), 1..40),
                1..60,
            ),
        ) {
            let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
            let raw = RawKey { algorithm, bytes: key.to_vec().into() };
            let histogram = Histogram::default();
            for of in [1, 2, 3, 7, 30, 1000] {
                let mut parts = BTreeMap::new();
                for number in 1..=of {
                    let request = Request::Subset { number, of };
                    let part = Selection::new(request, Order::From(start), &histogram).unwrap();
                    let positions = Positions::new(&raw);
                    let plan = Plan { positions, arcs: part.arcs, ledger: None };
                    for name in names.iter().filter(|name| plan.turn(name, 1, None).read) {
                        prop_assert_eq!(parts.insert(name, number), None);
                    }
                }
                prop_assert_eq!(parts.len(), names.len());
            }
        }
    }
}
