//! Sequences of calls of the C interface, checked against a model of the headers' contract. Each
//! call must have the correct status, and each 0 the correct tag. Only wrong tags give
//! `TAGMAC_MISMATCH`, and other statuses come with an error line. Objects may be in any state,
//! sizes may be wrong, and pointers may be null.

mod functions;
mod sessions;

use std::ffi::{CStr, c_int};
use std::ops::RangeInclusive;
use std::ptr::{null, null_mut};

// Links the calls, as a C program does.
use capi_as_rust as _;
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac, AnyPart, AnyStream, Session};

use crate::input::{Input, pattern};
use crate::plant::Plant;
use functions::*;

/// Algorithms with keys that are made in microseconds.
const NAMES: [&CStr; 7] = [
    c"PMAC-AES128",
    c"POLY1305-AES",
    c"ELIMAC-AES128",
    c"UMAC-32",
    c"HMAC-SHA256",
    c"LIGHTMAC-AES128-S8",
    c"NONE",
];

/// A stream's MAC, the current message, the last nonce, and whether a tag was made.
struct Stream {
    mac: AnyMac,
    message: Option<AnyStream>,
    nonce: Vec<u8>,
    tagged: bool,
}

/// The objects, and their expected states. Boxed, because objects must not move.
#[derive(Default)]
struct State {
    keys: Box<[Words; 2]>,
    streams: Box<[Words; 2]>,
    parts: Box<[Words; 2]>,
    sessions: Box<[Words; 2]>,
    key: [Option<AnyMac>; 2],
    stream: [Option<Stream>; 2],
    part: [Option<(AnyPart, AnyMac)>; 2],
    session: [Option<(Session, AnyMac)>; 2],
    saved: Vec<u8>,
}

pub fn run(data: &[u8]) {
    let input = &mut Input::new(data);
    let mut state = State::default();
    for _ in 0..32 {
        if input.is_empty() {
            break;
        }
        state.call(input);
    }
    for i in 0..2 {
        // SAFETY: objects made by the calls, or zeros.
        unsafe {
            assert_eq!(tagmac_key_free(&mut state.keys[i]), 0);
            assert_eq!(tagmac_stream_free(&mut state.streams[i]), 0);
            assert_eq!(tagmac_part_free(&mut state.parts[i]), 0);
            assert_eq!(tagmac_session_free(&mut state.sessions[i]), 0);
        }
    }
    let zeros = [[0; 4]; 2];
    assert!(
        [*state.keys, *state.streams, *state.parts, *state.sessions]
            .iter()
            .flatten()
            .zip(zeros.iter().cycle())
            .all(|(left, right)| left == right),
        "expected zeros"
    );
}

/// `TAGMAC_MISMATCH`.
const MISMATCH: c_int = -1;
/// `TAGMAC_INPUT` to `TAGMAC_MISUSE`.
const REFUSED: RangeInclusive<c_int> = -4..=-2;

/// Checks a call's status; `can` if it must succeed.
fn answered(call: &str, status: c_int, can: bool) {
    let right = if can { status == 0 } else { REFUSED.contains(&status) };
    assert!(right, "{call}: found {status}, {}", why());
    if !can {
        let why = why();
        assert!(!why.is_empty() && !why.contains("internal error"), "{call}: {why}");
    }
}

fn why() -> String {
    let mut line = [0; 4096];
    // SAFETY: a buffer of that size, which the call ends with NUL.
    let line = unsafe { CStr::from_ptr(tagmac_error_string(line.as_mut_ptr(), line.len())) };
    line.to_str().expect("text").into()
}

/// Checks the status of a verification against the verdict; `None` if verification is impossible.
fn verified(call: &str, status: c_int, verdict: Option<bool>) {
    match verdict {
        Some(false) => assert_eq!(status, MISMATCH, "{call}: {}", why()),
        _ => answered(call, status, verdict.is_some()),
    }
}

/// Returns a nonce for a MAC, sometimes with a wrong length.
fn nonce(mac: Option<&AnyMac>, input: &mut Input<'_>) -> Vec<u8> {
    let choice = input.byte();
    let right = mac.map_or(0, |mac| *mac.algorithm().nonce_bytes().end());
    let length = if choice & 15 == 0 { usize::from(choice >> 4) } else { right };
    vec![choice >> 6; length]
}

impl State {
    fn call(&mut self, input: &mut Input<'_>) {
        let operation = input.byte();
        let (i, k) = (usize::from(operation >> 7), usize::from(operation >> 6 & 1));
        let wrong_size = usize::from(operation >> 5 & 1);
        let mac = self.key[k].clone();
        let mac = mac.as_ref();
        let tag_size = mac.map_or(0, |mac| mac.tag_bits().div_ceil(8)) + wrong_size;
        let mut tag = [0; 80];
        match operation & 31 {
            0 | 1 => self.key_init(k, input),
            2 if input.byte() & 3 == 0 => {
                // SAFETY: an object made by the calls.
                answered("key_free", unsafe { tagmac_key_free(&mut self.keys[k]) }, true);
                self.key[k] = None;
            }
            3 => {
                // SAFETY: an object made by the calls.
                let (size, name) = unsafe {
                    (tagmac_key_tag_size(&self.keys[k]), tagmac_key_algorithm(&self.keys[k]))
                };
                assert_eq!(size, tag_size - wrong_size);
                assert_eq!(name.is_null(), mac.is_none());
            }
            4 => {
                let nonce = nonce(mac, input);
                let message = pattern(input.byte(), input.short() % 5000);
                let expected = mac.map(|mac| mac.tag(&nonce, &*message));
                let can = matches!(expected, Some(Ok(_))) && wrong_size == 0;
                // SAFETY: memory of those sizes.
                let status = unsafe {
                    let (n, m) = (&nonce, &message);
                    let key = &self.keys[k];
                    let at = tag.as_mut_ptr();
                    tagmac_key_tag(key, at, tag_size, n.as_ptr(), n.len(), m.as_ptr(), m.len())
                };
                answered("key_tag", status, can);
                if let (Some(Ok(expected)), true) = (expected, can) {
                    assert_eq!(&tag[..tag_size], expected.as_bytes());
                }
                self.verify(k, &nonce, &message, input);
            }
            5 | 6 => {
                let nonce = nonce(mac, input);
                let message = mac.and_then(|mac| mac.stream(&nonce).ok());
                let can = message.is_some() && self.stream[i].is_none();
                // SAFETY: objects made by the calls, memory of that size.
                let status = unsafe {
                    let (stream, key) = (&mut self.streams[i], &self.keys[k]);
                    tagmac_stream_init(stream, key, nonce.as_ptr(), nonce.len())
                };
                answered("stream_init", status, can);
                if let (Some(mac), true) = (mac, can) {
                    let mac = mac.clone();
                    self.stream[i] = Some(Stream { mac, message, nonce, tagged: false });
                }
            }
            7 | 8 => {
                let data = pattern(operation, input.short() % 3000);
                let null_data = wrong_size == 1;
                let planted = Plant::UpdateAfterFinal.is_set()
                    && self.stream[i].as_ref().is_some_and(|stream| stream.tagged);
                let at = if null_data { null() } else { data.as_ptr() };
                // SAFETY: an object made by the calls, memory of that size or a null pointer.
                let status = unsafe { tagmac_stream_update(&mut self.streams[i], at, data.len()) };
                let message = self.stream[i].as_mut().and_then(|stream| stream.message.as_mut());
                let can = message.is_some() && (!null_data || data.is_empty());
                answered("stream_update", if planted { 0 } else { status }, can);
                if let (Some(message), true) = (message, can) {
                    message.update(&data);
                }
            }
            9 | 10 => {
                let stream = self.stream[i].as_mut();
                let size = stream.as_ref().map_or(0, |stream| stream.mac.tag_bits().div_ceil(8));
                let size = size + wrong_size;
                // SAFETY: an object made by the calls, a buffer of that size.
                let status =
                    unsafe { tagmac_stream_final(&mut self.streams[i], tag.as_mut_ptr(), size) };
                let right = stream.filter(|_| wrong_size == 0);
                let made = right.and_then(|stream| {
                    let message = stream.message.take()?;
                    stream.tagged = true;
                    message.tag().ok()
                });
                answered("stream_final", status, made.is_some());
                if let Some(made) = made {
                    assert_eq!(&tag[..size], made.as_bytes());
                }
            }
            11 => self.stream_verify(i, wrong_size, input),
            12 | 13 => {
                let stream = self.stream[i].as_mut();
                let nonce = nonce(stream.as_ref().map(|stream| &stream.mac), input);
                // SAFETY: an object made by the calls, memory of that size.
                let status = unsafe {
                    tagmac_stream_next(&mut self.streams[i], nonce.as_ptr(), nonce.len())
                };
                let next = stream.and_then(|stream| {
                    let message = stream.mac.stream(&nonce).ok()?;
                    let same = nonce == stream.nonce || nonce.len() != stream.nonce.len();
                    let used = stream.tagged && !nonce.is_empty() && same;
                    (!used).then_some((stream, message))
                });
                answered("stream_next", status, next.is_some());
                if let Some((stream, message)) = next {
                    let tagged = stream.tagged && nonce == stream.nonce;
                    (stream.message, stream.nonce, stream.tagged) = (Some(message), nonce, tagged);
                }
            }
            14 if input.byte() & 3 == 0 => {
                // SAFETY: an object made by the calls.
                answered("stream_free", unsafe { tagmac_stream_free(&mut self.streams[i]) }, true);
                self.stream[i] = None;
            }
            15 | 16 => {
                let block = mac.and_then(AnyMac::parts).map_or(16, |parts| parts.block());
                let unaligned = usize::from(wrong_size == 1);
                let start = (input.up_to(4) * block + unaligned) as u64;
                let start = if input.byte() == 255 { u64::MAX - 15 } else { start };
                let blocks = pattern(operation, input.up_to(4) * block);
                let part = mac.and_then(|mac| {
                    Some((mac.parts()?.new_part(start, &blocks).ok()?, mac.clone()))
                });
                let can = part.is_some() && self.part[i].is_none();
                // SAFETY: objects made by the calls, memory of that size.
                let status = unsafe {
                    let (part, key) = (&mut self.parts[i], &self.keys[k]);
                    tagmac_part_init(part, key, start, blocks.as_ptr(), blocks.len())
                };
                answered("part_init", status, can);
                if can {
                    self.part[i] = part;
                }
            }
            17 => {
                let [left, right] = &mut *self.parts;
                // SAFETY: objects made by the calls.
                let status = unsafe { tagmac_part_join(left, right, &self.keys[k]) };
                let own = |part: &Option<(AnyPart, AnyMac)>| {
                    part.as_ref()
                        .is_some_and(|(part, _)| Some(part.key_id()) == mac.map(AnyMac::key_id))
                };
                let [one, two] = &mut self.part;
                let can = own(one)
                    && own(two)
                    && one.as_ref().map(|(one, _)| one.end())
                        == two.as_ref().map(|(two, _)| two.start());
                answered("part_join", status, can);
                if let (Some((left, of)), Some((right, _)), true) = (one.take_if(|_| can), two, can)
                {
                    let parts = of.parts().expect("it has parts");
                    *one = Some((parts.join(left, right).expect("neighbours"), of.clone()));
                }
            }
            18 | 19 => {
                let nonce = nonce(mac, input);
                let rest = pattern(operation, input.up_to(100));
                // SAFETY: objects made by the calls, memory of those sizes.
                let status = unsafe {
                    let (n, r) = (&nonce, &rest);
                    let (part, key) = (&mut self.parts[i], &self.keys[k]);
                    let at = tag.as_mut_ptr();
                    tagmac_part_finish(
                        part,
                        key,
                        at,
                        tag_size,
                        n.as_ptr(),
                        n.len(),
                        r.as_ptr(),
                        r.len(),
                    )
                };
                let right = self.part[i].take_if(|(part, _)| {
                    let Some(mac) = mac.filter(|mac| mac.key_id() == part.key_id()) else {
                        return false;
                    };
                    let distinct = mac.parts().expect("it has parts").last_block_distinct();
                    let open = distinct && part.end() > 0 && rest.is_empty();
                    let nonce = mac.algorithm().check_nonce(nonce.len()).is_ok();
                    part.start() == 0 && !open && nonce && wrong_size == 0
                });
                let made = right.zip(mac).map(|((part, _), mac)| {
                    mac.parts().expect("it has parts").finish(part, &nonce, &rest)
                });
                answered("part_finish", status, matches!(made, Some(Ok(_))));
                if let Some(Ok(made)) = made {
                    assert_eq!(&tag[..tag_size], made.as_bytes());
                }
            }
            20 => {
                let (mut start, mut end) = (7, 7);
                // SAFETY: an object made by the calls, space for the numbers.
                let status = unsafe { tagmac_part_range(&self.parts[i], &mut start, &mut end) };
                answered("part_range", status, self.part[i].is_some());
                if let Some((part, _)) = &self.part[i] {
                    assert_eq!((start, end), (part.start(), part.end()));
                }
            }
            21 if input.byte() & 3 == 0 => {
                // SAFETY: an object made by the calls.
                answered("part_free", unsafe { tagmac_part_free(&mut self.parts[i]) }, true);
                self.part[i] = None;
            }
            22 | 23 => self.session_init(i, k, input),
            24 | 25 => self.session_tag(i, wrong_size, input),
            26 => self.session_reserve(i, input),
            27 => self.session_save(i, wrong_size),
            28 => self.session_counts(i),
            29 if input.byte() & 3 == 0 => {
                // SAFETY: an object made by the calls.
                answered(
                    "session_free",
                    unsafe { tagmac_session_free(&mut self.sessions[i]) },
                    true,
                );
                self.session[i] = None;
            }
            30 => {
                // Copies are invalid objects, except copies of zeros.
                let mut copies = [self.keys[k], self.streams[i], self.parts[i], self.sessions[i]];
                let mut number = 0;
                // SAFETY: memory of the objects' size and alignment.
                let refused = unsafe {
                    [
                        tagmac_key_free(&mut copies[0]),
                        tagmac_stream_free(&mut copies[1]),
                        tagmac_part_range(&copies[2], &mut number, null_mut()),
                        tagmac_session_reserve(&mut copies[3], 1),
                    ]
                };
                answered("key_free of a copy", refused[0], copies[0] == [0; 4]);
                answered("stream_free of a copy", refused[1], copies[1] == [0; 4]);
                answered("part_range of a copy", refused[2], false);
                answered("session_reserve of a copy", refused[3], false);
            }
            _ => {}
        }
    }

    fn key_init(&mut self, k: usize, input: &mut Input<'_>) {
        let name = NAMES[input.up_to(NAMES.len() - 1)];
        let algorithm = Algorithm::from_name(name.to_str().expect("text")).ok();
        let choice = input.byte();
        let right = algorithm.map_or(16, Algorithm::new_key_bytes);
        let key =
            pattern(choice & 1, if choice & 14 == 14 { usize::from(choice >> 4) } else { right });
        let bits = if choice & 240 == 0 { 8 * input.up_to(40) } else { 0 };
        let mac = algorithm.and_then(|algorithm| {
            let bits = if bits == 0 { algorithm.default_tag_bits() } else { bits };
            AnyMac::with_options(algorithm, &key, bits, Level::best()).ok()
        });
        let can = mac.is_some() && self.key[k].is_none();
        // SAFETY: an object made by the calls, memory of that size.
        let status = unsafe {
            tagmac_key_init(&mut self.keys[k], name.as_ptr(), key.as_ptr(), key.len(), bits)
        };
        answered("key_init", status, can);
        if can {
            self.key[k] = mac;
        }
    }

    /// Verifies the correct tag, and one with a flipped bit.
    fn verify(&self, k: usize, nonce: &[u8], message: &[u8], input: &mut Input<'_>) {
        let Some(Ok(tag)) = self.key[k].as_ref().map(|mac| mac.tag(nonce, message)) else { return };
        let mut bytes = tag.as_bytes().to_vec();
        let wrong = input.byte() & 1 == 1;
        let last = bytes.len() - 1;
        bytes[last] ^= u8::from(wrong) << 7;
        // SAFETY: an object made by the calls, memory of those sizes.
        let status = unsafe {
            let (n, m) = (nonce, message);
            let (key, at) = (&self.keys[k], bytes.as_ptr());
            tagmac_key_verify(key, at, bytes.len(), n.as_ptr(), n.len(), m.as_ptr(), m.len())
        };
        verified("key_verify", status, Some(!wrong));
    }

    fn stream_verify(&mut self, i: usize, wrong_size: usize, input: &mut Input<'_>) {
        let stream = self.stream[i].as_mut();
        let message = stream.as_ref().and_then(|stream| stream.message.as_ref());
        let begun = message.is_some() && wrong_size == 0;
        // No tag is correct for a message that is too long.
        let tag: Option<Tag> = message.and_then(|message| message.fork().tag().ok());
        let size = stream.as_ref().map_or(8, |stream| stream.mac.tag_bits().div_ceil(8));
        let mut bytes = tag.as_ref().map_or(vec![0; size], |tag| tag.as_bytes().to_vec());
        let wrong = input.byte() & 1 == 1;
        bytes[0] ^= u8::from(wrong) << 7;
        bytes.resize(size + wrong_size, 0);
        // SAFETY: an object made by the calls, memory of that size.
        let status =
            unsafe { tagmac_stream_verify(&mut self.streams[i], bytes.as_ptr(), bytes.len()) };
        verified("stream_verify", status, begun.then_some(tag.is_some() && !wrong));
        if let Some(stream) = stream.filter(|_| wrong_size == 0) {
            stream.message = None;
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for name in 0..7 {
        // A stream, two parts, a session.
        let key = [0, name, 16];
        seeds.push(
            [&key[..], &[4, 1, 5, 9, 0, 0, 5, 1, 7, 40, 0, 9, 7, 1, 0, 12, 65, 9, 11, 0]].concat(),
        );
        let parts = [15, 0, 0, 2, 143, 2, 0, 1, 17, 20, 18, 1, 9, 30, 21, 0];
        seeds.push([&key[..], &parts].concat());
        let session =
            [22, 0, 1, 26, 9, 27, 24, 1, 60, 0, 28, 27, 29, 0, 22, 16, 26, 3, 27, 24, 1, 9, 0];
        seeds.push([&key[..], &session].concat());
    }
    seeds
}
