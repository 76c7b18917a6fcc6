//! Multiplies blocks by powers of x, many at a time: masks x^i L, and sums with weighted terms.
//!
//! Processed one after the other, each block would cost a shift of its n bits, which takes longer
//! than the cipher. Here word w of all blocks is a row, and compilers vectorise loops along rows:
//!
//! ```text
//! x^32 (w_0, w_1, .., w_k) = (w_1, .., w_k, 0) ^ w_0 c      x^n = c, of degree below 16
//! ```
//!
//! From one batch to the next only w_0 is shifted, 32 bits of each block.

use std::marker::PhantomData;

use tagmac::cipher::Field;

/// The blocks of a batch; x^32 takes each block to the one after the batch.
pub const BATCH: usize = 32;
/// Up to this many blocks are multiplied one by one: shorter rows make no vector.
pub const FEW: usize = 4;
/// The maximum of words in a block.
const MAX_WORDS: usize = 4;

/// Aligned to a cache line: a vector load across two lines waits long for the previous store.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Aligned<T>(pub T);

/// A batch of blocks of at most 128 bits.
#[derive(Clone, Copy)]
pub struct Batch<B> {
    /// Big-endian words.
    rows: Aligned<[[u32; BATCH]; MAX_WORDS]>,
    block: PhantomData<B>,
}

impl<B: Field> Batch<B> {
    const WORDS: usize = {
        assert!(B::BYTES.is_multiple_of(4) && 8 <= B::BYTES && B::BYTES <= 4 * MAX_WORDS);
        B::BYTES / 4
    };

    /// Returns a batch in which block j is x^(j step) `first`; the step is 1 or 2.
    #[inline(always)]
    pub fn powers(first: &B, step: u32) -> Self {
        let (mut blocks, mut power) = ([B::ZERO; BATCH], *first);
        for block in &mut blocks[..FEW] {
            *block = power;
            for _ in 0..step {
                power = power.times_x();
            }
        }
        let mut batch = Self::of(&blocks);
        batch.double::<FEW>(step);
        batch.double::<{ 2 * FEW }>(step);
        batch.double::<{ 4 * FEW }>(step);
        batch
    }

    /// Computes N more powers from the N that exist.
    #[inline(always)]
    fn double<const N: usize>(&mut self, step: u32) {
        for j in 0..N {
            self.set_column(N + j, times_x_to::<B>(step * N as u32, self.column(j)));
        }
    }

    #[inline(always)]
    fn of(blocks: &[B; BATCH]) -> Self {
        let mut batch = Batch { rows: Aligned([[0; BATCH]; MAX_WORDS]), block: PhantomData };
        batch.add(blocks);
        batch
    }

    /// Returns the words of block j.
    #[inline(always)]
    fn column(&self, j: usize) -> [u32; MAX_WORDS] {
        let mut words = [0; MAX_WORDS];
        for (word, row) in words.iter_mut().zip(&self.rows.0) {
            *word = row[j];
        }
        words
    }

    #[inline(always)]
    fn set_column(&mut self, j: usize, words: [u32; MAX_WORDS]) {
        for (row, word) in self.rows.0.iter_mut().zip(words).take(Self::WORDS) {
            row[j] = word;
        }
    }

    /// Multiplies every block by x^32.
    #[inline(always)]
    pub fn times_x32(&mut self) {
        for j in 0..BATCH {
            self.set_column(j, times_x_to::<B>(32, self.column(j)));
        }
    }

    /// Adds blocks.
    #[inline(always)]
    pub fn add(&mut self, blocks: &[B; BATCH]) {
        for (w, row) in self.rows.0[..Self::WORDS].iter_mut().enumerate() {
            for (word, block) in row.iter_mut().zip(blocks) {
                let bytes = block.as_ref()[4 * w..].first_chunk().expect("a word");
                *word ^= u32::from_be_bytes(*bytes);
            }
        }
    }

    /// Returns block j.
    #[inline(always)]
    pub fn block(&self, j: usize) -> B {
        let mut block = B::ZERO;
        for (bytes, row) in block.as_mut().chunks_exact_mut(4).zip(&self.rows.0) {
            bytes.copy_from_slice(&row[j].to_be_bytes());
        }
        block
    }

    /// Writes the blocks.
    #[inline(always)]
    pub fn write(&self, blocks: &mut [B; BATCH]) {
        for (j, block) in blocks.iter_mut().enumerate() {
            *block = self.block(j);
        }
    }

    /// Returns the sum of all blocks, in which block j has the weight x^(31 - j).
    #[inline(always)]
    pub fn horner(&self) -> B {
        let mut batch = *self;
        batch.halve::<{ 4 * FEW }>();
        batch.halve::<{ 2 * FEW }>();
        batch.halve::<FEW>();
        let mut sum = batch.block(0);
        for j in 1..FEW {
            sum = sum.times_x().xor(&batch.block(j));
        }
        sum
    }

    /// Reduces the sum of 2 N blocks to one of N.
    #[inline(always)]
    fn halve<const N: usize>(&mut self) {
        for j in 0..N {
            let mut sum = times_x_to::<B>(N as u32, self.column(j));
            for (sum, word) in sum.iter_mut().zip(self.column(N + j)) {
                *sum ^= word;
            }
            self.set_column(j, sum);
        }
    }
}

/// Returns the words of a block times x^s, for s from 1 to 32.
#[inline(always)]
fn times_x_to<B: Field>(s: u32, words: [u32; MAX_WORDS]) -> [u32; MAX_WORDS] {
    let shifted = |word: u32, next: u32| if s == 32 { next } else { word << s | next >> (32 - s) };
    let over = shifted(0, words[0]);
    let mut product = [0; MAX_WORDS];
    for w in 0..Batch::<B>::WORDS {
        let next = if w + 1 < Batch::<B>::WORDS { words[w + 1] } else { 0 };
        product[w] = shifted(words[w], next);
    }
    let (high, low) = (Batch::<B>::WORDS - 2, Batch::<B>::WORDS - 1);
    for bit in 0..16 {
        if B::C >> bit & 1 == 1 {
            product[low] ^= over << bit;
            product[high] ^= over >> 1 >> (31 - bit);
        }
    }
    product
}

/// A weighted sum under construction: each new term multiplies the previous terms by x.
pub struct Weighted<B> {
    sum: B,
    /// The terms that are not in the sum yet: block j has x^(31 - j) more.
    batch: Option<Batch<B>>,
}

impl<B: Field> Weighted<B> {
    /// Continues from a sum.
    #[inline(always)]
    pub fn new(sum: B) -> Self {
        Weighted { sum, batch: None }
    }

    /// Adds terms, at most a batch.
    #[inline(always)]
    pub fn add(&mut self, terms: &[B]) {
        if terms.is_empty() {
            return;
        }
        let Ok(whole) = terms.try_into() else {
            let mut blocks = [B::ZERO; BATCH];
            blocks[0] = self.sum();
            let mut sum = Batch::of(&blocks);
            sum.set_column(0, times_x_to::<B>(terms.len() as u32, sum.column(0)));
            blocks = [B::ZERO; BATCH];
            blocks[BATCH - terms.len()..].copy_from_slice(terms);
            *self = Weighted::new(sum.block(0).xor(&Batch::of(&blocks).horner()));
            return;
        };
        let sum = self.sum;
        let batch = self.batch.get_or_insert_with(
            #[inline(always)]
            || {
                let mut blocks = [B::ZERO; BATCH];
                blocks[BATCH - 1] = sum;
                Batch::of(&blocks)
            },
        );
        batch.times_x32();
        batch.add(whole);
    }

    /// Returns the sum.
    #[inline(always)]
    pub fn sum(&self) -> B {
        self.batch.as_ref().map_or(self.sum, Batch::horner)
    }
}
