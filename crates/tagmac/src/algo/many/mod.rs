//! Tags many short messages under one key of an xor MAC side by side. Each vector holds the same
//! block of several messages, one per lane. For ciphers that work on more blocks than a vector has,
//! all masked blocks are stored one after the other in a scratch space instead.
//!
//! Blocks with the same number have the same mask in all messages, and terms are added lane by
//! lane, so all sums stay in registers up to the digest. Messages of different lengths are sorted
//! by their number of terms. This leaves few lanes of a vector without a term.

mod alike;
mod limits;
mod masked;
mod together;

use core::slice;

pub(super) use limits::{
    MAX_TERMS, MAX_TERMS_ALIKE, MAX_TERMS_OTHER, MESSAGES, gathers, have_equal_lengths, helps,
    max_len, max_len_under,
};
pub(super) use masked::Masked;

use crate::batch::one_by_one;
use crate::cipher::Cipher;
use crate::construction::Construction;
use crate::isa::{CipherBlock, Facts, Isa, Lanes, MAX_LANES, ScalarBlocks, fetch_messages};
use crate::tag::Tag;
use crate::wipe::wipe;
use limits::{MAX_TERMS_STAGED, are_tiny};
use together::{Together, some_pieces};

/// The maximum of bytes to prefetch of a message whose length differs from its neighbours'.
const FETCHED: usize = 512;
/// The number of blocks in the scratch space.
const SCRATCH_BLOCKS: usize = 256;
/// The working memory of a batch of messages of at most `TERMS` terms. Wiped on drop.
struct BatchScratch<B: CipherBlock, const TERMS: usize> {
    masks: [B; TERMS],
    /// The first key of the last call.
    whitening: B,
    /// With room for a vector after the last digest.
    digests: [B; MESSAGES + MAX_LANES],
}

impl<B: CipherBlock, const TERMS: usize> BatchScratch<B, TERMS> {
    const EMPTY: Self = BatchScratch {
        masks: [B::ZERO; TERMS],
        whitening: B::ZERO,
        digests: [B::ZERO; MESSAGES + MAX_LANES],
    };
}

impl<B: CipherBlock, const TERMS: usize> Drop for BatchScratch<B, TERMS> {
    fn drop(&mut self) {
        wipe(&mut self.masks, B::ZERO);
        wipe(slice::from_mut(&mut self.whitening), B::ZERO);
        wipe(&mut self.digests, B::ZERO);
    }
}

/// Terms that are not computed side by side. Wiped on drop.
struct StagedTerms<B: CipherBlock>([B; SCRATCH_BLOCKS]);

impl<B: CipherBlock> Drop for StagedTerms<B> {
    fn drop(&mut self) {
        wipe(&mut self.0, B::ZERO);
    }
}

/// Messages in the order in which they share vectors: those with more terms come first.
pub(super) struct Sorted<'a> {
    pub(super) messages: [&'a [u8]; MESSAGES],
    pub(super) terms: [u8; MESSAGES],
    /// The original index of each message.
    pub(super) places: [u8; MESSAGES],
}

impl<'a> Sorted<'a> {
    pub(super) const EMPTY: Self =
        Sorted { messages: [&[]; MESSAGES], terms: [0; MESSAGES], places: [0; MESSAGES] };

    /// Computes the number of terms of up to [`MESSAGES`] messages.
    #[inline(always)]
    pub(super) fn take_terms(
        &mut self,
        terms_in: impl Fn(usize) -> usize,
        messages: &[&[u8]],
    ) -> Alike {
        let first = terms_in(messages[0].len()) as u8;
        if have_equal_lengths(messages) {
            self.terms[..messages.len()].fill(first);
            return Alike::Lengths;
        }
        let mut differ = 0;
        for (terms, message) in self.terms.iter_mut().zip(messages) {
            *terms = terms_in(message.len()) as u8;
            differ |= *terms ^ first;
        }
        if differ == 0 { Alike::Terms } else { Alike::Nothing }
    }

    /// Sorts messages of less than `CLASSES` terms, which `take_terms` computed, by their terms.
    /// Not inlined, so that all kernels share it.
    #[inline(never)]
    pub(super) fn sort<const CLASSES: usize>(&mut self, messages: &[&'a [u8]]) {
        let terms = self.terms;
        counting_sort::<CLASSES>(
            messages.len(),
            |i| CLASSES - 1 - terms[i] as usize,
            |i, to| {
                (self.messages[to], self.terms[to], self.places[to]) =
                    (messages[i], terms[i], i as u8);
            },
        );
    }
}

/// Sorts up to 65,535 elements by their classes 0 to `CLASSES - 1`: calls `put` with each element
/// and its new index. Elements of one class keep their order. Returns the number of elements in
/// class 0.
#[inline(always)]
pub(super) fn counting_sort<const CLASSES: usize>(
    n: usize,
    class: impl Fn(usize) -> usize,
    mut put: impl FnMut(usize, usize),
) -> usize {
    // The number of elements of each class, then the next index in it.
    let mut next = [0u16; CLASSES];
    for i in 0..n {
        next[class(i)] += 1;
    }
    let (first, mut sum) = (next[0] as usize, 0);
    for next in &mut next {
        (*next, sum) = (sum, sum + *next);
    }
    for i in 0..n {
        let next = &mut next[class(i)];
        put(i, *next as usize);
        *next += 1;
    }
    first
}

/// A property that all messages of a batch share.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    /// The same length in bytes.
    Lengths,
    /// The same number of terms.
    Terms,
    /// Different numbers of terms, so they must be sorted.
    Nothing,
}

/// [`tag_batch`] of a MAC that computes its terms with the cipher C, where batches are faster.
#[inline(always)]
pub(super) fn tags_under<I: Isa, C: Cipher, M: Masked + Construction>(
    isa: I,
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    if const { C::HAS_NARROW_PATH && !Facts::new::<I>().batching_helps_aes() } {
        return one_by_one(mac, nonces, messages, tags);
    }
    tag_batch(isa, mac, nonces, messages, tags);
}

/// The tags of messages of at most [`max_len`] bytes.
#[inline(always)]
pub(super) fn tag_batch<I: Isa, M: Masked + Construction>(
    isa: I,
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    if const { !M::BY_VECTORS } {
        self::tags::<I, M, MAX_TERMS_OTHER, { MAX_TERMS_OTHER + 1 }>(
            isa, mac, nonces, messages, tags,
        );
    } else if const { I::AES_INSTRUCTIONS } {
        self::tags::<I, M, MAX_TERMS_ALIKE, { MAX_TERMS + 1 }>(isa, mac, nonces, messages, tags);
    } else {
        self::tags::<I, M, MAX_TERMS_STAGED, { MAX_TERMS_STAGED + 1 }>(
            isa, mac, nonces, messages, tags,
        );
    }
}

/// The tags of messages of less than `CLASSES` terms, or of one length and at most `TERMS` terms.
#[inline(always)]
fn tags<I: Isa, M: Masked + Construction, const TERMS: usize, const CLASSES: usize>(
    isa: I,
    mac: &M,
    nonces: &[M::Nonce],
    messages: &[&[u8]],
    tags: &mut [Tag],
) {
    const { assert!(M::Lanes::<I>::LANES <= MAX_LANES) };
    let (bytes, step) = (M::Block::BYTES, mac.piece());
    let narrow = M::lanes(isa).narrow();
    let (keys, last_keys) = (mac.keys(isa), mac.last_cipher().keys(isa));
    let mut scratch = BatchScratch::<M::Block, TERMS>::EMPTY;
    scratch.whitening = M::Last::whitening(isa, &last_keys);
    let mut masks_made = 0;
    let mut sorted = Sorted::EMPTY;
    let mut later = messages;
    let batches = messages.chunks(MESSAGES).zip(nonces.chunks(MESSAGES));
    for ((messages, nonces), tags) in batches.zip(tags.chunks_mut(MESSAGES)) {
        later = &later[messages.len()..];
        if const { M::BY_VECTORS && I::AES_INSTRUCTIONS } && are_tiny(messages, step) {
            // Sorting takes longer than their few terms save side by side.
            one_by_one(mac, nonces, messages, tags);
            continue;
        }
        let (n, alike) = (
            messages.len(),
            sorted.take_terms(
                #[inline(always)]
                |bytes| mac.terms_in(bytes),
                messages,
            ),
        );
        let moved = alike == Alike::Nothing;
        if moved {
            // The first batch: no other one has fetched its messages.
            if const { M::BY_VECTORS && I::AES_INSTRUCTIONS } && masks_made == 0 {
                fetch_messages(messages, FETCHED);
            }
            sorted.sort::<CLASSES>(messages);
        }
        let terms = &sorted.terms[..n];
        let messages = if moved { &sorted.messages[..n] } else { messages };
        let most = terms[0] as usize;
        if most > masks_made {
            masks_made = most.next_multiple_of(8);
            mac.masks(isa, &mut scratch.masks[..masks_made]);
        }
        // Messages of one length that fill pairs of vectors are processed up to their tags.
        let mut paired = 0;
        if alike == Alike::Lengths {
            let rest = messages[0].len() - most * step;
            let padding = mac.last(isa, &M::Block::ZERO.as_ref()[..rest]);
            let padding = narrow.xor(padding, narrow.splat(&scratch.whitening));
            if const { M::BY_VECTORS && I::AES_INSTRUCTIONS } {
                paired = alike::in_pairs::<I, M>(n);
            }
            // `alike::tags` loads full last blocks itself.
            let started = if rest == bytes { paired } else { 0 };
            let (later, digests) = (&messages[started..], &mut scratch.digests[started..n]);
            if rest == 0 {
                digests.fill(narrow.lane0(padding));
            } else if bytes <= rest + most * step {
                for (message, digest) in later.iter().zip(digests) {
                    let last = &message[message.len() - bytes..];
                    let last = if rest < bytes {
                        narrow.last_bytes(last, rest)
                    } else if const { <M::Lanes<I> as Lanes>::Narrow::LANES == 1 } {
                        narrow.load(last)
                    } else {
                        narrow.load_lanes(last)
                    };
                    *digest = narrow.lane0(narrow.xor(last, padding));
                }
            } else {
                for (message, digest) in later.iter().zip(digests) {
                    let last = narrow.tail(&message[most * step..]);
                    *digest = narrow.lane0(narrow.xor(last, padding));
                }
            }
            if paired > 0 {
                let padding = (rest == bytes).then(|| narrow.lane0(padding));
                let batch = (&scratch.masks[..most], &scratch.digests[..paired]);
                let keys = (&keys, &last_keys);
                alike::tags(
                    isa,
                    mac,
                    keys,
                    batch,
                    padding,
                    &messages[..paired],
                    &mut tags[..paired],
                );
            }
        } else {
            let whitening = narrow.splat(&scratch.whitening);
            for ((message, terms), digest) in messages.iter().zip(terms).zip(&mut scratch.digests) {
                let last = mac.last(isa, &message[*terms as usize * step..]);
                *digest = narrow.lane0(narrow.xor(last, whitening));
            }
        }
        if paired == n {
            continue;
        }
        let (messages, terms, tags) = (&messages[paired..], &terms[paired..], &mut tags[paired..]);
        let digests = &mut scratch.digests[paired..];
        if const { M::BY_VECTORS && I::AES_INSTRUCTIONS } {
            let messages = (messages, later);
            add_side_by_side(isa, mac, &keys, messages, terms, &scratch.masks, digests);
        } else {
            add_staged(isa, mac, &keys, messages, terms, &scratch.masks, digests);
        }
        let blocks = &mut digests[..messages.len()];
        M::Last::encrypt_blocks(isa, &last_keys, blocks);
        mac.truncation().cut(blocks);
        let bits = mac.truncation().bits() as u16;
        if moved {
            for (block, place) in blocks.iter().zip(&sorted.places) {
                tags[*place as usize].set(block, bits);
            }
        } else {
            for (block, tag) in blocks.iter().zip(tags) {
                tag.set(block, bits);
            }
        }
    }
}

/// Adds the terms of messages to their digests, one message per lane. Prefetches the messages of the
/// next batch.
#[inline(always)]
fn add_side_by_side<I: Isa, M: Masked>(
    isa: I,
    mac: &M,
    keys: &M::Keys<'_, I>,
    (messages, mut later): (&[&[u8]], &[&[u8]]),
    terms: &[u8],
    masks: &[M::Block],
    digests: &mut [M::Block],
) {
    let (lanes, count, step) = (M::lanes(isa), M::Lanes::<I>::LANES, mac.piece());
    let groups = messages.chunks(count).zip(terms.chunks(count));
    let groups = groups.zip(digests.chunks_exact_mut(count)).enumerate();
    for (i, ((messages, terms), digests)) in groups {
        let most = terms[0] as usize;
        if most == 0 {
            break;
        }
        if i % 4 == 0 {
            let now;
            (now, later) = later.split_at(later.len().min(4 * count));
            fetch_messages(now, (most * step).min(FETCHED));
        }
        let mut sum = lanes.load(M::Block::flatten(digests));
        let common = if terms.len() == count { terms[count - 1] as usize } else { 0 };
        if common > 0 {
            let together = Together::new::<M::Lanes<I>>(messages, common * step);
            let mut next = 0;
            if step < M::Block::BYTES {
                // The first pieces: no whole block of the message ends with them.
                let x = together.first_pieces(lanes, step);
                let [x] = M::terms(isa, keys, [lanes.xor(x, lanes.splat(&masks[0]))]);
                (sum, next) = (lanes.xor(sum, x), 1);
            }
            for (j, mask) in masks[..common].iter().enumerate().skip(next) {
                let x = lanes.xor(together.pieces(lanes, step, j), lanes.splat(mask));
                let [x] = M::terms(isa, keys, [x]);
                sum = lanes.xor(sum, x);
            }
        }
        for (j, mask) in masks[..most].iter().enumerate().skip(common) {
            let now = terms.iter().take_while(|terms| **terms as usize > j).count();
            let x = some_pieces(lanes, step, &messages[..now], j);
            let [x] = M::terms(isa, keys, [lanes.xor(x, lanes.splat(mask))]);
            sum = lanes.xor(sum, lanes.keep_lanes(x, now));
        }
        lanes.store_lanes(sum, M::Block::flatten_mut(digests));
    }
}

/// Adds the terms of messages to their digests through the scratch space, for ciphers that work on
/// many blocks at once. The order of the blocks does not matter.
#[inline(always)]
fn add_staged<I: Isa, M: Masked>(
    isa: I,
    mac: &M,
    keys: &M::Keys<'_, I>,
    messages: &[&[u8]],
    terms: &[u8],
    masks: &[M::Block],
    digests: &mut [M::Block],
) {
    let (lanes, step) = (ScalarBlocks::<M::Block>::new(), mac.piece());
    let stride = lanes.stride(step);
    let mut staged = StagedTerms([M::Block::ZERO; SCRATCH_BLOCKS]);
    let mut first = 0;
    while first < messages.len() {
        let (mut used, mut last) = (0, first);
        while last < messages.len() && used + terms[last] as usize <= SCRATCH_BLOCKS {
            let message = messages[last];
            for (j, mask) in masks[..terms[last] as usize].iter().enumerate() {
                let piece = lanes.load_strided_lanes(message, j * step, 1, stride);
                staged.0[used] = piece.xor(mask);
                used += 1;
            }
            last += 1;
        }
        M::make_terms(isa, keys, &mut staged.0[..used]);
        let mut made = &staged.0[..used];
        for (digest, n) in digests[first..last].iter_mut().zip(&terms[first..]) {
            let (mine, others) = made.split_at(*n as usize);
            *digest = mine.iter().fold(
                *digest,
                #[inline(always)]
                |sum, term| sum.xor(term),
            );
            made = others;
        }
        first = last;
    }
}
