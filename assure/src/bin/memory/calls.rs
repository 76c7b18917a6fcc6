//! Tags, checks, streams, batches and parts, with all inputs and outputs in guarded buffers.

use tagmac::isa::Level;
use tagmac::{Bits, Mismatch, Tag};
use tagmac_any::{Algorithm, AnyMac};

use assure::Random;

use crate::child::Cases;
use crate::rooms::{Room, SIDES, Side};

/// Length of the longest message in bytes.
pub const LONGEST: usize = 4200;
/// Number of messages in a batch, enough for every kernel of batches.
const BATCH: usize = 35;

/// A MAC under a key, with its reference: the portable level on plain memory.
pub struct Subject {
    pub algorithm: Algorithm,
    pub level: Level,
    pub key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub message: Vec<u8>,
    pub mac: AnyMac,
    pub portable: AnyMac,
    /// The lengths to try.
    pub lengths: Vec<usize>,
}

impl Subject {
    pub fn new(algorithm: Algorithm, level: Level, all: bool) -> Subject {
        let seed = algorithm
            .name()
            .bytes()
            .fold(1, |seed: u64, byte| seed.wrapping_mul(31) ^ u64::from(byte));
        let mut random = Random::new(seed);
        let key = random.bytes(algorithm.new_key_bytes());
        let nonce = random.bytes(*algorithm.nonce_bytes().end());
        let make = |level| {
            AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level)
                .expect("a key of the right length")
        };
        let (mac, portable) = (make(level), make(Level::all().next().expect("a level")));
        let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX).min(LONGEST as u64) as usize;
        let near = if all { 1024 } else { 272 };
        let far = (near + 1..=limit).step_by(if all { 97 } else { 211 });
        let lengths = (0..=near.min(limit)).chain(far).collect();
        let message = random.bytes(LONGEST + BATCH);
        Subject { algorithm, level, key, nonce, message, mac, portable, lengths }
    }

    pub fn portable_level(&self) -> Level {
        Level::all().next().expect("a level")
    }

    /// Returns the tag of the first `length` bytes of the message.
    pub fn expected(&self, length: usize) -> Tag {
        self.portable.tag(&self.nonce, &self.message[..length]).expect("short")
    }
}

/// Buffers for all arguments of a call.
pub struct Rooms {
    pub first: Room,
    pub second: Room,
    pub rest: Room,
    pub nonce: Room,
    batch: [(Room, Room); BATCH],
    tags: Room,
    verdicts: Room,
}

impl Rooms {
    pub fn new() -> Rooms {
        let [first, second, rest] = std::array::from_fn(|_| Room::new(LONGEST));
        Rooms {
            first,
            second,
            rest,
            nonce: Room::new(64),
            batch: std::array::from_fn(|_| (Room::new(LONGEST), Room::new(64))),
            tags: Room::for_results(BATCH * size_of::<Tag>()),
            verdicts: Room::for_results(BATCH * size_of::<Result<(), Mismatch>>()),
        }
    }
}

/// Tries all lengths on all sides.
pub fn walk(cases: &Cases, subject: &Subject) {
    let mut rooms = Rooms::new();
    for &length in &subject.lengths {
        let expected = subject.expected(length);
        for &side in SIDES {
            one_shot(cases, subject, &mut rooms, length, side, &expected);
            stream(cases, subject, &mut rooms, length, side, &expected);
            let mixed = [length, length.saturating_sub(1), length / 2, 0, length.min(16)];
            for lengths in [&mixed[..], &[length]] {
                batch(cases, subject, &mut rooms, lengths, side);
            }
            parts(cases, subject, &mut rooms, length, side, &expected);
        }
    }
}

fn one_shot(
    cases: &Cases,
    subject: &Subject,
    rooms: &mut Rooms,
    length: usize,
    side: Side,
    expected: &Tag,
) {
    let mac = &subject.mac;
    let message = rooms.first.lend(&subject.message[..length], side);
    let nonce = rooms.nonce.lend(&subject.nonce, side);
    cases.at("tag", length, side);
    cases.check(mac.tag(nonce, message).is_ok_and(|tag| tag == *expected));
    cases.at("verify", length, side);
    cases.check(mac.verify(nonce, message, expected).is_ok());
    let mut wrong = expected.as_bytes().to_vec();
    wrong[length % expected.as_bytes().len()] ^= 1;
    let wrong = Tag::new(&wrong, expected.bits()).expect("a tag's length");
    cases.check(mac.verify(nonce, message, &wrong).is_err());
    if length > 0 && subject.algorithm.capabilities().bits {
        cases.at("tag of a string of bits", length, side);
        let bits = 8 * length - 1 - length % 7;
        let string = |bytes| Bits::new(bytes, bits).expect("as many bits");
        let plain = subject.portable.tag(&subject.nonce, string(&subject.message[..length]));
        cases.check(mac.tag(nonce, string(message)) == plain);
    }
}

/// Returns a cut that depends on the length.
fn cut(length: usize) -> usize {
    length * 7 % 13 * length / 12
}

fn stream(
    cases: &Cases,
    subject: &Subject,
    rooms: &mut Rooms,
    length: usize,
    side: Side,
    expected: &Tag,
) {
    cases.at("stream", length, side);
    let (first, second) = subject.message[..length].split_at(cut(length));
    let mut stream = subject.mac.stream(rooms.nonce.lend(&subject.nonce, side)).expect("a nonce");
    stream.update(rooms.first.lend(first, side));
    let mut fork = stream.fork();
    stream.update(rooms.second.lend(second, side));
    fork.update(rooms.rest.lend(second, side));
    cases.check(stream.tag().is_ok_and(|tag| tag == *expected));
    cases.check(fork.verify(expected).is_ok());
}

/// A batch of messages that have these lengths in rotation.
fn batch(cases: &Cases, subject: &Subject, rooms: &mut Rooms, lengths: &[usize], side: Side) {
    let length = lengths[0];
    cases.at("batch", length, side);
    let message = |i: usize| &subject.message[i..i + lengths[i % lengths.len()]];
    let mut messages: [&[u8]; BATCH] = [&[]; BATCH];
    let mut nonces = messages;
    for (i, (room, nonce)) in rooms.batch.iter_mut().enumerate() {
        messages[i] = room.lend(message(i), side);
        nonces[i] = nonce.lend(&subject.nonce, side);
    }
    let zeros = [0; BATCH * size_of::<Tag>()];
    let tags = rooms.tags.place(&zeros, side).cast::<Tag>();
    assert!(tags.is_aligned());
    for i in 0..BATCH {
        // SAFETY: the buffer has space for `BATCH` tags.
        unsafe { tags.add(i).write(Tag::default()) };
    }
    // SAFETY: the loop has written `BATCH` tags, and no other reference to them exists.
    let tags = unsafe { std::slice::from_raw_parts_mut(tags, BATCH) };
    let made = subject.mac.tag_many(&nonces, &messages, tags);
    let right = (0..BATCH)
        .all(|i| subject.portable.tag(&subject.nonce, message(i)).is_ok_and(|tag| tag == tags[i]));
    cases.check(made.is_ok() && right);
    cases.at("checks of a batch", length, side);
    let verdict: Result<(), Mismatch> = Err(Mismatch);
    let zeros = [0; BATCH * size_of::<Result<(), Mismatch>>()];
    let verdicts = rooms.verdicts.place(&zeros, side).cast::<Result<(), Mismatch>>();
    assert!(verdicts.is_aligned());
    for i in 0..BATCH {
        // SAFETY: the buffer has space for `BATCH` verdicts.
        unsafe { verdicts.add(i).write(verdict) };
    }
    // SAFETY: the loop has written `BATCH` verdicts, and no other reference to them exists.
    let verdicts = unsafe { std::slice::from_raw_parts_mut(verdicts, BATCH) };
    cases.check(subject.mac.verify_many(&nonces, &messages, tags, verdicts).is_ok());
}

fn parts(
    cases: &Cases,
    subject: &Subject,
    rooms: &mut Rooms,
    length: usize,
    side: Side,
    expected: &Tag,
) {
    let Some(parts) = subject.mac.parts() else { return };
    cases.at("parts", length, side);
    let block = parts.block();
    let whole = length.saturating_sub(1) / block * block;
    let middle = cut(length).min(whole) / block * block;
    let (first, second) = subject.message[..whole].split_at(middle);
    let mut left = parts.new_part(0, rooms.first.lend(first, side)).expect("whole blocks");
    let second = rooms.second.lend(second, side);
    let right = parts.new_part(middle as u64, second).expect("whole blocks");
    cases.check(parts.check(&right, second).is_ok());
    let rest = rooms.rest.lend(&subject.message[whole..length], side);
    let nonce = rooms.nonce.lend(&subject.nonce, side);
    let joined = if length.is_multiple_of(2) {
        parts.join(left, &right).expect("neighbours")
    } else {
        parts.extend(&mut left, second).expect("whole blocks");
        left
    };
    cases.check(parts.finish(joined, nonce, rest).is_ok_and(|tag| tag == *expected));
}
