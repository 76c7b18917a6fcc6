//! The keys of UMAC, all derived from one key (RFC 4418, section 3.2).

use core::slice;

use super::l3::L3Key;
use super::nh::{self, NhKey, STREAMS};
use super::poly::PolyKey;
use crate::cipher::Cipher;
use crate::isa::{Block, CipherBlock, Isa, Kernel, Level, Levels};
use crate::wipe::wipe;

/// The keys of the hash: all streams' NH keys, which overlap, and each stream's own keys. Wiped on
/// drop.
#[derive(Clone)]
pub struct HashKey {
    pub(super) nh: NhKey,
    pub(super) poly64: [PolyKey<u64>; STREAMS],
    /// The keys of POLY-128, see [`poly128`](HashKey::poly128).
    k128: [u128; STREAMS],
    pub(super) l3: [L3Key; STREAMS],
}

impl Drop for HashKey {
    #[inline(never)]
    fn drop(&mut self) {
        self.nh.wipe();
        wipe(&mut self.poly64, PolyKey::ZERO);
        wipe(&mut self.k128, 0);
        wipe(&mut self.l3, L3Key::ZERO);
    }
}

/// Blocks of KDF for one use: the use's number, the first i and the number of blocks.
type Use = (u64, u64, usize);

/// The maximum number of short keys' blocks: that of UMAC-128 with a cipher that has a key of 32
/// bytes.
const MAX_SHORT: usize = 2 + 24 * STREAMS / 16 + 4 * STREAMS + 1 + (STREAMS - 1);

/// The blocks of the short keys: the key of the pads, those of POLY and L3-HASH, and the end of
/// NH's key. All are encrypted at once, so that vectors are full. Wiped on drop.
pub(super) struct ShortKeys {
    blocks: [Block; MAX_SHORT],
    /// The length of the key of the pads in bytes.
    pads: usize,
    streams: usize,
}

impl Drop for ShortKeys {
    fn drop(&mut self) {
        wipe(&mut self.blocks, [0; 16]);
    }
}

/// KDF: AES_K(use || i), for each use in turn.
struct Derive<'a, C> {
    cipher: &'a C,
    uses: &'a [Use],
    out: &'a mut [Block],
}

impl<C: Cipher<Block = Block>> Kernel for Derive<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let keys = self.cipher.keys(isa);
        let mut whitening = C::whitening(isa, &keys);
        let mut rest = &mut *self.out;
        for (number, first, blocks) in self.uses {
            let (now, later) = rest.split_at_mut(*blocks);
            for (i, block) in (*first..).zip(now) {
                *block = input(*number, i).xor(&whitening);
            }
            rest = later;
        }
        wipe(slice::from_mut(&mut whitening), [0; 16]);
        C::encrypt_blocks(isa, &keys, self.out);
    }
}

/// KDF of NH's first units, in place.
struct DeriveNh<'a, C> {
    cipher: &'a C,
    nh: &'a mut NhKey,
}

impl<C: Cipher<Block = Block>> Kernel for DeriveNh<'_, C> {
    const LEVELS: Levels = C::LEVELS;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let keys = self.cipher.keys(isa);
        // Four blocks at a time, because vectors wait long for what narrower stores wrote.
        let mut whitening = [C::whitening(isa, &keys); 4];
        for (half, inputs) in self.nh.first_units().into_iter().zip(&NH_INPUTS) {
            let inputs = inputs.as_flattened().as_chunks::<64>().0;
            for (units, inputs) in
                half.as_flattened_mut().as_chunks_mut::<64>().0.iter_mut().zip(inputs)
            {
                for (i, byte) in units.iter_mut().enumerate() {
                    *byte = inputs[i] ^ whitening.as_flattened()[i];
                }
            }
            C::encrypt_blocks(isa, &keys, half);
            for unit in half {
                *unit = nh::words(unit);
            }
        }
        wipe(&mut whitening, [0; 16]);
    }
}

/// KDF's inputs for NH's first units, the even ones and the odd ones.
static NH_INPUTS: [[Block; nh::FIRST_UNITS / 2]; 2] = {
    let mut inputs = [[[0; 16]; nh::FIRST_UNITS / 2]; 2];
    let mut i = 0;
    while i < nh::FIRST_UNITS {
        inputs[i % 2][i / 2] = input(1, i as u64 + 1);
        i += 1;
    }
    inputs
};

/// KDF's input for block i of a use.
#[inline(always)]
pub(super) const fn input(number: u64, i: u64) -> Block {
    ((number as u128) << 64 | i as u128).to_be_bytes()
}

impl ShortKeys {
    /// No keys, for T streams and a key of the pads of `pads` bytes.
    pub(super) fn new<const T: usize>(pads: usize) -> ShortKeys {
        const { assert!(T >= 1 && T <= STREAMS, "UMAC has one to four streams") };
        ShortKeys { blocks: [[0; 16]; MAX_SHORT], pads, streams: T }
    }

    /// The number of blocks for each use: the pads, the end of NH's key, POLY, L3-HASH and its last
    /// step.
    #[inline(always)]
    fn lengths(&self) -> [usize; 5] {
        let streams = self.streams;
        [self.pads.div_ceil(16), streams - 1, (24 * streams).div_ceil(16), 4 * streams, 1]
    }

    /// Derives the keys, in place.
    pub(super) fn derive<C: Cipher<Block = Block>>(&mut self, cipher: &C, level: Level) {
        let [pads, nh, poly, l3, l3_xor] = self.lengths();
        let nh = (1, nh::FIRST_UNITS as u64 + 1, nh);
        let uses = [(0, 1, pads), nh, (2, 1, poly), (3, 1, l3), (4, 1, l3_xor)];
        let blocks = uses.iter().map(|(.., blocks)| blocks).sum();
        level.run(Derive { cipher, uses: &uses, out: &mut self.blocks[..blocks] });
    }

    /// Returns the key of the pads.
    pub(super) fn pads(&self) -> &[u8] {
        &self.blocks.as_flattened()[..self.pads]
    }
}

impl HashKey {
    /// The key of a stream's POLY-128. It is made here because only messages over 16 MiB need it.
    #[inline(always)]
    pub(super) fn poly128(&self, s: usize) -> PolyKey<u128> {
        PolyKey::new(self.k128[s])
    }

    /// No key.
    pub(super) const ZERO: HashKey = HashKey {
        nh: NhKey::ZERO,
        poly64: [PolyKey::<u64>::ZERO; STREAMS],
        k128: [0; STREAMS],
        l3: [L3Key::ZERO; STREAMS],
    };

    /// Sets the keys of the streams of `short`. Those of other streams stay zero.
    // In place: a copy of this many bytes would cost as much as a short message.
    pub(super) fn derive<C: Cipher<Block = Block>>(
        &mut self,
        cipher: &C,
        level: Level,
        short: &ShortKeys,
    ) {
        level.run(DeriveNh { cipher, nh: &mut self.nh });
        let [pads, nh, poly, l3, _] = short.lengths();
        let (nh, rest) = short.blocks[pads..].split_at(nh);
        let (poly, rest) = rest.split_at(poly);
        let (l3, l3_xor) = rest.split_at(l3);
        let poly = poly.as_flattened().as_chunks::<24>().0;
        let l3 = l3.as_flattened().as_chunks().0;
        let l3_xor = l3_xor.as_flattened().as_chunks().0;
        for s in 0..short.streams {
            let (k64, k128) = poly[s].split_first_chunk().expect("24 bytes");
            let k64 = u64::from_be_bytes(*k64) & 0x01ffffff_01ffffff;
            let k128 = u128::from_be_bytes(*k128.first_chunk().expect("16 bytes"))
                & 0x01ffffff_01ffffff_01ffffff_01ffffff;
            self.poly64[s] = PolyKey::new(k64);
            self.k128[s] = k128;
            self.l3[s] = L3Key::new(&l3[s], &l3_xor[s]);
        }
        for (i, unit) in (nh::FIRST_UNITS..).zip(nh) {
            self.nh.set(i, unit);
        }
    }
}
