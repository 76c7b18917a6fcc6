//! Computes the string of block hashes from the words of a message (sections 5 and 6): streams side
//! by side, an optional second level (T2), block after block.
//!
//! The second level consumes each result of the first one immediately, so only a sum for each
//! stream is stored.

use alloc::vec;
use alloc::vec::Vec;

use tagmac::isa::{Isa, Kernel, Level, Levels, Words};
use zeroize::Zeroize;

use super::error::NhError;
use super::nh::{Family, Fast, Neighbours32, Plain, Strided16, Sums, level};
use super::shape::NhShape;

/// Key bytes, aligned to a cache line. Wiped on drop.
struct Lines {
    /// Contains the key at an aligned position.
    room: Vec<u8>,
    bytes: usize,
}

/// The length of a cache line in bytes.
const LINE: usize = 64;

impl Lines {
    fn new(bytes: &[u8]) -> Lines {
        let mut lines = Lines { room: vec![0; bytes.len() + LINE], bytes: bytes.len() };
        let first = lines.first();
        lines.room[first..][..bytes.len()].copy_from_slice(bytes);
        lines
    }

    #[inline(always)]
    fn first(&self) -> usize {
        self.room.as_ptr().align_offset(LINE).min(LINE)
    }

    #[inline(always)]
    fn as_bytes(&self) -> &[u8] {
        &self.room[self.first()..][..self.bytes]
    }
}

impl Clone for Lines {
    fn clone(&self) -> Lines {
        Lines::new(self.as_bytes())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.room.zeroize();
    }
}

/// The keys of a hash of the NH family. Wiped on drop.
#[derive(Clone)]
pub(crate) struct NhKey {
    shape: NhShape,
    k: Lines,
    l: Lines,
}

impl NhKey {
    /// Uses the first bytes of `k`, and of `l` if there is a second level.
    pub(crate) fn new(shape: NhShape, k: &[u8], l: &[u8]) -> Result<NhKey, NhError> {
        let cut = |bytes: &[u8], expected| {
            let found = bytes.len();
            bytes.get(..expected).map(Lines::new).ok_or(NhError::KeyMaterial { expected, found })
        };
        Ok(NhKey { shape, k: cut(k, shape.key_bytes())?, l: cut(l, shape.second_key_bytes())? })
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &NhShape {
        &self.shape
    }

    /// Writes the hashes of the blocks of `data` to `out`, one after the other. The last block may
    /// be shorter. Enters the level itself, so that all MACs in a program share each level's
    /// kernels. With `plainly`, uses the plain definition for all parameters.
    #[inline(never)]
    pub(crate) fn hash(&self, level: Level, plainly: bool, data: &[u8], out: &mut [u8]) {
        let shape = &self.shape;
        let one_group = shape.streams == 1 || shape.shift == shape.unit_words();
        let pairs = (shape.word_bits, shape.strided, shape.signed);
        let in_vectors = matches!(pairs, (32, false, _) | (16, true, true));
        let blocks = HashBlocks { key: self, data, out };
        if !plainly && one_group && !shape.big_endian && in_vectors {
            return level.run(blocks);
        }
        blocks.plainly();
    }

    /// The streams of a block, `T` at once.
    #[inline(always)]
    fn block<F: Sums<A>, A: Copy, const T: usize>(
        &self,
        family: F,
        a: A,
        shape: &NhShape,
        block: &[u8],
        out: &mut [u8],
    ) {
        let out = out.chunks_exact_mut(T * shape.result_bytes());
        for (i, out) in out.enumerate() {
            let shift = i * T * shape.shift_bytes();
            let k = &self.k.as_bytes()[shift..];
            let l = if shape.outputs == 0 { &[] } else { &self.l.as_bytes()[shift..] };
            let mut second = Second::<F, T>::new(family);
            let mut sums = [0; T];
            for data in block.chunks(shape.level_bytes()) {
                sums = level(family, a, shape, k, data);
                if shape.outputs != 0 {
                    second.take(shape, l, sums);
                }
            }
            if shape.outputs != 0 {
                sums = second.close(shape, l);
            }
            for (sum, out) in sums.into_iter().zip(out.chunks_exact_mut(shape.result_bytes())) {
                put::<F>(shape, sum, out);
            }
        }
    }
}

/// The sums of a second level in `T` streams.
struct Second<F, const T: usize> {
    family: F,
    sums: [u128; T],
    /// Words that do not fill a group yet.
    words: [[u64; 8]; T],
    count: usize,
    /// The number of key bytes used up.
    at: usize,
}

impl<F: Family, const T: usize> Second<F, T> {
    #[inline(always)]
    fn new(family: F) -> Self {
        Second { family, sums: [0; T], words: [[0; 8]; T], count: 0, at: 0 }
    }

    /// Adds a result of the first level in each stream.
    #[inline(always)]
    fn take(&mut self, shape: &NhShape, l: &[u8], results: [u128; T]) {
        for (words, result) in self.words.iter_mut().zip(results) {
            let (first, second) = halves::<F>(shape, result);
            if shape.strided {
                words[self.count] = first;
                words[self.count + 1] = second;
            } else {
                // Each result is a separate group.
                [words[0], words[1]] = [first, second];
            }
        }
        self.count += 2;
        if self.count == shape.unit_words() {
            self.group(shape, l);
        }
    }

    #[inline(always)]
    fn group(&mut self, shape: &NhShape, l: &[u8]) {
        for (s, (sum, words)) in self.sums.iter_mut().zip(&self.words).enumerate() {
            let key = &l[self.at + s * shape.shift_bytes()..][..shape.unit_bytes()];
            *sum = sum.wrapping_add(self.family.group(shape, key, *words));
        }
        self.at += shape.unit_bytes();
        self.count = 0;
    }

    /// Returns the results. The last group is padded with zeros.
    #[inline(always)]
    fn close(mut self, shape: &NhShape, l: &[u8]) -> [u128; T] {
        if self.count > 0 {
            for words in &mut self.words {
                words[self.count..].fill(0);
            }
            self.group(shape, l);
        }
        for sum in &mut self.sums {
            *sum &= u128::MAX >> (128 - 2 * F::W);
        }
        self.sums
    }
}

/// A result as two words, in the order of its bytes.
#[inline(always)]
fn halves<F: Family>(shape: &NhShape, result: u128) -> (u64, u64) {
    let (low, high) = (result as u64, (result >> F::W) as u64);
    if shape.big_endian { (high, low) } else { (low, high) }
}

/// Writes a result.
#[inline(always)]
fn put<F: Family>(shape: &NhShape, result: u128, out: &mut [u8]) {
    if F::W < 8 {
        let (first, second) = halves::<F>(shape, result);
        let mask = (1 << F::W) - 1;
        out.copy_from_slice(&[first as u8 & mask, second as u8 & mask]);
    } else if shape.big_endian {
        out.copy_from_slice(&result.to_be_bytes()[16 - F::W / 4..]);
    } else {
        out.copy_from_slice(&result.to_le_bytes()[..F::W / 4]);
    }
}

struct HashBlocks<'a> {
    key: &'a NhKey,
    data: &'a [u8],
    out: &'a mut [u8],
}

impl HashBlocks<'_> {
    /// All blocks by one family, `T` streams at once.
    #[inline(always)]
    fn all<F: Sums<A>, A: Copy, const T: usize>(self, family: F, a: A) {
        let shape = &F::known(&self.key.shape);
        let blocks = self.data.chunks(shape.block_bytes());
        for (block, out) in blocks.zip(self.out.chunks_exact_mut(shape.hash_bytes())) {
            self.key.block::<F, A, T>(family, a, shape, block, out);
        }
    }

    /// By the plain definition, for all parameters, without a level.
    fn plainly(self) {
        match self.key.shape.word_bits {
            4 => self.all::<_, _, 1>(Plain::<4>, ()),
            16 => self.all::<_, _, 1>(Plain::<16>, ()),
            32 => self.all::<_, _, 1>(Plain::<32>, ()),
            _ => self.all::<_, _, 1>(Plain::<64>, ()),
        }
    }

    /// By vectors. Streams are processed in the largest groups that divide their number.
    #[inline(always)]
    fn fast<F: Sums<A>, A: Words>(self, family: F, a: A) {
        match self.key.shape.streams {
            t if t.is_multiple_of(4) => self.all::<F, A, 4>(family, a),
            t if t.is_multiple_of(2) => self.all::<F, A, 2>(family, a),
            _ => self.all::<F, A, 1>(family, a),
        }
    }
}

/// By vectors, if the parameters have a vector implementation.
impl Kernel for HashBlocks<'_> {
    const LEVELS: Levels = Levels::Words;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (a, shape) = (isa.words(), &self.key.shape);
        match (shape.word_bits, shape.signed) {
            (16, _) => self.fast(Fast::<_, 16, 0>(Strided16), a),
            (_, true) if shape.words == 64 => {
                self.fast(Fast::<_, 32, 64>(Neighbours32::<true>), a);
            }
            (_, true) => self.fast(Fast::<_, 32, 0>(Neighbours32::<true>), a),
            (_, false) => self.fast(Fast::<_, 32, 0>(Neighbours32::<false>), a),
        }
    }
}
