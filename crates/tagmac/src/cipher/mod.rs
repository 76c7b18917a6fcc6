//! Block ciphers over lanes, and an interface for other ciphers.
//!
//! A mode such as [`Pmac`](crate::Pmac) works with every [`Cipher`]. The ciphers here run in
//! constant time on every level. With the feature `rustcrypto`, `RustCrypto` adapts the block
//! ciphers of that project. For another cipher, implement [`BlockCipher`], which needs only the
//! encryption of blocks in memory:
//!
//! ```
//! use tagmac::Pmac;
//! use tagmac::cipher::BlockCipher;
//!
//! /// XTEA with 32 rounds (Needham and Wheeler, 1997).
//! #[derive(Clone)]
//! struct Xtea([u32; 4]);
//!
//! impl BlockCipher for Xtea {
//!     const NAME: &'static str = "XTEA";
//!     const KEY_BYTES: usize = 16;
//!     type Block = [u8; 8];
//!     type Key = [u8; 16];
//!
//!     fn new(key: &[u8; 16]) -> Self {
//!         Xtea(std::array::from_fn(|i| u32::from_be_bytes(*key.as_chunks().0[i..].first().unwrap())))
//!     }
//!
//!     fn encrypt(&self, blocks: &mut [[u8; 8]]) {
//!         for block in blocks {
//!             let x = u64::from_be_bytes(*block);
//!             let (mut y, mut z, mut sum) = ((x >> 32) as u32, x as u32, 0u32);
//!             let mix = |v: u32| (v << 4 ^ v >> 5).wrapping_add(v);
//!             for _ in 0..32 {
//!                 let key = sum.wrapping_add(self.0[(sum & 3) as usize]);
//!                 y = y.wrapping_add(mix(z) ^ key);
//!                 sum = sum.wrapping_add(0x9e37_79b9);
//!                 let key = sum.wrapping_add(self.0[(sum >> 11 & 3) as usize]);
//!                 z = z.wrapping_add(mix(y) ^ key);
//!             }
//!             *block = ((y as u64) << 32 | z as u64).to_be_bytes();
//!         }
//!     }
//! }
//!
//! let mac = Pmac::<Xtea>::new(&[7; 16]);
//! let tag = mac.tag(b"message")?;
//! assert_eq!(tag.bits(), 64);
//! assert!(mac.verify(b"message", &tag).is_ok());
//! # Ok::<(), tagmac::Error>(())
//! ```

pub(crate) mod aes;
mod field;
mod known_answers;
mod present;
#[cfg(feature = "rustcrypto")]
mod rust_crypto;
mod traits;

pub(crate) use aes::{Aes, Keys, next_rcon};
pub use aes::{Aes128, Aes192, Aes256};
pub use field::Field;
pub use known_answers::KnownAnswers;
pub use present::{Present, Present80, Present128};
#[cfg(feature = "rustcrypto")]
pub use rust_crypto::RustCrypto;
pub(crate) use traits::vectors;
pub use traits::{BlockCipher, Cipher, CipherKey, Decrypt, Encrypt, V};

pub use crate::isa::CipherBlock;
