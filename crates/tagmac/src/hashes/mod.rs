//! Universal hashes, for your own constructions. Two different messages that are chosen without the
//! key have the same hash with a small, proven probability. (For EliHash of EliMAC-AES the proof
//! rests on an assumption on rounds of AES; for UHASH-64 to UHASH-128 the probability is that of
//! RFC 4418.)
//!
//! **They are not MACs.** A result reveals something about the key, or about the hashes of other
//! messages. One result of Poly1305 reveals r, unless its message is empty. Hide results: encrypt
//! them, add pads that are used once, or feed them to a PRF.
//!
//! | hash | two messages chosen without the key | from |
//! |---|---|---|
//! | `Nh` of the crate `tagmac-papers`: NH\[n, w\] | collide with 2^-w | UMAC 1999, theorem 4.2 |
//! | NHS\[n, w\], signed | 2^-(w-1) | theorem 4.5 |
//! | NH^T\[n, w, t\], NHS^T | 2^-wt, 2^-(w-1)t | theorems 5.1 and 5.2 |
//! | NH^T2\[n, m, w\], NHS^T2 | 2^-(2w-2), 2^-(2w-4) | theorems 5.3 and 5.4 |
//! | [`Uhash32`], [`Uhash64`], [`Uhash96`], [`Uhash128`] | 2^-30, 2^-60, 2^-90, 2^-120 | RFC 4418, section 6 |
//! | [`Poly1305Hash`] | have a given difference mod 2^128 with 8 m / 2^106 | Bernstein 2005, theorem 3.3 |
//! | [`EliHash`] | collide with (2^k delta)^mu eps | EliMAC, proposition 1, [corrected](PlainFamilies#contract) |
//! | [`LightMac`](crate::LightMac)'s | collide with 1 / (2^n - 2^(s+1) + 1) | LightMAC, section 4.4 |
//! | [`Pmac`](crate::Pmac)'s | collide with (m + m' - 1) / 2^n | `docs/design/theory.md`, "PMAC's bound", 2 |
//!
//! m and m' are the lengths of the messages in blocks, for Poly1305 that of the longer one; n is
//! the length of a block in bits. The last two are the sums before the last cipher call, and their
//! bounds assume a random permutation in place of E. Keys are random in all rows. UHASH derives its
//! keys by AES from one key, so add the advantage of distinguishing AES from a random permutation.
//!
//! All but `Nh`, whose results grow with the message, have [`Universal::value`]:
//!
//! ```
//! use tagmac::hashes::{Poly1305Hash, Uhash64, Universal};
//! let poly1305 = Poly1305Hash::new(&[0x2a; 16]);
//! let uhash = Uhash64::new(&[7; 16]);
//! assert_eq!(poly1305.value(b"message")?.as_bytes().len(), 16);
//! assert_eq!(uhash.value(b"message")?.as_bytes().len(), 8);
//!
//! // The block that LightMAC encrypts last. A message without a full block is only padded.
//! let light = tagmac::LightMacAes128::new(&[1; 16], &[2; 16], 32)?;
//! assert_eq!(light.value(b"ab")?.as_bytes()[..3], *b"ab\x80");
//! # Ok::<(), tagmac::Error>(())
//! ```

mod value;

pub use crate::algo::{AesFamilies, EliHash, Families, PlainFamilies};
pub use crate::algo::{Poly1305Hash, Uhash32, Uhash64, Uhash96, Uhash128};
pub use value::{HashValue, Universal};
