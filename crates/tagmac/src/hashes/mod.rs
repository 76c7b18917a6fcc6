//! Universal hashes by themselves, for constructions of your own: two different messages that are
//! chosen without the key have the same hash with a small probability, which is proven. (For the
//! EliHash of EliMAC-AES it follows from an assumption on rounds of AES; for UHASH-64 to UHASH-128 it is
//! what RFC 4418 says.)
//!
//! **They are not MACs.** Results that are seen reveal something about the key, or about the hashes of other
//! messages. One result of Poly1305 gives away r, unless its message is empty. Hide results: encrypt them, add
//! pads that are used once, or feed them to a PRF.
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
//! m and m' are the messages' blocks, for Poly1305 those of the longer one; n is the bits of a
//! block. The last two are the sums before the last cipher call, and their bounds are for a random
//! permutation in the place of E. Keys are random in all; UHASH's are made by AES from
//! one key, so add what tells AES from a random permutation.
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
//! // The sum that LightMAC encrypts at last; a message of no full block is only padded.
//! let light = tagmac::LightMacAes128::new(&[1; 16], &[2; 16], 32)?;
//! assert_eq!(light.value(b"ab")?.as_bytes()[..3], *b"ab\x80");
//! # Ok::<(), tagmac::Error>(())
//! ```

mod value;

pub use crate::algo::{AesFamilies, EliHash, Families, PlainFamilies};
pub use crate::algo::{Poly1305Hash, Uhash32, Uhash64, Uhash96, Uhash128};
pub use value::{HashValue, Universal};
