//! UMAC and Poly1305-AES under Nettle's names, so that programs that load Nettle at run time can load
//! this in its place: `nettle_umac{32,64,96,128}_` and `nettle_poly1305_aes_`, each with `set_key`,
//! `set_nonce`, `update` and `digest`.
//!
//! The same source is two libraries. Nettle 4 has `digest(context, digest)` where Nettle 3 has
//! `digest(context, length, digest)`, under the same name: `libtagmac-nettle` is for programs that call
//! as Nettle 3 wants it, `libtagmac-nettle4` for those of Nettle 4. `nettle_version_major()` says which
//! one it is, as it does with Nettle.
//!
//! Calls cannot fail. On a length or an order that Nettle's own assertions refuse, this library
//! writes a line to standard error and ends the process, as they do; so it does with a context that
//! never had a key, or had that of another MAC.

mod context;

use std::ffi::c_int;

use tagmac_border::{Failure, bytes, ensure, guard};

use context::{Poly1305, Umac};

/// Runs a call. What it cannot do, and a panic, ends the process: there is no other answer.
fn call(name: &str, body: impl FnOnce() -> Result<(), Failure>) {
    if let Err(failure) = guard(body) {
        eprintln!("{name}: {}", failure.into_line());
        std::process::abort();
    }
}

/// The version of Nettle whose calls these are.
#[unsafe(no_mangle)]
pub extern "C" fn nettle_version_major() -> c_int {
    if cfg!(nettle = "4") { 4 } else { 3 }
}

macro_rules! mac {
    ($context:ty, digest of $digests:expr; $set_key:ident $update:ident $digest:ident $size:ident) => {
        /// Makes a context of a key; the nonce is 16 bytes of zero.
        ///
        /// # Safety
        ///
        /// As with Nettle: room for a context, and the bytes of a key.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_key(context: *mut u8, key: *const u8) {
            // SAFETY: the caller gives room and a key.
            call(stringify!($set_key), || unsafe { <$context>::set_key(context, key) });
        }

        /// Adds to the message.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and as many bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $update(context: *mut u8, length: usize, data: *const u8) {
            call(stringify!($update), || {
                // SAFETY: the caller gives a context and the data's bytes.
                unsafe {
                    let data = bytes("the message", data, length)?;
                    <$context>::change(context, |context| context.update(data))
                }
            });
        }

        /// Writes the tag, of which Nettle 3 takes the first `length` bytes, goes on to the next nonce,
        /// and begins a message.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and room for as many bytes.
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
                ensure(lengths.contains(&length), expected)?;
                ensure(!digest.is_null(), "expected room for a digest, found a null pointer")?;
                // SAFETY: the caller gives a context, and room for the digest.
                unsafe {
                    <$context>::change(context, |context| {
                        let tag = context.digest();
                        std::ptr::copy_nonoverlapping(tag.as_bytes().as_ptr(), digest, length);
                    })
                }
            });
        }

        /// Bytes of a context.
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

        /// Sets the nonce of the message that is under way: 1 to 16 bytes.
        ///
        /// # Safety
        ///
        /// As with Nettle: a context, and as many bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_nonce(context: *mut u8, length: usize, nonce: *const u8) {
            call(stringify!($set_nonce), || {
                let expected = format_args!("expected a nonce of 1 to 16 bytes, found {length}");
                ensure((1..=16).contains(&length), expected)?;
                // SAFETY: the caller gives a context and the nonce's bytes.
                unsafe {
                    let nonce = bytes("the nonce", nonce, length)?;
                    Umac::<$words>::change(context, |context| context.set_nonce(nonce))
                }
            });
        }

        /// Bytes of a context, under the name that asyncssh asks for.
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

/// Sets the nonce of the message that is under way: 16 bytes.
///
/// # Safety
///
/// As with Nettle: a context, and 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nettle_poly1305_aes_set_nonce(context: *mut u8, nonce: *const u8) {
    call("nettle_poly1305_aes_set_nonce", || {
        // SAFETY: the caller gives a context and the nonce's bytes.
        unsafe {
            let nonce = bytes("the nonce", nonce, 16)?;
            Poly1305::change(context, |context| context.set_nonce(nonce))
        }
    });
}
