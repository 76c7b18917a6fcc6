//! The cache of EliHash: tables of the subkeys H(K, 1), H(K, 2), .., made when messages need them.
//!
//! Each table starts with H(K, 1), so kernels read one table. Tables become at least four times as
//! long, the last one twice, so most of the memory is the last one. The first message that needs a
//! longer table does without: it may be the last such message, and the table costs more than the
//! message. The second one makes it.
//!
//! The lengths of messages decide which tables exist. Lengths are public, so timing depends on no
//! secret.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::families::Families;
use super::subkeys::first_subkeys;
use crate::cipher::CipherBlock;
#[cfg(target_arch = "x86_64")]
use crate::isa::l2_bytes;
use crate::isa::{Isa, Kernel, Lanes, Level, Levels};
use crate::tables::Tables;
use crate::wipe::wipe;

/// The length of the first table in blocks.
const FIRST: usize = 256;
/// The length of a cache line. Vectors are loaded faster if none crosses the end of a line.
const LINE_BYTES: usize = 64;

/// The maximum number of bytes of subkeys to take from the cache for a range of `bytes` bytes. With
/// wide AES vectors it is the part of a core's L2 cache that the range leaves free: loading subkeys
/// from a farther cache takes longer than computing them.
#[inline(always)]
fn max_cached<I: Isa, F: Families>(bytes: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if const { I::AES_INSTRUCTIONS && F::Lanes::<I>::LANES > 1 } {
        // In whole pages, so that the vectors of numbers after the cached subkeys start at
        // multiples of their length.
        return l2_bytes().saturating_sub(bytes) & !0xfff;
    }
    let _ = bytes;
    usize::MAX
}

/// The first subkeys, at the start of a cache line. The subkeys that a shorter cache lacks are zero.
#[derive(Clone)]
#[repr(align(64))]
struct First<B: CipherBlock>([B; FIRST]);

impl<B: CipherBlock> Drop for First<B> {
    fn drop(&mut self) {
        wipe(&mut self.0, B::ZERO);
    }
}

/// More subkeys, also from the first one, and a longer table of them.
#[derive(Clone)]
struct Table<B: CipherBlock> {
    /// The subkeys, after `start` unused blocks that move them to the start of a cache line.
    storage: Vec<B>,
    start: usize,
    longer: Tables<Table<B>>,
}

impl<B: CipherBlock> Drop for Table<B> {
    fn drop(&mut self) {
        wipe(&mut self.storage, B::ZERO);
    }
}

impl<B: CipherBlock> Table<B> {
    /// Computes the first `blocks` subkeys.
    fn new<F: Families<Block = B>>(families: &F, level: Level, blocks: usize) -> Box<Self> {
        let mut storage = alloc::vec![B::ZERO; blocks + LINE_BYTES / B::BYTES];
        let start = storage.as_ptr().align_offset(LINE_BYTES);
        // Blocks that do not divide a line may never be at its start.
        let start = if start <= LINE_BYTES / B::BYTES { start } else { 0 };
        storage.truncate(start + blocks);
        level.run(Make { families, subkeys: &mut storage[start..] });
        Box::new(Table { storage, start, longer: Tables::new() })
    }

    #[inline(always)]
    fn subkeys(&self) -> &[B] {
        &self.storage[self.start..]
    }
}

/// The subkeys H(K, 1) to H(K, blocks), as far as messages needed them.
#[derive(Clone)]
pub(super) struct Cache<B: CipherBlock> {
    first: Tables<First<B>>,
    longer: Tables<Table<B>>,
    blocks: usize,
}

impl<B: CipherBlock> Cache<B> {
    /// The cache of no subkeys.
    pub(super) const fn none() -> Self {
        Cache { first: Tables::new(), longer: Tables::new(), blocks: 0 }
    }

    /// A cache for the first `bytes` bytes of a message, or fewer where more would not help.
    pub(super) fn new<F: Families<Block = B>>(bytes: usize, level: Level) -> Self {
        // A range of half the maximum leaves just enough room for its subkeys, and a longer range
        // leaves less.
        let half = level.run(MaxCached::<F>(PhantomData)) / 2;
        let most = usize::try_from(F::MU).unwrap_or(usize::MAX);
        let blocks = (bytes.min(half) / B::BYTES).min(most);
        Cache { first: Tables::new(), longer: Tables::new(), blocks }
    }

    /// The number of blocks at the start of a message whose subkeys are in tables, or will be.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// The subkeys of the blocks at the start of `bytes` bytes that use the cache, for a range that
    /// starts with block `first`, counted from 0.
    #[inline(always)]
    pub(super) fn subkeys<I: Isa, F: Families<Block = B>>(
        &self,
        families: &F,
        level: Level,
        first: u64,
        bytes: usize,
    ) -> &[B] {
        let n = bytes.min(max_cached::<I, F>(bytes)) / B::BYTES;
        if first >= self.blocks as u64 || n == 0 {
            return &[];
        }
        let first = first as usize;
        let end = self.blocks.min(first + n);
        match self.first.get() {
            Some(table) if end <= FIRST => &table.0[first..end],
            _ => self.find(families, level, first, end),
        }
    }

    /// Returns whether the cache has no table yet and is not empty.
    #[inline(always)]
    pub(super) fn lacks_first_table(&self) -> bool {
        self.blocks > 0 && self.first.get().is_none()
    }

    /// The subkeys of the first `n` blocks of a message, if the first table has them.
    #[inline(always)]
    pub(super) fn first_subkeys(&self, n: usize) -> Option<&[B]> {
        self.first.get()?.0.get(..n).filter(
            #[inline(always)]
            |_| n <= self.blocks,
        )
    }

    /// The subkeys from `first` up to block `end`, or of fewer blocks, from the shortest table that
    /// has them or else the longest one. Notes that a table is needed, and makes it the second time.
    #[inline(never)]
    fn find<F: Families<Block = B>>(
        &self,
        families: &F,
        level: Level,
        first: usize,
        end: usize,
    ) -> &[B] {
        let (mut found, mut place) = (&[][..], &self.longer);
        if self.first.get().is_some() || !self.first.is_first_use() {
            found = &self.make_first(families, level).0[..FIRST.min(self.blocks)];
        }
        while found.len() < end && end > FIRST {
            if place.get().is_none() && place.is_first_use() {
                break;
            }
            let table = place.get_or_make(|| {
                let mut blocks = 4 * found.len().max(FIRST);
                while blocks < end {
                    blocks *= 4;
                }
                let blocks = if blocks > self.blocks / 2 { self.blocks } else { blocks };
                Table::new(families, level, blocks)
            });
            (found, place) = (table.subkeys(), &table.longer);
        }
        found.get(first..end.min(found.len())).unwrap_or_default()
    }

    fn make_first<F: Families<Block = B>>(&self, families: &F, level: Level) -> &First<B> {
        self.first.get_or_make(|| {
            let mut table = Box::new(First([B::ZERO; FIRST]));
            level.run(Make { families, subkeys: &mut table.0[..FIRST.min(self.blocks)] });
            table
        })
    }

    /// Makes the first and the longest table.
    pub(super) fn make_all<F: Families<Block = B>>(&self, families: &F, level: Level) {
        self.make_first(families, level);
        self.longer.get_or_make(|| Table::new(families, level, self.blocks));
    }
}

/// Returns the maximum number of bytes of subkeys for a short range.
struct MaxCached<F>(PhantomData<F>);

impl<F: Families> Kernel for MaxCached<F> {
    const LEVELS: Levels = F::LEVELS;
    type Out = usize;

    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) -> usize {
        max_cached::<I, F>(0)
    }
}

/// Computes the first subkeys.
struct Make<'a, F: Families> {
    families: &'a F,
    subkeys: &'a mut [F::Block],
}

impl<F: Families> Kernel for Make<'_, F> {
    const LEVELS: Levels = F::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        first_subkeys(isa, self.families, self.subkeys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::AesFamilies;

    #[test]
    fn the_second_message_of_a_length_makes_its_table() {
        for level in Level::all() {
            let families = AesFamilies::<7, 4>::new(&[3; 16], level);
            let all = Table::new(&families, level, 4000);
            let all = all.subkeys();
            let cache = Cache::new::<AesFamilies<7, 4>>(64_000, level);
            assert_eq!(cache.blocks(), 4000);
            let find = |first, end, found: usize| {
                let subkeys = cache.find(&families, level, first, end);
                assert!(subkeys == &all[first..][..found], "{first} to {end}, {level}");
            };
            find(0, 3, 0);
            assert!(cache.first.get().is_none());
            find(2, 9, 7);
            assert!(cache.longer.get().is_none());
            // Longer messages use the tables so far.
            find(0, 257, 256);
            assert!(cache.longer.get().is_none());
            find(300, 900, 600);
            let longer = cache.longer.get().expect("made by the last call");
            assert_eq!(longer.subkeys().len(), 1024);
            find(1000, 1025, 24);
            find(0, 4000, 4000);
            let longest = longer.longer.get().expect("made by the last call");
            assert_eq!(longest.subkeys().len(), 4000);
            find(0, 3, 3);
            find(3999, 4000, 1);
        }
    }

    #[test]
    fn the_first_long_messages_need_no_shorter_table() {
        let level = Level::best();
        let families = AesFamilies::<7, 4>::new(&[3; 16], level);
        let cache = Cache::new::<AesFamilies<7, 4>>(64_000, level);
        assert!(cache.find(&families, level, 0, 2000).is_empty());
        assert_eq!(cache.find(&families, level, 0, 2000).len(), 2000);
        let longer = cache.longer.get().expect("made by the last call");
        assert_eq!(longer.subkeys().len(), 4000);
        assert!(longer.subkeys().as_ptr().cast::<u8>().align_offset(LINE_BYTES) == 0);
    }
}
