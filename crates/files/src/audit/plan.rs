//! The part that an audit reads, and the count of what it has read.

use std::collections::BTreeMap;

use crate::audit::Status;
use crate::day::Day;
use crate::leaves::content::Contents;
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
    /// If it is set, of files with leaf tags only the leaves with positions in the arcs are read.
    pub leaves: Option<LeafPlan>,
}

/// The leaves that an audit may read.
pub struct LeafPlan {
    /// The sealed contents.
    pub contents: Contents,
    /// Determines the positions of the leaves: random, for this audit only.
    pub start: u64,
}

/// The leaves of a file, and those that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafCount {
    /// The number of leaves. A file without leaf tags is one leaf.
    pub of: u64,
    /// The number of those that were read.
    pub read: u64,
    /// The sum of their lengths in bytes.
    pub bytes: u64,
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
    /// Its leaves, if leaves are sampled.
    pub leaves: Option<LeafCount>,
}

impl Turn {
    /// Returns the leaves of a file with leaf tags, if leaves are sampled.
    pub(crate) fn sampled(&mut self) -> Option<&mut LeafCount> {
        self.leaves.as_mut().filter(|leaves| leaves.of > 1)
    }
}

/// Receives the name of an entry, the word for its kind, and the verdict on it. For a sealed file or
/// object that was found under its name, also its position and the day on which it was last read.
pub type Put<'a> = dyn FnMut(&[u8], &'static str, Status<'_>, Option<Turn>) + 'a;

impl Plan {
    /// A plan to read everything, without a ledger.
    pub fn all(positions: Positions) -> Plan {
        Plan { positions, arcs: Arcs::all(), ledger: None, leaves: None }
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
        let leaves = self.leaves.as_ref().map(|leaves| LeafCount {
            of: leaves.contents.leaves().count_for(bytes).max(1),
            ..LeafCount::default()
        });
        let mut turn = Turn { read: false, position, last: sealed.max(audited), bytes, leaves };
        turn.read = turn.sampled().is_none() && (is_all || self.arcs.contains(position));
        turn
    }

    /// Returns the numbers of the leaves to read, of `count` leaves of a file, in the audit with this
    /// `start`.
    pub(crate) fn chosen(
        &self,
        start: u64,
        name: &[u8],
        count: u64,
    ) -> impl Iterator<Item = u64> + use<'_> {
        let positions = self.positions.of_leaves(start, name);
        (0..count).filter(move |number| self.arcs.contains(positions.of(*number)))
    }
}

/// Counts of what an audit has read.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of sealed files or objects that were found.
    pub files: u64,
    /// The number of those in the plan's arcs that are unchanged or changed.
    pub read: u64,
    /// Their total size in bytes, with that of single leaves that were read.
    pub bytes: u64,
    /// The number of leaves of all files, if leaves are sampled.
    pub leaves: u64,
    /// The number of leaves that were read.
    pub leaves_read: u64,
    /// The number of files by the day on which each was last read; `None` is an unknown day.
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
            self.leaves_read += u64::from(turn.leaves.is_some());
        }
        let LeafCount { of, read, bytes } = turn.leaves.unwrap_or_default();
        self.leaves += of;
        self.leaves_read += read;
        self.bytes += bytes;
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
    use crate::proof::missed;
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
                    let plan = Plan { positions, arcs: part.arcs, ledger: None, leaves: None };
                    for name in names.iter().filter(|name| plan.turn(name, 1, None).read) {
                        prop_assert_eq!(parts.insert(name, number), None);
                    }
                }
                prop_assert_eq!(parts.len(), names.len());
            }
        }
    }

    fn plan(start: u64, share: f64) -> Plan {
        let algorithm = Algorithm::from_name("PMAC-AES128").unwrap();
        let raw = RawKey { algorithm, bytes: vec![7; 16].into() };
        let arcs = Arcs::from_start(start, share);
        Plan { arcs, ..Plan::all(Positions::new(&raw)) }
    }

    /// Starts that look random.
    fn starts(count: u64) -> impl Iterator<Item = u64> {
        (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[test]
    fn each_leaf_is_chosen_as_often_as_the_others() {
        let (audits, share) = (1000, 0.1);
        let mut chosen = [[0u32; 40]; 2];
        for start in starts(audits) {
            let plan = plan(start, share);
            for (counts, name) in chosen.iter_mut().zip([b"a", b"b"]) {
                plan.chosen(start, name, 40).for_each(|leaf| counts[leaf as usize] += 1);
            }
        }
        // 100 of 1000 audits, with a standard deviation of 9.5.
        assert!(chosen.iter().flatten().all(|count| (60..=140).contains(count)), "{chosen:?}");
        let all = plan(5, 1.0);
        assert!(all.chosen(5, b"a", 40).eq(0..40));
        assert_eq!(plan(5, 0.0).chosen(5, b"a", 40).count(), 0);
    }

    /// Leaves that one audit reads together are not read together by the next one: an attacker who
    /// watches learns nothing.
    #[test]
    fn what_one_audit_chose_says_nothing_about_the_next() {
        let first: Vec<u64> = plan(1, 0.1).chosen(1, b"a", 1000).collect();
        let together = starts(200).map(|start| {
            let plan = plan(start, 0.1);
            plan.chosen(start, b"a", 1000).filter(|leaf| first.contains(leaf)).count()
        });
        // A tenth of the leaves of the first.
        let most = together.max().unwrap();
        assert!(most < first.len() * 3 / 10, "{most} of {}", first.len());
    }

    /// 4 of 60 leaves are damaged, in one file or in all three. The number of audits that miss all of
    /// them is near the sum of the probabilities.
    #[test]
    fn audits_miss_damaged_leaves_as_often_as_the_formula_says() {
        let names: [&[u8]; 3] = [b"a", b"b", b"c"];
        for damaged in [[(0, 3), (0, 4), (0, 5), (0, 19)], [(0, 0), (1, 0), (1, 9), (2, 19)]] {
            let (mut found, mut expected, mut variance) = (0.0, 0.0, 0.0);
            for start in starts(3000) {
                let plan = plan(start, 0.2);
                let read: Vec<(usize, u64)> = (0..3)
                    .flat_map(|file| {
                        plan.chosen(start, names[file], 20).map(move |leaf| (file, leaf))
                    })
                    .collect();
                let probability = missed(60, read.len() as u64, 4);
                expected += probability;
                variance += probability * (1.0 - probability);
                found += f64::from(!damaged.iter().any(|leaf| read.contains(leaf)));
            }
            let deviations = (found - expected) / f64::sqrt(variance);
            assert!(deviations.abs() < 3.0, "found {found}, expected {expected}");
        }
    }
}
