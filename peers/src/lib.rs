//! Other libraries' MACs, to compare with: never shipped.
//!
//! UMAC and Poly1305-AES of nettle, one-time Poly1305 of OpenSSL, and Poly1305-AES as a user of
//! OpenSSL would make it. The libraries are those of the system, so nothing here exists without
//! the feature `linked`, and the workspace builds where they are missing.
//!
//! A C function that fails panics: a test or a benchmark has nothing better to do.

#[cfg(feature = "linked")]
mod nettle;
#[cfg(feature = "linked")]
mod openssl;

#[cfg(feature = "linked")]
pub use nettle::{NettlePoly1305Aes, NettleUmac};
#[cfg(feature = "linked")]
pub use openssl::{OpensslPoly1305, OpensslPoly1305Aes};
