//! The keys of UMAC, all derived from one (RFC 4418, section 3.2).

use zeroize::Zeroize;

use super::l3::L3Key;
use super::nh::{NhKey, STREAMS};
use super::poly::PolyKey;
use crate::cipher::Cipher;
use crate::isa::{Block, Dispatch, Isa, Kernel, Level, NarrowLevel};

/// The keys of the hash, wiped on drop: all streams' NH keys, which overlap, and each stream's own.
#[derive(Clone)]
pub struct HashKey {
    pub(super) nh: NhKey,
    pub(super) poly64: [PolyKey<u64>; STREAMS],
    pub(super) poly128: [PolyKey<u128>; STREAMS],
    pub(super) l3: [L3Key; STREAMS],
}

impl Drop for HashKey {
    fn drop(&mut self) {
        self.nh.zeroize();
        self.poly64.zeroize();
        self.poly128.zeroize();
        self.l3.zeroize();
    }
}

/// What keys are for, the first half of a block of KDF's input.
#[derive(Clone, Copy)]
enum Use {
    Pad = 0,
    Nh = 1,
    Poly = 2,
    L3 = 3,
    L3Xor = 4,
}

/// KDF: AES_K(use || i), i = 1, 2, .., as far as it is needed.
struct Derive<'a, C> {
    cipher: &'a C,
    usage: Use,
    out: &'a mut [u8],
}

impl<C: Cipher<Block = Block>> Kernel for Derive<'_, C> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        for (i, out) in self.out.chunks_mut(16).enumerate() {
            let input = (self.usage as u128) << 64 | (i as u128 + 1);
            let mut block = self.cipher.encrypt_one(isa, &input.to_be_bytes());
            out.copy_from_slice(&block[..out.len()]);
            block.zeroize();
        }
    }
}

/// The cipher of the pads, under a key of its own.
pub(super) fn pad_cipher<C: Cipher<Block = Block>>(cipher: &C, level: Level) -> C {
    let mut key = [0; 32];
    let bytes = &mut key[..C::KEY_BYTES];
    NarrowLevel::from(level).run(Derive { cipher, usage: Use::Pad, out: bytes });
    let pads = C::from_slice(bytes, level).expect("a key of the cipher's length");
    key.zeroize();
    pads
}

impl HashKey {
    /// The keys of `streams` streams; zeros for the others.
    pub(super) fn derive<C: Cipher<Block = Block>>(
        cipher: &C,
        level: Level,
        streams: usize,
    ) -> HashKey {
        let mut key = HashKey {
            nh: NhKey::ZERO,
            poly64: [PolyKey::new(0); STREAMS],
            poly128: [PolyKey::new(0); STREAMS],
            l3: [L3Key::ZERO; STREAMS],
        };
        // Room for the longest: NH's key.
        let mut bytes = [0; super::nh::KEY_BYTES];
        let mut derive = |usage, length: usize, take: &mut dyn FnMut(&[u8])| {
            NarrowLevel::from(level).run(Derive { cipher, usage, out: &mut bytes[..length] });
            take(&bytes[..length]);
        };
        derive(Use::Nh, super::nh::CHUNK + 16 * (streams - 1), &mut |bytes| {
            for (i, unit) in bytes.as_chunks().0.iter().enumerate() {
                key.nh.set(i, unit);
            }
        });
        derive(Use::Poly, 24 * streams, &mut |bytes| {
            for (s, bytes) in bytes.as_chunks::<24>().0.iter().enumerate() {
                let ([k64, ..], _) = bytes.as_chunks() else { unreachable!("24 bytes") };
                let k128 = bytes.last_chunk().expect("24 bytes");
                let k64 = u64::from_be_bytes(*k64) & 0x01ffffff_01ffffff;
                let k128 = u128::from_be_bytes(*k128) & 0x01ffffff_01ffffff_01ffffff_01ffffff;
                key.poly64[s] = PolyKey::new(k64);
                key.poly128[s] = PolyKey::new(k128);
            }
        });
        let mut l3 = [[0; 64]; STREAMS];
        derive(Use::L3, 64 * streams, &mut |bytes| {
            l3.as_flattened_mut()[..bytes.len()].copy_from_slice(bytes);
        });
        derive(Use::L3Xor, 4 * streams, &mut |bytes| {
            for (s, k2) in bytes.as_chunks().0.iter().enumerate() {
                key.l3[s] = L3Key::new(&l3[s], k2);
            }
        });
        l3.as_flattened_mut().zeroize();
        bytes.zeroize();
        key
    }
}
