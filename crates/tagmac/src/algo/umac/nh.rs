//! NH (RFC 4418, section 5.2.2), which compresses 1024 bytes to 8 in each stream.
//!
//! With message words m and key words k of 32 bits, in groups of eight words:
//!
//! ```text
//! NH = sum over groups, j = 0..4, of (m_j + k_j mod 2^32) (m_{j+4} + k_{j+4} mod 2^32)  mod 2^64
//! ```
//!
//! In units of 16 bytes, a group is an even unit and the odd one after it, multiplied word by word.
//! The code is fast because streams differ only in the position in the key (Toeplitz): stream s
//! uses units s and s + 1 where stream 0 uses 0 and 1. So s streams need s + 1 loads of key and
//! share the loads of the message.

use crate::isa::{Block, MAX_WORDS, Words, zero_filled};
use crate::wipe::wipe;

/// The maximum number of streams.
pub(super) const STREAMS: usize = 4;

/// The number of bytes that NH compresses at once.
pub(super) const CHUNK: usize = 1024;
/// The length of a unit in bytes.
const UNIT: usize = 16;
/// The length of a group in bytes: an even unit and an odd one.
const GROUP: usize = 2 * UNIT;
/// The length in bytes of the key for all streams.
pub(super) const KEY_BYTES: usize = CHUNK + (STREAMS - 1) * UNIT;

/// The number of units for one stream. Each further stream needs one more.
pub(super) const FIRST_UNITS: usize = CHUNK / UNIT;

/// The key of NH in units. Even and odd units are stored separately.
#[derive(Clone)]
pub(super) struct NhKey {
    even: Units<{ (KEY_BYTES / UNIT).div_ceil(2) }>,
    odd: Units<{ KEY_BYTES / UNIT / 2 }>,
}

/// Units that start at a cache line, so that the first streams' loads never cross one.
#[derive(Clone)]
#[repr(align(64))]
struct Units<const N: usize>([Block; N]);

/// The number of units that a chunk of `bytes` bytes needs in `T` streams.
pub(super) fn units_for<const T: usize>(bytes: usize) -> usize {
    2 * bytes.div_ceil(GROUP).max(1) + T - 1
}

impl NhKey {
    pub(super) const ZERO: NhKey = NhKey {
        even: Units([[0; UNIT]; (KEY_BYTES / UNIT).div_ceil(2)]),
        odd: Units([[0; UNIT]; KEY_BYTES / UNIT / 2]),
    };

    pub(super) fn wipe(&mut self) {
        wipe(&mut self.even.0, [0; UNIT]);
        wipe(&mut self.odd.0, [0; UNIT]);
    }

    /// Sets unit `i` from the key's bytes.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, bytes: &Block) {
        let unit =
            if i.is_multiple_of(2) { &mut self.even.0[i / 2] } else { &mut self.odd.0[i / 2] };
        *unit = words(bytes);
    }

    /// The first units: the even ones and the odd ones.
    #[inline(always)]
    pub(super) fn first_units(&mut self) -> [&mut [Block; FIRST_UNITS / 2]; 2] {
        let first = "more units than these";
        [self.even.0.first_chunk_mut().expect(first), self.odd.0.first_chunk_mut().expect(first)]
    }

    /// Units `2 group + i`, `2 group + i + 2` and so on, one in each lane.
    #[inline(always)]
    fn units<A: Words>(&self, a: A, group: usize, i: usize) -> A::W {
        a.blocks(self.half(i)[group + i / 2..][..A::LANES].as_flattened())
    }

    /// Unit `2 group + i` in every lane.
    #[inline(always)]
    fn unit<A: Words>(&self, a: A, group: usize, i: usize) -> A::W {
        a.splat_block(&self.half(i)[group + i / 2])
    }

    /// The even or odd units of the key, like `i`.
    #[inline(always)]
    fn half(&self, i: usize) -> &[Block] {
        if i.is_multiple_of(2) { &self.even.0 } else { &self.odd.0 }
    }

    /// NH of a chunk of 0 to 1024 bytes in `T` streams. The chunk is padded with zeros to whole
    /// groups, at least one, and its length in bits is added.
    #[inline(always)]
    pub(super) fn hash<A: Words, const T: usize>(&self, a: A, chunk: &[u8]) -> [u64; T] {
        let narrow = a.narrow();
        let bytes = A::LANES * GROUP;
        // For three and four streams, compilers gather the words for L3-HASH unless the length is
        // added in between. For two streams this would cost more than it saves.
        let length = 8 * chunk.len() as u64;
        let gathers = const { T > 2 && A::HAS_VECTOR_MUL };
        let (in_vectors, in_words) = if gathers { (length, 0) } else { (0, length) };
        let mut sums = [[narrow.first(in_vectors)]; T];
        let whole = chunk.len() / bytes * bytes;
        let (wide_groups, mut rest) = chunk.split_at(whole);
        if whole > 0 {
            let mut wide = [[a.splat(0)]; T];
            for (v, groups) in wide_groups.chunks_exact(bytes).enumerate() {
                add(
                    a,
                    &mut wide,
                    [a.even_odd(groups)],
                    #[inline(always)]
                    |i| self.units(a, A::LANES * v, i),
                );
            }
            // For one group, or two whole ones, narrow vectors are faster.
            if A::MASKS && rest.len() > GROUP && rest.len() != 2 * GROUP {
                let mut last = [[a.splat(0)]; T];
                add(
                    a,
                    &mut last,
                    [a.even_odd_padded(rest)],
                    #[inline(always)]
                    |i| self.units(a, whole / GROUP, i),
                );
                let groups = rest.len().div_ceil(GROUP);
                for ([wide], [last]) in wide.iter_mut().zip(last) {
                    *wide = a.add(*wide, a.keep_lanes(last, groups));
                }
                rest = &[];
            }
            for ([sum], [wide]) in sums.iter_mut().zip(wide) {
                let wide = a.sum_lanes(wide);
                *sum = if gathers { narrow.add(*sum, wide) } else { wide };
            }
        }
        let (groups, last) = rest.as_chunks::<GROUP>();
        let mut place = whole / GROUP;
        for group in groups {
            add(
                narrow,
                &mut sums,
                [narrow.even_odd(group)],
                #[inline(always)]
                |i| self.units(narrow, place, i),
            );
            place += 1;
        }
        if !last.is_empty() || chunk.is_empty() {
            let (even, odd) = last.split_at(last.len().min(UNIT));
            let units = (narrow.blocks(&zero_filled(even)), narrow.blocks(&zero_filled(odd)));
            add(
                narrow,
                &mut sums,
                [units],
                #[inline(always)]
                |i| self.units(narrow, place, i),
            );
        }
        let mut words = [in_words; T];
        for (word, [sum]) in words.iter_mut().zip(sums) {
            *word = word.wrapping_add(narrow.sum(sum));
        }
        words
    }

    /// As [`hash`](NhKey::hash) of a full chunk. Calls `meanwhile` after each of `PARTS` parts,
    /// with its index: scalar work costs little there, while after NH the vector units
    /// would wait for it.
    #[inline(always)]
    pub(super) fn hash_full_chunk<A: Words, const T: usize, const PARTS: usize>(
        &self,
        a: A,
        chunk: &[u8; CHUNK],
        mut meanwhile: impl FnMut(usize),
    ) -> [u64; T] {
        let (bytes, part_bytes) = (A::LANES * GROUP, CHUNK / PARTS);
        let mut sums = [[a.first(8 * CHUNK as u64)]; T];
        for part in 0..PARTS {
            for v in 0..part_bytes / bytes {
                let at = part * part_bytes + v * bytes;
                add(
                    a,
                    &mut sums,
                    [a.even_odd(&chunk[at..][..bytes])],
                    #[inline(always)]
                    |i| self.units(a, at / GROUP, i),
                );
            }
            meanwhile(part);
        }
        let mut words = [0; T];
        for (words, sums) in words.chunks_mut(2).zip(sums.as_flattened().chunks(2)) {
            match (words, sums) {
                ([one, other], [a0, a1]) => [*one, *other] = a.sum_pair(*a0, *a1),
                ([word], [sum]) => *word = a.sum(*sum),
                _ => unreachable!("as many words as sums"),
            }
        }
        words
    }

    /// As [`hash`](NhKey::hash), of chunks of one length, two for each lane of a vector. Returns a
    /// chunk's hash in each word, in the order of [`Words::deinterleave`].
    #[inline(always)]
    pub(super) fn hash_each<A: Words, const T: usize>(&self, a: A, chunks: &[&[u8]]) -> [A::W; T] {
        let bytes = chunks[0].len();
        let mut rows = [&[][..]; MAX_WORDS];
        for (row, chunk) in rows[..2 * A::LANES].iter_mut().zip(&chunks[..2 * A::LANES]) {
            *row = &chunk[..bytes];
        }
        let mut sums = [[a.splat(0); 2]; T];
        let groups = bytes / GROUP;
        for group in 0..groups {
            let at = GROUP * group;
            let mut units = [(a.splat(0), a.splat(0)); 2];
            for (half, units) in units.iter_mut().enumerate() {
                let even = a.gather(
                    #[inline(always)]
                    |j| &rows[half * A::LANES + j][at..at + UNIT],
                );
                let odd = a.gather(
                    #[inline(always)]
                    |j| &rows[half * A::LANES + j][at + UNIT..at + GROUP],
                );
                *units = (even, odd);
            }
            add(
                a,
                &mut sums,
                units,
                #[inline(always)]
                |i| self.unit(a, group, i),
            );
        }
        let rest = bytes - GROUP * groups;
        if rest > 0 || bytes == 0 {
            let at = GROUP * groups;
            let mut blocks = [[[0; UNIT]; 2]; MAX_WORDS];
            // A whole unit is read in place.
            let whole = rest >= UNIT;
            for (blocks, row) in blocks[..2 * A::LANES].iter_mut().zip(&rows) {
                let (even, odd) = row[at..].split_at(rest.min(UNIT));
                if !whole {
                    blocks[0] = zero_filled(even);
                } else if rest > UNIT {
                    blocks[1] = zero_filled(odd);
                }
            }
            let mut units = [(a.splat(0), a.splat(0)); 2];
            for (half, units) in units.iter_mut().enumerate() {
                let first = half * A::LANES;
                let even = a.gather(
                    #[inline(always)]
                    |j| if whole { &rows[first + j][at..at + UNIT] } else { &blocks[first + j][0] },
                );
                let odd = a.gather(
                    #[inline(always)]
                    |j| &blocks[first + j][1],
                );
                *units = (even, odd);
            }
            add(
                a,
                &mut sums,
                units,
                #[inline(always)]
                |i| self.unit(a, groups, i),
            );
        }
        let length = a.splat(8 * bytes as u64);
        let mut words = [length; T];
        for (word, [one, other]) in words.iter_mut().zip(sums) {
            let (low, high) = a.deinterleave_pair(one, other);
            *word = a.add(length, a.add(low, high));
        }
        words
    }
}

/// A unit of the key's bytes, which are big-endian words of 32 bits.
#[inline(always)]
pub(super) fn words(bytes: &Block) -> Block {
    let mut unit = [0; UNIT];
    for (word, bytes) in unit.as_chunks_mut::<4>().0.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = [bytes[3], bytes[2], bytes[1], bytes[0]];
    }
    unit
}

/// Adds one group in each lane of `N` rows of vectors. `key(i)` is unit i of the key.
#[inline(always)]
fn add<A: Words, const T: usize, const N: usize>(
    a: A,
    sums: &mut [[A::W; N]; T],
    units: [(A::W, A::W); N],
    key: impl Fn(usize) -> A::W,
) {
    let mut next = key(0);
    for (s, sums) in sums.iter_mut().enumerate() {
        let here = next;
        next = key(s + 1);
        for (sum, (even, odd)) in sums.iter_mut().zip(units) {
            let left = a.add32(even, here);
            let right = a.add32(odd, next);
            let low = a.mul32(left, right);
            let high = a.mul32(a.high32(left), a.high32(right));
            *sum = a.add(*sum, a.add(low, high));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Isa, Kernel, Level};

    struct Alike<'a>(&'a NhKey, &'a [[u8; CHUNK]; 2]);

    impl Kernel for Alike<'_> {
        type Out = bool;

        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> bool {
            let (a, Alike(key, chunks)) = (isa.words(), self);
            let mut calls = 0;
            chunks.iter().all(|chunk| {
                let all: [u64; STREAMS] = key.hash_full_chunk::<_, _, 4>(a, chunk, |_| calls += 1);
                let three: [u64; 3] = key.hash_full_chunk::<_, _, 2>(a, chunk, |_| ());
                let expected = key.hash::<_, STREAMS>(a, chunk);
                all == expected && three == expected[..3]
            }) && calls == 4 * chunks.len()
        }
    }

    #[test]
    fn whole_chunks_are_hashed_as_any() {
        let mut key = NhKey::ZERO;
        for i in 0..KEY_BYTES / UNIT {
            key.set(i, &core::array::from_fn(|j| (i * 37 + j * 101) as u8));
        }
        let chunks = core::array::from_fn(|c| core::array::from_fn(|i| (c * 3 + i * 89) as u8));
        for level in Level::all() {
            assert!(level.run(Alike(&key, &chunks)), "{}", level.name());
        }
    }
}
