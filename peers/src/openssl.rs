//! OpenSSL 3: one-time Poly1305 (RFC 8439), and Poly1305-AES (Bernstein 2005) made of it.
//!
//! Both in the cheapest way the documented interface has: everything is fetched once, a message
//! costs `EVP_MAC_init` with its key, `EVP_MAC_update` and `EVP_MAC_final`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr::{NonNull, null, null_mut};

use crate::{Info, Visit, exactly};

/// `EVP_MAC`, known to OpenSSL alone; so are the next three.
#[repr(C)]
struct EvpMac([u8; 0]);
#[repr(C)]
struct EvpMacCtx([u8; 0]);
#[repr(C)]
struct EvpCipher([u8; 0]);
#[repr(C)]
struct EvpCipherCtx([u8; 0]);

unsafe extern "C" {
    fn EVP_MAC_fetch(
        library: *mut c_void,
        algorithm: *const c_char,
        properties: *const c_char,
    ) -> *mut EvpMac;
    fn EVP_MAC_free(mac: *mut EvpMac);
    fn EVP_MAC_CTX_new(mac: *mut EvpMac) -> *mut EvpMacCtx;
    fn EVP_MAC_CTX_free(context: *mut EvpMacCtx);
    fn EVP_MAC_init(
        context: *mut EvpMacCtx,
        key: *const u8,
        key_length: usize,
        parameters: *const c_void,
    ) -> c_int;
    fn EVP_MAC_update(context: *mut EvpMacCtx, data: *const u8, length: usize) -> c_int;
    fn EVP_MAC_final(
        context: *mut EvpMacCtx,
        out: *mut u8,
        written: *mut usize,
        room: usize,
    ) -> c_int;

    safe fn OpenSSL_version(part: c_int) -> *const c_char;

    safe fn EVP_aes_128_ecb() -> *const EvpCipher;
    safe fn EVP_CIPHER_CTX_new() -> *mut EvpCipherCtx;
    fn EVP_CIPHER_CTX_free(context: *mut EvpCipherCtx);
    fn EVP_CIPHER_CTX_set_padding(context: *mut EvpCipherCtx, padding: c_int) -> c_int;
    fn EVP_EncryptInit_ex(
        context: *mut EvpCipherCtx,
        cipher: *const EvpCipher,
        engine: *mut c_void,
        key: *const u8,
        iv: *const u8,
    ) -> c_int;
    fn EVP_EncryptUpdate(
        context: *mut EvpCipherCtx,
        out: *mut u8,
        written: *mut c_int,
        data: *const u8,
        length: c_int,
    ) -> c_int;
}

/// OpenSSL's answer of a call that succeeds.
fn succeeded(function: &str, answer: c_int) {
    assert!(answer == 1, "OpenSSL: {function} answered {answer}");
}

/// What OpenSSL made, or a panic in the name of the function that did not.
fn made<T>(function: &str, pointer: *mut T) -> NonNull<T> {
    NonNull::new(pointer).unwrap_or_else(|| panic!("OpenSSL: {function} answered NULL"))
}

/// One-time Poly1305 of OpenSSL: a key is for one message.
///
/// ```
/// let tag = peers::OpensslPoly1305::new().tag(&[0; 32], b"r = 0 makes the tag s");
/// assert_eq!(tag, [0; 16]);
/// ```
pub struct OpensslPoly1305 {
    context: NonNull<EvpMacCtx>,
}

impl OpensslPoly1305 {
    /// Fetches the algorithm and makes the context that all messages use.
    pub fn new() -> OpensslPoly1305 {
        // SAFETY: the name is a C string; NULL stands for the default library and properties.
        let mac = unsafe { EVP_MAC_fetch(null_mut(), c"POLY1305".as_ptr(), null()) };
        let mac = made("EVP_MAC_fetch", mac);
        // SAFETY: `mac` was fetched above.
        let context = unsafe { EVP_MAC_CTX_new(mac.as_ptr()) };
        // SAFETY: `mac` was fetched above; the context keeps a reference of its own.
        unsafe { EVP_MAC_free(mac.as_ptr()) };
        OpensslPoly1305 { context: made("EVP_MAC_CTX_new", context) }
    }

    /// The tag of a message. The key is `r`, which OpenSSL clamps, then `s`.
    pub fn tag(&mut self, key: &[u8; 32], message: &[u8]) -> [u8; 16] {
        let context = self.context.as_ptr();
        let mut tag = [0; 16];
        let mut written = 0;
        // SAFETY: the context lives as long as `self`; the length is that of the key.
        let answer = unsafe { EVP_MAC_init(context, key.as_ptr(), key.len(), null()) };
        succeeded("EVP_MAC_init", answer);
        // SAFETY: the context has its key; the length is that of the message.
        let answer = unsafe { EVP_MAC_update(context, message.as_ptr(), message.len()) };
        succeeded("EVP_MAC_update", answer);
        // SAFETY: the context has its key; the room is that of the tag.
        let answer = unsafe { EVP_MAC_final(context, tag.as_mut_ptr(), &mut written, tag.len()) };
        succeeded("EVP_MAC_final", answer);
        assert_eq!(written, tag.len(), "OpenSSL: bytes of a Poly1305 tag");
        tag
    }
}

impl Default for OpensslPoly1305 {
    fn default() -> OpensslPoly1305 {
        OpensslPoly1305::new()
    }
}

impl Drop for OpensslPoly1305 {
    fn drop(&mut self) {
        // SAFETY: the context was made in `new` and nobody else has it.
        unsafe { EVP_MAC_CTX_free(self.context.as_ptr()) };
    }
}

/// Poly1305-AES as a user of OpenSSL would make it: `s` is the nonce through AES-128-ECB, whose
/// key is set once, and each message is a one-time Poly1305 under `r` and `s`.
///
/// ```
/// let mut mac = peers::OpensslPoly1305Aes::new(&[0; 32]);
/// let tag = mac.tag(&[0; 16], b"r = 0 makes the tag AES of the nonce");
/// assert_eq!(tag[..4], [0x66, 0xe9, 0x4b, 0xd4]);
/// ```
pub struct OpensslPoly1305Aes {
    poly1305: OpensslPoly1305,
    aes: NonNull<EvpCipherCtx>,
    /// `r`, then the `s` of the last message.
    one_time: [u8; 32],
}

impl OpensslPoly1305Aes {
    /// The key is that of AES, then `r`, which OpenSSL clamps: the order of nettle.
    pub fn new(key: &[u8; 32]) -> OpensslPoly1305Aes {
        let (k, r) = key.split_at(16);
        let mut one_time = [0; 32];
        one_time[..16].copy_from_slice(r);
        let aes = made("EVP_CIPHER_CTX_new", EVP_CIPHER_CTX_new());
        let (context, cipher) = (aes.as_ptr(), EVP_aes_128_ecb());
        // SAFETY: context and cipher are OpenSSL's; `k` has 16 bytes; ECB has no IV.
        let answer = unsafe { EVP_EncryptInit_ex(context, cipher, null_mut(), k.as_ptr(), null()) };
        succeeded("EVP_EncryptInit_ex", answer);
        // SAFETY: the context has its cipher.
        let answer = unsafe { EVP_CIPHER_CTX_set_padding(context, 0) };
        succeeded("EVP_CIPHER_CTX_set_padding", answer);
        OpensslPoly1305Aes { poly1305: OpensslPoly1305::new(), aes, one_time }
    }

    /// The tag of a message.
    pub fn tag(&mut self, nonce: &[u8; 16], message: &[u8]) -> [u8; 16] {
        let s = self.one_time[16..].as_mut_ptr();
        let mut written = 0;
        // SAFETY: the context has its key; without padding, a block in is a block out, and `s` has
        // room for one.
        let answer =
            unsafe { EVP_EncryptUpdate(self.aes.as_ptr(), s, &mut written, nonce.as_ptr(), 16) };
        succeeded("EVP_EncryptUpdate", answer);
        assert_eq!(written, 16, "OpenSSL: bytes of an AES block");
        self.poly1305.tag(&self.one_time, message)
    }
}

impl Drop for OpensslPoly1305Aes {
    fn drop(&mut self) {
        // SAFETY: the context was made in `new` and nobody else has it.
        unsafe { EVP_CIPHER_CTX_free(self.aes.as_ptr()) };
    }
}

/// OpenSSL's peers.
pub(crate) fn all(visit: &mut impl Visit) {
    visit.peer(info("OpenSSL Poly1305, a key each", "POLY1305", [32, 0, 16]), |key, _| {
        let mut mac = OpensslPoly1305::new();
        let key = exactly(KEY, key);
        move |message: &[u8]| mac.tag(black_box(&key), message)
    });
    visit.peer(info("OpenSSL POLY1305-AES", "POLY1305-AES", [32, 16, 16]), |key, nonce| {
        let mut mac = OpensslPoly1305Aes::new(&exactly(KEY, key));
        let nonce = exactly(NONCE, nonce);
        move |message: &[u8]| mac.tag(black_box(&nonce), message)
    });
}

const KEY: &str = "OpenSSL: a key";
const NONCE: &str = "OpenSSL: a nonce";

fn info(name: &'static str, function: &'static str, [key, nonce, tag]: [usize; 3]) -> Info {
    Info {
        name,
        library: "OpenSSL",
        version: version(),
        function,
        key_bytes: key,
        nonce_bytes: nonce,
        tag_bytes: tag,
        longest: u64::MAX,
        repeats: true,
    }
}

/// As the library says: "3.0.19".
fn version() -> String {
    /// `OPENSSL_VERSION_STRING` of openssl/crypto.h.
    const SHORT: c_int = 6;
    let text = OpenSSL_version(SHORT);
    // SAFETY: OpenSSL answers a C string that lives as long as the process, for any number.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
