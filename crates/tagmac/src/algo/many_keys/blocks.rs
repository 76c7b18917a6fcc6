//! Groups of messages whose blocks run side by side, one message per lane.

use super::lanes::{Group, Vectors, store};
use super::window::{MAX_GROUP, Window};
use super::{Batch, ManyKeys};
use crate::batch::BatchError;
use crate::isa::Isa;

/// Fewer messages do not form a group: a partial group takes as long as a full one.
pub(super) const MIN_GROUP: usize = 3;

/// A MAC that encrypts all blocks of a message.
pub trait BlockMode: ManyKeys {
    /// The last block is treated differently, and may be full.
    const LAST_BLOCK_DISTINCT: bool;
    /// Working memory on a level.
    type Scratch<I: Isa, const N: usize>;

    /// Returns the length in bytes of a term's piece.
    fn step(parameters: Self::Parameters) -> usize;
    /// Returns working memory for a level.
    fn scratch<I: Isa, const N: usize>(isa: I) -> Self::Scratch<I, N>;
    /// Returns the outputs of the last cipher calls, in the order of the messages.
    fn encrypt_group<I: Isa, const N: usize>(
        isa: I,
        parameters: Self::Parameters,
        scratch: &mut Self::Scratch<I, N>,
        group: &Group<'_, Self::RawKey<'_>>,
    ) -> Vectors<I, N>;
}

/// Tags all messages, `N` vectors at a time.
#[inline(always)]
pub(super) fn tag_groups<I: Isa, M: BlockMode, const N: usize>(
    isa: I,
    batch: Batch<'_, '_, M>,
) -> Result<(), BatchError> {
    let Batch { set, keys, messages, tags } = batch;
    let size = N * I::LANES;
    assert!(size <= MAX_GROUP);
    let mut scratch = M::scratch::<I, N>(isa);
    let mut window = Window::new(M::step(set.parameters), M::LAST_BLOCK_DISTINCT, keys[0]);
    let mut first = 0;
    while first < messages.len() {
        let end = window.take(keys, messages, first, size);
        for at in (0..window.n).step_by(size) {
            if window.n - at < MIN_GROUP {
                set.one_by_one_at(keys, messages, tags, &window.places[at..window.n])?;
                break;
            }
            let group = window.group(at, size);
            let made = M::encrypt_group::<I, N>(isa, set.parameters, &mut scratch, &group);
            let mut blocks = [[0; 16]; MAX_GROUP];
            store(isa, made, &mut blocks);
            for (block, place) in blocks[..size].iter().zip(&window.places[at..window.n]) {
                set.truncation.write(block, &mut tags[*place]);
            }
        }
        let now = first..end;
        if window.n < now.len() {
            let (keys, messages) = (&keys[now.clone()], &messages[now.clone()]);
            set.one_by_one(keys, messages, &mut tags[now], first, Some(window.max_len()))?;
        }
        first = end;
    }
    Ok(())
}
