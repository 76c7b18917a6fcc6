//! The parts of the circle that were read longest ago.
//!
//! The days are those of the arcs. An exception does not make its arc older: an entry that can never
//! be read would otherwise cause its neighbours to be read every night.

use crate::day::Day;
use crate::ledger::Ledger;
use crate::position::Arcs;

impl Ledger {
    /// Returns the `length` positions that were read longest ago. Arcs of one day are taken in
    /// order of position, and the last arc is cut.
    pub fn oldest_arcs(&self, length: u128) -> Arcs {
        let mut arcs: Vec<(Option<Day>, u64, u64)> =
            self.arcs().map(|(first, last, day)| (day, first, last)).collect();
        arcs.sort_unstable();
        let mut rest = length;
        let mut ranges = Vec::new();
        for (_, first, last) in arcs {
            let taken = rest.min(u128::from(last - first) + 1);
            if taken == 0 {
                break;
            }
            rest -= taken;
            ranges.push((first, first + (taken - 1) as u64));
        }
        Arcs::from_ranges(ranges)
    }

    /// Returns the numbers of the 2^`bits` equal parts of the circle, in the order of the oldest day
    /// in each, and then of their positions.
    pub(crate) fn oldest_bins(&self, bits: u32) -> Vec<usize> {
        let mut oldest = vec![Some(Day::MAX); 1 << bits];
        for (first, last, day) in self.arcs() {
            let [first, last] = [first, last].map(|position| (position >> (64 - bits)) as usize);
            for bin in &mut oldest[first..=last] {
                *bin = day.min(*bin);
            }
        }
        let mut bins: Vec<usize> = (0..1 << bits).collect();
        bins.sort_by_key(|bin| oldest[*bin]);
        bins
    }
}
