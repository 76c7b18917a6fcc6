//! Planted bugs: each makes an access to the library's memory that the library must never make.

use std::hint::black_box;

use assure::Job;
use tagmac::isa::Level;
use tagmac_any::Algorithm;

use crate::c_calls;
use crate::calls::Subject;
use crate::child::Cases;
use crate::rooms::{Room, SANITIZER, SIDES};

/// Guard pages and AddressSanitizer detect these.
const BOTH: [&str; 3] = ["read-past-the-end", "read-before-the-start", "tag-a-byte-too-long"];
/// Only AddressSanitizer and the assertions detect these.
const ASSERTED: [&str; 3] = ["use-after-free", "overflow", "unchecked-index"];
/// Only MemorySanitizer detects this.
const UNWRITTEN: &str = "bytes-never-written";

/// Returns the planted bugs that this build must find.
pub fn names() -> Vec<&'static str> {
    match SANITIZER {
        None => BOTH.to_vec(),
        Some("address") => [BOTH, ASSERTED].concat(),
        Some(_) => vec![UNWRITTEN],
    }
}

/// Runs the work with the planted bug.
pub fn run(cases: &Cases, job: &Job) {
    let level = Level::best();
    let subject = Subject::new(Algorithm::default(), level, false);
    let planted = |name| job.planted(name);
    if planted("tag-a-byte-too-long") {
        c_calls::walk(cases, &subject, 1);
    }
    if planted("use-after-free") {
        let message = subject.message[..64].to_vec().into_boxed_slice();
        cases.at("tag of freed memory", 64, SIDES[0]);
        let freed = black_box(message.as_ptr());
        drop(message);
        // SAFETY: unsound on purpose: the memory is freed.
        let message = unsafe { std::slice::from_raw_parts(freed, 64) };
        cases.check(black_box(subject.mac.tag(&[], message)).is_ok());
    }
    if planted("overflow") {
        cases.at("sum of lengths that overflows", 1, SIDES[0]);
        let (length, block) = black_box((usize::MAX, 1));
        cases.check(black_box(length + block) == 0);
    }
    if planted("unchecked-index") {
        cases.at("unchecked index past the end, within the allocation", 16, SIDES[0]);
        let block = black_box([0_u8; 32]);
        // SAFETY: unsound on purpose: the slice has 16 bytes.
        cases.check(unsafe { *block[..16].get_unchecked(black_box(16)) } == 0);
    }
    if planted(UNWRITTEN) {
        cases.at("tag of uninitialised bytes", 64, SIDES[0]);
        let message = Box::<[u8]>::new_uninit_slice(64);
        // SAFETY: unsound on purpose: the bytes are not initialised.
        let message = black_box(unsafe { message.assume_init() });
        let tag = subject.mac.tag(&[], &message);
        cases.check(tag == subject.mac.tag(&[], &message));
    }
    let (before, after) = (planted("read-before-the-start"), planted("read-past-the-end"));
    if !before && !after {
        return;
    }
    let mut room = Room::new(crate::calls::LONGEST);
    for &side in SIDES {
        for length in 1..100 {
            cases.at("tag of one byte too many", length, side);
            let start = room.place(&subject.message[..length], side);
            let start = start.wrapping_sub(usize::from(before));
            // SAFETY: unsound on purpose: the last byte is outside the buffer.
            let message = unsafe { std::slice::from_raw_parts(start, length + 1) };
            black_box(subject.mac.tag(&[], message).is_ok());
        }
    }
}
