//! The size of the L2 cache.

use core::arch::x86_64::{__cpuid, CpuidResult};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Used if the CPU does not report the size, or reports an implausible one.
const COMMON: usize = 1 << 20;

/// The size in bytes of a core's L2 cache. The CPU is asked once, because it may be slow to answer.
#[inline(always)]
pub(crate) fn l2_bytes() -> usize {
    static KNOWN: AtomicUsize = AtomicUsize::new(0);
    match KNOWN.load(Ordering::Relaxed) {
        0 => ask(&KNOWN),
        known => known,
    }
}

#[cold]
#[inline(never)]
fn ask(known: &AtomicUsize) -> usize {
    // AMD64 Architecture Programmer's Manual, volume 3, E.4.5; Intel's manual, CPUID.
    const SIZES: u32 = 0x8000_0006;
    let bytes = match cpuid(0x8000_0000).eax {
        SIZES.. => (cpuid(SIZES).ecx >> 16) as usize * 1024,
        _ => 0,
    };
    // If cores share a larger cache, each core's part is not larger than this.
    let bytes = if bytes < 1 << 18 { COMMON } else { bytes.min(1 << 21) };
    known.store(bytes, Ordering::Relaxed);
    bytes
}

#[allow(unused_unsafe, reason = "newer compilers call it safe")]
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: all CPUs with 64 bits have the instruction.
    unsafe { __cpuid(leaf) }
}
