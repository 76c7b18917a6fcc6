//! Finds the damaged leaves of a file, and takes them from a copy.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::escaped::Escaped;
use crate::faults;
use crate::identity::Identity;
use crate::leaves::tree::SealedTree;
use crate::leaves::verified::{Leaf, VerifiedFile};
use crate::open;
use crate::progress::{Progress, stopped};
use crate::sys;

/// The damage of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// The number of damaged leaves.
    pub leaves: u64,
    /// The number of leaves.
    pub of: u64,
    /// Their ranges. Adjacent ones are joined.
    pub ranges: Vec<Range<u64>>,
    /// The size that the file has, if it is not the sealed one.
    pub size: Option<u64>,
}

impl Damage {
    /// Returns whether the file is undamaged.
    pub fn is_none(&self) -> bool {
        self.leaves == 0 && self.size.is_none()
    }

    /// Adds a damaged leaf, which follows all previous ones.
    pub fn add(&mut self, range: Range<u64>) {
        self.leaves += 1;
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }
}

impl SealedTree {
    /// Reads a file and returns its damage. `path` is its path in the manifest.
    pub fn damage(&mut self, path: &[u8], progress: &dyn Progress) -> Result<Damage, Error> {
        self.damaged(path)?.damage(progress)
    }
}

impl VerifiedFile {
    /// Reads the whole file and returns its damage.
    fn damage(&self, progress: &dyn Progress) -> Result<Damage, Error> {
        let found = self.file().metadata().map_err(|error| Error::file(self.path(), error))?.len();
        let content = self.content();
        let mut damage = Damage { size: Some(found), ..Damage::default() };
        damage.size.take_if(|size| *size == content.size());
        let mut leaf = Leaf::default();
        for start in content.starts() {
            let range = content.range(start);
            damage.of += 1;
            let bytes = (range.end - range.start) as usize;
            if !self.read_from(self.file(), self.path(), start, &mut leaf)? {
                damage.add(range);
            }
            progress.add(bytes);
            stopped(progress)?;
        }
        Ok(damage)
    }
}

/// Replaces the damaged leaves of a file by those of a copy. Every leaf is verified in memory and
/// written from there. If the copy lacks one, nothing is written.
pub fn repair(
    tree: &mut SealedTree,
    path: &[u8],
    copy: &Path,
    progress: &dyn Progress,
) -> Result<Damage, Error> {
    let file = tree.damaged(path)?;
    let damage = file.damage(progress)?;
    if damage.is_none() {
        return Ok(damage);
    }
    if let Some(size) = damage.size.filter(|size| *size > file.content().size()) {
        let (name, sealed) = (Escaped::name(file.path()), file.content().size());
        return Err(Error::mismatch(format_args!(
            "{name}: not repaired: expected {sealed} bytes, found {size}; remove the bytes at the end, \
             or seal again"
        )));
    }
    let (from, _) = open::regular(copy).map_err(|error| Error::file(copy, error))?;
    let mut leaf = Leaf::default();
    let mut lacking = Damage::default();
    for start in damaged_starts(&file, &damage) {
        if !file.read_from(&from, copy, start, &mut leaf)? {
            lacking.add(file.content().range(start));
        }
        stopped(progress)?;
    }
    if let Some(Range { start, end }) = lacking.ranges.first() {
        return Err(Error::mismatch(format_args!(
            "{}: not repaired: {} of its {} damaged leaves are damaged in {} too, the first at bytes \
             {start} to {end}",
            Escaped::name(file.path()),
            lacking.leaves,
            damage.leaves,
            Escaped::name(copy),
        )));
    }
    write(&file, &damage, (&from, copy), progress)?;
    let after = file.damage(&())?;
    match after.is_none() {
        true => Ok(damage),
        false => Err(Error::io(format_args!(
            "{}: still damaged: it was written to meanwhile, or the device fails",
            Escaped::name(file.path())
        ))),
    }
}

fn damaged_starts(file: &VerifiedFile, damage: &Damage) -> impl Iterator<Item = u64> {
    let leaf = file.content().leaf() as usize;
    // An empty file has a leaf without bytes.
    damage.ranges.iter().flat_map(move |range| (range.start..range.end.max(1)).step_by(leaf))
}

fn write(
    file: &VerifiedFile,
    damage: &Damage,
    (from, copy): (&File, &Path),
    progress: &dyn Progress,
) -> Result<(), Error> {
    let failed = |error| Error::file(file.path(), error);
    let to = open::writable(file.path()).map_err(|error| Error::file(file.path(), error))?;
    let facts = sys::metadata_of(file.file()).map_err(failed)?;
    Identity::new(&facts).is_of(&sys::metadata_of(&to).map_err(failed)?).map_err(failed)?;
    let mut leaf = Leaf::default();
    for start in damaged_starts(file, damage) {
        if !file.read_from(from, copy, start, &mut leaf)? {
            return Err(Error::io(format_args!(
                "{}: the copy changed while it was read; repeat the command",
                Escaped::name(copy)
            )));
        }
        let bytes = leaf.from(start);
        faults::write_all_at(&to, bytes, start).map_err(failed)?;
        stopped(progress)?;
    }
    faults::sync_all(&to).map_err(failed)
}
