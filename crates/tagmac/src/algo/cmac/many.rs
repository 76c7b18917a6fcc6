//! The chains of many messages under one key, in step: one in each lane of up to eight vectors.
//! Chains of different lengths start in different steps and end in the same one, so that a stop
//! for a start is a few instructions, and tags are written together.

use core::cmp::Reverse;
use core::ops::Range;

use super::super::cbc::before_last;
use super::super::many::{counting_sort, have_equal_lengths};
use super::key::Cmac;
use crate::batch::verify_in_turns;
use crate::cipher::{Cipher, Field};
use crate::error::Mismatch;
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Levels};
use crate::tag::Tag;
use crate::wipe::wipe;

/// Smaller batches are tagged one message at a time.
const MIN_BATCH: usize = 4;
/// The same under AES for messages of different lengths, of fewer than [`SHORT`] bytes on average.
const MIN_MIXED: usize = 8;
/// The same on levels without AES instructions.
const MIN_MIXED_SLICED: usize = 5;
/// See [`MIN_MIXED`].
const SHORT: usize = 128;
/// The maximum number of chains in step.
const MAX_CHAINS: usize = 32;
/// The maximum number of messages that are sorted at once.
const MAX_SORTED: usize = 256;
/// Messages with this many blocks before the last one are long.
const LONG: usize = 64;

impl<C: Cipher<Block: Field>> Cmac<C> {
    /// Tags many messages of any lengths side by side.
    ///
    /// # Panics
    ///
    /// If `tags` does not have one entry per message.
    #[inline(never)]
    pub fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        assert!(tags.len() == messages.len(), "a tag for each message");
        if self.are_few(messages) {
            for (message, tag) in messages.iter().zip(tags) {
                *tag = self.tag(*message);
            }
        } else if messages.len() <= MAX_CHAINS / 2 {
            self.tag_side_by_side::<{ MAX_CHAINS / 2 }, { MAX_CHAINS / 2 }>(messages, tags);
        } else {
            self.tag_side_by_side::<MAX_CHAINS, MAX_SORTED>(messages, tags);
        }
    }

    /// Checks the tags of many messages, each in constant time, and writes a verdict for each.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] unless all verify.
    ///
    /// # Panics
    ///
    /// If the slices do not all have one entry per message.
    pub fn verify_many(
        &self,
        messages: &[&[u8]],
        tags: &[Tag],
        verdicts: &mut [Result<(), Mismatch>],
    ) -> Result<(), Mismatch> {
        let n = messages.len();
        assert!(tags.len() == n && verdicts.len() == n, "a tag and a verdict for each message");
        verify_in_turns(
            tags,
            verdicts,
            |now, expected| {
                self.tag_many(&messages[now], expected);
                Ok(())
            },
            |i, tag| self.verify(messages[i], tag),
        )
    }

    /// Returns whether messages are faster one by one.
    fn are_few(&self, messages: &[&[u8]]) -> bool {
        let n = messages.len();
        if n < MIN_BATCH {
            return true;
        }
        let has_instructions = self.level.facts().aes_instructions;
        let mixed = if has_instructions { MIN_MIXED } else { MIN_MIXED_SLICED };
        let bytes = messages.iter().fold(0usize, |all, message| all.saturating_add(message.len()));
        C::HAS_NARROW_PATH && n < mixed && bytes < SHORT * n && !have_equal_lengths(messages)
    }

    /// [`tag_many`](Cmac::tag_many) with scratch space for `CHAINS` chains, of `SORTED` messages at
    /// once.
    fn tag_side_by_side<const CHAINS: usize, const SORTED: usize>(
        &self,
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) {
        let mut blocks = [[C::Block::ZERO; CHAINS]; 4];
        let mut chains = [Chain { blocks: &[], start: 0 }; CHAINS];
        let mut order = [0; SORTED];
        let [last, y, rows @ ..] = blocks.each_mut().map(<[_; CHAINS]>::as_mut_slice);
        let (chains, order) = (&mut chains, &mut order);
        Many { mac: self, messages, tags, order, chains, last, y, rows }.run();
        wipe(blocks.as_flattened_mut(), C::Block::ZERO);
    }
}

/// Many messages and the state of the chains in step.
struct Many<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    messages: &'a [&'a [u8]],
    tags: &'a mut [Tag],
    /// See [`sort`]. Has room for the messages that are sorted at once.
    order: &'a mut [u8],
    /// Those with more blocks come first.
    chains: &'a mut [Chain<'a>],
    /// The blocks that end each chain, see [`Cmac::last`].
    last: &'a mut [C::Block],
    /// The value of each chain.
    y: &'a mut [C::Block],
    /// The next blocks. The two rows alternate: one is filled while the other is in use.
    rows: [&'a mut [C::Block]; 2],
}

/// The message in a lane.
#[derive(Clone, Copy)]
struct Chain<'a> {
    /// The blocks of the message that are left before the last one.
    blocks: &'a [u8],
    /// The step of its first block. All chains end in the same step.
    start: usize,
}

impl<C: Cipher<Block: Field>> Kernel for Many<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let in_vector = C::Lanes::<I>::LANES;
        let most = if Self::in_one_vector::<I>() { in_vector } else { 8 * in_vector };
        let most = most.min(self.chains.len());
        let messages = self.messages;
        for first in (0..messages.len()).step_by(self.order.len()) {
            let end = messages.len().min(first + self.order.len());
            sort::<C>(&messages[first..end], self.order);
            for next in (0..end - first).step_by(most) {
                let used = most.min(end - first - next);
                let steps = self.begin(first, next..next + used);
                self.run_chains(isa, used, steps);
                self.end(first, next..next + used);
            }
        }
    }
}

/// Orders up to 256 messages, those with more blocks first. Not inlined, so that all levels share
/// it.
#[inline(never)]
fn sort<C: Cipher>(messages: &[&[u8]], order: &mut [u8]) {
    let order = &mut order[..messages.len()];
    if have_equal_lengths(messages) {
        return order.iter_mut().enumerate().for_each(|(i, place)| *place = i as u8);
    }
    // Long messages are one class, which is sorted afterwards.
    let blocks = |message: &[u8]| before_last::<C::Block>(message.len()) / C::Block::BYTES;
    let long = counting_sort::<{ LONG + 1 }>(
        messages.len(),
        |i| LONG - blocks(messages[i]).min(LONG),
        |i, to| order[to] = i as u8,
    );
    order[..long].sort_unstable_by_key(|place| Reverse(messages[*place as usize].len()));
}

impl<'a, C: Cipher<Block: Field>> Many<'a, C> {
    /// Computes all tags. Not inlined, so that every level has its kernel once.
    #[inline(never)]
    fn run(self) {
        self.mac.level.run(self);
    }

    /// Returns whether chains use one vector: it keeps the CPU busy, or eight have too many lanes.
    const fn in_one_vector<I: Isa>() -> bool {
        C::Lanes::<I>::UNROLL == 1 || 8 * C::Lanes::<I>::LANES > MAX_CHAINS
    }

    /// Returns the message with a place in the order of those from `first` on.
    fn index(&self, first: usize, place: usize) -> usize {
        first + self.order[place] as usize
    }

    /// Assigns the messages of some places to the lanes. Returns the number of steps.
    #[inline(never)]
    fn begin(&mut self, first: usize, places: Range<usize>) -> usize {
        let mut steps = 0;
        for (lane, place) in places.enumerate() {
            let message: &'a [u8] = self.messages[self.index(first, place)];
            let (blocks, last) = message.split_at(before_last::<C::Block>(message.len()));
            let count = 1 + blocks.len() / C::Block::BYTES;
            steps = steps.max(count);
            self.chains[lane] = Chain { blocks, start: steps - count };
            let block = C::Block::zero_filled(last);
            self.last[lane] = if last.len() == C::Block::BYTES {
                block.xor(&self.mac.k1)
            } else {
                block.xor(&C::Block::one_at(8 * last.len())).xor(&self.mac.k2)
            };
        }
        steps
    }

    /// Writes the tags of some places.
    #[inline(never)]
    fn end(&mut self, first: usize, places: Range<usize>) {
        for (lane, place) in places.enumerate() {
            let index = self.index(first, place);
            self.mac.truncation.write(&self.y[lane], &mut self.tags[index]);
        }
    }

    /// Runs the chains of the first `used` lanes, with as few vectors as they need.
    #[inline(always)]
    fn run_chains<I: Isa>(&mut self, isa: I, used: usize, steps: usize) {
        let (in_vector, mut started, mut step) = (C::Lanes::<I>::LANES, 0, 0);
        while step < steps {
            let before = started;
            while started < used && self.chains[started].start <= step {
                started += 1;
            }
            // Their lanes were computed too, from blocks of no message.
            self.y[before..started].fill(C::Block::ZERO);
            let next = if started < used { self.chains[started].start } else { steps };
            let now = (started, next - step, next == steps);
            if Self::in_one_vector::<I>() {
                self.in_step::<I, 1>(isa, now);
            } else if 2 * in_vector >= MIN_BATCH && started <= 2 * in_vector {
                self.in_step::<I, 2>(isa, now);
            } else if started <= 4 * in_vector {
                self.in_step::<I, 4>(isa, now);
            } else {
                self.in_step::<I, 8>(isa, now);
            }
            if next < steps {
                for chain in &mut self.chains[..started] {
                    chain.blocks = &chain.blocks[(next - step) * C::Block::BYTES..];
                }
            }
            step = next;
        }
    }

    /// Runs some steps of the chain in each lane of `N` vectors, perhaps to its end. The first
    /// `started` lanes have messages.
    #[inline(always)]
    fn in_step<I: Isa, const N: usize>(
        &mut self,
        isa: I,
        (started, steps, to_end): (usize, usize, bool),
    ) {
        let (lanes, keys) = (C::lanes(isa), self.mac.cipher.keys(isa));
        let (block, count) = (C::Block::BYTES, N * C::Lanes::<I>::LANES);
        let whitening = [C::whiten(isa, &keys, lanes.splat(&C::Block::ZERO)); N];
        let mut x = xor_blocks(lanes, whitening, &self.y[..count]);
        for step in 0..steps {
            let row = if to_end && step + 1 == steps {
                &self.last[..count]
            } else {
                let row = &mut self.rows[step % 2][..count];
                for (staged, chain) in row.iter_mut().zip(&self.chains[..started]) {
                    if let Some(data) = chain.blocks.get(step * block..(step + 1) * block) {
                        staged.as_mut().copy_from_slice(data);
                    }
                }
                row
            };
            x = if step == 0 {
                xor_blocks(lanes, x, row)
            } else {
                C::encrypt_chained(isa, &keys, x, xor_blocks(lanes, whitening, row))
            };
        }
        let x = C::encrypt_whitened(isa, &keys, x);
        let y = C::Block::flatten_mut(&mut self.y[..count]);
        for (x, y) in x.iter().zip(y.chunks_exact_mut(block * C::Lanes::<I>::LANES)) {
            lanes.store_lanes(*x, y);
        }
    }
}

/// Vectors of blocks xor `x`.
#[inline(always)]
fn xor_blocks<L: Lanes, const N: usize>(
    lanes: L,
    mut x: [L::V; N],
    blocks: &[L::Block],
) -> [L::V; N] {
    let blocks = L::Block::flatten(blocks).chunks_exact(L::Block::BYTES * L::LANES);
    for (x, blocks) in x.iter_mut().zip(blocks) {
        *x = lanes.xor(*x, lanes.load(blocks));
    }
    x
}
