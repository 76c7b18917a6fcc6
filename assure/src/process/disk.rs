//! States of a disk after a power cut: a weak model of a file system.
//!
//! For the operations of a run, recorded by `history`, the model promises as little as POSIX:
//!
//! - Written bytes are safe once their file was synced. Until then each write may be present,
//!   missing or partial: up to some byte, or in some sectors of 512 bytes. If it made the file
//!   longer, the new length may be present without the bytes, which are then zeros.
//! - A created, moved or removed name is safe once its folder was synced. Until then each such
//!   change may be present or missing, in any order and regardless of the bytes. A rename may leave
//!   the old name in place too. The contents of a folder that lost its own name are lost.
//! - Syncing a file does not sync its names, and syncing a folder does not sync its files' bytes.
//!
//! ALICE and CrashMonkey test file systems in this way.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::history::{Files, History, Op, folder_of};
use crate::Random;

/// The unit that a disk writes atomically.
const SECTOR: usize = 512;

/// The part of an operation that is on the disk.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    All,
    None,
    /// Some bytes of a write, as ranges.
    Bytes(Vec<(usize, usize)>),
    /// The length that a write gave the file, without its bytes.
    LengthAlone,
    /// A rename whose old name is still in place.
    Doubled,
}

/// A state of the disk.
#[derive(Clone, Debug)]
pub struct Crash {
    /// Number of operations made before.
    pub after: usize,
    /// The files that the run touched, as the folder has them.
    pub files: Files,
    /// The operations that were lost or torn, for reports.
    pub lost: String,
}

impl History {
    /// Returns the folder with all safe operations, and no others.
    pub fn power_cut(&self) -> Files {
        let state = self.image(self.ops.len(), |index| match self.is_safe(index, self.ops.len()) {
            true => Part::All,
            false => Part::None,
        });
        self.whole(&state)
    }

    /// Returns the folder after all operations.
    pub fn end(&self) -> Files {
        self.whole(&self.image(self.ops.len(), |_| Part::All))
    }

    /// Returns whether an operation is safe once `after` operations were made.
    fn is_safe(&self, index: usize, after: usize) -> bool {
        let later = &self.ops[index + 1..after];
        match &self.ops[index] {
            Op::Write { file, .. } | Op::Length { file, .. } => {
                later.iter().any(|op| matches!(op, Op::Sync(synced) if synced == file))
            }
            Op::Names(changes) => changes.iter().all(|(name, _)| {
                let synced = |op: &Op| matches!(op, Op::SyncNames(of) if of == folder_of(name));
                later.iter().any(synced)
            }),
            _ => true,
        }
    }

    fn image(&self, after: usize, part: impl Fn(usize) -> Part) -> Files {
        let (mut files, mut names) = (self.start.clone(), self.names.clone());
        for (index, op) in self.ops[..after].iter().enumerate() {
            match (op, part(index)) {
                (_, Part::None) => {}
                (Op::Write { file, at, bytes }, part) => {
                    let all = [(0, bytes.len())];
                    let ranges = match &part {
                        Part::Bytes(ranges) => &ranges[..],
                        Part::LengthAlone => &[],
                        _ => &all,
                    };
                    let ends = ranges.iter().map(|range| range.1);
                    let end = if part == Part::LengthAlone {
                        bytes.len()
                    } else {
                        ends.max().unwrap_or(0)
                    };
                    let file = &mut files[*file];
                    if end > 0 && file.len() < at + end {
                        file.resize(at + end, 0);
                    }
                    for (from, to) in ranges.iter().filter(|(from, to)| from < to) {
                        file[at + from..at + to].copy_from_slice(&bytes[*from..*to]);
                    }
                }
                (Op::Length { file, to }, _) => files[*file].resize(*to, 0),
                (Op::Names(changes), part) => {
                    let count = if part == Part::Doubled { 1 } else { changes.len() };
                    for (name, file) in &changes[..count] {
                        match file {
                            Some(file) => names.insert(name.clone(), *file),
                            None => names.remove(name),
                        };
                    }
                }
                (Op::Sync(_) | Op::SyncNames(_) | Op::Told(_), _) => {}
            }
        }
        let there = |folder: &str| names.contains_key(folder) || self.rest.contains_key(folder);
        let is_reached = |name: &str| {
            let mut folder = folder_of(name);
            while there(folder) {
                folder = folder_of(folder);
            }
            folder.is_empty()
        };
        let reached = names.iter().filter(|(name, _)| is_reached(name));
        reached.map(|(name, file)| (name.clone(), files[*file].clone())).collect()
    }

    /// Returns distinct states of the disk: after each operation, with each subset of the unsafe
    /// operations if there are few, and with torn writes. `limit` is the maximum number after one
    /// operation. Returns also the number of candidates.
    pub fn crashes(&self, limit: usize, random: &mut Random) -> (Vec<Crash>, usize) {
        let (mut found, mut seen, mut made) = (Vec::new(), HashSet::new(), 0);
        for after in 0..=self.ops.len() {
            let open: Vec<usize> =
                (0..after).filter(|index| !self.is_safe(*index, after)).collect();
            let mut left = limit;
            for parts in self.choices(&open, limit, random) {
                if left == 0 {
                    break;
                }
                made += 1;
                let chosen: HashMap<usize, &Part> = open.iter().copied().zip(&parts).collect();
                let files = self.image(after, |index| {
                    chosen.get(&index).map_or(Part::All, |part| (*part).clone())
                });
                let mut hasher = DefaultHasher::new();
                (&files, self.reported(after)).hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    left -= 1;
                    let lost = self.describe(&open, &parts);
                    found.push(Crash { after, files, lost });
                }
            }
        }
        (found, made)
    }

    /// Returns the parts of unsafe operations that may be on the disk, simplest first.
    fn choices(&self, open: &[usize], limit: usize, random: &mut Random) -> Vec<Vec<Part>> {
        let count = open.len();
        let whole = |yes: bool| if yes { Part::All } else { Part::None };
        let mut choices = Vec::new();
        if count < 63 && 1usize << count <= limit / 2 {
            choices.extend(
                (0..1u64 << count)
                    .map(|bits| (0..count).map(|i| whole(bits >> i & 1 == 1)).collect::<Vec<_>>()),
            );
        } else {
            for odd in 0..=count {
                for most in [true, false] {
                    choices.push((0..count).map(|i| whole((i == odd) != most)).collect());
                }
                // In order.
                choices.push((0..count).map(|i| whole(i < odd)).collect());
            }
            for _ in 0..limit / 4 {
                choices.push((0..count).map(|_| whole(random.up_to(1) == 1)).collect());
            }
        }
        // Each operation in part, with several choices for the others. Interleaved, so that a limit
        // does not leave the last operations whole.
        let mut torn: Vec<Vec<Vec<Part>>> = Vec::new();
        for (place, index) in open.iter().enumerate() {
            let mut of_this = Vec::new();
            for part in self.parts(*index, random) {
                let others: [&mut dyn FnMut(usize) -> bool; 4] =
                    [&mut |_| true, &mut |i| i < place, &mut |_| false, &mut |_| {
                        random.up_to(1) == 1
                    }];
                for other in others {
                    let mut choice: Vec<Part> = (0..count).map(|i| whole(other(i))).collect();
                    choice[place] = part.clone();
                    of_this.push(choice);
                }
            }
            torn.push(of_this);
        }
        let longest = torn.iter().map(Vec::len).max().unwrap_or(0);
        let turns = (0..longest).flat_map(|round| torn.iter().filter_map(move |of| of.get(round)));
        let mut turns = turns.cloned();
        // In between, several operations in part.
        for _ in 0..limit.max(longest * count) {
            choices.extend(turns.next());
            if count > 0 {
                choices.push(open.iter().map(|index| self.some_part(*index, random)).collect());
            }
        }
        choices
    }

    /// Returns all of an operation, none of it or a part.
    fn some_part(&self, index: usize, random: &mut Random) -> Part {
        let bytes = match &self.ops[index] {
            Op::Write { bytes, .. } if !bytes.is_empty() => bytes.len(),
            _ if random.up_to(1) == 0 => return Part::None,
            Op::Names(changes) if changes.len() > 1 && random.up_to(1) == 0 => {
                return Part::Doubled;
            }
            _ => return Part::All,
        };
        match random.up_to(7) {
            0 => Part::All,
            1 => Part::None,
            2 => Part::LengthAlone,
            3 | 4 => Part::Bytes(vec![(0, random.up_to(bytes))]),
            _ => {
                let sectors = (0..bytes.div_ceil(SECTOR)).filter(|_| random.up_to(1) == 1);
                Part::Bytes(sectors.map(|i| (i * SECTOR, bytes.min((i + 1) * SECTOR))).collect())
            }
        }
    }

    /// Returns parts of an operation, without all and none.
    fn parts(&self, index: usize, random: &mut Random) -> Vec<Part> {
        match &self.ops[index] {
            Op::Names(changes) if changes.len() > 1 => vec![Part::Doubled],
            Op::Write { bytes, .. } => {
                let length = bytes.len();
                let sectors = length.div_ceil(SECTOR);
                let sector = |i: usize| (i * SECTOR, length.min((i + 1) * SECTOR));
                let mut parts = vec![Part::LengthAlone];
                let few = sectors.min(16);
                let spread = |i: usize| i * sectors / few.max(1);
                for i in 0..few {
                    let i = spread(i);
                    let up_to = random.up_to(length - 1);
                    let some = |random: &mut Random| {
                        (0..sectors).filter(|_| random.up_to(1) == 1).map(sector).collect()
                    };
                    parts.push(Part::Bytes(vec![(0, sector(i).0)]));
                    parts.push(Part::Bytes(vec![(0, up_to)]));
                    parts.push(Part::Bytes((0..sectors).filter(|j| *j != i).map(sector).collect()));
                    parts.push(Part::Bytes(some(random)));
                    parts.push(Part::Bytes(vec![sector(i)]));
                    parts.push(Part::Bytes(some(random)));
                }
                parts
            }
            _ => Vec::new(),
        }
    }

    /// Describes the lost and partial operations.
    fn describe(&self, open: &[usize], parts: &[Part]) -> String {
        let mut texts = Vec::new();
        for (index, part) in open.iter().zip(parts) {
            let op = match &self.ops[*index] {
                Op::Write { file, at, bytes } => {
                    format!("{index}: write of {} bytes to file {file} at {at}", bytes.len())
                }
                Op::Length { file, to } => format!("{index}: file {file} cut to {to}"),
                Op::Names(names) => format!("{index}: names {names:?}"),
                other => format!("{index}: {other:?}"),
            };
            match part {
                Part::All => {}
                Part::None => texts.push(format!("{op} lost")),
                Part::Bytes(ranges) => texts.push(format!("{op} has only {ranges:?}")),
                Part::LengthAlone => texts.push(format!("{op} has only the length")),
                Part::Doubled => texts.push(format!("{op} keeps the old name")),
            }
        }
        if texts.is_empty() { "nothing lost".into() } else { texts.join("; ") }
    }
}
