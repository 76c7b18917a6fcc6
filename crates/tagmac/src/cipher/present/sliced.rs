//! Bitsliced batches of blocks in 64 vectors: bit r of word i of plane p is bit p of a block.
//!
//! P renames planes and costs nothing. Boxes `4g..4g + 4` of a round feed only boxes `g, 4 + g, 8 +
//! g, 12 + g` of the next. Two rounds are therefore four pieces of sixteen planes each, which stay
//! in registers between one load and one store.
//!
//! Only the xor of all blocks is needed. The last round adds its planes to sums instead of a key,
//! K_32 counts only if the number of blocks is odd, and the sums are converted to a block once. The
//! padding of the last batch is masked out there.

use super::round_keys::{MAX_BLOCKS, RoundKeys};
use super::sbox::{sub, xor};
use crate::isa::{BitSlices, Isa, SMALL, Words};
use crate::wipe::wipe;

/// The number of bits in a block.
const BITS: usize = 64;
/// The number of blocks in the largest batch. 0 where code must be small.
const MAX_BATCH_BLOCKS: usize = if SMALL { 0 } else { 512 };

/// A plane for each bit. A plane has as many words as the level's vectors. Plain words, because
/// they can be initialised with zeros in place.
type Planes = [u64; MAX_BATCH_BLOCKS];

/// Aligned, because vectors that cross a cache line cost twice.
#[repr(align(64))]
struct Aligned<const N: usize>([u64; N]);

#[inline(always)]
fn get<W: Words>(words: W, planes: &Planes, p: usize) -> W::W {
    words.load(&planes[width::<W>() * p..][..width::<W>()])
}

#[inline(always)]
fn set<W: Words>(words: W, planes: &mut Planes, p: usize, plane: W::W) {
    words.store(plane, &mut planes[width::<W>() * p..][..width::<W>()]);
}

/// The planes of box `s` of a state.
#[inline(always)]
fn nibble<W: Words>(words: W, planes: &Planes, s: usize) -> [W::W; 4] {
    let plane = |b: usize| get(words, planes, 4 * s + b);
    [plane(0), plane(1), plane(2), plane(3)]
}

/// The xor of E_K over many blocks, computed in batches.
pub struct PresentAdder<'a, I: Isa> {
    isa: I,
    cipher: &'a RoundKeys,
    /// The blocks that wait before the first batch pays.
    first: Aligned<{ NARROW_PATH_MAX_BLOCKS + MAX_BLOCKS }>,
    batches: Option<Batches>,
    /// The xor of blocks that were encrypted without a batch.
    total: u64,
    waiting: usize,
    /// The number of waiting blocks at which `encrypt_batch` runs.
    full: usize,
    /// At least one batch was added to the sums.
    has_sums: bool,
}

/// The memory for batches: waiting blocks with room for those pushed together with the last of a
/// batch, the state, and the sums. During a batch the blocks' memory is the second buffer of the
/// state. One array, because it can be initialised with zeros in place.
type Batches = Aligned<{ MAX_BATCH_BLOCKS + MAX_BLOCKS + 2 * MAX_BATCH_BLOCKS }>;

/// The key of box `s` after P.
#[inline(always)]
fn key<W: BitSlices>(words: W, key: &[u32; BITS], s: usize) -> [W::W; 4] {
    [
        words.splat32(key[s]),
        words.splat32(key[16 + s]),
        words.splat32(key[32 + s]),
        words.splat32(key[48 + s]),
    ]
}

/// Computes two rounds.
#[inline(always)]
fn two_rounds<W: BitSlices>(
    words: W,
    [odd, even]: &[[u32; BITS]; 2],
    from: &Planes,
    to: &mut Planes,
) {
    for g in 0..4 {
        let s = 4 * g;
        let y0 = xor(words, sub(words, nibble(words, from, s)), key(words, odd, s));
        let y1 = xor(words, sub(words, nibble(words, from, s + 1)), key(words, odd, s + 1));
        let y2 = xor(words, sub(words, nibble(words, from, s + 2)), key(words, odd, s + 2));
        let y3 = xor(words, sub(words, nibble(words, from, s + 3)), key(words, odd, s + 3));
        for b in 0..4 {
            let s = 4 * b + g;
            let z = sub(words, [y0[b], y1[b], y2[b], y3[b]]);
            for (c, z) in xor(words, z, key(words, even, s)).into_iter().enumerate() {
                set(words, to, 16 * c + s, z);
            }
        }
    }
}

/// Computes the last round without its key and adds it to `sums`.
#[inline(always)]
fn add_last_round<W: Words>(words: W, from: &Planes, sums: &mut Planes) {
    for s in 0..16 {
        let sum = |b: usize| get(words, sums, 16 * b + s);
        let y = sub(words, nibble(words, from, s));
        for (b, y) in xor(words, y, [sum(0), sum(1), sum(2), sum(3)]).into_iter().enumerate() {
            set(words, sums, 16 * b + s, y);
        }
    }
}

/// The number of words in a level's vectors.
const fn width<W: Words>() -> usize {
    2 * W::LANES
}

/// The number of blocks in a level's batch.
const fn batch_blocks<W: Words>() -> usize {
    BITS * width::<W>()
}

/// The maximum number of blocks that are faster without a batch, on any level.
const NARROW_PATH_MAX_BLOCKS: usize = if SMALL { 4 } else { 192 };

/// The same on a level.
const fn narrow_path_max_blocks<W: Words>() -> usize {
    match W::LANES {
        _ if SMALL => NARROW_PATH_MAX_BLOCKS,
        4 => NARROW_PATH_MAX_BLOCKS,
        2 => 112,
        _ if W::HAS_VECTOR_MUL => 40,
        _ => 88,
    }
}

/// Computes all rounds but the last on the first blocks. The state ends up in `blocks`.
#[inline(always)]
fn rounds<W: BitSlices>(words: W, cipher: &RoundKeys, blocks: &mut Planes, state: &mut Planes) {
    words.transpose_bits(
        &blocks[..batch_blocks::<W>()],
        cipher.first,
        &mut state[..batch_blocks::<W>()],
    );
    let (mut from, mut to) = (state, blocks);
    for keys in cipher.masks().as_chunks().0 {
        two_rounds(words, keys, from, to);
        core::mem::swap(&mut from, &mut to);
    }
}

/// Adds the first `count` blocks of a batch to `sums`. Planes of `sums` have `stride` words.
#[inline(always)]
fn add_partial<W: BitSlices>(
    words: W,
    cipher: &RoundKeys,
    blocks: &mut Planes,
    state: &mut Planes,
    sums: &mut Planes,
    stride: usize,
    count: usize,
) {
    rounds(words, cipher, blocks, state);
    wipe(&mut state[..batch_blocks::<W>()], 0);
    add_last_round(words, blocks, state);
    // Block `r * width + i` is bit r of word i.
    let mut mask = [0; MAX_BATCH_BLOCKS / BITS];
    for (i, mask) in mask[..width::<W>()].iter_mut().enumerate() {
        let rows = (count + width::<W>() - 1 - i) / width::<W>();
        *mask = u64::MAX.checked_shr((BITS - rows) as u32).unwrap_or(0);
    }
    let mask = words.load(&mask[..width::<W>()]);
    for p in 0..BITS {
        let added = words.and(get(words, state, p), mask);
        let sum = &mut sums[stride * p..][..width::<W>()];
        words.store(words.xor(words.load(sum), added), sum);
    }
}

/// The block with the parity of plane p as bit p. Two planes are merged into one with the parities
/// of their halves side by side, until one plane is left.
#[inline(always)]
fn parities<W: Words>(words: W, planes: &mut Planes) -> u64 {
    let mut s = BITS / 2;
    while s > 0 {
        let low = words.splat(u64::MAX / ((1 << s) + 1));
        for p in 0..s {
            let (a, b) = (get(words, planes, p), get(words, planes, p + s));
            let x = words.xor(a, words.shr(a, s as u32));
            let y = words.xor(b, words.shl(b, s as u32));
            set(words, planes, p, words.or(words.and(x, low), words.and_not(y, low)));
        }
        s /= 2;
    }
    planes[..width::<W>()].iter().fold(0, |total, word| total ^ word)
}

/// The words of half a vector.
type Half<I> = <<I as Isa>::Words as BitSlices>::Half;

impl<'a, I: Isa> PresentAdder<'a, I> {
    /// An empty sum.
    #[inline(always)]
    pub(crate) fn new(isa: I, cipher: &'a RoundKeys) -> Self {
        let (first, full) = (
            Aligned([0; NARROW_PATH_MAX_BLOCKS + MAX_BLOCKS]),
            narrow_path_max_blocks::<I::Words>() + 1,
        );
        PresentAdder {
            isa,
            cipher,
            first,
            batches: None,
            total: 0,
            waiting: 0,
            full,
            has_sums: false,
        }
    }

    /// Adds E_K of the blocks in the words of vectors.
    #[inline(always)]
    pub(crate) fn push<const N: usize>(&mut self, x: [<I::Words as Words>::W; N]) {
        const { assert!(N * width::<I::Words>() <= MAX_BLOCKS) };
        let waiting = match &mut self.batches {
            Some(batches) => &mut batches.0[..],
            None => &mut self.first.0[..],
        };
        let room = waiting[self.waiting..].chunks_exact_mut(width::<I::Words>());
        for (x, room) in x.into_iter().zip(room) {
            self.isa.words().store(x, room);
        }
        self.go_on(N * width::<I::Words>());
    }

    /// As [`push`](PresentAdder::push), for the first `n` words of a vector.
    #[inline(always)]
    pub(crate) fn push_lanes(&mut self, x: <I::Words as Words>::W, n: usize) {
        let waiting = match &mut self.batches {
            Some(batches) => &mut batches.0[..],
            None => &mut self.first.0[..],
        };
        self.isa.words().store(x, &mut waiting[self.waiting..][..width::<I::Words>()]);
        self.go_on(n);
    }

    /// Counts `n` more waiting blocks.
    #[inline(always)]
    fn go_on(&mut self, n: usize) {
        self.waiting += n;
        if self.waiting >= self.full {
            let isa = self.isa;
            isa.run_outlined(
                #[inline(always)]
                || self.encrypt_batch(),
            );
        }
    }

    /// Allocates memory for batches, or adds a batch of the first waiting blocks.
    #[inline(always)]
    fn encrypt_batch(&mut self) {
        if SMALL {
            self.total ^= total_narrow(self.isa, self.cipher, &mut self.first.0, self.waiting);
            self.waiting = 0;
            return;
        }
        let (words, batch) = (self.isa.words(), batch_blocks::<I::Words>());
        let Some(batches) = &mut self.batches else {
            let batches = self
                .batches
                .insert(Aligned([0; MAX_BATCH_BLOCKS + MAX_BLOCKS + 2 * MAX_BATCH_BLOCKS]));
            batches.0[..self.first.0.len()].copy_from_slice(&self.first.0);
            wipe(&mut self.first.0, 0);
            self.full = batch;
            return;
        };
        let (blocks, state, sums) = parts(batches);
        rounds(words, self.cipher, blocks, state);
        add_last_round(words, blocks, sums);
        batches.0.copy_within(batch..batch + MAX_BLOCKS, 0);
        self.waiting -= batch;
        self.has_sums = true;
    }

    /// Returns the xor of all blocks and starts a new sum.
    #[inline(always)]
    pub(crate) fn total(&mut self) -> u64 {
        let isa = self.isa;
        match self.batches {
            Some(_) if !SMALL => isa.run_outlined(
                #[inline(always)]
                || self.total_batched(),
            ),
            _ => {
                let n = core::mem::take(&mut self.waiting);
                total_narrow(isa, self.cipher, &mut self.first.0, n)
                    ^ core::mem::take(&mut self.total)
            }
        }
    }

    #[inline(always)]
    fn total_batched(&mut self) -> u64 {
        let (isa, words, cipher) = (self.isa, self.isa.words(), self.cipher);
        let (rest, mut has_sums) = (self.waiting, self.has_sums);
        (self.waiting, self.has_sums) = (0, false);
        let Some(batches) = &mut self.batches else { unreachable!("batches") };
        let (blocks, state, sums) = parts(batches);
        let (most, half) = (narrow_path_max_blocks::<I::Words>(), batch_blocks::<Half<I>>());
        let halves = Half::<I>::LANES < I::Words::LANES;
        let in_batch = match rest {
            _ if rest <= most => 0,
            // Four vectors cost less than the other half.
            _ if halves && rest > half && rest - half <= 4 * width::<I::Words>() => half,
            _ => rest,
        };
        let mut total = 0;
        if in_batch > 0 {
            let width = width::<I::Words>();
            if halves && in_batch <= half {
                words.with_half(
                    #[inline(always)]
                    |words| add_partial(words, cipher, blocks, state, sums, width, in_batch),
                );
            } else {
                add_partial(words, cipher, blocks, state, sums, width, in_batch);
            }
            has_sums = true;
            if in_batch % 2 == 1 {
                total ^= cipher.last;
            }
        }
        if in_batch < rest {
            total ^= total_narrow(isa, cipher, &mut blocks[in_batch..], rest - in_batch);
        }
        if has_sums {
            total ^= parities(words, sums);
            wipe(&mut sums[..batch_blocks::<I::Words>()], 0);
        }
        wipe(&mut state[..batch_blocks::<I::Words>()], 0);
        wipe(&mut batches.0[..batch_blocks::<I::Words>() + MAX_BLOCKS], 0);
        total
    }
}

/// Splits the memory into the blocks, the state and the sums.
#[inline(always)]
fn parts(batches: &mut Batches) -> (&mut Planes, &mut Planes, &mut Planes) {
    let (blocks, rest) = batches.0.split_at_mut(MAX_BATCH_BLOCKS + MAX_BLOCKS);
    let blocks = blocks.first_chunk_mut().expect("blocks");
    let (state, sums) = rest.split_first_chunk_mut().expect("a state");
    (blocks, state, sums.first_chunk_mut().expect("sums"))
}

/// The xor of E_K of the first `n` blocks. Wipes the blocks.
#[inline(always)]
fn total_narrow<I: Isa>(isa: I, cipher: &RoundKeys, blocks: &mut [u64], n: usize) -> u64 {
    cipher.encrypt(isa, blocks, n);
    let total = blocks[..n].iter().fold(0, |total, block| total ^ block);
    wipe(&mut blocks[..n + 4 * width::<I::Words>()], 0);
    total.swap_bytes()
}
