//! Short messages, for `org.tagmac.Foreign`, which calls with Java's Foreign Function & Memory API.
//!
//! The calls are critical: arrays are passed by address, and the JVM cannot stop the thread before a
//! call returns. So a call must be short and must not wait, neither for the JVM nor for a lock that a
//! call of JNI holds while the JVM stops that thread. Instead of waiting or throwing, it returns
//! [`REFUSED`], and Java calls the method of JNI for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

use tagmac::Tag;
use tagmac_any::AnyMac;

use crate::context::CONTEXTS;
use crate::key::KEYS;
use crate::thrown::passed;

/// Nothing was done.
const REFUSED: i32 = -1;

/// Returns 1 for true, 0 for false. A panic is refused, and JNI reports it.
#[inline]
fn answer(body: impl FnOnce() -> Option<bool>) -> i32 {
    clear_vectors();
    catch_unwind(AssertUnwindSafe(body)).ok().flatten().map_or(REFUSED, i32::from)
}

/// Clears the upper halves of the vector registers. The JVM's compiler may leave values there, and
/// then each change between instructions with and without AVX takes hundreds of cycles.
#[inline]
fn clear_vectors() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx")]
        fn clear() {
            std::arch::x86_64::_mm256_zeroupper();
        }

        if is_x86_feature_detected!("avx") {
            // SAFETY: the CPU has AVX.
            unsafe { clear() };
        }
    }
}

/// A nonce and a message in arrays of Java.
struct Input {
    nonce: *const u8,
    nonce_size: i32,
    message: *const u8,
    at: i32,
    size: i32,
}

impl Input {
    /// Returns the nonce and the message.
    ///
    /// # Safety
    ///
    /// The arrays have these bytes until the call returns.
    #[inline]
    unsafe fn get<'a>(self) -> Option<(&'a [u8], &'a [u8])> {
        let (nonce_size, size) = (self.nonce_size.try_into().ok()?, self.size.try_into().ok()?);
        let at: usize = self.at.try_into().ok()?;
        // SAFETY: by the contract. Another thread that changes the array meanwhile gets the tag of no
        // message, as in `env`.
        unsafe {
            let nonce = slice::from_raw_parts(self.nonce, nonce_size);
            Some((nonce, slice::from_raw_parts(self.message.add(at), size)))
        }
    }

    /// Writes the tag.
    ///
    /// # Safety
    ///
    /// As `get`, and the tag's array has `tag_size` bytes.
    #[inline]
    unsafe fn tag(self, mac: &AnyMac, tag: *mut u8, tag_size: i32) -> Option<bool> {
        // SAFETY: by the contract.
        let (nonce, message) = unsafe { self.get() }?;
        let made: Tag = mac.tag(nonce, message).ok()?;
        if usize::try_from(tag_size) != Ok(made.as_bytes().len()) {
            return None;
        }
        // SAFETY: it has this size.
        unsafe { ptr::copy_nonoverlapping(made.as_bytes().as_ptr(), tag, made.as_bytes().len()) };
        Some(true)
    }
}

/// Writes the tag of a message under a key.
///
/// # Safety
///
/// The arrays have the ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_java_key_tag(
    key: i64,
    nonce: *const u8,
    nonce_size: i32,
    message: *const u8,
    at: i32,
    size: i32,
    tag: *mut u8,
    tag_size: i32,
) -> i32 {
    let input = Input { nonce, nonce_size, message, at, size };
    // SAFETY: by the contract.
    answer(|| unsafe { input.tag(&KEYS.try_read(key)?.mac, tag, tag_size) })
}

/// Checks the tag of a message under a key.
///
/// # Safety
///
/// The arrays have the ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_java_key_matches(
    key: i64,
    nonce: *const u8,
    nonce_size: i32,
    message: *const u8,
    at: i32,
    size: i32,
    tag: *const u8,
    tag_size: i32,
) -> i32 {
    let input = Input { nonce, nonce_size, message, at, size };
    answer(|| {
        let key = KEYS.try_read(key)?;
        // SAFETY: by the contract.
        let ((nonce, message), tag) =
            unsafe { (input.get()?, slice::from_raw_parts(tag, tag_size.try_into().ok()?)) };
        key.mac.algorithm().check_nonce(nonce.len()).ok()?;
        let tag = key.expected(tag);
        Some(tag.is_some_and(|tag| passed(key.mac.verify(nonce, message, &tag))))
    })
}

/// Writes the tag of a whole message under a context's key.
///
/// # Safety
///
/// The arrays have the ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_java_context_tag(
    context: i64,
    nonce: *const u8,
    nonce_size: i32,
    message: *const u8,
    at: i32,
    size: i32,
    tag: *mut u8,
    tag_size: i32,
) -> i32 {
    let input = Input { nonce, nonce_size, message, at, size };
    answer(|| {
        let context = CONTEXTS.try_read(context)?;
        // SAFETY: by the contract.
        unsafe { input.tag(&context.keyed().ok()?.mac, tag, tag_size) }
    })
}
