//! Whole flights of blocks in 64 vectors: bit r of word i of plane p is bit p of a block.
//!
//! P renames planes and costs nothing. Boxes `4g..4g + 4` of a round feed boxes `g, 4 + g, 8 + g,
//! 12 + g` of the next and no others, so two rounds are four pieces of sixteen planes each, which
//! stay in registers from one load to one store.
//!
//! Only the xor of all blocks is asked for: the last round adds its planes to sums in the place of
//! a key, K_32 counts only if the number of blocks is odd, and the sums become a block once. What
//! fills up the last flight is masked out there.

use zeroize::Zeroize;

use super::{MOST, Present, sbox};
use crate::isa::{Isa, Words};

/// Bits of a block.
const BITS: usize = 64;
/// The blocks of the largest flight.
const FLIGHT: usize = 512;

/// A plane for each bit, as many words each as the rung's vectors have. In plain words, because
/// those start as zeros in place.
type Planes = [u64; FLIGHT];

/// Aligned, because vectors that cross a line cost twice.
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

/// Box `s` of a state.
#[inline(always)]
fn nibble<W: Words>(words: W, planes: &Planes, s: usize) -> [W::W; 4] {
    let plane = |b: usize| get(words, planes, 4 * s + b);
    [plane(0), plane(1), plane(2), plane(3)]
}

/// Zeros, also if nobody reads them.
#[inline(always)]
fn wipe<W: Words>(words: W, planes: &mut Planes) {
    for p in 0..BITS {
        set(words, planes, p, words.splat(0));
    }
    core::hint::black_box(planes);
}

/// The xor of E_K over many blocks, gathered into flights.
pub struct PresentAdder<'a, I: Isa, const KEY_BYTES: usize> {
    isa: I,
    cipher: &'a Present<KEY_BYTES>,
    /// The blocks that wait until flights are worth it.
    few: Aligned<{ FEW + MOST }>,
    flights: Option<Flights>,
    waiting: usize,
    /// So many that wait are no longer kept where they are.
    full: usize,
}

/// What flights need.
struct Flights {
    /// The blocks that wait, and room for those that are pushed with the last of a flight. In
    /// flight the second place of a state.
    blocks: Aligned<{ FLIGHT + MOST }>,
    /// Whether there was a flight.
    flown: bool,
    state: Aligned<FLIGHT>,
    sums: Aligned<FLIGHT>,
}

/// The key of box `s` behind P.
#[inline(always)]
fn key<W: Words>(words: W, key: &[u32; BITS], s: usize) -> [W::W; 4] {
    [
        words.splat32(key[s]),
        words.splat32(key[16 + s]),
        words.splat32(key[32 + s]),
        words.splat32(key[48 + s]),
    ]
}

/// Two rounds.
#[inline(always)]
fn two_rounds<W: Words>(words: W, [odd, even]: &[[u32; BITS]; 2], from: &Planes, to: &mut Planes) {
    for g in 0..4 {
        let s = 4 * g;
        let y0 = sbox::on_vectors(words, nibble(words, from, s), key(words, odd, s));
        let y1 = sbox::on_vectors(words, nibble(words, from, s + 1), key(words, odd, s + 1));
        let y2 = sbox::on_vectors(words, nibble(words, from, s + 2), key(words, odd, s + 2));
        let y3 = sbox::on_vectors(words, nibble(words, from, s + 3), key(words, odd, s + 3));
        for b in 0..4 {
            let s = 4 * b + g;
            let z = sbox::on_vectors(words, [y0[b], y1[b], y2[b], y3[b]], key(words, even, s));
            for (c, z) in z.into_iter().enumerate() {
                set(words, to, 16 * c + s, z);
            }
        }
    }
}

/// The last round without its key, added to `sums`.
#[inline(always)]
fn add_last_round<W: Words>(words: W, from: &Planes, sums: &mut Planes) {
    for s in 0..16 {
        let sum = |b: usize| get(words, sums, 16 * b + s);
        let k = [sum(0), sum(1), sum(2), sum(3)];
        let y = sbox::on_vectors(words, nibble(words, from, s), k);
        for (b, y) in y.into_iter().enumerate() {
            set(words, sums, 16 * b + s, y);
        }
    }
}

/// Words of a rung's vectors.
const fn width<W: Words>() -> usize {
    2 * W::LANES
}

/// Blocks of a rung's flight.
const fn flight<W: Words>() -> usize {
    BITS * width::<W>()
}

/// The most blocks by fours that cost less than a flight.
const FEW: usize = 88;

/// As many as do on a rung.
const fn few<W: Words>() -> usize {
    if W::VECTORS { 24 } else { FEW }
}

/// All rounds but the last on the first blocks, to the state in `blocks`.
#[inline(always)]
fn rounds<W: Words, const KEY_BYTES: usize>(
    words: W,
    cipher: &Present<KEY_BYTES>,
    blocks: &mut Planes,
    state: &mut Planes,
) {
    words.planes(&blocks[..flight::<W>()], cipher.first, &mut state[..flight::<W>()]);
    let (mut from, mut to) = (state, blocks);
    for keys in cipher.masks.as_chunks().0 {
        two_rounds(words, keys, from, to);
        core::mem::swap(&mut from, &mut to);
    }
}

/// Adds the first `count` blocks of a flight to `sums`.
#[inline(always)]
fn add_partial<W: Words, const KEY_BYTES: usize>(
    words: W,
    cipher: &Present<KEY_BYTES>,
    blocks: &mut Planes,
    state: &mut Planes,
    sums: &mut Planes,
    count: usize,
) {
    rounds(words, cipher, blocks, state);
    wipe(words, state);
    add_last_round(words, blocks, state);
    // Block `r * width + i` is bit r of word i.
    let mut mask = [0; FLIGHT / BITS];
    for (i, mask) in mask[..width::<W>()].iter_mut().enumerate() {
        let rows = (count + width::<W>() - 1 - i) / width::<W>();
        *mask = u64::MAX.checked_shr((BITS - rows) as u32).unwrap_or(0);
    }
    let mask = words.load(&mask[..width::<W>()]);
    for p in 0..BITS {
        let added = words.and(get(words, state, p), mask);
        set(words, sums, p, words.xor(get(words, sums, p), added));
    }
}

/// The block whose bit p is the parity of plane p. Two planes become one, with the parities of
/// halves side by side, until there is one plane.
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
type Half<I> = <<I as Isa>::Words as Words>::Half;

impl<'a, I: Isa, const KEY_BYTES: usize> PresentAdder<'a, I, KEY_BYTES> {
    /// No blocks.
    #[inline(always)]
    pub(crate) fn new(isa: I, cipher: &'a Present<KEY_BYTES>) -> Self {
        let (few, full) = (Aligned([0; FEW + MOST]), few::<I::Words>() + 1);
        PresentAdder { isa, cipher, few, flights: None, waiting: 0, full }
    }

    /// Adds E_K of the blocks in the words of vectors.
    #[inline(always)]
    pub(crate) fn push<const N: usize>(&mut self, x: [<I::Words as Words>::W; N]) {
        const { assert!(N * width::<I::Words>() <= MOST) };
        let waiting = match &mut self.flights {
            Some(flights) => &mut flights.blocks.0[..],
            None => &mut self.few.0[..],
        };
        let room = waiting[self.waiting..].chunks_exact_mut(width::<I::Words>());
        for (x, room) in x.into_iter().zip(room) {
            self.isa.words().store(x, room);
        }
        self.go_on(N * width::<I::Words>());
    }

    /// The same for the first `n` words of a vector.
    #[inline(always)]
    pub(crate) fn push_lanes(&mut self, x: <I::Words as Words>::W, n: usize) {
        let waiting = match &mut self.flights {
            Some(flights) => &mut flights.blocks.0[..],
            None => &mut self.few.0[..],
        };
        self.isa.words().store(x, &mut waiting[self.waiting..][..width::<I::Words>()]);
        self.go_on(n);
    }

    /// So many more blocks wait.
    #[inline(always)]
    fn go_on(&mut self, n: usize) {
        self.waiting += n;
        if self.waiting >= self.full {
            let isa = self.isa;
            isa.apart(
                #[inline(always)]
                || self.fly(),
            );
        }
    }

    /// Makes room for flights, or adds a flight of the first blocks that wait.
    #[inline(always)]
    fn fly(&mut self) {
        let (words, flown) = (self.isa.words(), flight::<I::Words>());
        let Some(flights) = &mut self.flights else {
            let flights = self.flights.insert(Flights {
                blocks: Aligned([0; FLIGHT + MOST]),
                flown: false,
                state: Aligned([0; FLIGHT]),
                sums: Aligned([0; FLIGHT]),
            });
            flights.blocks.0[..self.few.0.len()].copy_from_slice(&self.few.0);
            self.few.0.zeroize();
            self.full = flown;
            return;
        };
        let blocks = flights.blocks.0.first_chunk_mut().expect("a flight");
        rounds(words, self.cipher, blocks, &mut flights.state.0);
        add_last_round(words, blocks, &mut flights.sums.0);
        flights.blocks.0.copy_within(flown..flown + MOST, 0);
        self.waiting -= flown;
        flights.flown = true;
    }

    /// The xor of all. The next block begins a new sum.
    #[inline(always)]
    pub(crate) fn total(&mut self) -> u64 {
        let rest = core::mem::take(&mut self.waiting);
        let (isa, cipher) = (self.isa, self.cipher);
        let Some(flights) = &mut self.flights else {
            let total = by_fours(cipher, &mut self.few.0[..rest]);
            self.few.0[..rest + width::<I::Words>()].zeroize();
            return total;
        };
        isa.apart(
            #[inline(always)]
            || flights.total(isa, cipher, rest),
        )
    }
}

/// The xor of E_K of blocks, which are not kept.
#[inline(always)]
fn by_fours<const KEY_BYTES: usize>(cipher: &Present<KEY_BYTES>, blocks: &mut [u64]) -> u64 {
    for block in &mut *blocks {
        *block = block.swap_bytes();
    }
    cipher.encrypt(blocks);
    blocks.iter().fold(0, |total, block| total ^ block)
}

impl Flights {
    /// The xor of all, of which `rest` blocks still wait.
    #[inline(always)]
    fn total<I: Isa, const KEY_BYTES: usize>(
        &mut self,
        isa: I,
        cipher: &Present<KEY_BYTES>,
        rest: usize,
    ) -> u64 {
        let words = isa.words();
        let blocks = self.blocks.0.first_chunk_mut().expect("a flight");
        let (state, sums) = (&mut self.state.0, &mut self.sums.0);
        let mut total = 0;
        if rest <= few::<I::Words>() {
            total = by_fours(cipher, &mut blocks[..rest]);
        } else {
            if Half::<I>::LANES < I::Words::LANES && rest <= flight::<Half<I>>() {
                total = words.with_half(
                    #[inline(always)]
                    |words| {
                        let mut sums = Aligned([0; FLIGHT]);
                        add_partial(words, cipher, blocks, state, &mut sums.0, rest);
                        let total = parities(words, &mut sums.0);
                        wipe(words, &mut sums.0);
                        total
                    },
                );
            } else {
                add_partial(words, cipher, blocks, state, sums, rest);
                self.flown = true;
            }
            if rest % 2 == 1 {
                total ^= cipher.last;
            }
        }
        if self.flown {
            total ^= parities(words, sums);
            wipe(words, sums);
        }
        wipe(words, blocks);
        wipe(words, state);
        self.blocks.0[flight::<I::Words>()..][..MOST].zeroize();
        self.flown = false;
        total
    }
}
