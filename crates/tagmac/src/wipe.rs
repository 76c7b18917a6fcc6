//! Overwriting secrets.

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
