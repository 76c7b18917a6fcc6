//! PMAC-AES128 and LightMAC-PRESENT80 for a microcontroller, as a static library for C: see
//! `tagmac_embedded.h`. No heap, no operating system.

#![no_std]

use core::ptr::NonNull;
use core::slice;

use tagmac::cipher::Present80;
use tagmac::{LightMac, Mac, PmacAes128, Tag};

/// Bits of LightMAC's counter: messages have at most 2^16 times 6 bytes.
const COUNTER_BITS: usize = 16;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

fn lightmac(key: &[u8; 20]) -> Option<LightMac<Present80>> {
    let (k1, k2) = key.split_first_chunk()?;
    LightMac::new(k1, k2.first_chunk()?, COUNTER_BITS).ok()
}

/// A message from C, which has no pointer where it has no bytes.
///
/// # Safety
///
/// `length` bytes can be read from `message`.
unsafe fn message<'a>(message: *const u8, length: usize) -> &'a [u8] {
    let message = if length == 0 { NonNull::dangling().as_ptr() } else { message };
    // SAFETY: the caller's promise, or no bytes.
    unsafe { slice::from_raw_parts(message, length) }
}

/// Writes the tag.
fn tag(mac: impl Mac<Nonce = ()>, message: &[u8], tag: &mut [u8]) -> bool {
    let made = mac.tag_with(&(), message);
    made.map(|made| tag.copy_from_slice(made.as_bytes())).is_ok()
}

macro_rules! functions {
    ($tag:ident, $verify:ident, $key:literal, $bytes:literal, $mac:expr) => {
        /// Whether the tag was made.
        ///
        /// # Safety
        ///
        /// As in C: the pointers are valid for the lengths that the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $tag(
            key: &[u8; $key],
            bytes: *const u8,
            length: usize,
            out: &mut [u8; $bytes],
        ) -> bool {
            // SAFETY: the caller's promise.
            let message = unsafe { message(bytes, length) };
            $mac(key).is_some_and(|mac| tag(mac, message, out))
        }

        /// Whether the tag is that of the message. In constant time.
        ///
        /// # Safety
        ///
        /// As in C: the pointers are valid for the lengths that the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $verify(
            key: &[u8; $key],
            bytes: *const u8,
            length: usize,
            tag: &[u8; $bytes],
        ) -> bool {
            // SAFETY: the caller's promise.
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
