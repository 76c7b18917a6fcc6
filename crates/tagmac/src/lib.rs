//! Message authentication codes that run in parallel: PMAC, LightMAC, EliMAC, Poly1305-AES and UMAC.
//! On one core of an AMD Zen 4, PMAC-AES128 takes 0.163 cycles per byte of a 16 KiB message.
//!
//! ```
//! use tagmac::{PmacAes128, Tag};
//!
//! let mut key = [0; 16];
//! getrandom::fill(&mut key)?; // random bytes; keep them secret
//! let mac = PmacAes128::new(&key);
//!
//! let tag = mac.tag(b"pay 100 to Bob")?;
//! let sent = tag.as_bytes(); // 16 bytes to store or send
//!
//! let received = Tag::try_from(sent)?; // a tag of another length does not verify
//! assert!(mac.verify(b"pay 100 to Bob", &received).is_ok());
//! assert!(mac.verify(b"pay 900 to Bob", &received).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The keys in all other examples, such as `[7; 16]`, are not random. Generate yours with the crate
//! `getrandom`, as above, or use a key file (`KeyFile` of the crate `tagmac-any`).
//!
//! | MAC | key | from | choose it for |
//! |---|---|---|---|
//! | [`Pmac`] | one cipher key: 16, 24 or 32 bytes for AES | Black and Rogaway 2001 | the default: one key, any length |
//! | [`LightMac`] | two cipher keys | Luykx, Preneel, Tischhauser, Yasuda 2016 | many tags of long messages under one key |
//! | [`EliMac`] | two AES-128 keys | Dobraunig, Mennink, Neves 2023 | the fastest without a nonce on messages of some KiB whose subkeys are cached; its proof assumes that 4 and 7 rounds of AES suffice |
//! | [`Poly1305Aes`] | 32 bytes, k then r | Bernstein 2005 | formats and protocols with one nonce per message |
//! | [`Umac32`], [`Umac64`], [`Umac96`], [`Umac128`] | an AES-128 key | RFC 4418 | one nonce per message: short tags, many packets |
//! | [`Cmac`] | one cipher key | NIST SP 800-38B, RFC 4493 | standards and protocols that require it; slow for one message at a time |
//! | [`Poly1305`] | 32 bytes, r then s, for one message | RFC 8439 | protocols that derive a key for each message |
//!
//! PMAC, LightMAC, EliMAC and CMAC are deterministic: they need no nonce. Poly1305-AES and UMAC
//! need one that never repeats under a key. [`NonceSequence`] counts nonces up; [`random_nonce`]
//! draws them at random. Random nonces of 16 bytes repeat with a probability of 2^-32 after 2^48.5
//! messages. If a nonce repeats, an attacker can forge tags of other messages (`NonceKind` of the
//! crate `tagmac-bounds`).
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
//! A message may be one slice (`tag`), arrive in pieces ([`Stream`]), be split over [`threads`], or be
//! hashed in [`hazmat::Part`]s on several machines. [`edit`] updates a tag after an edit, and [`batch`]
//! tags many messages in one call. The code runs on the best instruction-set level of the CPU
//! ([`isa`]); tags are the same on all levels.
//!
//! A MAC proves that a message comes from somebody who has the key. It is not a signature (anyone
//! who can check a tag can also forge one), not encryption, and not a hash for content IDs.
//!
//! The crate `tagmac-bounds` computes how much one key may authenticate. The crate `tagmac-any`
//! enforces it (`Metered`); it also has the MACs by name, key files, and parts of objects that
//! leave the process. The crate `tagmac-papers` has constructions that the papers define and that
//! are not deployed: the UMAC of 1999, NH, CBC3, RC6, and PMAC's parsimony.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `std` (default) | CPU detection, `io::Write`, random nonces (includes `alloc`) |
//! | `threads` | [`threads`]: one message on several threads (includes `std`) |
//! | `alloc` | [`EliMac`]'s cache of subkeys, [`edit`] |
//! | `save` | save streams and parts, encrypted, and resume them elsewhere (includes `std`) |
//! | `rustcrypto` | RustCrypto's traits: its block ciphers in all modes; [`digest`]: `Mac`, `KeyInit` and `UniversalHash`; `subtle::ConstantTimeEq` for [`Tag`] |
//!
//! Without `std` the crate is `no_std`.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// The docs above link to modules that exist only with some features.
#![cfg_attr(
    not(all(feature = "rustcrypto", feature = "threads")),
    allow(rustdoc::broken_intra_doc_links)
)]

#[cfg(feature = "alloc")]
extern crate alloc;

/// The README's example.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

mod algo;
pub mod batch;
mod bits;
pub mod cipher;
mod construction;
#[cfg(feature = "rustcrypto")]
pub mod digest;
#[cfg(feature = "alloc")]
pub mod edit;
mod error;
pub mod hashes;
pub mod hazmat;
#[doc(hidden)]
pub mod internals;
pub mod isa;
mod mac;
mod nonce;
mod part;
mod plan;
mod precompiled;
#[cfg(feature = "save")]
pub mod save;
mod sealed;
mod sequence;
mod stream;
#[cfg(feature = "std")]
mod tables;
mod tag;
#[cfg(feature = "threads")]
pub mod threads;
mod wipe;

pub use algo::{Assurance, Cmac, CmacStream, EliMac, Poly1305, Poly1305Aes};
pub use algo::{LightMac, LightMacAes128, LightMacAes192, LightMacAes256};
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
pub use wipe::wipe_stack;
