//! RustCrypto's traits, for code that is generic over them: [`Mac`] and [`KeyInit`] of the crate
//! `digest` 0.11, and [`UniversalHash`] of `universal-hash` 0.6.
//!
//! [`Keyed<M>`](Keyed) is a key of M with an unfinished message:
//!
//! ```
//! use tagmac::PmacAes128;
//! use tagmac::digest::{KeyInit, Keyed, Mac};
//!
//! /// Generic code that does not name a MAC.
//! fn tag<M: Mac + KeyInit>(key: &[u8], pieces: &[&[u8]]) -> Vec<u8> {
//!     let mut mac = <M as KeyInit>::new_from_slice(key).expect("a key of the MAC's length");
//!     pieces.iter().for_each(|piece| mac.update(piece));
//!     mac.finalize().into_bytes().to_vec()
//! }
//!
//! let tag = tag::<Keyed<PmacAes128>>(&[7; 16], &[b"pay 100 ", b"to Bob"]);
//! assert_eq!(tag, PmacAes128::new(&[7; 16]).tag(b"pay 100 to Bob")?.as_bytes());
//!
//! // Checked in constant time.
//! let mac = <Keyed<PmacAes128> as KeyInit>::new(&[7; 16].into());
//! assert!(mac.clone().chain_update(b"pay 100 to Bob").verify_slice(&tag).is_ok());
//! assert!(mac.chain_update(b"pay 900 to Bob").verify_slice(&tag).is_err());
//! # Ok::<(), tagmac::Error>(())
//! ```
//!
//! | M | traits | key |
//! |---|---|---|
//! | [`Pmac<C>`](crate::Pmac), [`Cmac<C>`](crate::Cmac) | `Mac` | one of C |
//! | [`LightMacS<C, S>`](LightMacS) | `Mac` | K1, K2 |
//! | [`EliMac`](crate::EliMac) | `Mac` | K1, K2 |
//! | [`Poly1305`](crate::Poly1305) | `UniversalHash` | r, s, for one message |
//! | [`Poly1305Hash`](crate::hashes::Poly1305Hash) | `UniversalHash` | r |
//! | [`EliHash`](crate::hashes::EliHash) with AES | `UniversalHash` | K1 |
//!
//! C is any cipher whose key and block have a length that RustCrypto supports. RustCrypto's own
//! ciphers work too, as [`RustCrypto<C>`](crate::cipher::RustCrypto). Several keys are concatenated
//! in order, as in key files. Tags have the n bits of a block; `verify_truncated_left` checks
//! shorter ones.
//!
//! To use another MAC, implement [`Algorithm`] and [`DeterministicMac`]. `Cbc3<C>` of the crate
//! `tagmac-papers` does this.
//!
//! ```
//! use digest::consts;
//! use tagmac::digest::{Algorithm, DeterministicMac, KeyInit, Keyed, Mac, Owned};
//! use tagmac::{PmacAes128, Stream};
//!
//! /// PMAC under a new name.
//! struct Mine;
//!
//! impl Algorithm for Mine {
//!     type KeySize = consts::U16;
//!     type Message = Stream<Owned<PmacAes128>>;
//!
//!     fn begin(key: &[u8]) -> Self::Message {
//!         Stream::new(Owned(PmacAes128::new(key.try_into().expect("16 bytes"))), &())
//!     }
//! }
//!
//! impl DeterministicMac for Mine {
//!     type TagSize = consts::U16;
//! }
//!
//! let mac = <Keyed<Mine> as KeyInit>::new(&[7; 16].into());
//! let tag = mac.chain_update(b"message").finalize().into_bytes();
//! assert_eq!(tag[..], *PmacAes128::new(&[7; 16]).tag(b"message")?.as_bytes());
//! # Ok::<(), tagmac::Error>(())
//! ```
//!
//! With this feature [`Tag`](crate::Tag) implements `subtle::ConstantTimeEq`.
//!
//! UMAC and Poly1305-AES are missing, because `Mac` has no parameter for a nonce. UHASH is missing,
//! because results of `UniversalHash` are as long as its blocks. Poly1305 does not implement `Mac`,
//! as in RustCrypto's crate: two messages under one key reveal the key.
//!
//! The key moves with the message. `finalize` consumes it, so the next message needs a clone made
//! before, or `finalize_reset`. A move may leave copies of the key on the stack, which
//! [`wipe_stack`](crate::wipe_stack) wipes. A MAC's own methods avoid both, are faster on short
//! messages, and are the only way to use batches, threads and parts.

mod keyed;
mod macs;
mod universal;

pub use ::digest::{KeyInit, Mac};
pub use ::universal_hash::UniversalHash;

pub use keyed::{Algorithm, Keyed, Message, Owned};
pub use macs::{DeterministicMac, LightMacS, Restart};
pub use universal::BlockHash;
