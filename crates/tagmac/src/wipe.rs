//! Overwrites secrets, and the stack of calls that handled them.

use zeroize::optimization_barrier;

/// Overwrites secrets with zeros, by vectors. `zeroize` writes one element at a time, which took
/// longer than tagging a short message.
#[inline(always)]
pub(crate) fn wipe<T: Copy>(secrets: &mut [T], zero: T) {
    // For an empty slice, `memset` may take a microcode assist of 100 cycles for the dangling
    // address.
    if secrets.is_empty() {
        return;
    }
    secrets.fill(zero);
    optimization_barrier(secrets);
}

/// Overwrites `BYTES` bytes of the stack below the caller with zeros. Earlier calls leave keys,
/// round keys and sums there: compilers copy a value when they move it, pass it or run out of
/// registers, and destructors do not see these copies.
///
/// Call it on each thread that made or used a key, after the last use. Making a key leaves copies
/// within 16 KiB, and other calls within 48 KiB, or 64 KiB for UMAC and with PRESENT. The crate
/// `tagmac-any` does this itself, where it makes a key and where it drops one.
///
/// ```
/// use tagmac::{PmacAes128, wipe_stack};
/// let mac = PmacAes128::new(&[7; 16]);
/// let tag = mac.tag(b"message")?;
/// drop(mac);
/// wipe_stack::<{ 48 << 10 }>();
/// # Ok::<(), tagmac::Error>(())
/// ```
#[inline(never)]
pub fn wipe_stack<const BYTES: usize>() {
    // The barrier may read the buffer, so the compiler must have zeroed it by then.
    let room = [0u8; BYTES];
    optimization_barrier(&room);
}

/// Runs `make`, which makes keys, and wipes the stack that it used.
#[cfg(feature = "save")]
#[inline(never)]
pub fn with_stack_wiped<R>(make: impl FnOnce() -> R) -> R {
    let made = deeper(make);
    wipe_stack::<{ 16 << 10 }>();
    made
}

/// Runs `make` a few words below the start of the buffer that is wiped: the first words of that
/// stack frame may be saved registers, which stay.
#[cfg(feature = "save")]
#[inline(never)]
fn deeper<R>(make: impl FnOnce() -> R) -> R {
    let gap = [0u64; 16];
    optimization_barrier(&gap);
    let made = make();
    optimization_barrier(&gap);
    made
}
