//! libtomcrypt: PMAC with table-based AES, which leaks through the cache.

use std::ffi::{c_int, c_ulong};
use std::ptr::NonNull;

use crate::adversarial::{Answer, Subject};
use crate::info::{Info, Library, Visit, exactly};

/// `pmac_state`, which is opaque.
#[repr(C)]
struct State([u8; 0]);

unsafe extern "C" {
    safe fn peers_tomcrypt_aes() -> c_int;
    fn peers_tomcrypt_new(cipher: c_int, key: *const u8, key_length: c_ulong) -> *mut State;
    fn peers_tomcrypt_free(state: *mut State);
    fn peers_tomcrypt_tag(
        ready: *const State,
        message: *const u8,
        length: c_ulong,
        tag: *mut u8,
        tag_length: *mut c_ulong,
    ) -> c_int;
    fn pmac_memory(
        cipher: c_int,
        key: *const u8,
        key_length: c_ulong,
        message: *const u8,
        length: c_ulong,
        tag: *mut u8,
        tag_length: *mut c_ulong,
    ) -> c_int;
}

/// Returns libtomcrypt's index of AES.
fn aes() -> c_int {
    let cipher = peers_tomcrypt_aes();
    assert!(cipher >= 0, "libtomcrypt: register_cipher returned {cipher}");
    cipher
}

/// Panics unless the call succeeded and wrote a whole tag.
fn succeeded(function: &str, answer: c_int, written: c_ulong) {
    assert!(answer == 0, "libtomcrypt: {function} returned {answer}");
    assert!(written == 16, "libtomcrypt: expected 16 bytes of tag, found {written}");
}

/// PMAC with its key ready.
struct Pmac(NonNull<State>);

impl Pmac {
    fn new(key: &[u8; 16]) -> Pmac {
        // SAFETY: the cipher is registered; the length is that of the key.
        let state = unsafe { peers_tomcrypt_new(aes(), key.as_ptr(), key.len() as c_ulong) };
        Pmac(NonNull::new(state).expect("libtomcrypt: pmac_init or malloc failed"))
    }

    fn tag(&self, message: &[u8]) -> [u8; 16] {
        let (mut tag, mut written) = ([0; 16], 16);
        let (data, length) = (message.as_ptr(), message.len() as c_ulong);
        // SAFETY: the state lives as long as `self`; the lengths are those of message and tag.
        let answer = unsafe {
            peers_tomcrypt_tag(self.0.as_ptr(), data, length, tag.as_mut_ptr(), &mut written)
        };
        succeeded("pmac_process or pmac_done", answer, written);
        tag
    }
}

impl Drop for Pmac {
    fn drop(&mut self) {
        // SAFETY: the state was made in `new`, and only `self` has it.
        unsafe { peers_tomcrypt_free(self.0.as_ptr()) };
    }
}

pub(crate) fn all(visit: &mut impl Visit) {
    let library = Library { name: "libtomcrypt", version: env!("PEERS_TOMCRYPT_VERSION").into() };
    // The table has 32 offsets, those of the first 2^32 - 1 blocks. The last block needs no offset.
    let info = |name, call| Info {
        longest: 1 << 36,
        ..library.info(name, "PMAC-AES128", [16, 0, 16], call)
    };
    let call = "a copy of the pmac_state, pmac_process, pmac_done";
    visit.peer(info("libtomcrypt PMAC-AES128", call), |key, _| {
        let mac = Pmac::new(&exactly(key));
        move |message: &[u8]| mac.tag(message)
    });
    let call = "pmac_memory, which sets up the key";
    visit.peer(info("libtomcrypt PMAC-AES128, with key set-up", call), |key, _| {
        let (cipher, key): (_, [u8; 16]) = (aes(), exactly(key));
        move |message: &[u8]| {
            let (mut tag, mut written) = ([0; 16], 16);
            let (data, length) = (message.as_ptr(), message.len() as c_ulong);
            let (key, out) = (key.as_ptr(), tag.as_mut_ptr());
            // SAFETY: the cipher is registered; the lengths are those of key, message and tag.
            let answer = unsafe { pmac_memory(cipher, key, 16, data, length, out, &mut written) };
            succeeded("pmac_memory", answer, written);
            tag
        }
    });
}

/// Lists libtomcrypt's MACs for adversarial vectors. The key's length chooses the AES.
pub(crate) fn subjects(all: &mut Vec<Subject>) {
    let library = Library { name: "libtomcrypt", version: env!("PEERS_TOMCRYPT_VERSION").into() };
    for name in ["PMAC-AES128", "PMAC-AES192", "PMAC-AES256"] {
        all.push(Subject::new(&library, name, "pmac_memory", |test| {
            let (cipher, length) = (aes(), test.message.len() as c_ulong);
            let (mut tag, mut written) = ([0; 32], test.tag.len().min(32) as c_ulong);
            let (key, key_length) = (test.key.as_ptr(), test.key.len() as c_ulong);
            let (data, out) = (test.message.as_ptr(), tag.as_mut_ptr());
            // SAFETY: the cipher is registered; the lengths are those of key and message, and the
            // tag's is at most the buffer's.
            let answer =
                unsafe { pmac_memory(cipher, key, key_length, data, length, out, &mut written) };
            Answer::accepted_if(answer == 0 && tag[..written as usize] == test.tag[..])
        }));
    }
}
