//! Tags of many MACs under many keys, hashed to one number that must be the same on every CPU.
//!
//! The job `transcript` compiles this file for CPUs of all kinds, without the standard library.

use tagmac::cipher::{Aes128, Aes256, Present80};
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, Pmac, Poly1305, Poly1305Aes};
use tagmac::{Umac32, Umac64, Umac96, Umac128, UmacNonce};

/// Messages under each of the twelve MACs of a round.
const MESSAGES: u32 = 8;
/// Length of the longest message in bytes: two chunks of UMAC and some more.
const LONGEST: usize = 2100;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.word() as u8)
    }
}

/// A fault planted by the job, which other CPUs must show.
#[derive(Clone, Copy, PartialEq)]
pub enum Planted {
    /// The unmodified library.
    Nothing,
    /// Words in the CPU's byte order.
    NativeBytes,
    /// Numbers as wide as the CPU's pointers.
    NativeWidth,
}

struct Transcript {
    planted: Planted,
    random: Random,
    message: [u8; LONGEST],
    digest: u64,
}

impl Transcript {
    /// Tags messages of many lengths, mostly short. `nonce` makes a nonce from any 16 bytes.
    fn tags<M: Mac>(&mut self, mac: &M, nonce: impl Fn([u8; 16]) -> M::Nonce) {
        for i in 0..MESSAGES {
            let most = if i == 7 { LONGEST } else { [16, 64, 300][i as usize % 3] };
            let length = (self.random.word() % (most as u64 + 1)) as usize;
            // Only a few bytes change; the others stay from earlier messages.
            let at = (self.random.word() % (most as u64)) as usize;
            self.message[at] = self.random.word() as u8;
            let nonce = nonce(self.random.bytes());
            let Ok(tag) = mac.tag_with(&nonce, &self.message[..length]) else {
                // All messages are within the limit; a refusal changes the digest.
                self.digest ^= u64::MAX;
                continue;
            };
            for word in tag.as_bytes().chunks_exact(4) {
                self.fold(word.try_into().expect("4 bytes"));
            }
        }
    }

    /// FNV-1a over 32-bit words; all tags here are whole words.
    fn fold(&mut self, bytes: [u8; 4]) {
        let word = match self.planted {
            Planted::NativeBytes => u32::from_ne_bytes(bytes),
            _ => u32::from_le_bytes(bytes),
        };
        self.digest = (self.digest ^ u64::from(word)).wrapping_mul(0x100_0000_01b3);
        if self.planted == Planted::NativeWidth {
            self.digest = self.digest as usize as u64;
        }
    }

    fn round(&mut self, level: Level) {
        let keys = [(); 2].map(|()| self.random.bytes::<32>());
        let [first, second] = &keys;
        let none = |_: [u8; 16]| ();
        let (k1, k2) = (half(first), half(second));
        self.tags(&Pmac::<Aes128>::with_level(k1, level), none);
        self.tags(&Pmac::<Aes256>::with_level(first, level), none);
        self.tags(&Pmac::<Present80>::with_level(part(first), level), none);
        if let Ok(mac) = LightMac::<Aes128>::with_level(k1, k2, 32, level) {
            self.tags(&mac, none);
        }
        if let Ok(mac) = LightMac::<Present80>::with_level(part(first), part(second), 16, level) {
            self.tags(&mac, none);
        }
        self.tags(&EliMac::with_level(k1, k2, level), none);
        self.tags(&Poly1305::with_level(first, level), none);
        self.tags(&Poly1305Aes::with_level(first, level), |nonce| nonce);
        self.tags(&Umac32::with_level(k1, level), UmacNonce::from);
        self.tags(&Umac64::with_level(k1, level), UmacNonce::from);
        self.tags(&Umac96::with_level(k1, level), UmacNonce::from);
        self.tags(&Umac128::with_level(k1, level), UmacNonce::from);
    }
}

/// Returns the first bytes of a key.
fn part<const N: usize>(key: &[u8; 32]) -> &[u8; N] {
    key.first_chunk().expect("at most 32 bytes")
}

fn half(key: &[u8; 32]) -> &[u8; 16] {
    part(key)
}

/// Returns the digest of the tags of `rounds` rounds.
pub fn transcript(level: Level, rounds: u32, planted: Planted) -> u64 {
    let mut all = Transcript {
        planted,
        random: Random(0),
        message: [0; LONGEST],
        digest: 0xcbf2_9ce4_8422_2325,
    };
    for _ in 0..rounds {
        all.round(level);
    }
    all.digest
}
