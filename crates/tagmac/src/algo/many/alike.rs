//! Batches of messages of one length, in pairs of vectors: values stay in registers from the blocks
//! to the tags.

use super::masked::{Masked, VOf};
use super::together::Together;
use crate::cipher::Cipher;
use crate::isa::{CipherBlock, Isa, Lanes, MAX_LANES, fetch_alike};
use crate::tag::Tag;

/// The number of messages, of `n`, that fill pairs of vectors.
#[inline(always)]
pub(super) fn in_pairs<I: Isa, M: Masked>(n: usize) -> usize {
    let pair = 2 * M::Lanes::<I>::LANES;
    n / pair * pair
}

/// The tags of messages of one length with one term per mask. If `last` is `None`, a digest holds
/// the value to add to the terms. Otherwise the messages end with a full last block, and the value
/// is that block xor `last`.
#[inline(always)]
pub(super) fn tags<I: Isa, M: Masked>(
    isa: I,
    mac: &M,
    (keys, last_keys): (&M::Keys<'_, I>, &<M::Last as Cipher>::Keys<'_, I>),
    (masks, digests): (&[M::Block], &[M::Block]),
    last: Option<M::Block>,
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    let (lanes, count, step) = (M::lanes(isa), M::Lanes::<I>::LANES, mac.piece());
    let bits = mac.truncation().bits() as u16;
    let most = masks.len();
    let pairs = messages.chunks_exact(2 * count).zip(digests.chunks_exact(2 * count));
    let mut later = messages;
    for ((messages, digests), tags) in pairs.zip(tags.chunks_exact_mut(2 * count)) {
        later = &later[2 * count..];
        fetch_alike(later, 2 * count);
        let (one, other) = messages.split_at(count);
        let bytes = most * step + if last.is_some() { M::Block::BYTES } else { 0 };
        let one = Together::new::<M::Lanes<I>>(one, bytes);
        let other = Together::new::<M::Lanes<I>>(other, bytes);
        let mut sums = if let Some(last) = &last {
            let last = lanes.splat(last);
            let whole = (M::Block::BYTES, bytes);
            [lanes.xor(one.ends(lanes, whole), last), lanes.xor(other.ends(lanes, whole), last)]
        } else {
            let (one, other) = digests.split_at(count);
            [lanes.load(M::Block::flatten(one)), lanes.load(M::Block::flatten(other))]
        };
        let mut next = 0;
        if let ([mask, ..], true) = (masks, step < M::Block::BYTES) {
            // The first pieces: no whole block of the message ends with them.
            let x = [one.first_pieces(lanes, step), other.first_pieces(lanes, step)];
            sums = add::<I, M>(isa, keys, sums, x, mask);
            next = 1;
        }
        for (j, mask) in masks.iter().enumerate().skip(next) {
            let x = [one.pieces(lanes, step, j), other.pieces(lanes, step, j)];
            sums = add::<I, M>(isa, keys, sums, x, mask);
        }
        let mut blocks = [M::Block::ZERO; 2 * MAX_LANES];
        let (one, other) = blocks[..2 * count].split_at_mut(count);
        lanes.store_lanes(sums[0], M::Block::flatten_mut(one));
        lanes.store_lanes(sums[1], M::Block::flatten_mut(other));
        let last = M::Last::lanes(isa);
        const { assert!(<M::Last as Cipher>::Lanes::<I>::LANES == M::Lanes::<I>::LANES) };
        let x = [last.load(M::Block::flatten(one)), last.load(M::Block::flatten(other))];
        let [x, y] = M::Last::encrypt_whitened(isa, last_keys, x);
        last.store_lanes(x, M::Block::flatten_mut(one));
        last.store_lanes(y, M::Block::flatten_mut(other));
        let blocks = &mut blocks[..2 * count];
        mac.truncation().cut(blocks);
        for (block, tag) in blocks.iter().zip(tags) {
            tag.set(block, bits);
        }
    }
}

/// Adds the terms of a piece of each message to their sums.
#[inline(always)]
fn add<I: Isa, M: Masked>(
    isa: I,
    keys: &M::Keys<'_, I>,
    sums: [VOf<M, I>; 2],
    x: [VOf<M, I>; 2],
    mask: &M::Block,
) -> [VOf<M, I>; 2] {
    let (lanes, [x, y]) = (M::lanes(isa), x);
    let mask = lanes.splat(mask);
    let [x, y] = M::terms(isa, keys, [lanes.xor(x, mask), lanes.xor(y, mask)]);
    [lanes.xor(sums[0], x), lanes.xor(sums[1], y)]
}
