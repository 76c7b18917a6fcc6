//! Poly1305 and Poly1305-AES (Bernstein, "The Poly1305-AES message-authentication code", FSE 2005;
//! RFC 8439, section 2.5).
//!
//! For M in blocks of 16 bytes, the last of 1 to 16 bytes, and c_i the little-endian number of the
//! bytes of block i with a byte 1 after them:
//!
//! ```text
//! h   = c_1 r^q + c_2 r^(q-1) + .. + c_q r  mod 2^130 - 5
//! Tag = h + s  mod 2^128, little-endian
//! ```
//!
//! r is clamped: 22 of its bits are zero. One-time Poly1305 has s in its key; Poly1305-AES computes
//! s = AES_k(nonce). The code is fast because powers of r make blocks independent, see [`horner`].
//! A few blocks are processed one at a time in 64-bit limbs, without powers.

mod field;
mod hash;
mod horner;
mod many;
mod radix26;
mod radix44;

use core::slice;

use zeroize::Zeroize;

use super::known_answer;
use crate::batch::{digest, one_by_one};
use crate::cipher::{Aes128, Cipher, CipherBlock};
use crate::construction::{Construction, Hash, PADS_AT_ONCE, absorb};
use crate::error::silent;
use crate::isa::{Block, Facts, Isa, Kernel, KnownAnswer, Level, Levels};
use crate::mac::{Mac, deterministic};
use crate::tag::Tag;
use crate::wipe::wipe;
pub use hash::{Poly1305Digest, Poly1305Hash, Poly1305Sum};
use many::{BlockMatrix, MAX_MESSAGES};

/// One-time Poly1305 (RFC 8439, section 2.5). A key is for **one message**: anyone who sees the
/// tags of two messages under one key can forge. Protocols derive a key for each message; for a key
/// that you keep, use [`Poly1305Aes`].
///
/// The key is r || s, 32 bytes. Tags have 128 bits.
///
/// ```
/// use tagmac::Poly1305;
/// let tag = Poly1305::new(&[7; 32]).tag(b"the only message")?;
/// assert!(Poly1305::new(&[7; 32]).verify(b"the only message", &tag).is_ok());
/// # Ok::<(), tagmac::Error>(())
/// ```
pub struct Poly1305 {
    hash: Poly1305Hash,
    s: u128,
}

impl Drop for Poly1305 {
    fn drop(&mut self) {
        self.s.zeroize();
    }
}

impl Poly1305 {
    /// Returns one-time Poly1305 on the best level of this CPU.
    #[inline]
    pub fn new(key: &[u8; 32]) -> Self {
        Poly1305::with_level(key, Level::best())
    }

    /// Returns one-time Poly1305 on a given level.
    #[inline]
    pub fn with_level(key: &[u8; 32], level: Level) -> Self {
        Poly1305::build(key, Poly1305::passing(level))
    }

    /// See [`known_answer::passing`].
    #[inline(always)]
    fn passing(level: Level) -> Level {
        static KNOWN: KnownAnswer = KnownAnswer::new(0xe4ba6aff1d268914978a43c40c0045c6);
        known_answer::passing(&KNOWN, level, |level| {
            let mac = Poly1305::build(known_key(), level);
            move |message| mac.tag(message)
        })
    }

    #[inline(always)]
    fn build(key: &[u8; 32], level: Level) -> Self {
        let ([r, s], []) = key.as_chunks() else { unreachable!("32 bytes") };
        Poly1305 { hash: Poly1305Hash::with(r, level, true), s: u128::from_le_bytes(*s) }
    }
}

impl Poly1305Hash {
    /// Returns the hash under r on the best level of this CPU. Clamps r: clears the bits that must
    /// be zero.
    #[inline]
    pub fn new(r: &[u8; 16]) -> Self {
        Poly1305Hash::with_level(r, Level::best())
    }

    /// As [`new`](Poly1305Hash::new), on a given level.
    #[inline]
    pub fn with_level(r: &[u8; 16], level: Level) -> Self {
        Poly1305Hash::with(r, Poly1305::passing(level), false)
    }
}

/// Poly1305-AES: a key for many messages, each with its own nonce.
///
/// The key is k || r, 32 bytes; r is clamped. Nonces have 16 bytes and must never repeat, see
/// [`NonceSequence`](crate::NonceSequence). Tags have 128 bits.
///
/// ```
/// use tagmac::{Mac, Poly1305Aes};
/// let mac = Poly1305Aes::new(&[7; 32]);
/// let nonce = 1u128.to_be_bytes();
/// let tag = mac.tag_with(&nonce, b"message")?;
/// assert!(mac.verify_with(&nonce, b"message", &tag).is_ok());
/// assert!(mac.verify_with(&nonce, b"massage", &tag).is_err());
/// # Ok::<(), tagmac::Error>(())
/// ```
#[derive(Clone)]
pub struct Poly1305Aes {
    hash: Poly1305Hash,
    cipher: Aes128,
}

impl Poly1305Aes {
    /// Returns Poly1305-AES on the best level of this CPU.
    #[inline]
    pub fn new(key: &[u8; 32]) -> Self {
        Poly1305Aes::with_level(key, Level::best())
    }

    /// Returns Poly1305-AES on a given level.
    #[inline(never)]
    pub fn with_level(key: &[u8; 32], level: Level) -> Self {
        static KNOWN: KnownAnswer = KnownAnswer::new(0x6304344e7e2633387c2de0c06097fbcc);
        let level = known_answer::passing(&KNOWN, level, |level| {
            let mac = level.run(Build { key: known_key(), level });
            move |message| mac.tag_with(&known_answer::NONCE, message)
        });
        level.run(Build { key, level })
    }
}

/// Makes a key, see [`Cipher::new_in`].
struct Build<'a> {
    key: &'a [u8; 32],
    level: Level,
}

impl Kernel for Build<'_> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = Poly1305Aes;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Poly1305Aes {
        let ([k, r], []) = self.key.as_chunks() else { unreachable!("32 bytes") };
        let hash = Poly1305Hash::with(r, self.level, false);
        Poly1305Aes { hash, cipher: Aes128::new_in(isa, k, self.level) }
    }
}

impl Poly1305Hash {
    /// The tag of one message under r and a pad. Runs inside a kernel.
    #[inline(always)]
    pub(super) fn tag_once<I: Isa>(
        isa: I,
        r: &[u8; 16],
        level: Level,
        message: &[u8],
        pad: u128,
    ) -> Tag {
        let hash = Poly1305Hash::with(r, level, true);
        let mut sum = hash.empty();
        let cut = message.len() / 16 * 16;
        let blocks = &message[..cut];
        if cut <= hash.narrow_path_max_bytes() {
            hash.absorb_narrow(isa, &mut sum, blocks);
        } else {
            absorb(&hash, &mut sum, 0, blocks);
        }
        // Poly1305's `finish_message` also accepts messages without a whole block.
        tag(isa, &hash.finish_message(isa, &sum, message, cut), pad)
    }
}

/// The key for the known answers.
fn known_key() -> &'static [u8; 32] {
    known_answer::KEYS.first_chunk().expect("32 of 64 bytes")
}

deterministic!(once Poly1305);
silent!(Poly1305, Poly1305Aes);

/// The tag h + s.
#[inline(always)]
fn tag<I: Isa>(isa: I, digest: &Poly1305Digest, s: u128) -> Tag {
    Tag::from_number(isa, digest.0.wrapping_add(s), 128)
}

impl Construction for Poly1305 {
    type Hash = Poly1305Hash;
    type Nonce = ();
    type PadCache = ();
    const MAX_TAG_BITS: usize = 128;

    #[inline(always)]
    fn hash(&self) -> &Poly1305Hash {
        &self.hash
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        128
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        _nonce: &(),
        _pad: &mut (),
        digest: Poly1305Digest,
    ) -> Tag {
        tag(isa, &digest, self.s)
    }
}

impl Construction for Poly1305Aes {
    type Hash = Poly1305Hash;
    type Nonce = [u8; 16];
    type PadCache = ();
    const MAX_TAG_BITS: usize = 128;

    #[inline(always)]
    fn hash(&self) -> &Poly1305Hash {
        &self.hash
    }

    #[inline(always)]
    fn output_bits(&self) -> usize {
        128
    }

    #[inline(always)]
    fn finalize_tag<I: Isa>(
        &self,
        isa: I,
        nonce: &[u8; 16],
        _pad: &mut (),
        digest: Poly1305Digest,
    ) -> Tag {
        let s = self.cipher.encrypt_one(isa, nonce);
        tag(isa, &digest, u128::from_le_bytes(s))
    }

    #[inline(always)]
    fn batch_max_len(&self) -> usize {
        let facts = self.hash.level.facts();
        facts.batch_max_len(facts.batching_helps_poly1305(), 16 * many::MAX_STAGED_BLOCKS)
    }

    #[inline(always)]
    fn batch_max_len_alike(&self) -> usize {
        let facts = self.hash.level.facts();
        facts.batch_max_len(facts.batching_helps_poly1305(), 16 * many::MAX_BLOCKS)
    }

    #[inline(always)]
    fn batch_helps(&self, messages: &[&[u8]]) -> bool {
        !self.hash.level.facts().aes_instructions || many::helps(messages)
    }

    #[inline(always)]
    fn tag_batch<I: Isa>(&self, isa: I, nonces: &[[u8; 16]], messages: &[&[u8]], tags: &mut [Tag]) {
        if const { !Facts::new::<I>().batching_helps_poly1305() } {
            return one_by_one(self, nonces, messages, tags);
        }
        let mut matrix = BlockMatrix::EMPTY;
        let mut done = 0;
        while done < messages.len() {
            let now = many::next::<I::Words>(done, messages.len(), PADS_AT_ONCE);
            done = now.end;
            let (nonces, messages) = (&nonces[now.clone()], &messages[now.clone()]);
            self.tag_together(isa, &mut matrix, nonces, messages, &mut tags[now]);
        }
    }
}

impl Poly1305Aes {
    /// The tags of up to [`PADS_AT_ONCE`] messages, short ones where AES is an instruction.
    #[inline(always)]
    fn tag_together<I: Isa>(
        &self,
        isa: I,
        matrix: &mut BlockMatrix,
        nonces: &[[u8; 16]],
        messages: &[&[u8]],
        tags: &mut [Tag],
    ) {
        let keys = self.cipher.keys(isa);
        let mut whitening = Aes128::whitening(isa, &keys);
        let mut pads = [Block::ZERO; PADS_AT_ONCE];
        for (pad, nonce) in pads.iter_mut().zip(nonces) {
            *pad = nonce.xor(&whitening);
        }
        wipe(slice::from_mut(&mut whitening), [0; 16]);
        Aes128::encrypt_blocks(isa, &keys, &mut pads[..nonces.len()]);
        let n = many::messages::<I::Words>();
        let groups = messages.chunks(n).zip(nonces.chunks(n)).zip(tags.chunks_mut(n));
        let mut s = [0; MAX_MESSAGES];
        for (((messages, nonces), tags), pads) in groups.zip(pads.chunks(n)) {
            for (s, pad) in s.iter_mut().zip(pads) {
                *s = u128::from_le_bytes(*pad);
            }
            if const { !I::AES_INSTRUCTIONS } {
                for ((made, message), s) in tags.iter_mut().zip(messages).zip(&s) {
                    *made = tag(isa, &digest(isa, &self.hash, message), *s);
                }
                continue;
            }
            if many::leaves_gaps::<I::Words>(messages) {
                one_by_one(self, nonces, messages, tags);
                continue;
            }
            let made = self.hash.tag_many(isa, matrix, messages, &s);
            for (tag, made) in tags.iter_mut().zip(&made) {
                tag.set(&made.to_le_bytes(), 128);
            }
        }
        wipe(&mut s, 0);
        wipe(&mut pads, [0; 16]);
    }
}
