//! Selects the messages that share vectors, and stages their blocks in the order of the vectors.

use super::super::many::{Alike, MAX_TERMS, MESSAGES, Sorted};
use super::lanes::Group;
use crate::isa::{Block, CipherBlock, zeros_before};

/// The maximum number of messages in a group.
pub(super) const MAX_GROUP: usize = 16;

/// Short messages and their keys, in the order in which they share vectors.
pub(super) struct Window<'a, K> {
    /// The length in bytes of a term's piece.
    step: usize,
    /// A last block may be full.
    full: bool,
    keys: [K; MESSAGES],
    /// The messages in their original order.
    messages: [&'a [u8]; MESSAGES],
    sorted: Sorted<'a>,
    /// The index of each message in the batch.
    pub(super) places: [usize; MESSAGES],
    /// The number of messages.
    pub(super) n: usize,
    /// Pieces 1, 2 and so on of a group's messages. They follow the padded last blocks and the
    /// masks of ones where these are full.
    rows: [Block; (MAX_TERMS + 2) * MAX_GROUP],
}

impl<'a, K: Copy> Window<'a, K> {
    /// An empty window.
    #[inline(always)]
    pub(super) fn new(step: usize, full: bool, key: K) -> Self {
        let rows = [[0; 16]; (MAX_TERMS + 2) * MAX_GROUP];
        let (keys, places) = ([key; MESSAGES], [0; MESSAGES]);
        let messages = [&[][..]; MESSAGES];
        Window { step, full, keys, messages, sorted: Sorted::EMPTY, places, n: 0, rows }
    }

    /// The maximum length of a short message in bytes.
    #[inline(always)]
    pub(super) fn max_len(&self) -> usize {
        (MAX_TERMS + 1) * self.step - !self.full as usize
    }

    /// Collects the next short messages from `first`, and returns the index after the last message
    /// seen. Groups are filled up with copies of the last message. Not inlined, so that all levels
    /// share it.
    #[inline(never)]
    pub(super) fn take(
        &mut self,
        keys: &[K],
        messages: &[&'a [u8]],
        first: usize,
        group: usize,
    ) -> usize {
        let (mut n, mut end) = (0, first);
        for (key, message) in keys[first..].iter().zip(&messages[first..]) {
            if n == MESSAGES {
                break;
            }
            if message.len() <= self.max_len() {
                (self.keys[n], self.messages[n], self.places[n]) = (*key, message, end);
                n += 1;
            }
            end += 1;
        }
        self.n = n;
        if n == 0 {
            return end;
        }
        let terms_in = |bytes: usize| bytes.saturating_sub(self.full as usize) / self.step;
        let messages = &self.messages[..n];
        if self.sorted.take_terms(terms_in, messages) == Alike::Nothing {
            self.sorted.sort::<{ MAX_TERMS + 1 }>(messages);
            let (keys, places) = (self.keys, self.places);
            for (i, from) in self.sorted.places[..n].iter().enumerate() {
                (self.keys[i], self.places[i]) = (keys[*from as usize], places[*from as usize]);
            }
        } else {
            self.sorted.messages[..n].copy_from_slice(messages);
        }
        let lacking = n..n.next_multiple_of(group);
        let Sorted { messages, terms, .. } = &mut self.sorted;
        let (key, message, least) = (self.keys[n - 1], messages[n - 1], terms[n - 1]);
        self.keys[lacking.clone()].fill(key);
        messages[lacking.clone()].fill(message);
        terms[lacking].fill(least);
        end
    }

    /// Stages and returns the group that starts at message `at`.
    #[inline(always)]
    pub(super) fn group(&mut self, at: usize, size: usize) -> Group<'_, K> {
        self.stage(at, size);
        let now = at..at + size;
        Group { keys: &self.keys[now.clone()], terms: &self.sorted.terms[now], rows: &self.rows }
    }

    /// Writes a group's rows. Rows that a message lacks keep their old contents.
    #[inline(never)]
    fn stage(&mut self, at: usize, size: usize) {
        let (messages, terms) = (&self.sorted.messages[at..][..size], &self.sorted.terms[at..]);
        for (i, (message, terms)) in messages.iter().zip(terms).enumerate() {
            let (pieces, last) = message.split_at(*terms as usize * self.step);
            let mut to = i + 2 * size;
            if self.step == 16 {
                for piece in pieces.as_chunks().0 {
                    self.rows[to] = *piece;
                    to += size;
                }
            } else {
                for piece in pieces.chunks_exact(self.step) {
                    self.rows[to] = zeros_before(piece);
                    to += size;
                }
            }
            let full = last.len() == 16;
            let padded = Block::zero_filled(last);
            self.rows[i] = if full { padded } else { padded.xor(&Block::one_at(8 * last.len())) };
            self.rows[size + i] = [0u8.wrapping_sub(full as u8); 16];
        }
    }
}
