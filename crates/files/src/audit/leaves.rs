//! Audits that read a random share of the leaves instead of whole files.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use crate::audit::Change;
use crate::audit::plan::{LeafCount, LeafPlan, Plan};
use crate::error::Error;
use crate::leaves::repair::Damage;
use crate::progress::{Progress, stopped};
use crate::sys::OsStrExt;

/// The maximum number of bytes of several leaves that are read at once.
const RUN: u64 = 4 << 20;

/// Reads the leaves that a plan chooses.
#[derive(Clone, Copy)]
pub struct LeafReader<'a> {
    plan: &'a Plan,
    leaves: &'a LeafPlan,
    progress: &'a dyn Progress,
}

impl<'a> LeafReader<'a> {
    /// Returns the reader for a plan; `None` if the plan reads whole files.
    pub fn new(plan: &'a Plan, progress: &'a dyn Progress) -> Option<LeafReader<'a>> {
        Some(LeafReader { plan, leaves: plan.leaves.as_ref()?, progress })
    }

    /// Reads the chosen leaves of a file, and counts them. `read` reads a range of the file; its error
    /// is returned inside. Returns the change if a leaf is damaged.
    pub fn read<E>(
        &self,
        name: &[u8],
        count: &mut LeafCount,
        mut read: impl FnMut(Range<u64>, &mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Result<Option<Change>, E>, Error> {
        let mut chosen = self.plan.chosen(self.leaves.start, name, count.of).peekable();
        if chosen.peek().is_none() {
            return Ok(Ok(None));
        }
        let content = self.leaves.contents.content(name, Path::new(OsStr::from_bytes(name)))?;
        let (leaf, mut damage, mut bytes) = (content.leaf(), Damage::default(), Vec::new());
        while let Some(first) = chosen.next() {
            let mut end = first + 1;
            while chosen.next_if(|next| *next == end && (end + 1 - first) * leaf <= RUN).is_some() {
                end += 1;
            }
            let run = first * leaf..content.range((end - 1) * leaf).end;
            match read(run.clone(), &mut bytes) {
                Err(error) if damage.is_none() => return Ok(Err(error)),
                // The damage so far is reported.
                Err(_) => break,
                Ok(()) => {}
            }
            for number in first..end {
                let range = content.range(number * leaf);
                let [from, to] = [range.start, range.end].map(|at| (at - run.start) as usize);
                let own = bytes.get(from..to).unwrap_or_default();
                count.read += 1;
                count.bytes += range.end - range.start;
                if !content.is_sealed(range.start, own)? {
                    damage.add(range);
                }
            }
            self.progress.add(bytes.len());
            stopped(self.progress)?;
        }
        damage.of = count.read;
        Ok(Ok((!damage.is_none()).then(|| Change::damaged(damage))))
    }
}
