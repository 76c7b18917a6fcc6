//! Loads the same piece of several messages, one per lane of a vector.

use crate::isa::{CipherBlock, Lanes, MAX_LANES};

/// Piece `j` of at most `LANES` messages; the other lanes are zero.
#[inline(always)]
pub(super) fn some_pieces<L: Lanes>(lanes: L, step: usize, messages: &[&[u8]], j: usize) -> L::V {
    let (bytes, end) = (L::Block::BYTES, (j + 1) * step);
    if end >= bytes {
        let nothing = L::Block::ZERO;
        return lanes.gather(
            (step, lanes.stride(step)),
            #[inline(always)]
            |lane| {
                messages.get(lane).map_or(nothing.as_ref(), |message| &message[end - bytes..end])
            },
        );
    }
    // No whole block ends with these pieces.
    let narrow = lanes.narrow();
    let mut blocks = [L::Block::ZERO; MAX_LANES];
    for (block, message) in blocks[..L::LANES].iter_mut().zip(messages) {
        let piece = narrow.load_strided_lanes(message, j * step, 1, narrow.stride(step));
        *block = narrow.lane0(piece);
    }
    lanes.load(L::Block::flatten(&blocks[..L::LANES]))
}

/// One message per lane, all cut to one length, so that bounds are checked for all at once.
pub(super) struct Together<'a>([&'a [u8]; MAX_LANES]);

impl<'a> Together<'a> {
    const EMPTY: Self = Together([&[]; MAX_LANES]);

    /// The first `bytes` bytes of each message.
    #[inline(always)]
    pub(super) fn new<L: Lanes>(messages: &[&'a [u8]], bytes: usize) -> Self {
        let mut together = Together::EMPTY;
        for (to, message) in together.0[..L::LANES].iter_mut().zip(&messages[..L::LANES]) {
            *to = &message[..bytes];
        }
        together
    }

    /// The first piece of each message, which is shorter than a block.
    #[inline(always)]
    pub(super) fn first_pieces<L: Lanes>(&self, lanes: L, step: usize) -> L::V {
        let bytes = L::Block::BYTES;
        if self.0[0].len() < bytes {
            return some_pieces(lanes, step, &self.0[..L::LANES], 0);
        }
        lanes.gather_first(
            step,
            #[inline(always)]
            |lane| &self.0[lane][..bytes],
        )
    }

    /// Piece `j` of each message, which must end with a whole block.
    #[inline(always)]
    pub(super) fn pieces<L: Lanes>(&self, lanes: L, step: usize, j: usize) -> L::V {
        self.ends(lanes, (step, (j + 1) * step))
    }

    /// The last `step` bytes before byte `end` of each message, which must end with a whole block.
    #[inline(always)]
    pub(super) fn ends<L: Lanes>(&self, lanes: L, (step, end): (usize, usize)) -> L::V {
        lanes.gather(
            (step, lanes.stride(step)),
            #[inline(always)]
            |lane| &self.0[lane][end - L::Block::BYTES..end],
        )
    }
}
