//! The transcript for a CPU without the standard library: `assure/transcript.py` builds and runs
//! it.

#![no_std]

#[path = "../../src/transcript.rs"]
mod tags;

use tagmac::isa::Level;
use tags::Planted;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Returns the digest of the tags of `rounds` rounds on the best level; `planted` is 0, or the
/// number of a fault.
#[unsafe(no_mangle)]
pub extern "C" fn transcript(rounds: u32, planted: u32) -> u64 {
    let planted = match planted {
        0 => Planted::Nothing,
        1 => Planted::NativeBytes,
        _ => Planted::NativeWidth,
    };
    tags::transcript(Level::best(), rounds, planted)
}
