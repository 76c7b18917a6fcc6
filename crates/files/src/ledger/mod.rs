//! The ledger of a chain of manifests: when each part of the circle of positions was last read.
//! `docs/formats/ledger.md` specifies the format.
//!
//! A ledger maps every position to a day: `day(p) = arcs(p)`, a step function, or the older day of
//! an exception at `p`. Its size therefore depends on the nights that were recorded and not on the
//! number of entries. Ledgers form a lattice: [`Ledger::merge`] takes the later day at each position,
//! and to record a night is to merge a ledger that contains only this night.

mod compact;
mod file;
mod oldest;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod text;

use std::collections::BTreeMap;
use std::fmt;

use tagmac::Tag;

use crate::day::Day;
use crate::position::Arcs;

pub use file::{open, save};

/// Maximum number of arcs.
pub const MAX_ARCS: usize = 65_536;
/// Maximum number of exceptions.
pub const MAX_EXCEPTIONS: usize = 10_000;

/// The days on which positions were last read; `None` is never.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The chain's name: the seal of its first manifest.
    pub chain: Tag,
    /// The number of saves so far.
    pub sequence: u64,
    /// The first position of each arc, ascending from 0, and its day. Neighbours differ.
    arcs: Vec<(u64, Option<Day>)>,
    /// Positions that were last read before the arc that contains them.
    exceptions: BTreeMap<u64, Option<Day>>,
}

impl Ledger {
    /// A ledger in which nothing was read.
    pub fn new(chain: Tag) -> Ledger {
        Ledger { chain, sequence: 0, arcs: vec![(0, None)], exceptions: BTreeMap::new() }
    }

    /// Returns the day on which the entry at `position` was last read.
    pub fn day_at(&self, position: u64) -> Option<Day> {
        match self.exceptions.get(&position) {
            Some(day) => *day,
            None => self.arc_day(position),
        }
    }

    /// Returns the day of the arc that contains `position`.
    fn arc_day(&self, position: u64) -> Option<Day> {
        let after = self.arcs.partition_point(|(start, _)| *start <= position);
        self.arcs[after - 1].1
    }

    /// Returns the latest day in the ledger.
    pub fn latest(&self) -> Option<Day> {
        self.arcs.iter().filter_map(|(_, day)| *day).max()
    }

    /// Returns each arc with its first and last position and its day, ascending.
    pub fn arcs(&self) -> impl Iterator<Item = (u64, u64, Option<Day>)> {
        let ends = self.arcs.iter().skip(1).map(|(start, _)| start - 1).chain([u64::MAX]);
        self.arcs.iter().zip(ends).map(|((start, day), last)| (*start, last, *day))
    }

    /// Returns the number of positions that keep an older day than their arc.
    pub fn exceptions(&self) -> usize {
        self.exceptions.len()
    }

    /// Records that the entries in `arcs` were read on `day`, apart from those at the positions
    /// `unread`, which keep their days. Fails, and records nothing, if too many positions would keep
    /// older days than their arcs.
    pub fn record(
        &mut self,
        arcs: &Arcs,
        day: Day,
        unread: impl IntoIterator<Item = u64>,
    ) -> Result<(), TooManyExceptions> {
        let mut night = Ledger::new(self.chain);
        for &(first, last) in arcs.ranges() {
            compact::push(&mut night.arcs, first, Some(day));
            if let Some(after) = last.checked_add(1) {
                compact::push(&mut night.arcs, after, None);
            }
        }
        let unread = unread.into_iter().filter(|position| arcs.contains(*position));
        for position in unread {
            night.exceptions.insert(position, None);
            if night.exceptions.len() > MAX_EXCEPTIONS {
                return Err(TooManyExceptions);
            }
        }
        self.merge(&night)
    }

    /// Takes the later day of both ledgers at each position. Both must be of one chain. Fails, and
    /// changes nothing, if too many positions would keep older days than their arcs.
    pub fn merge(&mut self, other: &Ledger) -> Result<(), TooManyExceptions> {
        assert_eq!(self.chain, other.chain, "ledgers of one chain");
        let mut arcs = Vec::with_capacity(self.arcs.len() + other.arcs.len());
        let (mut left, mut right) = (&self.arcs[..], &other.arcs[..]);
        let (mut left_day, mut right_day) = (None, None);
        loop {
            let next = left.first().into_iter().chain(right.first()).map(|arc| arc.0).min();
            let Some(start) = next else { break };
            for (rest, day) in [(&mut left, &mut left_day), (&mut right, &mut right_day)] {
                if let [(first, found), after @ ..] = *rest
                    && *first == start
                {
                    (*day, *rest) = (*found, after);
                }
            }
            compact::push(&mut arcs, start, left_day.max(right_day));
        }
        let positions = self.exceptions.keys().chain(other.exceptions.keys());
        let exceptions = positions.map(|&at| (at, self.day_at(at).max(other.day_at(at)))).collect();
        let mut merged = Ledger {
            chain: self.chain,
            sequence: self.sequence.max(other.sequence),
            arcs: compact::compacted(arcs, MAX_ARCS),
            exceptions,
        };
        merged.drop_needless();
        if merged.exceptions.len() > MAX_EXCEPTIONS {
            return Err(TooManyExceptions);
        }
        *self = merged;
        Ok(())
    }

    /// Drops exceptions that are not older than their arcs.
    fn drop_needless(&mut self) {
        let mut exceptions = std::mem::take(&mut self.exceptions);
        exceptions.retain(|position, day| *day < self.arc_day(*position));
        self.exceptions = exceptions;
    }
}

/// More than [`MAX_EXCEPTIONS`] entries could not be read, or kept older days than their arcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyExceptions;

impl fmt::Display for TooManyExceptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "more than {MAX_EXCEPTIONS} entries could not be read: nothing is recorded of this night"
        )
    }
}

impl std::error::Error for TooManyExceptions {}
