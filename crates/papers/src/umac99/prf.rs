//! The PRFs at the end of UMAC (section 8.4), and the derivation of keys from them.
//!
//! ```text
//! HMAC-SHA1   F_A(x) = SHA1(A ^ opad || SHA1(A ^ ipad || x)), A of 64 bytes
//! CBC3        the CBC MAC with three keys, see [`Cbc3`]
//! ```
//!
//! Both process their input as it arrives, so one-shot calls and streams of `Umac99` do not store
//! the block hashes.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use tagmac::cipher::{Aes128, Cipher};
use tagmac::hazmat::Chain;
use tagmac::isa::{Block, Isa, Kernel, Level, Levels};
use zeroize::Zeroize;

use crate::cbc3::Cbc3;
use crate::rc6::Rc6;

/// The function that computes a tag from the nonce and the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Umac99Prf {
    /// HMAC-SHA1: up to 160 bits.
    HmacSha1,
    /// CBC-MAC with three keys of RC6: up to 128 bits.
    Cbc3Rc6,
    /// CBC-MAC with three keys of AES-128: up to 128 bits.
    Cbc3Aes128,
}

/// The maximum length of an output in bytes.
pub(super) const MAX_OUTPUT_BYTES: usize = 20;

impl Umac99Prf {
    /// Returns the length of its key in bytes: A, or K1, K2 and K3.
    pub fn key_bytes(self) -> usize {
        match self {
            Umac99Prf::HmacSha1 => 64,
            Umac99Prf::Cbc3Rc6 | Umac99Prf::Cbc3Aes128 => 48,
        }
    }

    /// Returns the length of its output in bytes.
    pub fn output_bytes(self) -> usize {
        match self {
            Umac99Prf::HmacSha1 => 20,
            Umac99Prf::Cbc3Rc6 | Umac99Prf::Cbc3Aes128 => 16,
        }
    }

    /// Fills `out` with key material for a use. All material comes from one key: by HMAC-SHA1 of
    /// the use's byte and a counter, or by output feedback of the cipher, starting from the block
    /// that ends with the use's byte.
    pub(super) fn derive(self, key: &[u8; 16], usage: u8, out: &mut [u8], level: Level) {
        match self {
            Umac99Prf::HmacSha1 => {
                let keyed = hmac(key);
                for (i, out) in (1u32..).zip(out.chunks_mut(20)) {
                    let mut block = keyed.clone();
                    block.update(&[usage]);
                    block.update(&i.to_be_bytes());
                    let mut block = block.finalize().into_bytes();
                    out.copy_from_slice(&block[..out.len()]);
                    block.as_mut_slice().zeroize();
                }
            }
            Umac99Prf::Cbc3Rc6 => {
                let cipher = &<Rc6 as Cipher>::new(key, level);
                level.run(Feedback { cipher, usage, out });
            }
            Umac99Prf::Cbc3Aes128 => {
                level.run(Feedback { cipher: &Aes128::new(key, level), usage, out });
            }
        }
    }
}

/// HMAC-SHA1 under a key of at most 64 bytes.
fn hmac(key: &[u8]) -> Hmac<Sha1> {
    Hmac::new_from_slice(key).expect("HMAC accepts keys of any length")
}

/// Key material by output feedback.
struct Feedback<'a, C> {
    cipher: &'a C,
    usage: u8,
    out: &'a mut [u8],
}

impl<C: Cipher<Block = Block>> Kernel for Feedback<'_, C> {
    const LEVELS: Levels = Levels::Narrow;
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let mut block = [0; 16];
        block[15] = self.usage;
        for out in self.out.chunks_mut(16) {
            block = self.cipher.encrypt_one(isa, &block);
            out.copy_from_slice(&block[..out.len()]);
        }
        block.zeroize();
    }
}

/// A PRF under its key.
#[derive(Clone)]
pub(super) enum PrfKey {
    Hmac(Hmac<Sha1>),
    Rc6(Cbc3<Rc6>),
    Aes(Cbc3<Aes128>),
}

impl PrfKey {
    /// `key` must have exactly the PRF's key length.
    pub(super) fn new(prf: Umac99Prf, key: &[u8], level: Level) -> PrfKey {
        if prf == Umac99Prf::HmacSha1 {
            return PrfKey::Hmac(hmac(key));
        }
        let [k1, k2, k3] = key.as_chunks().0.first_chunk().expect("48 bytes");
        match prf {
            Umac99Prf::Cbc3Rc6 => PrfKey::Rc6(Cbc3::with_level(k1, k2, k3, level)),
            _ => PrfKey::Aes(Cbc3::with_level(k1, k2, k3, level)),
        }
    }

    /// The state after the nonce.
    #[inline(always)]
    pub(super) fn begin(&self, nonce: &[u8; 8]) -> Feed {
        match self {
            PrfKey::Hmac(keyed) => Feed::Hmac(keyed.clone().chain_update(nonce)),
            _ => Feed::Cbc(Chain::new(nonce)),
        }
    }
}

/// A PRF that is processing its input. Wiped on drop.
#[derive(Clone)]
pub(super) enum Feed {
    Hmac(Hmac<Sha1>),
    Cbc(Chain<Block>),
}

impl Feed {
    #[inline(always)]
    pub(super) fn update<I: Isa>(&mut self, isa: I, key: &PrfKey, data: &[u8]) {
        match (self, key) {
            (Feed::Hmac(state), _) => state.update(data),
            (Feed::Cbc(chain), PrfKey::Rc6(mac)) => mac.update(isa, chain, data),
            (Feed::Cbc(chain), PrfKey::Aes(mac)) => mac.update(isa, chain, data),
            (Feed::Cbc(_), PrfKey::Hmac(_)) => unreachable!("HMAC has no chain"),
        }
    }

    /// The output, followed by zeros.
    #[inline(always)]
    pub(super) fn finish<I: Isa>(self, isa: I, key: &PrfKey) -> [u8; MAX_OUTPUT_BYTES] {
        let mut output = [0; MAX_OUTPUT_BYTES];
        let block = match (self, key) {
            (Feed::Hmac(state), _) => {
                output.copy_from_slice(&state.finalize().into_bytes());
                return output;
            }
            (Feed::Cbc(chain), PrfKey::Rc6(mac)) => mac.finish_bytes(isa, &chain),
            (Feed::Cbc(chain), PrfKey::Aes(mac)) => mac.finish_bytes(isa, &chain),
            (Feed::Cbc(_), PrfKey::Hmac(_)) => unreachable!("HMAC has no chain"),
        };
        output[..16].copy_from_slice(&block);
        output
    }
}
