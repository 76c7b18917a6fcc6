//! Message authentication with parallel MACs, at the speed of the hardware.
//!
//! ```
//! use tagmac::PmacAes128;
//!
//! let mac = PmacAes128::new(&[7; 16]);
//! let tag = mac.tag(b"pay 100 to Bob")?;
//! assert!(mac.verify(b"pay 100 to Bob", &tag).is_ok());
//! assert!(mac.verify(b"pay 900 to Bob", &tag).is_err());
//! # Ok::<(), tagmac::Error>(())
//! ```
//!
//! | MAC | key | from | choose it for |
//! |---|---|---|---|
//! | [`Pmac`] | one of its cipher: 16, 24 or 32 bytes for AES | Black and Rogaway 2001 | the default: one key, any length |
//! | [`LightMac`] | two of its cipher | Luykx, Preneel, Tischhauser, Yasuda 2016 | many tags of long messages under one key |
//! | [`EliMac`] | two AES-128 keys | Dobraunig, Mennink, Neves 2023 | speed, with a bold assumption on reduced AES |
//! | [`Poly1305Aes`] | 32 bytes, k then r | Bernstein 2005 | one nonce a message: formats and protocols that have it |
//! | [`Umac32`], [`Umac64`], [`Umac96`], [`Umac128`] | an AES-128 key | RFC 4418 | one nonce a message: short tags, many packets |
//! | `Umac99` | 16 bytes | Black, Halevi, Krawczyk, Krovetz, Rogaway 1999 | the paper's own sets, and all its parameters |
//! | [`Cbc3`] | three of its cipher | Black and Rogaway 2000 | a PRF of any cipher, for short inputs |
//! | [`Poly1305`] | 32 bytes, r then s, for one message | RFC 8439 | protocols that derive a key for each message |
//!
//! The first three are deterministic: they need no nonce. Poly1305-AES and UMAC need one that never
//! repeats under a key ([`NonceSequence`] counts, `random_nonce` draws); if it does, forgeries
//! are easy:
//!
//! ```
//! use tagmac::{Mac, NonceSequence, Umac64};
//!
//! let mac = Umac64::new(&[7; 16]);
//! let mut sequence = NonceSequence::new(&mac, 8)?;
//! let (nonce, tag) = sequence.tag(b"pay 100 to Bob")?;
//! assert!(mac.verify_with(&nonce, b"pay 100 to Bob", &tag).is_ok());
//! # Ok::<(), tagmac::Error>(())
//! ```
//!
//! Messages come at once (`tag`), in pieces ([`Stream`]), on several threads (`threads`), or as
//! [`hazmat::Part`]s made anywhere, and tags follow their edits (`edit`); many short ones at once
//! ([`batch`]). The code runs on the best level of instruction sets that the CPU has, see [`isa`];
//! tags are the same on all.
//!
//! A MAC proves that a message comes from somebody who has the key. It is no signature (whoever
//! can check can also forge), no encryption, and no hash for content ids.
//!
//! How much one key may authenticate is in `bounds`; `meter` has a MAC that keeps
//! count.
//!
//! # Features
//!
//! `std` (default): CPU detection, threads, `io::Write`, bounds. `alloc`: [`EliMac`]'s cache, edits.
//! `save`: sums that leave the process, sealed. `umac99`: the UMAC of 1999. `dynamic`: every MAC by
//! name, CMAC and HMAC, key files, partials. `cipher`: RustCrypto's block ciphers in all modes.
//! Without `std` the crate is `no_std`.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

mod algo;
pub mod batch;
mod bits;
#[cfg(feature = "std")]
pub mod bounds;
pub mod cipher;
mod construction;
#[cfg(feature = "dynamic")]
pub mod dynamic;
#[cfg(feature = "alloc")]
pub mod edit;
mod error;
mod hash;
pub mod hashes;
pub mod hazmat;
pub mod isa;
mod kernels;
mod mac;
#[cfg(feature = "std")]
pub mod meter;
mod nonce;
mod part;
#[cfg(feature = "save")]
pub mod save;
mod sequence;
mod stream;
mod tag;
#[cfg(feature = "std")]
pub mod threads;

pub use algo::{Assurance, Cbc3, EliMac, Poly1305, Poly1305Aes};
pub use algo::{LightMac, LightMacAes128, LightMacAes192, LightMacAes256};
#[cfg(feature = "umac99")]
pub use algo::{NhShape, Umac99, Umac99Parameters, Umac99Prf, Umac99Set};
pub use algo::{Pmac, PmacAes128, PmacAes192, PmacAes256};
pub use algo::{Umac, Umac32, Umac64, Umac96, Umac128, UmacNonce};
pub use bits::Bits;
pub use error::{Error, Mismatch};
pub use mac::Mac;
pub use nonce::Nonce;
pub use sequence::NonceSequence;
#[cfg(feature = "std")]
pub use sequence::random_nonce;
pub use stream::Stream;
pub use tag::Tag;
