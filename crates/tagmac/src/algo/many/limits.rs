//! Which messages are faster in a batch than one by one. The limits are measured.

use super::masked::Masked;
use crate::cipher::Cipher;
use crate::construction::{Construction, Hash};

/// The maximum number of terms of a message. Longer ones fill vectors by themselves.
pub(in crate::algo) const MAX_TERMS: usize = 32;
/// The same for messages of one length under LightMAC, where pieces are shorter than blocks, and
/// under EliMAC without a cache.
pub(in crate::algo) const MAX_TERMS_ALIKE: usize = 48;
/// The same for messages of any lengths under PMAC with another cipher than AES. Single calls
/// compute few blocks of PRESENT at once.
pub(in crate::algo) const MAX_TERMS_OTHER: usize = 64;
/// The same under AES on levels without its instructions.
pub(super) const MAX_TERMS_STAGED: usize = 128;
/// The number of messages whose last blocks are encrypted at once.
pub(in crate::algo) const MESSAGES: usize = 64;

/// The minimum of messages of different lengths. The scratch space of fewer costs more than vectors
/// of AES save.
const MIN_MIXED: usize = 32;
/// The same for messages of one length, in vectors, and the minimum of their bytes together.
const MIN_ALIKE: usize = 4;
const MIN_ALIKE_BYTES: usize = 1024;
/// The minimum of messages under AES on levels without its instructions: a vector of 16 blocks takes
/// as long as a few single blocks.
const MIN_STAGED: usize = 6;
/// Fewer messages are enough if they have this many bytes together.
const MIN_STAGED_BYTES: usize = 128;

/// The maximum length in bytes of a message that is faster in a batch: one of `terms` terms, or of
/// [`MAX_TERMS_STAGED`], and a last block, which may be full if it is treated differently.
#[inline(always)]
pub(in crate::algo) fn max_len<M: Masked + Construction>(mac: &M, terms: usize) -> usize {
    assert!(terms <= if M::BY_VECTORS { MAX_TERMS_ALIKE } else { MAX_TERMS_OTHER });
    let hash = mac.hash();
    let staged = M::BY_VECTORS && !hash.level().facts().aes_instructions;
    let terms = if staged { MAX_TERMS_STAGED } else { terms };
    (terms + 1) * hash.block() - !M::Hash::LAST_BLOCK_DISTINCT as usize
}

/// [`max_len`] for terms computed by the cipher C, or 0 if a batch is not faster on the MAC's
/// level.
#[inline(always)]
pub(in crate::algo) fn max_len_under<C: Cipher, M: Masked + Construction>(
    mac: &M,
    terms: usize,
) -> usize {
    let helps = !C::HAS_NARROW_PATH || mac.hash().level().facts().batching_helps_aes();
    if helps { max_len(mac, terms) } else { 0 }
}

/// Returns whether terms are computed by vectors of AES.
#[inline(always)]
fn by_vectors<M: Masked + Construction>(mac: &M) -> bool {
    M::BY_VECTORS && mac.hash().level().facts().aes_instructions
}

/// Returns whether messages are faster in a batch than one by one.
#[inline(always)]
pub(in crate::algo) fn helps<M: Masked + Construction>(mac: &M, messages: &[&[u8]]) -> bool {
    if by_vectors(mac) {
        return !are_few(messages, mac.piece(), mac.hash().level().facts().lanes);
    }
    !M::BY_VECTORS
        || messages.len() >= MIN_STAGED
        || messages.iter().fold(0, |all, message| all + message.len()) >= MIN_STAGED_BYTES
}

/// Returns whether short messages among long ones are worth gathering. Vectors of AES save less
/// than the copies cost.
#[inline(always)]
pub(in crate::algo) fn gathers<M: Masked + Construction>(mac: &M) -> bool {
    !by_vectors(mac)
}

/// Returns whether messages are too few for vectors of AES with `lanes` blocks, see [`MIN_MIXED`].
/// Not inlined, so that all MACs share it.
#[inline(never)]
fn are_few(messages: &[&[u8]], step: usize, lanes: usize) -> bool {
    let n = messages.len();
    if n < MIN_MIXED {
        return n < MIN_ALIKE * lanes
            || n * messages[0].len() < MIN_ALIKE_BYTES
            || !have_equal_lengths(messages);
    }
    n <= MESSAGES && are_tiny(messages, step)
}

/// Returns whether messages differ in length and have less than about one piece of `step` bytes
/// each, judging by the first ones.
#[inline(always)]
pub(super) fn are_tiny(messages: &[&[u8]], step: usize) -> bool {
    let first = &messages[..messages.len().min(16)];
    let all = first.iter().fold(0, |all, message| all + message.len());
    all < first.len() * (step + 4) && all != first.len() * first[0].len()
}

/// Returns whether all messages have the same length. Not inlined, so that all kernels share it.
#[inline(never)]
pub(in crate::algo) fn have_equal_lengths(messages: &[&[u8]]) -> bool {
    let bytes = messages[0].len();
    // No branch per message.
    messages.iter().fold(0, |differ, message| differ | (message.len() ^ bytes)) == 0
}
