// Keys, and messages in one piece.

use std::ffi::{c_char, c_int};
use std::sync::{Arc, OnceLock};

use tagmac::save::Sealer;
use tagmac::{Mismatch, Tag};
use tagmac_any::{Algorithm, AnyMac, KeyId};
use tagmac_border::{Failure, Room, bytes, ensure};
use zeroize::Zeroizing;

use crate::global::{algorithm, level, name_of};
use crate::slot::{Held, free, slot};
use crate::status::{mismatch, refused, status, value};

/// A key and its algorithm. Begin with zeros: `tagmac_key key = {0};`. Several threads may use one
/// key at the same time, except while it is freed: nothing detects that. Do not move or copy a key:
/// the calls refuse a copy.
#[repr(C)]
pub struct Key {
    opaque: [usize; 4],
}

impl Key {
    /// An empty key, all zeros.
    pub(crate) const EMPTY: Key = Key { opaque: [0; 4] };
}

/// The contents of a `tagmac_key`.
#[derive(Clone)]
pub struct Keyed {
    pub mac: AnyMac,
    tag_bytes: usize,
    secret: Arc<Secret>,
}

/// The bytes of a key, for its files and for what is sealed under it.
struct Secret {
    bytes: Zeroizing<Vec<u8>>,
    sealer: OnceLock<Sealer>,
}

impl Held for Keyed {
    const NAME: &'static str = "tagmac_key";
    const MAGIC: usize = 0x6b65_7931;
}

impl Keyed {
    /// Makes a key with the level for new keys.
    pub fn new(algorithm: Algorithm, bytes: &[u8], tag_bits: usize) -> Result<Keyed, Failure> {
        let tag_bits = if tag_bits == 0 { algorithm.default_tag_bits() } else { tag_bits };
        let mac = AnyMac::with_options(algorithm, bytes, tag_bits, level()?)
            .map_err(|error| Failure::from(error).about(algorithm))?;
        let bytes = Zeroizing::new(bytes.to_vec());
        let secret = Arc::new(Secret { bytes, sealer: OnceLock::new() });
        Ok(Keyed { tag_bytes: mac.tag_bits().div_ceil(8), mac, secret })
    }

    /// Returns the bytes of the key.
    pub fn bytes(&self) -> &[u8] {
        &self.secret.bytes
    }

    /// Returns the sealer for what is stored under the key.
    pub fn sealer(&self) -> &Sealer {
        let name = self.mac.algorithm().name();
        self.secret.sealer.get_or_init(|| Sealer::new(name, self.bytes()))
    }

    /// Returns the length of a tag in bytes.
    pub fn tag_bytes(&self) -> usize {
        self.tag_bytes
    }
}

/// Returns the contents of a key.
///
/// # Safety
///
/// As [`slot`], and nothing frees the key during `'a`.
#[inline]
pub unsafe fn keyed<'a>(key: *const Key) -> Result<&'a Keyed, Failure> {
    // SAFETY: guaranteed by the caller. After `put`, only `free` changes a key.
    unsafe { slot(key)?.get() }
}

/// Checks a tag. A tag with unused bits set matches no message.
pub fn compare(
    mac: &AnyMac,
    tag: &[u8],
    check: impl FnOnce(&Tag) -> Result<(), Mismatch>,
) -> Result<(), Failure> {
    let tag = Tag::new(tag, mac.tag_bits()).map_err(|_| mismatch())?;
    check(&tag).map_err(|Mismatch| mismatch())
}

/// Rejects a tag of the wrong length.
pub fn tag_length(what: &Keyed, found: usize) -> Result<(), Failure> {
    let expected = what.tag_bytes();
    ensure(found == expected, || tagmac::Error::TagBytes { expected, found })
}

/// Stores a key in an empty slot.
///
/// # Safety
///
/// As [`slot`].
pub unsafe fn put(
    key: *mut Key,
    make: impl FnOnce() -> Result<Keyed, Failure>,
) -> Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    let mut key = unsafe { slot::<Keyed, Key>(key) }?.alone()?;
    key.vacant()?;
    key.put(make()?)
}

/// Makes a key from an algorithm and key bytes. Its tags have `tag_bits` bits; 0 selects the
/// longest tags. The bytes are copied: wipe your copy.
///
/// TAGMAC_MISUSE if the algorithm is unknown, if it does not support this length of key or tag, or
/// if `key` is already initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_init(
    key: *mut Key,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a string, and memory of that size.
        let (algorithm, bytes) =
            unsafe { (self::algorithm(algorithm)?, bytes("the key", key_bytes, key_size)?) };
        // SAFETY: the header requires a key.
        unsafe { put(key, || Keyed::new(algorithm, bytes, tag_bits)) }
    })
}

/// Wipes a key, frees its memory, and leaves zeros. No other call may use the key at the same time.
/// Streams and sessions made from it stay valid. Does nothing to an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_free(key: *mut Key) -> c_int {
    // SAFETY: the header requires a key.
    status(|| unsafe { free::<Keyed, Key>(key) })
}

/// Returns the name of the key's algorithm. NULL for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_algorithm(key: *const Key) -> *const c_char {
    // SAFETY: the header requires a key.
    value(std::ptr::null(), || Ok(name_of(unsafe { keyed(key) }?.mac.algorithm())))
}

/// Writes the public ID of the key and its algorithm: 8 bytes, the same as in key files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_id(key: *const Key, id: *mut u8, id_size: usize) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and a buffer of that size.
        let (key, room) = unsafe { (keyed(key)?, Room::new("the id", id, id_size, KeyId::BYTES)?) };
        room.fill(key.mac.key_id().as_bytes());
        Ok(())
    })
}

/// Returns the length of the key's tags in bytes. 0 for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_tag_size(key: *const Key) -> usize {
    // SAFETY: the header requires a key.
    value(0, || Ok(unsafe { keyed(key) }?.tag_bytes()))
}

/// Writes the tag of a message. `tag_size` must equal tagmac_key_tag_size(). Never use a nonce for
/// two messages under the same key. For algorithms without a nonce, pass NULL and 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_tag(
    key: *const Key,
    tag: *mut u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, nonce, message) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            (keyed(key)?, nonce, bytes("the message", message, message_size)?)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("the tag", tag, tag_size, key.tag_bytes()) }?;
        // Not `?`: it moves the tag, and a processor waits until the tag's store is complete.
        match key.mac.tag(nonce, message) {
            Ok(ref tag) => room.fill(tag.as_bytes()),
            Err(error) => return Err(refused(error)),
        }
        Ok(())
    })
}

/// Checks the tag of a message in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong.
/// Use the message only after 0.
///
/// `tag_size` must equal tagmac_key_tag_size(), so a truncated tag never passes. Messages over the
/// algorithm's length limit always return TAGMAC_MISMATCH.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_key_verify(
    key: *const Key,
    tag: *const u8,
    tag_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header requires a key, and memory of those sizes.
        let (key, nonce, message, tag) = unsafe {
            let (nonce, tag) =
                (bytes("the nonce", nonce, nonce_size)?, bytes("the tag", tag, tag_size)?);
            (keyed(key)?, nonce, bytes("the message", message, message_size)?, tag)
        };
        tag_length(key, tag.len())?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        compare(&key.mac, tag, |tag| key.mac.verify(nonce, message, tag))
    })
}

/// Writes the tag of a message in one call, without a tagmac_key. The tag is the longest of the
/// algorithm: 16 bytes for every algorithm based on AES. To tag several messages, make a
/// tagmac_key, which prepares the key only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_tag(
    tag: *mut u8,
    tag_size: usize,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    let mut key = Key::EMPTY;
    // SAFETY: the header requires the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_tag(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Checks the tag of a message in one call, in constant time: 0 if it is right, TAGMAC_MISMATCH if
/// it is wrong. `tag_size` must be the longest tag of the algorithm in bytes.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn tagmac_verify(
    tag: *const u8,
    tag_size: usize,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    nonce: *const u8,
    nonce_size: usize,
    message: *const u8,
    message_size: usize,
) -> c_int {
    let mut key = Key::EMPTY;
    // SAFETY: the header requires the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_verify(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Returns the size of a tagmac_key in bytes, for languages that cannot use sizeof.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_size() -> usize {
    size_of::<Key>()
}

/// Returns the alignment of a tagmac_key in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_align() -> usize {
    align_of::<Key>()
}

#[cfg(test)]
mod tests {
    use std::ffi::{CStr, CString};

    use super::*;
    use crate::status::{TAGMAC_MISUSE, with_last};

    #[test]
    fn names_in_lines_show_no_control_characters_and_are_cut() {
        let line = |name: &CStr| {
            let mut key = Key::EMPTY;
            // SAFETY: a key of this frame and a C string.
            let status =
                unsafe { tagmac_key_init(&mut key, name.as_ptr(), [7; 16].as_ptr(), 16, 0) };
            assert_eq!(status, TAGMAC_MISUSE);
            with_last(str::to_string)
        };
        assert!(line(c"a\x1b[2J").contains("'a\\u{1b}[2J'"));
        let long = CString::new(vec![b'x'; 1 << 20]).expect("no NUL");
        assert!(line(&long).len() < 256);
    }
}
