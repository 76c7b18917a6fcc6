//! The key that protects sums outside the process. The functions that use it are in `aead.rs`,
//! which depends on the MACs; these depend on this type.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::Purpose;
use super::derive::derive_only;
use crate::error::silent;
use crate::wipe::with_stack_wiped;

/// The length of a random nonce in bytes.
pub const NONCE: usize = 24;
/// The length of the AEAD's tag in bytes.
pub(super) const TAG: usize = 16;

/// Seals and opens data that belongs to a key of a MAC: XChaCha20-Poly1305 with random nonces,
/// under a key that is [derived](super::derive()) from the MAC's for [`Purpose::Sealing`].
///
/// ```
/// use tagmac::save::Sealer;
/// let sealer = Sealer::new("PMAC-AES128", &[7; 16]);
/// let sealed = sealer.seal(&[b"notes", b"1"], b"a secret")?;
/// assert_eq!(&*sealer.open(&[b"notes", b"1"], &sealed)?, b"a secret");
/// assert!(sealer.open(&[b"notes", b"2"], &sealed).is_err());
/// assert!(Sealer::new("PMAC-AES128", &[8; 16]).open(&[b"notes", b"1"], &sealed).is_err());
/// # Ok::<(), tagmac::save::SaveError>(())
/// ```
// On the heap, because each move of the bytes would leave a copy on the stack.
#[derive(Clone)]
pub struct Sealer(pub(super) Arc<Zeroizing<[u8; 32]>>);

silent!(Sealer);

impl Sealer {
    /// The number of bytes that a seal adds: a nonce of 24 bytes before the ciphertext, a tag of 16
    /// after it.
    pub const OVERHEAD: usize = NONCE + TAG;

    /// Returns the sealer for a key of the MAC with this name. Different names give different
    /// sealers for the same key bytes.
    pub fn new(name: &str, key: &[u8]) -> Sealer {
        Sealer(with_stack_wiped(|| Arc::new(derive_only(Purpose::Sealing, name, key))))
    }
}
