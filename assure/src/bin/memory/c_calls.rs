//! The calls of the C library, with objects, keys, nonces, messages and tags in guarded buffers
//! (`Room`).
//!
//! Calls get only valid memory: objects come from `Slot`, and sizes from the buffers.

use std::ffi::{CString, c_int};

use crate::calls::{LONGEST, Subject};
use crate::child::Cases;
use crate::library::{Library, Slot};
use crate::rooms::{Room, SIDES, Side};

/// Tag sizes that differ from the key's.
const WRONG_SIZES: [usize; 5] = [0, 1, 3, 17, 65];
/// Size of a saved session in bytes.
const SAVED: usize = tagmac_any::Session::BYTES;

/// The header's `TAGMAC_MISMATCH` and other statuses.
const MISMATCH: c_int = -1;
const MISUSE: c_int = -2;
const LIMIT: c_int = -3;
const INPUT: c_int = -4;

/// Buffers that a call reads and writes.
struct Rooms {
    key: Room,
    first: Room,
    second: Room,
    nonce: Room,
    tag: Room,
    given: Room,
}

impl Rooms {
    fn new() -> Rooms {
        let [key, nonce, given] = std::array::from_fn(|_| Room::new(512));
        let [first, second] = std::array::from_fn(|_| Room::new(LONGEST));
        Rooms { key, first, second, nonce, tag: Room::for_results(128), given }
    }
}

/// Returns the address and size of a buffer to read.
fn parts_of(bytes: &[u8]) -> (*const u8, usize) {
    (bytes.as_ptr(), bytes.len())
}

/// Tries all lengths on all sides. `short` is the number of bytes that the tag buffers lack, to
/// plant a bug.
pub fn walk(cases: &Cases, subject: &Subject, short: usize) {
    let library = Library::load();
    let mut rooms = Rooms::new();
    let level = CString::new(subject.level.name()).expect("no NUL");
    // SAFETY: a C string.
    cases.check(unsafe { (library.set_level)(level.as_ptr()) } == 0);
    for &side in SIDES {
        let key = Slot::new(side);
        let name = CString::new(subject.algorithm.name()).expect("no NUL");
        cases.at("tagmac_key_init", subject.key.len(), side);
        let (bytes, size) = parts_of(rooms.key.lend(&subject.key, side));
        // SAFETY: as at the top.
        cases.check(unsafe { (library.key_init)(key.at(), name.as_ptr(), bytes, size, 0) } == 0);
        let call = Call {
            library: &library,
            cases,
            subject,
            side,
            key,
            slots: [Slot::new(side), Slot::new(side)],
            name,
            short,
        };
        for &length in &subject.lengths {
            call.tags(&mut rooms, length);
            call.stream(&mut rooms, length);
            call.parts(&mut rooms, length);
        }
        call.sizes(&mut rooms);
        call.session(&mut rooms);
        cases.at("tagmac_key_free", 0, side);
        // SAFETY: as at the top.
        cases.check(unsafe { (library.key_free)(call.key.at()) } == 0);
    }
}

/// A key of the library with the other arguments of a call.
struct Call<'a> {
    library: &'a Library,
    cases: &'a Cases,
    subject: &'a Subject,
    side: Side,
    key: Slot,
    /// For streams, parts and sessions; each is freed before the next.
    slots: [Slot; 2],
    name: CString,
    short: usize,
}

impl Call<'_> {
    fn nonce(&self, rooms: &mut Rooms) -> (*const u8, usize) {
        parts_of(rooms.nonce.lend(&self.subject.nonce, self.side))
    }

    /// Makes a call that writes a tag of `size` bytes, and compares the tag.
    fn makes(&self, rooms: &mut Rooms, expected: &[u8], call: impl FnOnce(*mut u8) -> i32) {
        let size = expected.len() - self.short;
        let at = rooms.tag.place(&vec![0xaa; size], self.side);
        let done = call(at);
        // SAFETY: `place` wrote `size` bytes there.
        let found = unsafe { std::slice::from_raw_parts(at, size) };
        self.cases.check(done == 0 && *found == expected[..size]);
    }

    fn tags(&self, rooms: &mut Rooms, length: usize) {
        let (library, subject, cases, side) = (self.library, self.subject, self.cases, self.side);
        let (key, name) = (self.key.at(), self.name.as_ptr());
        let expected = subject.expected(length);
        let expected = expected.as_bytes();
        let size = expected.len();
        let (message, bytes) = parts_of(rooms.first.lend(&subject.message[..length], side));
        let (nonce, nonce_size) = self.nonce(rooms);
        cases.at("tagmac_key_tag", length, side);
        self.makes(rooms, expected, |tag| {
            // SAFETY: as at the top.
            unsafe { (library.key_tag)(key, tag, size, nonce, nonce_size, message, bytes) }
        });
        cases.at("tagmac_key_verify", length, side);
        let given = rooms.given.lend(expected, side).as_ptr();
        let verify = |given| {
            // SAFETY: as at the top.
            unsafe { (library.key_verify)(key, given, size, nonce, nonce_size, message, bytes) }
        };
        cases.check(verify(given) == 0);
        let mut wrong = expected.to_vec();
        wrong[size - 1] ^= 1;
        cases.check(verify(rooms.given.lend(&wrong, side).as_ptr()) == MISMATCH);
        if length > 40 && !length.is_multiple_of(64) {
            return;
        }
        let (secret, secret_size) = parts_of(rooms.key.lend(&subject.key, side));
        let given = rooms.given.lend(expected, side).as_ptr();
        cases.at("tagmac_tag", length, side);
        self.makes(rooms, expected, |tag| {
            // SAFETY: as at the top.
            unsafe {
                let tag_of = library.tag;
                tag_of(tag, size, name, secret, secret_size, nonce, nonce_size, message, bytes)
            }
        });
        cases.at("tagmac_verify", length, side);
        // SAFETY: as at the top.
        let verdict = unsafe {
            let check = library.verify;
            check(given, size, name, secret, secret_size, nonce, nonce_size, message, bytes)
        };
        cases.check(verdict == 0);
    }

    fn stream(&self, rooms: &mut Rooms, length: usize) {
        let (library, subject, cases, side) = (self.library, self.subject, self.cases, self.side);
        cases.at("tagmac_stream_init to tagmac_stream_free", length, side);
        let expected = subject.expected(length);
        let expected = expected.as_bytes();
        let stream = &self.slots[0];
        let (first, second) = subject.message[..length].split_at(length / 3);
        let (first, first_size) = parts_of(rooms.first.lend(first, side));
        let (second, second_size) = parts_of(rooms.second.lend(second, side));
        let (nonce, nonce_size) = self.nonce(rooms);
        let given = rooms.given.lend(expected, side).as_ptr();
        // SAFETY: as at the top.
        unsafe {
            let update = || {
                (library.stream_update)(stream.at(), first, first_size)
                    + (library.stream_update)(stream.at(), second, second_size)
            };
            let begun = (library.stream_init)(stream.at(), self.key.at(), nonce, nonce_size);
            cases.check(begun == 0 && update() == 0);
            if subject.nonce.is_empty() {
                self.makes(rooms, expected, |tag| {
                    (library.stream_final)(stream.at(), tag, expected.len())
                });
                let next = (library.stream_next)(stream.at(), nonce, nonce_size);
                cases.check(next == 0 && update() == 0);
            }
            cases.check((library.stream_verify)(stream.at(), given, expected.len()) == 0);
            cases.check((library.stream_free)(stream.at()) == 0);
        }
    }

    fn parts(&self, rooms: &mut Rooms, length: usize) {
        let (library, subject, cases, side) = (self.library, self.subject, self.cases, self.side);
        let Some(block) = subject.algorithm.block() else { return };
        cases.at("tagmac_part_init to tagmac_part_finish", length, side);
        let expected = subject.expected(length);
        let expected = expected.as_bytes();
        let whole = length.saturating_sub(1) / block * block;
        let middle = whole / 2 / block * block;
        let [left, right] = &self.slots;
        let key = self.key.at();
        let (first, first_size) = parts_of(rooms.first.lend(&subject.message[..middle], side));
        let second = rooms.second.lend(&subject.message[middle..whole], side);
        let (second, second_size) = parts_of(second);
        // SAFETY: as at the top.
        unsafe {
            cases.check((library.part_init)(left.at(), key, 0, first, first_size) == 0);
            let start = middle as u64;
            cases.check((library.part_init)(right.at(), key, start, second, second_size) == 0);
            cases.check((library.part_join)(left.at(), right.at(), key) == 0);
            let (mut start, mut end) = (1, 1);
            cases.check((library.part_range)(left.at(), &raw mut start, &raw mut end) == 0);
            cases.check((start, end) == (0, whole as u64));
            let (nonce, nonce_size) = self.nonce(rooms);
            let rest = rooms.first.lend(&subject.message[whole..length], side);
            let (rest, rest_size) = parts_of(rest);
            self.makes(rooms, expected, |tag| {
                let (left, finish) = (left.at(), library.part_finish);
                finish(left, key, tag, expected.len(), nonce, nonce_size, rest, rest_size)
            });
            cases.check((library.part_free)(right.at()) == 0);
        }
    }

    /// Tries sizes that must be refused, in buffers of that size; IDs and wiped memory.
    fn sizes(&self, rooms: &mut Rooms) {
        let (library, subject, cases, side) = (self.library, self.subject, self.cases, self.side);
        let key = self.key.at();
        let right = subject.expected(9).as_bytes().len();
        let (message, bytes) = parts_of(rooms.first.lend(&subject.message[..9], side));
        let (nonce, nonce_size) = self.nonce(rooms);
        for size in WRONG_SIZES.into_iter().filter(|&size| size != right) {
            cases.at("tags of a size that is refused", size, side);
            let tag = rooms.tag.place(&vec![0xaa; size], side);
            // SAFETY: as at the top.
            unsafe {
                let made = (library.key_tag)(key, tag, size, nonce, nonce_size, message, bytes);
                let found = std::slice::from_raw_parts(tag, size);
                cases.check(made == MISUSE && found.iter().all(|&byte| byte == 0xaa));
                let given = (library.key_verify)(key, tag, size, nonce, nonce_size, message, bytes);
                cases.check(given == MISUSE);
            }
        }
        cases.at("tagmac_key_id", 8, side);
        let id = rooms.tag.place(&[0; 8], side);
        // SAFETY: as at the top.
        unsafe {
            cases.check((library.key_id)(key, id, 8) == 0);
            cases.check(std::slice::from_raw_parts(id, 8) == subject.mac.key_id().as_bytes());
        }
        for size in 0..=128 {
            cases.at("tagmac_memzero", size, side);
            let at = rooms.tag.place(&vec![0xaa; size], side);
            // SAFETY: as at the top.
            unsafe {
                cases.check((library.memzero)(at.cast(), size) == 0);
                cases.check(std::slice::from_raw_parts(at, size).iter().all(|&byte| byte == 0));
            }
        }
    }

    /// Saves and restores a session.
    fn session(&self, rooms: &mut Rooms) {
        let (library, subject, cases, side) = (self.library, self.subject, self.cases, self.side);
        cases.at("tagmac_session_init to tagmac_session_free", subject.nonce.len(), side);
        let key = self.key.at();
        let session = &self.slots[0];
        let (mut saved, mut nonces) = (Room::for_results(SAVED), Room::for_results(64));
        let (next, nonce_size) = self.nonce(rooms);
        let zeros = vec![0; nonce_size];
        let next = if nonce_size == 0 { next } else { rooms.nonce.lend(&zeros, side).as_ptr() };
        let (message, bytes) = parts_of(rooms.first.lend(&subject.message[..33], side));
        let room = saved.place(&[0; SAVED], side);
        let nonce = nonces.place(&zeros, side);
        let tag_size = subject.expected(9).as_bytes().len();
        let tag = rooms.tag.place(&vec![0; tag_size], side);
        // SAFETY: as at the top.
        unsafe {
            let begun = (library.session_init)(session.at(), key, next, nonce_size, 100, 0.0);
            cases.check(begun == 0);
            cases.check((library.session_nonce_size)(session.at()) == nonce_size);
            for round in 0..3 {
                let send = || {
                    let send = library.session_tag;
                    send(session.at(), tag, tag_size, nonce, nonce_size, message, bytes)
                };
                cases.check((library.session_reserve)(session.at(), 2) == 0);
                cases.check((library.session_save)(session.at(), room, SAVED) == 0);
                cases.check(send() == 0 && send() == 0 && send() == LIMIT);
                let [mut used, mut left, mut reserved] = [1; 3];
                let counts = library.session_counts;
                let counted = counts(session.at(), &raw mut used, &raw mut left, &raw mut reserved);
                cases.check(counted == 0 && (used, reserved) == (2 + 2 * round, 0));
                let found = std::slice::from_raw_parts(tag, tag_size);
                let sent = std::slice::from_raw_parts(nonce, nonce_size);
                let plain = subject.portable.tag(sent, &subject.message[..33]);
                cases.check(plain.is_ok_and(|tag| tag.as_bytes() == found));
                cases.check((library.session_free)(session.at()) == 0);
                let size = if round == 2 { SAVED - 1 } else { SAVED };
                let old = std::slice::from_raw_parts(room, SAVED)[..size].to_vec();
                let (old, size) = parts_of(rooms.given.lend(&old, side));
                let restored = (library.session_restore)(session.at(), key, old, size, 100, 0.0);
                cases.check(restored == if round == 2 { INPUT } else { 0 });
            }
        }
    }
}
