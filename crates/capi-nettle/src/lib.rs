//! UMAC and Poly1305-AES under Nettle's names, for programs that load Nettle at run time. The calls
//! are `nettle_umac{32,64,96,128}_` and `nettle_poly1305_aes_`, each with `set_key`, `set_nonce`,
//! `update` and `digest`.
//!
//! This source builds two libraries, because Nettle 3 and Nettle 4 have different calls under one
//! name. `libtagmac-nettle` has `digest(context, length, digest)` of Nettle 3, and
//! `libtagmac-nettle4` has `digest(context, digest)` of Nettle 4. `nettle_version_major()` returns
//! the version, as Nettle's does.
//!
//! The calls return no errors. Where Nettle's own assertions end the process, so does this library,
//! with a line on standard error. It does the same for a context that never had a key, or has a key
//! of another MAC.

mod context;

use std::ffi::c_int;

use tagmac_border::{Failure, bytes, ensure, guard};

use context::{Poly1305, Umac};

/// Runs a call. A failure or a panic ends the process, because the call cannot return an error.
fn call(name: &str, body: impl FnOnce() -> Result<(), Failure>) {
    if let Err(failure) = guard(body) {
        eprintln!("{name}: {}", failure.into_line());
        std::process::abort();
    }
}

/// Returns the version of Nettle with these calls.
#[unsafe(no_mangle)]
pub extern "C" fn nettle_version_major() -> c_int {
    if cfg!(nettle = "4") { 4 } else { 3 }
}

macro_rules! mac {
    ($context:ty, digest of $digests:expr; $set_key:ident $update:ident $digest:ident $size:ident) => {
        /// Initialises a context with a key; the nonce is 16 zero bytes.
        ///
        /// # Safety
        ///
        /// As for Nettle: `context` has room for a context, and `key` for the bytes of a key.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_key(context: *mut u8, key: *const u8) {
            // SAFETY: guaranteed by the caller.
            call(stringify!($set_key), || unsafe { <$context>::set_key(context, key) });
        }

        /// Adds data to the message.
        ///
        /// # Safety
        ///
        /// As for Nettle: `context` is a context, and `data` has `length` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $update(context: *mut u8, length: usize, data: *const u8) {
            call(stringify!($update), || {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let data = bytes("the message", data, length)?;
                    <$context>::change(context, |context| context.update(data))
                }
            });
        }

        /// Writes the tag, truncated to `length` bytes in the calls of Nettle 3. Increments the
        /// nonce and begins the next message.
        ///
        /// # Safety
        ///
        /// As for Nettle: `context` is a context, and `digest` has room for the tag.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $digest(
            context: *mut u8,
            #[cfg(not(nettle = "4"))] length: usize,
            digest: *mut u8,
        ) {
            call(stringify!($digest), || {
                let lengths = $digests;
                #[cfg(nettle = "4")]
                let length = *lengths.end();
                let (min, max) = (lengths.start(), lengths.end());
                let expected =
                    format_args!("expected a digest of {min} to {max} bytes, found {length}");
                ensure(lengths.contains(&length), || expected)?;
                ensure(!digest.is_null(), || "the digest is a null pointer")?;
                // SAFETY: guaranteed by the caller.
                unsafe {
                    <$context>::change(context, |context| {
                        let tag = context.digest();
                        std::ptr::copy_nonoverlapping(tag.as_bytes().as_ptr(), digest, length);
                    })
                }
            });
        }

        /// Returns the size of a context in bytes.
        #[unsafe(no_mangle)]
        pub extern "C" fn $size() -> c_int {
            size_of::<$context>() as c_int
        }
    };
}

macro_rules! umac {
    ($words:literal: $set_key:ident $set_nonce:ident $update:ident $digest:ident $size:ident
        $asyncssh_size:ident) => {
        mac!(Umac<$words>, digest of 1..=4 * $words; $set_key $update $digest $size);

        /// Sets the nonce of the current message: 1 to 16 bytes.
        ///
        /// # Safety
        ///
        /// As for Nettle: `context` is a context, and `nonce` has `length` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_nonce(context: *mut u8, length: usize, nonce: *const u8) {
            call(stringify!($set_nonce), || {
                let expected = format_args!("expected a nonce of 1 to 16 bytes, found {length}");
                ensure((1..=16).contains(&length), || expected)?;
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let nonce = bytes("the nonce", nonce, length)?;
                    Umac::<$words>::change(context, |context| context.set_nonce(nonce))
                }
            });
        }

        /// Returns the size of a context in bytes, under the name that asyncssh looks up.
        #[unsafe(no_mangle)]
        pub extern "C" fn $asyncssh_size() -> c_int {
            $size()
        }
    };
}

umac!(1: nettle_umac32_set_key nettle_umac32_set_nonce nettle_umac32_update nettle_umac32_digest
    nettle_umac32_ctx_size nettle_umac32__ctx_size);
umac!(2: nettle_umac64_set_key nettle_umac64_set_nonce nettle_umac64_update nettle_umac64_digest
    nettle_umac64_ctx_size nettle_umac64__ctx_size);
umac!(3: nettle_umac96_set_key nettle_umac96_set_nonce nettle_umac96_update nettle_umac96_digest
    nettle_umac96_ctx_size nettle_umac96__ctx_size);
umac!(4: nettle_umac128_set_key nettle_umac128_set_nonce nettle_umac128_update
    nettle_umac128_digest nettle_umac128_ctx_size nettle_umac128__ctx_size);

mac!(Poly1305, digest of 0..=16; nettle_poly1305_aes_set_key nettle_poly1305_aes_update
    nettle_poly1305_aes_digest nettle_poly1305_aes_ctx_size);

/// Sets the nonce of the current message: 16 bytes.
///
/// # Safety
///
/// As for Nettle: `context` is a context, and `nonce` has 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nettle_poly1305_aes_set_nonce(context: *mut u8, nonce: *const u8) {
    call("nettle_poly1305_aes_set_nonce", || {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let nonce = bytes("the nonce", nonce, 16)?;
            Poly1305::change(context, |context| context.set_nonce(nonce))
        }
    });
}
