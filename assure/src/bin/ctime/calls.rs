//! The watched calls: all that a MAC does with a key, a sum or a tag.

use std::hint::black_box;
use std::ops::Range;

use tagmac::batch::RawKeys;
use tagmac::cipher::Aes128;
use tagmac::edit::{Edit, Tree};
use tagmac::isa::Level;
use tagmac::save::{Reader, Sealer, Writer};
use tagmac::{Bits, Cmac, EliMac, LightMacAes128, Mac, Mismatch, PmacAes128, PmacAes256};
use tagmac::{Poly1305, Poly1305Aes, Tag, Umac32, Umac64, Umac128, UmacNonce};
use tagmac_any::{Algorithm, AnyMac, Session};

use crate::leaks::Leak;
use crate::marked;

/// A call, and the length that it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub what: &'static str,
    pub length: usize,
    /// Number of verdicts that it returns: whether a tag is correct is not secret.
    pub verdicts: usize,
}

/// A watcher of calls.
pub trait Witness {
    /// Marks bytes, and everything computed from them, as secret.
    fn secret(&mut self, bytes: &mut [u8]);
    /// Marks a value as public.
    fn public<T>(&mut self, value: &mut T);
    /// Marks a tag that was made from secrets as public.
    fn made(&mut self, tag: &mut Tag);
    /// Makes a call.
    fn watch<R>(&mut self, call: Call, f: impl FnOnce() -> R) -> R;
}

/// A watched part of the library.
#[derive(Clone, Copy)]
pub enum Subject {
    /// A MAC of the registry.
    Registered(Algorithm),
    /// One-time Poly1305.
    OneTime,
    /// Many short messages, each under its own key: PMAC with keys of 16 or 32 bytes, and LightMAC.
    RawKeys(Raw),
    /// LightMAC with a counter that does not end on a byte.
    Counter,
    /// A tree of PMAC's sums, and its edits.
    Tree,
    /// UMAC-32 of messages with marked words.
    Marked,
    /// UMAC-128 of a message that is long enough for POLY-128.
    Long,
    /// A planted leak.
    Leak(Leak),
}

#[derive(Clone, Copy)]
pub enum Raw {
    Pmac128,
    Pmac256,
    LightMac128,
    Cmac128,
    EliMac,
    Poly1305,
    Umac64,
    Umac128,
}

impl Raw {
    const ALL: [Raw; 8] = [
        Raw::Pmac128,
        Raw::Pmac256,
        Raw::LightMac128,
        Raw::Cmac128,
        Raw::EliMac,
        Raw::Poly1305,
        Raw::Umac64,
        Raw::Umac128,
    ];
}

/// A key's number, and the other inputs that may differ between keys.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub level: Level,
    /// The lengths of messages.
    pub lengths: &'a [usize],
    /// Public bytes of the longest message.
    pub message: &'a [u8],
    /// The key's number.
    pub number: usize,
}

/// Number of blocks before a distant part, as log2.
const FAR: u32 = 30;
/// Lengths of messages in batches.
const BATCH_LENGTHS: [usize; 12] = [0, 1, 15, 16, 17, 32, 48, 64, 100, 40, 129, 300];
/// Numbers of messages in batches, and which of these lengths the first 64 have, in rotation.
const BATCHES: [(usize, Range<usize>); 7] =
    [(1, 0..12), (4, 0..12), (6, 0..12), (33, 0..12), (70, 0..12), (47, 0..10), (46, 8..9)];
/// The length of the others, for which EliMAC makes a cache.
const LONG: usize = 3000;
/// Number of messages under raw keys.
const RAW_KEYS: usize = 37;

impl Subject {
    /// Returns the whole library.
    pub fn all() -> Vec<Subject> {
        let registered = Algorithm::all().map(Subject::Registered);
        let raw = Raw::ALL.map(Subject::RawKeys);
        let others =
            [Subject::OneTime, Subject::Counter, Subject::Tree, Subject::Marked, Subject::Long];
        registered.chain(raw).chain(others).collect()
    }

    pub fn name(self) -> &'static str {
        match self {
            Subject::Registered(algorithm) => algorithm.name(),
            Subject::OneTime => "POLY1305, one-time",
            Subject::RawKeys(Raw::Pmac128) => "PMAC-AES128 under raw keys",
            Subject::RawKeys(Raw::Pmac256) => "PMAC-AES256 under raw keys",
            Subject::RawKeys(Raw::LightMac128) => "LIGHTMAC-AES128 under raw keys",
            Subject::RawKeys(Raw::Cmac128) => "CMAC-AES128 under raw keys",
            Subject::RawKeys(Raw::EliMac) => "ELIMAC-AES128 under raw keys",
            Subject::RawKeys(Raw::Poly1305) => "POLY1305-AES under raw keys",
            Subject::RawKeys(Raw::Umac64) => "UMAC-64 under raw keys",
            Subject::RawKeys(Raw::Umac128) => "UMAC-128 under raw keys",
            Subject::Counter => "LIGHTMAC-AES128, a counter of 13 bits",
            Subject::Tree => "PMAC-AES128, a tree and edits",
            Subject::Marked => "UMAC-32, marked words",
            Subject::Long => "UMAC-128, a message over 16 MiB",
            Subject::Leak(leak) => leak.name(),
        }
    }

    /// Returns the length of its key in bytes.
    pub fn key_bytes(self) -> usize {
        match self {
            Subject::Registered(algorithm) => algorithm.new_key_bytes(),
            Subject::OneTime | Subject::Counter => 32,
            Subject::RawKeys(_) => 64 * RAW_KEYS,
            Subject::Tree | Subject::Marked | Subject::Long | Subject::Leak(_) => 16,
        }
    }

    /// Makes every call under a key.
    pub fn calls<W: Witness>(self, w: &mut W, key: &mut [u8], trial: Trial<'_>) {
        let messages =
            if let Subject::Marked = self { vec![under(key, trial.number)] } else { vec![] };
        w.secret(key);
        match self {
            Subject::Registered(algorithm) => registered(w, algorithm, key, trial),
            Subject::OneTime => one_time(w, key, trial),
            Subject::RawKeys(raw) => raw_keys(w, raw, key, trial),
            Subject::Counter => counter(w, key, trial),
            Subject::Tree => tree(w, key, trial),
            Subject::Marked => marked(w, key, &messages[0], trial),
            Subject::Long => long(w, key, trial),
            Subject::Leak(leak) => {
                let key: &[u8; 16] = (&*key).try_into().expect("16 bytes");
                for &length in trial.lengths {
                    let message = &trial.message[..length];
                    let tag = w.watch(call("tag", length), || leak.tag(trial.level, key, message));
                    w.made(&mut Tag::try_from(&tag[..]).expect("16 bytes"));
                }
            }
        }
    }
}

fn call(what: &'static str, length: usize) -> Call {
    Call { what, length, verdicts: 0 }
}

fn verdict(what: &'static str, length: usize) -> Call {
    Call { what, length, verdicts: 1 }
}

fn registered<W: Witness>(w: &mut W, algorithm: Algorithm, key: &[u8], trial: Trial<'_>) {
    let bits = algorithm.default_tag_bits();
    let new = |bits| AnyMac::with_options(algorithm, key, bits, trial.level);
    let mut mac =
        w.watch(call("key set-up", key.len()), || new(bits)).expect("a key of the right length");
    // The name, the key's public ID, and the place of the rest.
    w.public(&mut mac);
    let mut short = new(*algorithm.tag_bits().start()).expect("a key of the right length");
    w.public(&mut short);
    let nonce = &NONCE[..*algorithm.nonce_bytes().end()];
    let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX);
    let lengths = trial.lengths.iter().copied().filter(|length| *length as u64 <= limit);
    for length in lengths {
        let message = &trial.message[..length];
        let mut tag =
            w.watch(call("tag", length), || mac.tag(nonce, message)).expect("within the limit");
        w.made(&mut tag);
        verify(w, &mac, nonce, message, tag, trial.number);
        stream(w, &mac, nonce, message, &mut tag);
        if mac.parts().is_some() {
            parts(w, &mac, nonce, message, &mut tag);
        }
        let mut shortened = w.watch(call("shortest tag", length), || short.tag(nonce, message));
        w.public(&mut shortened);
        if algorithm.capabilities().bits && length > 0 {
            let message = Bits::new(message, 8 * length - 3).expect("as many bytes as it needs");
            let tag = w.watch(call("tag of bits", length), || mac.tag(nonce, message));
            w.made(&mut tag.expect("within the limit"));
        }
    }
    let limit = limit.min(LONG as u64) as usize;
    batches(w, &mac, nonce, trial.message, limit);
    session(w, &mac, nonce, trial.message);
    drop(w.watch(call("sealing key", key.len()), || Sealer::new(algorithm.name(), key)));
    w.watch(call("drop", 0), || drop(mac));
}

/// Nonces are public.
const NONCE: [u8; 16] = [0x4e; 16];

fn verify<W: Witness>(
    w: &mut W,
    mac: &AnyMac,
    nonce: &[u8],
    message: &[u8],
    tag: Tag,
    number: usize,
) {
    let length = message.len();
    let mut right = w.watch(verdict("verify", length), || mac.verify(nonce, message, &tag));
    w.public(&mut right);
    right.expect("its tag");
    // Wrong in the first byte under one key and in the last byte under the next: the position is
    // not secret, and must not change the time.
    let mut wrong = [0; Tag::MAX_BYTES];
    let wrong = &mut wrong[..tag.as_bytes().len()];
    wrong.copy_from_slice(tag.as_bytes());
    let place = [0, wrong.len() - 1][number % 2];
    wrong[place] ^= 0x80;
    let wrong = Tag::try_from(&*wrong).expect("whole bytes");
    let mut refused =
        w.watch(verdict("verify, a wrong tag", length), || mac.verify(nonce, message, &wrong));
    w.public(&mut refused);
    refused.expect_err("a wrong tag");
}

fn stream<W: Witness>(w: &mut W, mac: &AnyMac, nonce: &[u8], message: &[u8], tag: &mut Tag) {
    let length = message.len();
    let (first, rest) = message.split_at(length / 3);
    let (second, third) = rest.split_at(rest.len() / 2);
    let mut made = w.watch(call("stream", length), || {
        let mut stream = mac.stream(nonce)?;
        stream.update(first);
        stream.update(second);
        stream.update(third);
        stream.tag()
    });
    w.made(made.as_mut().expect("within the limit"));
    assert!(made.is_ok_and(|made| made == *tag), "{}: a stream's tag", mac.algorithm());
    let mut checked = w.watch(verdict("stream, forked and verified", length), || {
        let mut stream = mac.stream(nonce).map_err(|_| Mismatch)?;
        stream.update(first);
        let mut fork = stream.fork();
        fork.update(rest);
        fork.verify(tag)
    });
    w.public(&mut checked);
    checked.expect("its tag");
}

fn parts<W: Witness>(w: &mut W, mac: &AnyMac, nonce: &[u8], message: &[u8], tag: &mut Tag) {
    let (length, parts) = (message.len(), mac.parts().expect("asked before"));
    let block = parts.block();
    let held = parts.last_block_distinct() as usize;
    let (blocks, rest) = message.split_at(message.len().saturating_sub(held) / block * block);
    let (left, right) = blocks.split_at(blocks.len() / block / 2 * block);
    let (right, more) = right.split_at(right.len() / block / 2 * block);
    let made = w.watch(call("parts", length), || {
        let mut second = parts.new_part(left.len() as u64, right)?;
        parts.extend(&mut second, more)?;
        parts.join(parts.new_part(0, left)?, &second)
    });
    let part = made.expect("neighbours");
    let mut checked = w.watch(verdict("part checked", length), || parts.check(&part, blocks));
    w.public(&mut checked);
    checked.expect("its blocks");
    let mut out = Writer::default();
    w.watch(call("part saved", length), || parts.save(&part, &mut out))
        .expect("a part of this MAC");
    // A saved part is read from under a seal, which authenticates it, so its validity is not
    // secret.
    let mut saved = out.as_bytes().to_vec();
    saved.iter_mut().for_each(|byte| w.public(byte));
    let loaded = w.watch(call("part loaded", length), || parts.load(&mut Reader::new(&saved)));
    drop(loaded.expect("what was saved"));
    // For a distant part, PMAC's offsets have more terms, and UMAC uses another polynomial.
    let far = (block as u64) << FAR;
    let (left, right) =
        (&blocks[..blocks.len() / block / 2 * block], &blocks[blocks.len() / block / 2 * block..]);
    if mac.max_message_bytes().is_none_or(|limit| far + length as u64 <= limit) {
        let made = w.watch(call("parts, distant", length), || {
            let second = parts.new_part(far + left.len() as u64, right)?;
            parts.join(parts.new_part(far, left)?, &second)
        });
        drop(made.expect("neighbours"));
    }
    let mut made = w.watch(call("parts finished", length), || parts.finish(part, nonce, rest));
    w.made(made.as_mut().expect("the rest of the message"));
    assert!(made.is_ok_and(|made| made == *tag), "{}: a tag of parts", mac.algorithm());
}

fn batches<W: Witness>(w: &mut W, mac: &AnyMac, nonce: &[u8], message: &[u8], limit: usize) {
    for (count, lengths) in BATCHES {
        let lengths = BATCH_LENGTHS[lengths].iter().copied();
        let lengths = lengths.cycle().take(64).chain([LONG; 6]).take(count);
        let messages: Vec<&[u8]> = lengths.map(|length| &message[..length.min(limit)]).collect();
        let nonces = vec![nonce; count];
        let mut tags = vec![Tag::default(); count];
        let made = w.watch(call("batch", count), || mac.tag_many(&nonces, &messages, &mut tags));
        made.expect("within the limit");
        tags.iter_mut().for_each(|tag| w.made(tag));
        let mut verdicts = vec![Ok(()); count];
        // One verdict for each message and one for all.
        let call = Call { what: "batch verified", length: count, verdicts: 2 * count };
        let mut all = w.watch(call, || mac.verify_many(&nonces, &messages, &tags, &mut verdicts));
        w.public(&mut all);
        all.expect("their tags");
    }
}

fn session<W: Witness>(w: &mut W, mac: &AnyMac, nonce: &[u8], message: &[u8]) {
    let budget = mac.budget(None, None).expect("messages are counted alone");
    let mac = mac.clone();
    let mut session = w
        .watch(call("session", 0), || Session::new(mac, nonce, budget))
        .expect("a nonce of the right length");
    // Some neighbours share a pad.
    for length in [0, 16, 17, 64, 65] {
        let made = w.watch(call("session's tag", length), || session.tag(&message[..length]));
        w.made(&mut made.expect("within the budget").1);
    }
}

fn one_time<W: Witness>(w: &mut W, key: &[u8], trial: Trial<'_>) {
    let key: &[u8; 32] = key.try_into().expect("32 bytes");
    for &length in trial.lengths {
        let message = &trial.message[..length];
        let made = w.watch(call("key set-up and tag", length), || {
            Poly1305::with_level(key, trial.level).tag(message)
        });
        let mut tag = made.expect("no limit");
        w.made(&mut tag);
        let mut right = w.watch(verdict("key set-up and verify", length), || {
            Poly1305::with_level(key, trial.level).verify(message, &tag)
        });
        w.public(&mut right);
        right.expect("its tag");
    }
}

fn counter<W: Witness>(w: &mut W, key: &[u8], trial: Trial<'_>) {
    let (k1, k2) = (first_bytes(key), first_bytes(&key[16..]));
    let new = || LightMacAes128::with_level(k1, k2, 13, trial.level);
    let mac = w.watch(call("key set-up", 32), new).expect("a counter of 1 to 64 bits");
    for &length in trial.lengths {
        let message = &trial.message[..length];
        let tag = w.watch(call("tag", length), || mac.tag(message));
        w.made(&mut tag.expect("within the limit"));
        let (first, rest) = message.split_at(length / 3);
        let mut made = w.watch(call("stream", length), || {
            let mut stream = mac.stream();
            stream.update(first).update(rest);
            stream.tag()
        });
        w.made(made.as_mut().expect("within the limit"));
    }
}

fn raw_keys<W: Witness>(w: &mut W, raw: Raw, key: &[u8], trial: Trial<'_>) {
    let pieces = || key.chunks_exact(64);
    let with_nonces = || pieces().map(|piece| (first_bytes(piece), UmacNonce::from(7)));
    // Includes lengths that are too long to be interleaved.
    let lengths = [0usize, 1, 15, 16, 17, 33, 64, 528, 529];
    let message = |i: usize| &trial.message[..lengths[i % lengths.len()]];
    let messages: Vec<&[u8]> = (0..RAW_KEYS).map(message).collect();
    let mut tags = vec![Tag::default(); RAW_KEYS];
    let (tags, call) = (&mut tags[..], call("batch", RAW_KEYS));
    /// The call of a set on all messages.
    macro_rules! made {
        ($set:expr, $keys:expr) => {{
            let (set, keys) = ($set, $keys.collect::<Vec<_>>());
            w.watch(call, || set.tag_many(&keys, &messages, tags))
        }};
    }
    let level = trial.level;
    let made = match raw {
        Raw::Pmac128 => made!(RawKeys::<PmacAes128>::with_level(level), pieces().map(first_bytes)),
        Raw::Pmac256 => made!(RawKeys::<PmacAes256>::with_level(level), pieces().map(first_bytes)),
        Raw::LightMac128 => {
            let set = RawKeys::<LightMacAes128>::with_level(32, level).expect("32 bits");
            made!(set, pieces().map(two_keys))
        }
        Raw::Cmac128 => {
            made!(RawKeys::<Cmac<Aes128>>::with_level(level), pieces().map(first_bytes))
        }
        Raw::EliMac => made!(RawKeys::<EliMac>::with_level(level), pieces().map(two_keys)),
        Raw::Poly1305 => {
            let keys = pieces().map(|piece| (first_bytes(piece), &[7; 16]));
            made!(RawKeys::<Poly1305Aes>::with_level(level), keys)
        }
        Raw::Umac64 => made!(RawKeys::<Umac64>::with_level(level), with_nonces()),
        Raw::Umac128 => made!(RawKeys::<Umac128>::with_level(level), with_nonces()),
    };
    made.expect("no limit in reach");
    tags.iter_mut().for_each(|tag| w.made(tag));
}

fn two_keys(bytes: &[u8]) -> &[[u8; 16]; 2] {
    bytes.as_chunks().0.first_chunk().expect("as many bytes")
}

fn first_bytes<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("as many bytes")
}

fn tree<W: Witness>(w: &mut W, key: &[u8], trial: Trial<'_>) {
    let key = first_bytes(key);
    let mac = w.watch(call("key set-up", 16), || PmacAes128::with_level(key, trial.level));
    for &length in trial.lengths {
        let message = &trial.message[..length];
        let mut tree = w
            .watch(call("tree", length), || Tree::from_message(&mac, message))
            .expect("no limit in reach");
        if length >= 4 {
            let at = length as u64 / 2;
            let old = tree.needs(&Edit::Replace(at..at + 2)).expect("within the message");
            let old = &message[old.start as usize..old.end as usize];
            // A verdict for each edited leaf.
            let call = Call { what: "tree edited", length, verdicts: 2 };
            let edited = w.watch(call, || tree.replace(at, &[1, 2], old).map(black_box));
            edited.expect("the old bytes");
        }
        let made = w.watch(call("tree's tag", length), || tree.tag(&()));
        w.made(&mut made.expect("no limit in reach"));
    }
}

/// Returns a message with a marked word under every other key, and without one under the others.
fn under(key: &[u8], number: usize) -> [u8; marked::BYTES] {
    let mut message = marked::message(first_bytes(key));
    // Then no product is zero, and the first is 2^32 - 2 times its other factor.
    if !number.is_multiple_of(2) {
        message[0] ^= 1;
        message[500] ^= 1;
    }
    message
}

fn marked<W: Witness>(w: &mut W, key: &[u8], message: &[u8], trial: Trial<'_>) {
    let new = || Umac32::with_level(first_bytes(key), trial.level);
    let mac = w.watch(call("key set-up", 16), new);
    let nonce = (&NONCE[..8]).try_into().map(u64::from_be_bytes).expect("8 bytes").into();
    for length in [marked::BYTES / 2 + 1, marked::BYTES] {
        let message = &message[..length];
        let tag = w.watch(call("tag", length), || mac.tag_with(&nonce, message));
        w.made(&mut tag.expect("no limit"));
    }
}

/// Length of the part of a message that POLY-64 hashes.
const POLY64_BYTES: usize = 1 << 24;

fn long<W: Witness>(w: &mut W, key: &[u8], trial: Trial<'_>) {
    let algorithm = Algorithm::from_name("UMAC-128").expect("in the registry");
    let mac = AnyMac::with_options(algorithm, key, 128, trial.level);
    let mut mac = mac.expect("a key of the right length");
    w.public(&mut mac);
    let parts = mac.parts().expect("UMAC has them");
    let beginning = vec![0x5a; POLY64_BYTES];
    let message = &trial.message[..3 * parts.block() + 100];
    let (blocks, rest) = message.split_at(3 * parts.block());
    // Not watched: other lengths use the same code.
    let first = parts.new_part(0, &beginning).expect("whole blocks");
    let second = w.watch(call("part after 16 MiB", blocks.len()), || {
        parts.new_part(POLY64_BYTES as u64, blocks)
    });
    let second = second.expect("whole blocks");
    let both = w.watch(call("joined", blocks.len()), || parts.join(first, &second));
    let both = both.expect("neighbours");
    let mut checked = w.watch(verdict("checked", blocks.len()), || parts.check(&second, blocks));
    w.public(&mut checked);
    checked.expect("its blocks");
    let tag = w.watch(call("finished", message.len()), || parts.finish(both, &NONCE, rest));
    w.made(&mut tag.expect("the rest of the message"));
}
