//! The key that sums leave the process under. What is computed with it is in `aead.rs`, which needs the
//! MACs, and these need what a seal is.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::Purpose;
use super::derive::derive_only;
use crate::error::silent;
use crate::wipe::with_stack_wiped;

/// Bytes of a random nonce.
pub const NONCE: usize = 24;
/// Bytes of the AEAD's tag.
pub(super) const TAG: usize = 16;

/// Seals and opens what belongs to a key of a MAC: XChaCha20-Poly1305 with random nonces, under a
/// key that is [derived](super::derive()) from the MAC's for [`Purpose::Sealing`].
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
// In one place of the heap, because each move of its bytes would leave a copy on the stack.
#[derive(Clone)]
pub struct Sealer(pub(super) Arc<Zeroizing<[u8; 32]>>);

silent!(Sealer);

impl Sealer {
    /// Bytes that a seal adds: a nonce of 24 before what is sealed, a tag of 16 after it.
    pub const OVERHEAD: usize = NONCE + TAG;

    /// For the key of the MAC of this name. Names separate keys that are the same bytes.
    pub fn new(name: &str, key: &[u8]) -> Sealer {
        Sealer(with_stack_wiped(|| Arc::new(derive_only(Purpose::Sealing, name, key))))
    }
}
