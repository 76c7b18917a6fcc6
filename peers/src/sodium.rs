//! libsodium: one-time Poly1305, SipHash-2-4 and keyed BLAKE2b. `sodium_init` chooses the
//! instructions.

use std::ffi::{CStr, c_char, c_int, c_ulonglong};
use std::hint::black_box;

use crate::info::{Library, Visit, exactly};

unsafe extern "C" {
    safe fn sodium_init() -> c_int;
    safe fn sodium_version_string() -> *const c_char;
    fn crypto_onetimeauth_poly1305(
        out: *mut u8,
        data: *const u8,
        length: c_ulonglong,
        key: *const u8,
    ) -> c_int;
    fn crypto_shorthash_siphash24(
        out: *mut u8,
        data: *const u8,
        length: c_ulonglong,
        key: *const u8,
    ) -> c_int;
    fn crypto_generichash_blake2b(
        out: *mut u8,
        room: usize,
        data: *const u8,
        length: c_ulonglong,
        key: *const u8,
        key_length: usize,
    ) -> c_int;
}

fn succeeded(function: &str, answer: c_int) {
    assert!(answer == 0, "libsodium: {function} returned {answer}");
}

pub(crate) fn all(visit: &mut impl Visit) {
    assert!(sodium_init() >= 0, "libsodium: sodium_init failed");
    // SAFETY: libsodium returns a C string that lives as long as the process.
    let version = unsafe { CStr::from_ptr(sodium_version_string()) };
    let library = Library { name: "libsodium", version: version.to_string_lossy().into_owned() };

    let call = "crypto_onetimeauth_poly1305 with the message's key";
    let info = library.info("libsodium Poly1305, a key each", "POLY1305", [32, 0, 16], call);
    visit.peer(info, |key, _| {
        let key: [u8; 32] = exactly(key);
        move |message: &[u8]| {
            let (mut tag, length) = ([0u8; 16], message.len() as c_ulonglong);
            let key = black_box(&key).as_ptr();
            // SAFETY: tag and key have the 16 and 32 bytes of Poly1305; the length is the message's.
            let answer = unsafe {
                crypto_onetimeauth_poly1305(tag.as_mut_ptr(), message.as_ptr(), length, key)
            };
            succeeded("crypto_onetimeauth_poly1305", answer);
            tag
        }
    });

    let call = "crypto_shorthash_siphash24";
    let info = library.info("libsodium SipHash-2-4", "SIPHASH-2-4", [16, 0, 8], call);
    visit.peer(info, |key, _| {
        let key: [u8; 16] = exactly(key);
        move |message: &[u8]| {
            let (mut tag, length) = ([0u8; 8], message.len() as c_ulonglong);
            let out = tag.as_mut_ptr();
            // SAFETY: tag and key have the 8 and 16 bytes of SipHash; the length is the message's.
            let answer =
                unsafe { crypto_shorthash_siphash24(out, message.as_ptr(), length, key.as_ptr()) };
            succeeded("crypto_shorthash_siphash24", answer);
            tag
        }
    });

    // There is nothing to prepare: before the message, a state only contains the key's block.
    let call = "crypto_generichash_blake2b, which also hashes the block of the key";
    let info = library.info("libsodium BLAKE2b, keyed", "BLAKE2B-256", [32, 0, 32], call);
    visit.peer(info, |key, _| {
        let key: [u8; 32] = exactly(key);
        move |message: &[u8]| {
            let (mut tag, length) = ([0u8; 32], message.len() as c_ulonglong);
            let (out, room, data) = (tag.as_mut_ptr(), tag.len(), message.as_ptr());
            // SAFETY: the buffer has the tag's length; the lengths are those of message and key.
            let answer = unsafe {
                crypto_generichash_blake2b(out, room, data, length, key.as_ptr(), key.len())
            };
            succeeded("crypto_generichash_blake2b", answer);
            tag
        }
    });
}
