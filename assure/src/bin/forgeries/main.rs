//! Forgeries: altered messages, tags, nonces, partials, saved streams, key files, manifests of trees
//! and objects, ledgers, pins and leaf tags, through the library's own interfaces. All must be refused.
//!
//! Forgeries that a MAC accepts with the probability of its bound are not looked for: alterations
//! come from fixed seeds. UMAC99-MMX-15 has a bound of 2^-15, which altered messages would reach,
//! so only its tags are altered. `assure/forgeries.py` covers other languages and the files that
//! the command reads.

mod leaves;
mod sealed;
mod series;
mod verifier;

use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use assure::{Job, Random, on_all_cores};
use tagmac::Tag;
use tagmac::save::Sealer;
use tagmac_any::{Algorithm, AnyMac, AnyStream, KeyFile, Partial, PartialError};

/// Each is a verifier with a fault that others had; it replaces the library's.
const PLANTS: [&str; 12] = [
    "tag-length-of-the-attacker",
    "last-bit-ignored",
    "unsealed-partial",
    "key-id-unchecked",
    "any-object",
    "first-line-is-enough",
    "any-chain",
    "any-number",
    "any-shard",
    "first-shard-is-enough",
    "any-leaf",
    "any-content",
];

/// The target of alterations: an algorithm under two keys.
struct Target<'a> {
    job: &'a Job,
    algorithm: Algorithm,
    key: Vec<u8>,
    mac: AnyMac,
    /// The same algorithm under another key.
    other: AnyMac,
    nonce: Vec<u8>,
    random: Random,
}

fn main() -> ExitCode {
    let job = match Job::from_args("forgeries-in-process", &PLANTS) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let all: Vec<Algorithm> = Algorithm::all().collect();
    on_all_cores(&all, |&algorithm| {
        let mut target = Target::new(&job, algorithm);
        for length in [0, 1, 16, 33, 64, 257].into_iter().take(job.either(4, 6)) {
            target.tags(length);
            target.messages(length);
        }
        target.other_lengths_of_tags();
        target.streams();
        target.partials();
        target.key_files();
    });
    splices(&job);
    if let Err(error) = sealed::check(&job).and_then(|()| leaves::check(&job)) {
        job.check(false, || error.to_string());
    }
    job.finish()
}

impl<'a> Target<'a> {
    fn new(job: &'a Job, algorithm: Algorithm) -> Target<'a> {
        let mut random =
            Random::new(algorithm.name().bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte)));
        let key = random.bytes(algorithm.new_key_bytes());
        let second = random.bytes(key.len());
        let make = |key: &[u8]| AnyMac::new(algorithm, key).expect("a key of the right length");
        let (mac, other) = (make(&key), make(&second));
        let nonce = random.bytes(*algorithm.nonce_bytes().end());
        Target { job, algorithm, key, mac, other, nonce, random }
    }

    fn sealer(&self) -> Sealer {
        KeyFile::new(self.algorithm, &self.key, UNIX_EPOCH).expect("a key").sealer()
    }

    fn other_sealer(&self) -> Sealer {
        let key: Vec<u8> = self.key.iter().map(|byte| byte ^ 1).collect();
        KeyFile::new(self.algorithm, &key, UNIX_EPOCH).expect("a key").sealer()
    }

    fn refused(&self, accepted: bool, what: impl FnOnce() -> String) {
        self.job.check(!accepted, || {
            format!("{}: {}: a forgery was accepted, but must be refused", self.algorithm, what())
        });
    }

    /// Returns whether the library, or a planted verifier, accepts a tag.
    fn accepts(&self, nonce: &[u8], message: &[u8], tag: &Tag) -> bool {
        if self.job.planted("tag-length-of-the-attacker") {
            let own = self.mac.tag(nonce, message).expect("short");
            let bytes = tag.bits() / 8;
            return own.as_bytes()[..bytes.min(own.as_bytes().len())] == tag.as_bytes()[..bytes];
        }
        if self.job.planted("last-bit-ignored") {
            let own = self.mac.tag(nonce, message).expect("short");
            let (last, rest) = own.as_bytes().split_last().expect("a tag");
            let (found, before) = tag.as_bytes().split_last().expect("a tag");
            return own.bits() == tag.bits() && rest == before && last | 1 == found | 1;
        }
        let one = self.mac.verify(nonce, message, tag).is_ok();
        let mut verdicts = [Ok(())];
        let many = self.mac.verify_many(&[nonce], &[message], &[*tag], &mut verdicts).is_ok();
        let mut stream = self.mac.stream(nonce).expect("its nonce");
        stream.update(message);
        one || many || verdicts[0].is_ok() || stream.verify(tag).is_ok()
    }

    /// Tries each bit of a tag, and random tags.
    fn tags(&mut self, length: usize) {
        let message = self.random.bytes(length);
        let tag = self.mac.tag(&self.nonce, &message).expect("short");
        let right = self.accepts(&self.nonce, &message, &tag);
        self.job.check(right, || {
            format!("{}: its own tag was refused, but must be accepted", self.algorithm)
        });
        for bit in 0..tag.bits() {
            let mut bytes = tag.as_bytes().to_vec();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            let altered = Tag::new(&bytes, tag.bits()).expect("the same length");
            let accepted = self.accepts(&self.nonce, &message, &altered);
            self.refused(accepted, || format!("bit {bit} of a tag of {length} bytes"));
        }
        for _ in 0..self.job.either(20, 3000) {
            let bytes = self.random.bytes(tag.as_bytes().len());
            let guess = Tag::new(&bytes, tag.bits()).expect("the same length");
            let accepted = self.accepts(&self.nonce, &message, &guess);
            self.refused(accepted, || "a random tag".into());
        }
        let accepted = self.other.verify(&self.nonce, &message, &tag).is_ok();
        self.refused(accepted, || "a tag under another key".into());
    }

    /// Tries each bit of a message, cuts, extensions and swapped blocks, and each bit of the nonce.
    fn messages(&mut self, length: usize) {
        if self.algorithm.name() == "UMAC99-MMX-15" {
            return;
        }
        let message = self.random.bytes(length);
        let tag = self.mac.tag(&self.nonce, &message).expect("short");
        let accepts = |altered: &[u8]| self.accepts(&self.nonce, altered, &tag);
        for bit in 0..8 * length {
            let mut altered = message.clone();
            altered[bit / 8] ^= 0x80 >> (bit % 8);
            self.refused(accepts(&altered), || format!("bit {bit} of {length} bytes"));
        }
        for cut in 0..length {
            self.refused(accepts(&message[..cut]), || format!("{length} bytes cut to {cut}"));
        }
        for padding in [0u8, 1, 0x80, 0xff] {
            for more in 1..=40 {
                let mut altered = message.clone();
                altered.push(padding);
                altered.resize(length + more, 0);
                self.refused(accepts(&altered), || format!("{length} bytes and {more} more"));
            }
        }
        for block in [1, 4, 8, 16, 32, 64] {
            for (i, j) in (0..length / block).flat_map(|i| (0..i).map(move |j| (i, j))).take(200) {
                let mut altered = message.clone();
                for k in 0..block {
                    altered.swap(block * i + k, block * j + k);
                }
                if altered != message {
                    self.refused(accepts(&altered), || {
                        format!("blocks {j} and {i} of {block} bytes swapped")
                    });
                }
            }
        }
        for bit in 0..8 * self.nonce.len() {
            let mut nonce = self.nonce.clone();
            nonce[bit / 8] ^= 0x80 >> (bit % 8);
            self.refused(self.accepts(&nonce, &message, &tag), || {
                format!("bit {bit} of the nonce")
            });
        }
        for length in 0..self.nonce.len() {
            let nonce = &self.nonce[..length];
            let accepted = self.mac.verify(nonce, &message, &tag).is_ok();
            self.refused(accepted, || format!("the nonce cut to {length} bytes"));
        }
    }

    /// Tries tags of every other length, with the correct tag's own bits, and an empty tag.
    fn other_lengths_of_tags(&mut self) {
        let message = self.random.bytes(40);
        let tag = self.mac.tag(&self.nonce, &message).expect("short");
        let mut long = tag.as_bytes().to_vec();
        long.resize(Tag::MAX_BYTES, 0);
        for bits in (1..=8 * Tag::MAX_BYTES).filter(|&bits| bits != tag.bits()) {
            let mut bytes = long[..bits.div_ceil(8)].to_vec();
            if bits % 8 != 0 {
                *bytes.last_mut().expect("a byte") &= 0xff << (8 - bits % 8);
            }
            let Ok(other) = Tag::new(&bytes, bits) else { continue };
            let accepted = self.accepts(&self.nonce, &message, &other);
            self.refused(accepted, || format!("its own tag with {bits} bits"));
        }
        self.refused(Tag::new(&[], 0).is_ok(), || "a tag of no bits".into());
    }

    /// Tries a saved stream: each bit, each cut, another key, another algorithm.
    fn streams(&mut self) {
        let mut stream = self.mac.stream(&self.nonce).expect("its nonce");
        stream.update(&self.random.bytes(100));
        let sealer = self.sealer();
        let Ok(saved) = stream.save(&sealer) else { return };
        let restored = |saved: &[u8]| self.mac.restore(&sealer, saved).is_ok();
        self.job.check(restored(&saved), || format!("{}: refused its own stream", self.algorithm));
        let step = self.job.either(7, 1);
        alterations(&saved, step, |altered, what| {
            self.refused(restored(altered), || format!("a saved stream, {what}"));
        });
        let foreign =
            |mac: &AnyMac, sealer: &Sealer| -> Result<AnyStream, _> { mac.restore(sealer, &saved) };
        self.refused(foreign(&self.other, &sealer).is_ok(), || {
            "a saved stream under another MAC".into()
        });
        self.refused(foreign(&self.mac, &self.other_sealer()).is_ok(), || {
            "a stream of another key".into()
        });
    }

    /// Tries a partial: each bit, each cut, another key, and its body under another header.
    fn partials(&mut self) {
        let Some(parts) = self.mac.parts() else { return };
        let (sealer, block) = (self.sealer(), parts.block());
        let seal = |object: &[u8], start: u64, bytes: &[u8]| {
            let part = parts.new_part(start, bytes).expect("whole blocks");
            Partial::seal(&self.mac, &sealer, object, &part, None).expect("a short name")
        };
        let blocks = self.random.bytes(2 * block);
        let first = seal(b"object version 1", 0, &blocks);
        let second = seal(b"object version 2", 0, &blocks);
        let later = seal(b"object version 1", 2 * block as u64, &blocks);
        let open = |bytes: &[u8]| -> Result<Vec<u8>, PartialError> {
            let partial = Partial::parse(bytes)?;
            let partial = partial.check(&self.mac, &sealer)?;
            let _ = partial.open()?;
            Ok(partial.object().to_vec())
        };
        let accepts = |bytes: &[u8]| match self.job.planted("unsealed-partial") {
            true => Partial::parse(bytes).is_ok(),
            false => open(bytes).is_ok(),
        };
        self.job.check(accepts(&first), || format!("{}: refused its own partial", self.algorithm));
        let step = self.job.either(11, 1);
        alterations(&first, step, |altered, what| {
            self.refused(accepts(altered), || format!("a partial, {what}"));
        });
        let header = |bytes: &[u8]| Partial::parse(bytes).expect("its own").header_len();
        for (head, body, what) in [
            (&first, &second, "another version's body"),
            (&second, &first, "another version's header"),
            (&first, &later, "another range's body"),
            (&later, &first, "another range's header"),
        ] {
            let spliced = [&head[..header(head)], &body[header(body)..]].concat();
            self.refused(accepts(&spliced), || format!("a partial with {what}"));
        }
        let object = open(&second);
        let mixed = self.job.planted("any-object") || object.as_deref() == Ok(b"object version 1");
        self.refused(mixed, || "a partial of another version is accepted for this one".into());
        let foreign = KeyFile::new(self.algorithm, &self.key, UNIX_EPOCH).expect("a key");
        let foreign = Partial::parse(&first)
            .and_then(|partial| partial.check(&self.other, &foreign.sealer()).map(|_| ()));
        self.refused(foreign.is_ok(), || "a partial under another MAC".into());
    }

    /// Tries a key file: an altered one must be refused or have the same key.
    fn key_files(&mut self) {
        let file = KeyFile::new(self.algorithm, &self.key, UNIX_EPOCH).expect("a key");
        let text = file.to_text();
        let step = self.job.either(5, 1);
        alterations(text.as_bytes(), step, |altered, what| {
            let other = KeyFile::parse(altered).is_ok_and(|found| {
                found.key() != file.key() || found.algorithm() != file.algorithm()
            });
            // Planted: a reader that accepts any text as a key.
            let other = other || self.job.planted("key-id-unchecked") && altered.is_ascii();
            self.refused(other, || format!("a key file of another key, {what}"));
        });
    }
}

/// Flips each bit, cuts at each byte, appends and prepends bytes, and removes and doubles each
/// byte.
pub fn alterations(bytes: &[u8], step: usize, mut check: impl FnMut(&[u8], &str)) {
    for bit in (0..8 * bytes.len()).step_by(step) {
        let mut altered = bytes.to_vec();
        altered[bit / 8] ^= 0x80 >> (bit % 8);
        check(&altered, &format!("bit {bit}"));
    }
    for at in (0..bytes.len()).step_by(step) {
        check(&bytes[..at], &format!("cut to {at} bytes"));
        check(&[&bytes[..at], &bytes[at + 1..]].concat(), &format!("without byte {at}"));
        if at > 0 && bytes[at] != bytes[at - 1] {
            let mut altered = bytes.to_vec();
            altered.swap(at, at - 1);
            check(&altered, &format!("bytes {} and {at} swapped", at - 1));
        }
    }
    for more in [0u8, 0x80, b'x'] {
        check(&[bytes, &[more]].concat(), "with an extra byte");
    }
}

/// Tries tags of one algorithm as those of another, under the same key bytes.
fn splices(job: &Job) {
    let mut random = Random::new(12);
    let all: Vec<Algorithm> = Algorithm::all().collect();
    let (key, nonce) = (random.bytes(64), random.bytes(16));
    let message = random.bytes(50);
    let mac = |algorithm: Algorithm| {
        AnyMac::new(algorithm, &key[..algorithm.new_key_bytes()])
            .expect("a key of the right length")
    };
    let nonce = |algorithm: Algorithm| &nonce[..*algorithm.nonce_bytes().end()];
    for &from in &all {
        let tag = mac(from).tag(nonce(from), &message).expect("short");
        for &to in all.iter().filter(|&&to| to != from) {
            let accepted = mac(to).verify(nonce(to), &message, &tag).is_ok();
            job.check(!accepted, || {
                format!("a tag of {from} under {to} was accepted, but must be refused")
            });
        }
    }
}
