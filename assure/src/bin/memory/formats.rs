//! Parsed and opened formats in guarded buffers: keys, key files, partials and saved streams,
//! complete and truncated at every byte.

use std::ffi::c_void;
use std::time::SystemTime;

use tagmac::save::{Reader, SaveError, Writer};
use tagmac_any::{AnyMac, KeyFile, Partial};

use assure::Random;

use crate::calls::Subject;
use crate::child::Cases;
use crate::library::{Library, Slot};
use crate::rooms::{Room, SIDES, Side};

/// Size of the longest format in bytes: a partial with a tail of one block of UMAC99.
const LONGEST: usize = 1 << 15;
/// Truncated at all lengths up to this one, and at some longer ones.
const ALL_CUTS: usize = 600;

/// Returns the lengths to truncate at; the last is the full length.
fn cuts(bytes: usize) -> impl Iterator<Item = usize> {
    (0..bytes.min(ALL_CUTS)).chain((ALL_CUTS..bytes).step_by(41)).chain([bytes])
}

pub fn walk(cases: &Cases, subject: &Subject) {
    let mut room = Room::new(LONGEST);
    let file = KeyFile::new(subject.algorithm, &subject.key, SystemTime::UNIX_EPOCH);
    let file = file.expect("a key of the right length");
    for &side in SIDES {
        keys(cases, subject, &mut room, side);
        key_files(cases, &file, &mut room, side);
        streams(cases, subject, &file, &mut room, side);
        partials(cases, subject, &file, &mut room, side);
    }
}

fn keys(cases: &Cases, subject: &Subject, room: &mut Room, side: Side) {
    let (algorithm, bits) = (subject.algorithm, subject.algorithm.default_tag_bits());
    let right = algorithm.key_bytes();
    for length in 0..=(*right.end()).min(256) + 2 {
        cases.at("key", length, side);
        let key: Vec<u8> = (0..length).map(|i| (i * 7 + 1) as u8).collect();
        let mac = AnyMac::with_options(algorithm, room.lend(&key, side), bits, subject.level);
        cases.check(mac.is_ok() == right.contains(&length));
        let Ok(mac) = mac else { continue };
        let portable = AnyMac::with_options(algorithm, &key, bits, subject.portable_level());
        let portable = portable.expect("a key of that length");
        let tag = |mac: &AnyMac| mac.tag(&subject.nonce, b"a message").expect("short");
        cases.check(tag(&mac) == tag(&portable));
    }
}

fn key_files(cases: &Cases, file: &KeyFile, room: &mut Room, side: Side) {
    let library = Library::load();
    let text = file.to_text();
    let key = Slot::new(side);
    for length in 0..=text.len() {
        cases.at("key file", length, side);
        let text_here = room.lend(&text.as_bytes()[..length], side);
        cases.check(KeyFile::parse(text_here).is_ok() == (length == text.len()));
        cases.at("tagmac_key_parse", length, side);
        // SAFETY: the slot and the text have these sizes.
        let parsed =
            unsafe { (library.key_parse)(key.at(), text_here.as_ptr(), text_here.len(), 0) };
        cases.check((parsed == 0) == (length == text.len()));
    }
    // SAFETY: a slot with the key of the whole text.
    cases.check(unsafe { (library.key_free)(key.at().cast::<c_void>()) } == 0);
}

fn streams(cases: &Cases, subject: &Subject, file: &KeyFile, room: &mut Room, side: Side) {
    let sealer = file.sealer();
    let longest = subject.lengths.last().expect("a length");
    for length in [0, 1, 16, 63, 1025, 2048] {
        if length + 40 > *longest {
            return;
        }
        cases.at("saved stream", length, side);
        let (first, rest) = subject.message[..length + 40].split_at(length);
        let mut stream = subject.mac.stream(&subject.nonce).expect("a nonce of the right length");
        stream.update(first);
        let saved = match stream.save(&sealer) {
            Ok(saved) => saved,
            Err(error) => {
                cases.check(error == SaveError::NoSavedState);
                return;
            }
        };
        let again = subject.mac.restore(&sealer, room.lend(&saved, side));
        cases.check(again.is_ok());
        let Ok(mut again) = again else { return };
        again.update(rest);
        cases.check(again.tag().is_ok_and(|tag| tag == subject.expected(length + 40)));
        for cut in cuts(saved.len()).filter(|&cut| cut < saved.len()) {
            cases.at("saved stream, cut off", cut, side);
            let cut = room.lend(&saved[..cut], side);
            cases.check(subject.mac.restore(&sealer, cut).is_err());
        }
    }
}

fn partials(cases: &Cases, subject: &Subject, file: &KeyFile, room: &mut Room, side: Side) {
    let Some(parts) = subject.mac.parts() else { return };
    let (sealer, block) = (file.sealer(), parts.block());
    let message = Random::new(5).bytes(3 * block);
    let expected = subject.portable.tag(&subject.nonce, &message).expect("short");
    let (blocks, tail) = message.split_at(2 * block);
    let part = parts.new_part(0, blocks).expect("whole blocks");
    let sealed = Partial::seal(&subject.mac, &sealer, b"object", &part, Some(tail)).expect("short");
    let opens = |bytes: &[u8], place: &mut Room| -> Option<bool> {
        let partial = Partial::parse(bytes).ok()?;
        let from = partial.header_len();
        let checked = partial.check(&subject.mac, &sealer).ok()?;
        let (_, copied) = checked.open().ok()?;
        let at = place.place(&bytes[from..], side);
        // SAFETY: `place` wrote these bytes there.
        let secret = unsafe { std::slice::from_raw_parts_mut(at, bytes.len() - from) };
        let (part, tail_here) = checked.open_in_place(secret).ok()?;
        let tag = parts.finish(part, &subject.nonce, &tail_here).ok()?;
        Some(*tail_here == *tail && *copied == *tail && tag == expected)
    };
    let mut place = Room::for_results(LONGEST);
    for length in cuts(sealed.len()) {
        cases.at("partial", length, side);
        let opened = opens(room.lend(&sealed[..length], side), &mut place);
        cases.check(opened == (length == sealed.len()).then_some(true));
    }
    let mut out = Writer::default();
    parts.save(&part, &mut out).expect("its own part");
    for length in cuts(out.as_bytes().len()) {
        cases.at("saved part", length, side);
        let bytes = room.lend(&out.as_bytes()[..length], side);
        let loaded = parts.load(&mut Reader::new(bytes));
        cases.check(length < out.as_bytes().len() || loaded.is_ok());
    }
}
