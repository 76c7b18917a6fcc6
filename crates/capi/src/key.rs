// Keys, and messages that are there at once.

use std::ffi::{c_char, c_int};
use std::fmt::Display;
use std::fs::File;
use std::io::Read;

use tagmac::dynamic::{Algorithm, AnyMac, KeyFile, KeyId};
use tagmac::{Mismatch, Tag};
use tagmac_border::{Failure, Kind, Room, bytes, ensure, text};
use zeroize::Zeroizing;

use crate::global::{algorithm, level, name_of};
use crate::slot::{Held, Shared, free, slot};
use crate::status::{mismatch, refused, status, value};

/// A key with its algorithm. Begin with zeros: `tagmac_key key = {0};`. Several threads may use one
/// key at once, but for its init and free. Do not move or copy it: the calls refuse a copy.
#[repr(C)]
pub struct Key {
    opaque: [usize; 4],
}

/// What there is behind a key.
pub struct Keyed {
    pub mac: AnyMac,
}

impl Held for Keyed {
    const NAME: &'static str = "tagmac_key";
    const MAGIC: usize = 0x6b65_7931;
}

impl Keyed {
    /// Bytes of a tag.
    pub fn tag_bytes(&self) -> usize {
        self.mac.tag_bits().div_ceil(8)
    }
}

/// The value of a key.
///
/// # Safety
///
/// As [`slot`].
pub unsafe fn keyed<'a>(key: *const Key) -> Result<Shared<'a, Keyed>, Failure> {
    // SAFETY: the caller's word.
    unsafe { slot(key) }?.read()
}

/// Whether a tag is the expected one. A tag that cannot be has no tag to match.
pub fn compare(
    mac: &AnyMac,
    tag: &[u8],
    check: impl FnOnce(&Tag) -> Result<(), Mismatch>,
) -> Result<(), Failure> {
    let tag = Tag::new(tag, mac.tag_bits()).map_err(|_| mismatch())?;
    check(&tag).map_err(|Mismatch| mismatch())
}

/// Refuses a tag that has not the length of the key's.
pub fn tag_length(what: &Keyed, found: usize) -> Result<(), Failure> {
    let expected = what.tag_bytes();
    ensure(found == expected, tagmac::Error::TagBytes { expected, found })
}

fn put(key: *mut Key, algorithm: Algorithm, bytes: &[u8], tag_bits: usize) -> Result<(), Failure> {
    // SAFETY: the caller of the C function vouches for the key.
    let mut key = unsafe { slot::<Keyed, Key>(key) }?.alone()?;
    key.vacant()?;
    let tag_bits = if tag_bits == 0 { algorithm.default_tag_bits() } else { tag_bits };
    let mac = AnyMac::with_options(algorithm, bytes, tag_bits, level()?)
        .map_err(|error| Failure::from(error).about(algorithm))?;
    key.put(Keyed { mac })
}

/// A key file that is missing or damaged.
fn unusable(error: impl Display) -> Failure {
    Failure::from(error.to_string()).of(Kind::Input)
}

fn put_file(key: *mut Key, text: &[u8], tag_bits: usize) -> Result<(), Failure> {
    let file = KeyFile::parse(text).map_err(|error| unusable(error).about("key file"))?;
    put(key, file.algorithm(), file.key(), tag_bits)
}

/// Makes a key of an algorithm and its key bytes, with tags of `tag_bits` bits; 0 for the longest
/// ones. The bytes are copied: wipe yours.
///
/// TAGMAC_MISUSE if the algorithm is unknown or has no such key or tag, and if `key` holds a key
/// already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_init(
    key: *mut Key,
    algorithm: *const c_char,
    key_bytes: *const u8,
    key_size: usize,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for a string, and for memory of that size.
        let (algorithm, bytes) =
            unsafe { (self::algorithm(algorithm)?, bytes("the key", key_bytes, key_size)?) };
        put(key, algorithm, bytes, tag_bits)
    })
}

/// Makes a key of a key file that 'tagmac keygen' wrote. TAGMAC_INPUT if there is none to read, or if
/// it is damaged. Who could have written the file is not looked at, as the command does: whoever
/// chooses the key makes tags that pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_load(
    key: *mut Key,
    path: *const c_char,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for a string that ends in NUL.
        let path = unsafe { text("a path", path) }?;
        // A vector that grows would leave copies of the key behind.
        let mut found = Zeroizing::new(Vec::with_capacity(KeyFile::MAX_BYTES + 64));
        let read = File::open(path)
            .and_then(|file| file.take(KeyFile::MAX_BYTES as u64 + 1).read_to_end(&mut found))
            .map_err(|error| unusable(error).about(format_args!("key file '{path}'")))?;
        if read > KeyFile::MAX_BYTES {
            let limit = KeyFile::MAX_BYTES;
            return Err(unusable(format_args!(
                "key file '{path}': expected at most {limit} bytes, found more"
            )));
        }
        put_file(key, &found, tag_bits)
    })
}

/// Makes a key of the text of a key file, as tagmac_key_load().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_parse(
    key: *mut Key,
    file_text: *const c_char,
    file_size: usize,
    tag_bits: usize,
) -> c_int {
    status(|| {
        // SAFETY: the header asks for memory of that size.
        let text = unsafe { bytes("the key file", file_text.cast(), file_size) }?;
        put_file(key, text, tag_bits)
    })
}

/// Wipes a key, frees what it holds, and leaves zeros. Streams that were begun with it live on.
/// Without effect on an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_free(key: *mut Key) -> c_int {
    // SAFETY: the header asks for a key.
    status(|| unsafe { free::<Keyed, Key>(key) })
}

/// The name of the key's algorithm. NULL for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_algorithm(key: *const Key) -> *const c_char {
    // SAFETY: the header asks for a key.
    value(std::ptr::null(), || Ok(name_of(unsafe { keyed(key) }?.mac.algorithm())))
}

/// The public id of the key and its algorithm, 8 bytes, as key files have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_id(key: *const Key, id: *mut u8, id_size: usize) -> c_int {
    status(|| {
        // SAFETY: the header asks for a key, and for room of that size.
        let (key, room) = unsafe { (keyed(key)?, Room::new("an id", id, id_size, KeyId::BYTES)?) };
        room.fill(key.mac.key_id().as_bytes());
        Ok(())
    })
}

/// Bytes of the key's tags. 0 for an empty key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tagmac_key_tag_size(key: *const Key) -> usize {
    // SAFETY: the header asks for a key.
    value(0, || Ok(unsafe { keyed(key) }?.tag_bytes()))
}

/// Writes the tag of a message. `tag_size` has to be tagmac_key_tag_size(). The nonce is NULL and 0
/// for algorithms that take none; under one key no nonce may ever serve two messages.
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
        // SAFETY: the header asks for a key, and for memory of those sizes.
        let (key, nonce, message) = unsafe {
            let nonce = bytes("the nonce", nonce, nonce_size)?;
            (keyed(key)?, nonce, bytes("the message", message, message_size)?)
        };
        // SAFETY: as above.
        let room = unsafe { Room::new("a tag", tag, tag_size, key.tag_bytes()) }?;
        room.fill(key.mac.tag(nonce, message).map_err(refused)?.as_bytes());
        Ok(())
    })
}

/// Checks the tag of a message, in constant time: 0 if it is right, TAGMAC_MISMATCH if it is wrong. Use
/// the message only after 0. `tag_size` has to be tagmac_key_tag_size(), so a tag that was cut short
/// never passes. A message that is longer than the algorithm allows has no right tag.
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
        // SAFETY: the header asks for a key, and for memory of those sizes.
        let (key, nonce, message, tag) = unsafe {
            let (nonce, tag) =
                (bytes("the nonce", nonce, nonce_size)?, bytes("the tag", tag, tag_size)?);
            (keyed(key)?, nonce, bytes("the message", message, message_size)?, tag)
        };
        tag_length(&key, tag.len())?;
        key.mac.algorithm().check_nonce(nonce.len())?;
        compare(&key.mac, tag, |tag| key.mac.verify(nonce, message, tag))
    })
}

/// Writes the tag of a message in one call, without a tagmac_key. The tag is the longest of its
/// algorithm: 16 bytes for all over AES. To tag more than one message make a tagmac_key, which
/// prepares the key once.
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
    let mut key = Key { opaque: [0; 4] };
    // SAFETY: the header asks the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_tag(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Checks the tag of a message in one call, in constant time: 0 if it is right, TAGMAC_MISMATCH if it
/// is wrong. `tag_size` has to be that of the longest tag of the algorithm.
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
    let mut key = Key { opaque: [0; 4] };
    // SAFETY: the header asks the same of these arguments.
    unsafe {
        let status = match tagmac_key_init(&mut key, algorithm, key_bytes, key_size, 0) {
            0 => tagmac_key_verify(&key, tag, tag_size, nonce, nonce_size, message, message_size),
            status => status,
        };
        tagmac_key_free(&mut key);
        status
    }
}

/// Bytes of a tagmac_key, for languages that cannot ask the compiler.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_size() -> usize {
    size_of::<Key>()
}

/// The alignment of a tagmac_key in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tagmac_key_align() -> usize {
    align_of::<Key>()
}
