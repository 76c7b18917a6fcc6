//! Overwriting secrets, and the stack where calls have been that handled them.

use zeroize::optimization_barrier;

/// Overwrites secrets with zeros: by vectors, where `zeroize` goes element by element, which took
/// longer than a short message's tag.
#[inline(always)]
pub(crate) fn wipe<T: Copy>(secrets: &mut [T], zero: T) {
    // Where there are none, `memset` may take an assist of 100 cycles for their address.
    if secrets.is_empty() {
        return;
    }
    secrets.fill(zero);
    optimization_barrier(secrets);
}

/// Overwrites `BYTES` bytes of the stack below the caller with zeros: what calls before this one have left
/// there of keys, round keys and sums. Compilers make such copies when they move a value, pass it or run out
/// of registers, and no destructor knows of them.
///
/// Call it on each thread that made a key or used it, after the last use. Making a key leaves copies within
/// 16 KiB, and other calls within 48 KiB, or 64 KiB for UMAC and under PRESENT. The crate `tagmac-any` does it
/// by itself, where it makes a key and where it drops one.
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
    // The barrier is told of the room, so it must be zeros by then.
    let room = [0u8; BYTES];
    optimization_barrier(&room);
}

/// Runs what makes keys, and wipes the stack that it had.
#[cfg(feature = "save")]
#[inline(never)]
pub fn with_stack_wiped<R>(make: impl FnOnce() -> R) -> R {
    let made = deeper(make);
    wipe_stack::<{ 16 << 10 }>();
    made
}

/// A few words deeper than the room that is wiped begins, whose first words may be saved registers.
#[cfg(feature = "save")]
#[inline(never)]
fn deeper<R>(make: impl FnOnce() -> R) -> R {
    let gap = [0u64; 16];
    optimization_barrier(&gap);
    let made = make();
    optimization_barrier(&gap);
    made
}
