//! RustCrypto's traits, for code that is generic over them: [`Mac`] and [`KeyInit`] of the crate
//! `digest` 0.11, and [`UniversalHash`] of `universal-hash` 0.6.
//!
//! [`Keyed<M>`](Keyed) is a key of M and a message in the making:
//!
//! ```
//! use tagmac::PmacAes128;
//! use tagmac::digest::{KeyInit, Keyed, Mac};
//!
//! /// Code that knows no MAC of ours.
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
//! C is any cipher with keys and blocks of a length that RustCrypto has, also one of theirs, as
//! [`RustCrypto<C>`](crate::cipher::RustCrypto). Several keys are one string, the first one first, as in key files. Tags have the n bits
//! of a block; `verify_truncated_left` checks shorter ones.
//!
//! A MAC of your own is one of them by [`Algorithm`] and [`DeterministicMac`]: of the crate `tagmac-papers`,
//! `Cbc3<C>` is.
//!
//! ```
//! use digest::consts;
//! use tagmac::digest::{Algorithm, DeterministicMac, KeyInit, Keyed, Mac, Owned};
//! use tagmac::{PmacAes128, Stream};
//!
//! /// PMAC under a name of its own.
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
//! [`Tag`](crate::Tag) is `subtle::ConstantTimeEq` with this feature.
//!
//! UMAC and Poly1305-AES are not here, because `Mac` has no place for a nonce. Neither is UHASH, because
//! results of `UniversalHash` are as long as its blocks. Poly1305 is no `Mac` here, as in RustCrypto's
//! own crate: two messages under one key give the key away.
//!
//! The key moves with the message: `finalize` ends it, so the next message needs a clone made before, or
//! `finalize_reset`. What moves may leave copies of the key on the stack, which
//! [`wipe_stack`](crate::wipe_stack) wipes. A MAC's own methods do neither, are faster on short messages,
//! and only they have batches, threads and parts.

mod keyed;
mod macs;
mod universal;

pub use ::digest::{KeyInit, Mac};
pub use ::universal_hash::UniversalHash;

pub use keyed::{Algorithm, Keyed, Message, Owned};
pub use macs::{DeterministicMac, LightMacS, Restart};
pub use universal::BlockHash;
