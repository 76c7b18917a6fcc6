//! Many short messages under one key of a xor MAC: their blocks lie side by side, so that every
//! vector is full and no message waits for another.
//!
//! Blocks of the same number have the same mask in all messages. For as many messages as fit in the
//! scratch space: stage their masked blocks and their last ones, make the terms of all, add each
//! message's to its last block, and encrypt those.

use core::slice;

use zeroize::optimization_barrier;

use super::xor::{Single as One, Truncation};
use crate::cipher::{Cipher, CipherBlock};
use crate::hash::Hash;
use crate::isa::{Isa, Lanes, MAX_LANES, ScalarBlocks};
use crate::tag::Tag;

/// The most terms of a message: longer ones fill vectors by themselves.
pub(super) const MAX_TERMS: usize = 32;

/// The most bytes of a message of `MAX_TERMS` terms and a last block, which may be full where it is
/// treated apart.
#[inline(always)]
pub(super) fn max_len<H: Hash>(hash: &H) -> usize {
    (MAX_TERMS + 1) * hash.block() - !H::LAST_BLOCK_DISTINCT as usize
}

/// Blocks in the scratch space.
const SCRATCH_BLOCKS: usize = 256;
/// Messages in the scratch space.
const MESSAGES: usize = 64;
/// Blocks that a vector may take or leave behind a message's last.
const SLACK: usize = MAX_LANES;

/// A xor MAC whose terms are a function of block xor mask.
pub(super) trait Masked {
    /// A block.
    type Block: CipherBlock;
    /// Vectors of blocks on a level.
    type Lanes<I: Isa>: Lanes<Block = Self::Block>;
    /// The cipher of the last call.
    type Last: Cipher<Block = Self::Block>;

    /// The vectors of a level.
    fn lanes<I: Isa>(isa: I) -> Self::Lanes<I>;
    /// Bytes of a message that go into a term.
    fn piece(&self) -> usize;
    /// Terms of a message.
    fn terms_in(&self, message: &[u8]) -> usize;
    /// The masks of terms 1, 2 and so on.
    fn masks<I: Isa>(&self, isa: I, masks: &mut [Self::Block]);
    /// Makes terms of masked blocks.
    fn make_terms<I: Isa>(&self, isa: I, blocks: &mut [Self::Block]);
    /// What the rest of a message adds to its terms.
    fn last<I: Isa>(&self, isa: I, rest: &[u8]) -> One<Self::Lanes<I>>;
    /// What the last call is of.
    fn last_cipher(&self) -> &Self::Last;
    /// How long tags are.
    fn truncation(&self) -> &Truncation<Self::Block>;
}

/// What a batch needs, wiped on drop.
struct BatchScratch<B: CipherBlock> {
    masks: [B; MAX_TERMS + SLACK],
    blocks: [B; SCRATCH_BLOCKS + SLACK],
    digests: [B; MESSAGES],
}

impl<B: CipherBlock> BatchScratch<B> {
    const EMPTY: Self = BatchScratch {
        masks: [B::ZERO; MAX_TERMS + SLACK],
        blocks: [B::ZERO; SCRATCH_BLOCKS + SLACK],
        digests: [B::ZERO; MESSAGES],
    };
}

impl<B: CipherBlock> Drop for BatchScratch<B> {
    fn drop(&mut self) {
        wipe(&mut self.masks);
        wipe(&mut self.blocks);
        wipe(&mut self.digests);
    }
}

/// Wipes blocks by vectors, and not byte by byte.
pub(super) fn wipe<B: CipherBlock>(blocks: &mut [B]) {
    blocks.fill(B::ZERO);
    optimization_barrier(blocks);
}

/// The tags of messages of at most [`MAX_TERMS`] terms.
#[inline(always)]
pub(super) fn tags<I: Isa, M: Masked>(isa: I, mac: &M, messages: &[&[u8]], tags: &mut [Tag]) {
    // Vectors where it costs nothing to put blocks into them.
    if M::Lanes::<I>::UNROLL == 8 && M::Block::BYTES == 16 {
        tags_by(isa, M::lanes(isa), mac, messages, tags);
    } else {
        tags_by(isa, ScalarBlocks::new(), mac, messages, tags);
    }
}

/// The same, with the lanes that blocks are put together by.
#[inline(always)]
fn tags_by<I: Isa, M: Masked, L: Lanes<Block = M::Block>>(
    isa: I,
    lanes: L,
    mac: &M,
    mut messages: &[&[u8]],
    mut tags: &mut [Tag],
) {
    const { assert!(L::LANES <= SLACK) };
    let narrow = lanes.narrow();
    let mut scratch = BatchScratch::<M::Block>::EMPTY;
    let keys = mac.last_cipher().keys(isa);
    let mut last_mask = M::Last::whitening(isa, &keys);
    let mut masks_made = 0;
    let mut terms = [0u8; MESSAGES];
    while !messages.is_empty() {
        let (mut used, mut count) = (0, 0);
        for (message, terms) in messages.iter().zip(&mut terms) {
            let n = mac.terms_in(message);
            if used + n > SCRATCH_BLOCKS {
                break;
            }
            if n > masks_made {
                masks_made = n.next_multiple_of(8);
                mac.masks(isa, &mut scratch.masks[..masks_made]);
            }
            let (pieces, rest) = message.split_at(n * mac.piece());
            stage(lanes, mac.piece(), pieces, n, &scratch.masks, &mut scratch.blocks[used..]);
            let last = narrow.splat(&M::lanes(isa).narrow().lane0(mac.last(isa, rest)));
            scratch.digests[count] = narrow.lane0(narrow.xor(last, narrow.splat(&last_mask)));
            *terms = n as u8;
            used += n;
            count += 1;
        }
        assert!(count > 0, "short messages");
        mac.make_terms(isa, &mut scratch.blocks[..used]);
        let digests = &mut scratch.digests[..count];
        let mut blocks = &scratch.blocks[..used];
        for (digest, terms) in digests.iter_mut().zip(&terms) {
            let (mine, others) = blocks.split_at(*terms as usize);
            blocks = others;
            let sum = mine.iter().fold(
                narrow.splat(digest),
                #[inline(always)]
                |sum, term| narrow.xor(sum, narrow.splat(term)),
            );
            *digest = narrow.lane0(sum);
        }
        M::Last::encrypt_blocks(isa, &keys, digests);
        let (now, later) = tags.split_at_mut(count);
        for (tag, block) in now.iter_mut().zip(digests) {
            mac.truncation().write(block, tag);
        }
        (messages, tags) = (&messages[count..], later);
    }
    wipe(slice::from_mut(&mut last_mask));
}

/// Lays a message's `n` masked blocks.
#[inline(always)]
fn stage<L: Lanes>(
    lanes: L,
    step: usize,
    pieces: &[u8],
    n: usize,
    masks: &[L::Block],
    blocks: &mut [L::Block],
) {
    let (whole, spread) = (step == L::Block::BYTES, lanes.stride(step));
    let mut i = 0;
    while i < n {
        let (now, at) = ((n - i).min(L::LANES), i * step);
        let x = if whole {
            lanes.load_lanes(&pieces[at..][..now * L::Block::BYTES])
        } else if now == L::LANES && at + step >= L::Block::BYTES {
            let [x] = lanes.load_strided(pieces, at, spread);
            x
        } else {
            lanes.load_strided_lanes(pieces, at, now, spread)
        };
        // What a vector leaves too much, the next one or the next message writes over.
        let mask = lanes.load(L::Block::flatten(&masks[i..][..L::LANES]));
        let masked = L::Block::flatten_mut(&mut blocks[i..][..L::LANES]);
        lanes.store_lanes(lanes.xor(x, mask), masked);
        i += L::LANES;
    }
}
