//! PMAC-AES128 and LightMAC-PRESENT80 for a microcontroller, as a static library for C: see
//! `tagmac_embedded.h`. It needs neither a heap nor an operating system.

#![no_std]

use core::ptr::NonNull;
use core::slice;

use tagmac::cipher::Present80;
use tagmac::{LightMac, Mac, PmacAes128, Tag};

/// The size of LightMAC's counter in bits: messages have fewer than 2^16 * 6 bytes.
const COUNTER_BITS: usize = 16;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

fn lightmac(key: &[u8; 20]) -> Option<LightMac<Present80>> {
    let (k1, k2) = key.split_first_chunk()?;
    LightMac::new(k1, k2.first_chunk()?, COUNTER_BITS).ok()
}

/// Returns a message from C. The pointer may be null if the length is 0.
///
/// # Safety
///
/// `message` points to `length` readable bytes.
unsafe fn message<'a>(message: *const u8, length: usize) -> &'a [u8] {
    let message = if length == 0 { NonNull::dangling().as_ptr() } else { message };
    // SAFETY: guaranteed by the caller, or the slice is empty.
    unsafe { slice::from_raw_parts(message, length) }
}

/// Writes the tag and returns true, or returns false if the message is too long.
fn tag(mac: impl Mac<Nonce = ()>, message: &[u8], tag: &mut [u8]) -> bool {
    let made = mac.tag_with(&(), message);
    made.map(|made| tag.copy_from_slice(made.as_bytes())).is_ok()
}

macro_rules! functions {
    ($tag:ident, $verify:ident, $key:literal, $bytes:literal, $mac:expr) => {
        /// Writes the tag. Returns whether the message was short enough.
        ///
        /// # Safety
        ///
        /// The pointers are valid for the lengths in the header.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $tag(
            key: &[u8; $key],
            bytes: *const u8,
            length: usize,
            out: &mut [u8; $bytes],
        ) -> bool {
            // SAFETY: guaranteed by the caller.
            let message = unsafe { message(bytes, length) };
            $mac(key).is_some_and(|mac| tag(mac, message, out))
        }

        /// Verifies the tag in constant time.
        ///
        /// # Safety
        ///
        /// The pointers are valid for the lengths in the header.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $verify(
            key: &[u8; $key],
            bytes: *const u8,
            length: usize,
            tag: &[u8; $bytes],
        ) -> bool {
            // SAFETY: guaranteed by the caller.
            let message = unsafe { message(bytes, length) };
            let (Some(mac), Ok(tag)) = ($mac(key), Tag::try_from(&tag[..])) else { return false };
            mac.verify_with(&(), message, &tag).is_ok()
        }
    };
}

functions!(tagmac_pmac_aes128_tag, tagmac_pmac_aes128_verify, 16, 16, |key| {
    Some(PmacAes128::new(key))
});
functions!(tagmac_lightmac_present80_tag, tagmac_lightmac_present80_verify, 20, 8, lightmac);
