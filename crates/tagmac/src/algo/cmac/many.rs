//! The chains of many messages under one key, in step: one in each lane of up to eight vectors.

use super::super::cbc::before_last;
use super::key::Cmac;
use crate::batch::verify_in_turns;
use crate::cipher::{Cipher, Field};
use crate::error::Mismatch;
use crate::isa::{CipherBlock, Isa, Kernel, Lanes, Levels};
use crate::tag::Tag;
use crate::wipe::wipe;

/// Smaller batches are tagged one message at a time.
const MIN_BATCH: usize = 4;
/// The maximum number of chains in step.
const MAX_CHAINS: usize = 32;

impl<C: Cipher<Block: Field>> Cmac<C> {
    /// Tags many messages of any lengths side by side.
    ///
    /// # Panics
    ///
    /// If `tags` does not have one entry per message.
    #[inline(never)]
    pub fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        assert!(tags.len() == messages.len(), "a tag for each message");
        if messages.len() < MIN_BATCH {
            for (message, tag) in messages.iter().zip(tags) {
                *tag = self.tag(*message);
            }
        } else if messages.len() <= MAX_CHAINS / 2 {
            self.tag_side_by_side::<{ MAX_CHAINS / 2 }>(messages, tags);
        } else {
            self.tag_side_by_side::<MAX_CHAINS>(messages, tags);
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

    /// [`tag_many`](Cmac::tag_many) with scratch space for `CHAINS` chains.
    fn tag_side_by_side<const CHAINS: usize>(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        let mut blocks = [[C::Block::ZERO; CHAINS]; 4];
        let mut lanes = [Lane { place: 0, rest: &[], left: usize::MAX }; CHAINS];
        let [last, y, rows @ ..] = blocks.each_mut().map(<[_; CHAINS]>::as_mut_slice);
        Many { mac: self, messages, next: 0, tags, chains: &mut lanes, last, y, rows }.run();
        wipe(blocks.as_flattened_mut(), C::Block::ZERO);
    }
}

/// Many messages and the state of their chains.
struct Many<'a, C: Cipher<Block: Field>> {
    mac: &'a Cmac<C>,
    messages: &'a [&'a [u8]],
    /// The first message that has no lane yet.
    next: usize,
    tags: &'a mut [Tag],
    chains: &'a mut [Lane<'a>],
    /// The blocks that end each chain, see [`Cmac::last`].
    last: &'a mut [C::Block],
    /// The chains.
    y: &'a mut [C::Block],
    /// The next blocks. The two rows alternate: one is filled while the other is in use.
    rows: [&'a mut [C::Block]; 2],
}

/// The message in a lane.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// Its index in the batch.
    place: usize,
    /// The bytes left before its last block.
    rest: &'a [u8],
    /// The number of blocks left, with the last one; `usize::MAX` if the lane is empty.
    left: usize,
}

impl<C: Cipher<Block: Field>> Kernel for Many<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (in_vector, messages) = (C::Lanes::<I>::LANES, self.messages.len());
        if C::Lanes::<I>::UNROLL == 1 || 8 * in_vector > MAX_CHAINS {
            self.in_step::<I, 1>(isa);
        } else if 2 * in_vector >= MIN_BATCH && messages <= 2 * in_vector {
            // Fewer vectors are faster here.
            self.in_step::<I, 2>(isa);
        } else if messages <= 4 * in_vector {
            self.in_step::<I, 4>(isa);
        } else {
            self.in_step::<I, 8>(isa);
        }
    }
}

impl<C: Cipher<Block: Field>> Many<'_, C> {
    /// Computes all tags. Not inlined, so that every level has its kernel once.
    #[inline(never)]
    fn run(self) {
        self.mac.level.run(self);
    }

    /// Runs a chain in each lane of `N` vectors. When a message ends, its lane starts the next one.
    #[inline(always)]
    fn in_step<I: Isa, const N: usize>(mut self, isa: I) {
        let (lanes, keys) = (C::lanes(isa), self.mac.cipher.keys(isa));
        let (block, count) = (C::Block::BYTES, N * C::Lanes::<I>::LANES);
        let whitening = [C::whiten(isa, &keys, lanes.splat(&C::Block::ZERO)); N];
        let used = self.begin(count);
        while let Some(steps) = self.steps(used) {
            let mut x = whitening;
            for step in 0..steps {
                let row = &mut self.rows[step % 2][..count];
                let staged = row.iter_mut().zip(&self.chains[..used]);
                for (staged, chain) in staged {
                    if let Some(data) = chain.rest.get(step * block..(step + 1) * block) {
                        staged.as_mut().copy_from_slice(data);
                    }
                }
                if step + 1 == steps {
                    let staged = row.iter_mut().zip(&self.chains[..used]);
                    for ((staged, chain), last) in staged.zip(&*self.last) {
                        if chain.left == steps {
                            *staged = *last;
                        }
                    }
                }
                x = if step == 0 {
                    xor_blocks(lanes, xor_blocks(lanes, whitening, row), &self.y[..count])
                } else {
                    C::encrypt_chained(isa, &keys, x, xor_blocks(lanes, whitening, row))
                };
            }
            let x = C::encrypt_whitened(isa, &keys, x);
            let y = C::Block::flatten_mut(&mut self.y[..count]);
            for (x, y) in x.iter().zip(y.chunks_exact_mut(block * C::Lanes::<I>::LANES)) {
                lanes.store_lanes(*x, y);
            }
            self.advance(used, steps);
        }
    }

    /// Assigns their first messages to `count` lanes. Returns the number of lanes with a message.
    #[inline(never)]
    fn begin(&mut self, count: usize) -> usize {
        (0..count).for_each(|lane| self.take(lane));
        self.next
    }

    /// The number of blocks until the first message ends; `None` if all have ended.
    #[inline(always)]
    fn steps(&self, used: usize) -> Option<usize> {
        let mut steps = usize::MAX;
        for chain in &self.chains[..used] {
            steps = steps.min(chain.left);
        }
        (steps < usize::MAX).then_some(steps)
    }

    /// Advances by `steps` blocks. When a message ends, its lane starts the next one. Not inlined,
    /// so that all levels share it.
    #[inline(never)]
    fn advance(&mut self, used: usize, steps: usize) {
        for lane in 0..used {
            let chain = &mut self.chains[lane];
            if chain.left == steps {
                self.mac.truncation.write(&self.y[lane], &mut self.tags[chain.place]);
                self.y[lane] = C::Block::ZERO;
                self.take(lane);
            } else if chain.left != usize::MAX {
                chain.rest = &chain.rest[steps * C::Block::BYTES..];
                chain.left -= steps;
            }
        }
    }

    /// Assigns the next message to a lane, if one is left.
    #[inline(always)]
    fn take(&mut self, lane: usize) {
        let Some(message) = self.messages.get(self.next) else {
            (self.chains[lane].rest, self.chains[lane].left) = (&[], usize::MAX);
            return;
        };
        let (rest, last) = message.split_at(before_last::<C::Block>(message.len()));
        let left = 1 + rest.len() / C::Block::BYTES;
        self.chains[lane] = Lane { place: self.next, rest, left };
        let block = C::Block::zero_filled(last);
        self.last[lane] = if last.len() == C::Block::BYTES {
            block.xor(&self.mac.k1)
        } else {
            block.xor(&C::Block::one_at(8 * last.len())).xor(&self.mac.k2)
        };
        self.next += 1;
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
