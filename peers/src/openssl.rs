//! OpenSSL 3: HMAC, CMAC, GMAC, KMAC, one-time Poly1305 (RFC 8439), and Poly1305-AES (Bernstein
//! 2005) built from it.
//!
//! Uses the cheapest documented calls: fetches everything once, and sets the key once where
//! possible. A message then costs `EVP_MAC_init`, `EVP_MAC_update` and `EVP_MAC_final`.
//! `EVP_MAC_init` without a key starts again under the last key (EVP_MAC(3)).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::hint::black_box;
use std::marker::PhantomData;
use std::ptr::{NonNull, null, null_mut};

use crate::adversarial::{Answer, Subject};
use crate::info::{Info, Library, Visit, counter, exactly};

/// `EVP_MAC`, which is opaque; so are the next three.
#[repr(C)]
struct EvpMac([u8; 0]);
#[repr(C)]
struct EvpMacCtx([u8; 0]);
#[repr(C)]
struct EvpCipher([u8; 0]);
#[repr(C)]
struct EvpCipherCtx([u8; 0]);

/// `OSSL_PARAM` of openssl/core.h.
#[repr(C)]
struct Param<'a> {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
    value: PhantomData<&'a [u8]>,
}

impl<'a> Param<'a> {
    /// `OSSL_PARAM_END`.
    const END: Param<'static> = Param {
        key: null(),
        data_type: 0,
        data: null_mut(),
        data_size: 0,
        return_size: 0,
        value: PhantomData,
    };

    /// Makes a parameter of type `OSSL_PARAM_UTF8_STRING`.
    fn text(name: &'static CStr, value: &'static CStr) -> Param<'static> {
        Param { data_type: 4, ..Param::bytes(name, value.to_bytes()) }
    }

    /// Makes a parameter of type `OSSL_PARAM_OCTET_STRING`. OpenSSL only reads the value.
    fn bytes(name: &'static CStr, value: &'a [u8]) -> Param<'a> {
        Param {
            key: name.as_ptr(),
            data_type: 5,
            data: value.as_ptr().cast_mut().cast(),
            data_size: value.len(),
            return_size: usize::MAX,
            value: PhantomData,
        }
    }
}

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
        parameters: *const Param,
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

/// Panics unless OpenSSL reports success.
fn succeeded(function: &str, answer: c_int) {
    assert!(answer == 1, "OpenSSL: {function} returned {answer}");
}

/// Returns a new object of OpenSSL, or panics with the name of the function.
fn made<T>(function: &str, pointer: *mut T) -> NonNull<T> {
    NonNull::new(pointer).unwrap_or_else(|| panic!("OpenSSL: {function} returned NULL"))
}

/// A MAC of OpenSSL and its one context.
struct Mac {
    context: NonNull<EvpMacCtx>,
}

impl Mac {
    /// Fetches the algorithm and makes the context for all messages.
    fn fetch(algorithm: &'static CStr) -> Mac {
        // SAFETY: the name is a C string; NULL stands for the default library and properties.
        let mac = unsafe { EVP_MAC_fetch(null_mut(), algorithm.as_ptr(), null()) };
        let mac = made("EVP_MAC_fetch", mac);
        // SAFETY: `mac` was fetched above.
        let context = unsafe { EVP_MAC_CTX_new(mac.as_ptr()) };
        // SAFETY: `mac` was fetched above; the context keeps its own reference.
        unsafe { EVP_MAC_free(mac.as_ptr()) };
        Mac { context: made("EVP_MAC_CTX_new", context) }
    }

    /// Fetches the algorithm and sets a key.
    fn new(algorithm: &'static CStr, parameter: Param, key: &[u8]) -> Mac {
        let mut mac = Mac::fetch(algorithm);
        mac.init(Some(key), &[parameter, Param::END]);
        mac
    }

    /// Starts a message, under the last key if `key` is `None`. The last parameter is `END`.
    fn init(&mut self, key: Option<&[u8]>, parameters: &[Param]) {
        assert!(parameters.last().is_some_and(|last| last.key.is_null()), "no OSSL_PARAM_END");
        let (key, length) = key.map_or((null(), 0), |key| (key.as_ptr(), key.len()));
        let (context, parameters) = (self.context.as_ptr(), parameters.as_ptr());
        // SAFETY: the context lives as long as `self`; the length is that of the key; the
        // parameters end, and borrow what they point to.
        let answer = unsafe { EVP_MAC_init(context, key, length, parameters) };
        succeeded("EVP_MAC_init", answer);
    }

    /// Returns the tag of the message that was started.
    fn tag<const BYTES: usize>(&mut self, message: &[u8]) -> [u8; BYTES] {
        let context = self.context.as_ptr();
        let mut tag = [0; BYTES];
        let mut written = 0;
        // SAFETY: the context has its key; the length is that of the message.
        let answer = unsafe { EVP_MAC_update(context, message.as_ptr(), message.len()) };
        succeeded("EVP_MAC_update", answer);
        // SAFETY: the context has its key; the buffer has the tag's length.
        let answer = unsafe { EVP_MAC_final(context, tag.as_mut_ptr(), &mut written, BYTES) };
        succeeded("EVP_MAC_final", answer);
        assert_eq!(written, BYTES, "OpenSSL: bytes of a tag");
        tag
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        // SAFETY: the context was made in `fetch`, and only `self` has it.
        unsafe { EVP_MAC_CTX_free(self.context.as_ptr()) };
    }
}

/// One-time Poly1305 of OpenSSL, with a key for each message.
///
/// ```
/// let tag = peers::OpensslPoly1305::new().tag(&[0; 32], b"r = 0 makes the tag s");
/// assert_eq!(tag, [0; 16]);
/// ```
pub struct OpensslPoly1305(Mac);

impl OpensslPoly1305 {
    /// Fetches the algorithm and makes the context for all messages.
    pub fn new() -> OpensslPoly1305 {
        OpensslPoly1305(Mac::fetch(c"POLY1305"))
    }

    /// Returns the tag of a message. The key is `r`, which OpenSSL clamps, then `s`.
    pub fn tag(&mut self, key: &[u8; 32], message: &[u8]) -> [u8; 16] {
        self.0.init(Some(key), &[Param::END]);
        self.0.tag(message)
    }
}

impl Default for OpensslPoly1305 {
    fn default() -> OpensslPoly1305 {
        OpensslPoly1305::new()
    }
}

/// Poly1305-AES as a user of OpenSSL would build it. `s` is the nonce encrypted with AES-128-ECB,
/// whose key is set once. The tag of a message is its one-time Poly1305 under `r` and `s`.
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
    /// Makes a MAC from the AES key followed by `r`, which OpenSSL clamps. The order is nettle's.
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

    /// Returns the tag of a message.
    pub fn tag(&mut self, nonce: &[u8; 16], message: &[u8]) -> [u8; 16] {
        let s = self.one_time[16..].as_mut_ptr();
        let mut written = 0;
        // SAFETY: the context has its key; without padding, a block in gives a block out, and `s`
        // can hold one.
        let answer =
            unsafe { EVP_EncryptUpdate(self.aes.as_ptr(), s, &mut written, nonce.as_ptr(), 16) };
        succeeded("EVP_EncryptUpdate", answer);
        assert_eq!(written, 16, "OpenSSL: bytes of an AES block");
        self.poly1305.tag(&self.one_time, message)
    }
}

impl Drop for OpensslPoly1305Aes {
    fn drop(&mut self) {
        // SAFETY: the context was made in `new`, and only `self` has it.
        unsafe { EVP_CIPHER_CTX_free(self.aes.as_ptr()) };
    }
}

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "OpenSSL", version: version() };
    const AGAIN: &str = "EVP_MAC_init without a key, update, final";

    let info = library.info("OpenSSL HMAC-SHA256", "HMAC-SHA256", [32, 0, 32], AGAIN);
    visit.peer(info, |key, _| {
        let mut mac = Mac::new(c"HMAC", Param::text(c"digest", c"SHA256"), key);
        move |message: &[u8]| -> [u8; 32] {
            mac.init(None, &[Param::END]);
            mac.tag(message)
        }
    });

    let info = library.info("OpenSSL CMAC-AES128", "CMAC-AES128", [16, 0, 16], AGAIN);
    visit.peer(info, |key, _| {
        let mut mac = Mac::new(c"CMAC", Param::text(c"cipher", c"AES-128-CBC"), key);
        move |message: &[u8]| -> [u8; 16] {
            mac.init(None, &[Param::END]);
            mac.tag(message)
        }
    });

    let call = "EVP_MAC_init with the nonce, without a key, update, final";
    let info = library.info("OpenSSL GMAC-AES128", "GMAC-AES128", [16, 12, 16], call);
    visit.peer(info, |key, nonce| {
        let mut mac = Mac::new(c"GMAC", Param::text(c"cipher", c"AES-128-GCM"), key);
        let nonce: [u8; 12] = exactly(nonce);
        move |message: &[u8]| -> [u8; 16] {
            mac.init(None, &[Param::bytes(c"iv", black_box(&nonce)), Param::END]);
            mac.tag(message)
        }
    });

    let info = library.info("OpenSSL GMAC-AES128, counting", "GMAC-AES128", [16, 12, 16], call);
    visit.peer(Info { repeats: false, ..info }, |key, nonce| {
        let mut mac = Mac::new(c"GMAC", Param::text(c"cipher", c"AES-128-GCM"), key);
        let mut nonces = counter::<12>(exactly(nonce));
        move |message: &[u8]| -> [u8; 16] {
            mac.init(None, &[Param::bytes(c"iv", &nonces()), Param::END]);
            mac.tag(message)
        }
    });

    // KMAC hashes its key for each message: OpenSSL does not keep the state after it.
    let info = library.info("OpenSSL KMAC128", "KMAC128", [32, 0, 32], AGAIN);
    visit.peer(info, |key, _| {
        let mut mac = Mac::fetch(c"KMAC128");
        mac.init(Some(key), &[Param::END]);
        move |message: &[u8]| -> [u8; 32] {
            mac.init(None, &[Param::END]);
            mac.tag(message)
        }
    });

    let call = "EVP_MAC_init with the message's key, update, final";
    let info = library.info("OpenSSL Poly1305, a key each", "POLY1305", [32, 0, 16], call);
    visit.peer(info, |key, _| {
        let mut mac = OpensslPoly1305::new();
        let key = exactly(key);
        move |message: &[u8]| mac.tag(black_box(&key), message)
    });

    let call = "EVP_EncryptUpdate of the nonce, then Poly1305 under r and that";
    let info = library.info("OpenSSL Poly1305-AES", "POLY1305-AES", [32, 16, 16], call);
    visit.peer(info, |key, nonce| {
        let mut mac = OpensslPoly1305Aes::new(&exactly(key));
        let nonce = exactly(nonce);
        move |message: &[u8]| mac.tag(black_box(&nonce), message)
    });

    let info = library.info("OpenSSL Poly1305-AES, counting", "POLY1305-AES", [32, 16, 16], call);
    visit.peer(Info { repeats: false, ..info }, |key, nonce| {
        let mut mac = OpensslPoly1305Aes::new(&exactly(key));
        let mut nonces = counter(exactly(nonce));
        move |message: &[u8]| mac.tag(&nonces(), message)
    });
}

/// Lists OpenSSL's MACs for adversarial vectors.
pub(crate) fn subjects(all: &mut Vec<Subject>) {
    let library = Library { name: "OpenSSL", version: version() };
    let call = "AES-128-ECB and EVP_MAC POLY1305";
    all.push(Subject::new(&library, "POLY1305-AES", call, |test| {
        let (Ok(key), Ok(nonce)) = (test.key[..].try_into(), test.nonce[..].try_into()) else {
            return Answer::Unasked("OpenSSL has no Poly1305-AES: the application splits the key");
        };
        // EVP_MAC_final only writes whole tags.
        let made = OpensslPoly1305Aes::new(key).tag(nonce, &test.message);
        Answer::accepted_if(made[..] == test.tag[..])
    }));
}

/// Returns the library's version: "3.0.19".
fn version() -> String {
    /// `OPENSSL_VERSION_STRING` of openssl/crypto.h.
    const SHORT: c_int = 6;
    let text = OpenSSL_version(SHORT);
    // SAFETY: OpenSSL returns a C string that lives as long as the process, for any number.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
