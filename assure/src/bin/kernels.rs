//! Kernels compute one function: every MAC has the same tag on every level of this CPU, at every
//! length and alignment, however the message is cut, and in batches.
//!
//! The reference is the portable level at one alignment; the job `witnesses` checks that it is
//! correct. Other CPUs, and levels that this one lacks, are not tested.

use std::process::ExitCode;

use assure::{Job, Random, on_all_cores};
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

/// Length of the longest message with all lengths and alignments, in bytes.
const LONGEST: usize = 4096;
/// Length of the longest message that is cut everywhere, in bytes.
const LONGEST_CUT: usize = 1024;
/// Size of a cache line and of the widest vector.
const LINE: usize = 64;

/// Each is planted between a kernel and the comparison, only on the best level.
const PLANTS: [&str; 5] = ["over-read", "lost-carry", "first-chunk", "batch-order", "fork-shares"];

/// A MAC under one key, on all levels, and one nonce.
struct Subject<'a> {
    job: &'a Job,
    algorithm: Algorithm,
    macs: Vec<AnyMac>,
    nonce: Vec<u8>,
    /// Length of its longest message in bytes.
    longest: usize,
    random: Random,
}

fn main() -> ExitCode {
    let job = match Job::from_args("kernels", &PLANTS) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let levels: Vec<String> = Level::all().map(|level| level.to_string()).collect();
    job.note(&format!("levels: {}", levels.join(", ")));
    let keys = job.either(1, 4);
    let subjects: Vec<(Algorithm, u64)> =
        Algorithm::all().flat_map(|algorithm| (0..keys).map(move |key| (algorithm, key))).collect();
    on_all_cores(&subjects, |&(algorithm, key)| {
        let mut subject = Subject::new(&job, algorithm, key);
        subject.lengths_and_alignments();
        if key == 0 {
            subject.every_cut();
        }
        subject.random_cuts();
        subject.batches();
    });
    job.finish()
}

impl<'a> Subject<'a> {
    fn new(job: &'a Job, algorithm: Algorithm, seed: u64) -> Subject<'a> {
        let name = algorithm.name().bytes().fold(seed, |seed, byte| seed * 31 + u64::from(byte));
        let mut random = Random::new(name);
        let key = random.bytes(algorithm.new_key_bytes());
        let nonce = random.bytes(*algorithm.nonce_bytes().end());
        let make = |level| {
            AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), level)
                .expect("a key of the right length")
        };
        let mut macs: Vec<AnyMac> = Level::all().map(make).collect();
        if macs[0].level().is_none() {
            // It chooses its own level.
            macs.truncate(1);
        }
        let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX);
        let longest = limit.min(LONGEST as u64) as usize;
        Subject { job, algorithm, macs, nonce, longest, random }
    }

    fn is_best(&self, mac: &AnyMac) -> bool {
        mac.level() == self.macs[self.macs.len() - 1].level()
    }

    /// Compares a tag; `way` describes how it was computed.
    fn compare(&self, mac: &AnyMac, found: &Tag, expected: &Tag, way: impl FnOnce() -> String) {
        self.job.check(found == expected, || {
            let level = mac.level().map_or("its own level".into(), |level| level.to_string());
            format!(
                "{} on {level}, {}: expected {expected:?}, found {found:?}",
                self.algorithm,
                way()
            )
        });
    }

    /// Tries every length at every alignment. The bytes around the message differ from place to
    /// place.
    fn lengths_and_alignments(&mut self) {
        let message = self.random.bytes(LONGEST);
        let lengths: Vec<usize> = if self.job.full() {
            (0..=self.longest).collect()
        } else {
            let (near, far) = (0..=self.longest.min(300), (301..=self.longest).step_by(41));
            near.chain(far).collect()
        };
        let alignments: Vec<usize> =
            if self.job.full() { (0..LINE).collect() } else { vec![0, 1, 15, 40, 63] };
        let tag = |mac: &AnyMac, message: &[u8]| mac.tag(&self.nonce, message).expect("short");
        let expected: Vec<Tag> =
            lengths.iter().map(|&length| tag(&self.macs[0], &message[..length])).collect();
        let mut around = self.random.clone();
        let mut memory = vec![0; LONGEST + 3 * LINE];
        let line = memory.as_ptr().align_offset(LINE);
        for &alignment in &alignments {
            let start = line + alignment;
            for (&length, expected) in lengths.iter().zip(&expected) {
                let end = start + length;
                memory[start..end].copy_from_slice(&message[..length]);
                around.fill(&mut memory[end..end + LINE]);
                around.fill(&mut memory[start.saturating_sub(8)..start]);
                for mac in &self.macs {
                    let over_read = self.job.planted("over-read") && self.is_best(mac);
                    let end = if over_read && length == 47 { end + 1 } else { end };
                    let mut found = tag(mac, &memory[start..end]);
                    let lost = self.job.planted("lost-carry") && self.is_best(mac);
                    if lost && length == 4073.min(self.longest) / 41 * 41 + 14 && alignment == 63 {
                        found = tag(mac, &message[..length - 1]);
                    }
                    self.compare(mac, &found, expected, || {
                        format!("{length} bytes, {alignment} after a line of cache")
                    });
                }
            }
        }
        self.random = around;
    }

    /// Streams each message of up to 1024 bytes in two pieces, cut at every place.
    fn every_cut(&mut self) {
        let message = self.random.bytes(LONGEST_CUT);
        let step = self.job.either(61, 1);
        for length in (0..=LONGEST_CUT.min(self.longest)).step_by(step) {
            let message = &message[..length];
            let expected = self.macs[0].tag(&self.nonce, message).expect("short");
            for mac in &self.macs {
                let lost = self.job.planted("first-chunk") && self.is_best(mac) && length == 122;
                for cut in 0..=length {
                    let mut stream = mac.stream(&self.nonce).expect("a nonce of the right length");
                    stream.update(&message[usize::from(lost && cut == 16)..cut]);
                    stream.update(&message[cut..]);
                    let found = stream.tag().expect("short");
                    self.compare(mac, &found, &expected, || format!("{length} bytes cut at {cut}"));
                }
            }
        }
    }

    /// Tags messages in many pieces, forked midway, and joins them from parts if the MAC has parts.
    fn random_cuts(&mut self) {
        let nonce = self.nonce.clone();
        for round in 0..self.job.either(40, 2000) {
            let length = self.random.up_to(self.longest);
            let message = self.random.bytes(length);
            let expected = self.macs[0].tag(&nonce, &message).expect("short");
            for level in 0..self.macs.len() {
                let mac = self.macs[level].clone();
                let mut stream = mac.stream(&nonce).expect("a nonce of the right length");
                let mut rest = &message[..];
                let pieces = 1 + round % 9;
                while !rest.is_empty() {
                    let most = rest.len().min(1 + 2 * length / pieces);
                    let (now, later) = rest.split_at(1 + self.random.up_to(most - 1));
                    let fork = stream.fork();
                    stream.update(b"what the fork must not see");
                    if self.job.planted("fork-shares") && round == 7 && rest.len() == length {
                        // The first piece goes to a stream that has seen other bytes.
                    } else {
                        stream = fork;
                    }
                    stream.update(now);
                    rest = later;
                }
                let found = stream.tag().expect("short");
                self.compare(&mac, &found, &expected, || format!("{length} bytes in pieces"));
                let Some(parts) = mac.parts() else { continue };
                let block = parts.block();
                let blocks = length.saturating_sub(1) / block;
                let (a, b) = (self.random.up_to(blocks), self.random.up_to(blocks));
                let (a, b) = (block * a.min(b), block * a.max(b));
                let part = |from, to| {
                    parts.new_part(from as u64, &message[from..to]).expect("whole blocks")
                };
                let both = parts.join(part(0, a), &part(a, b)).expect("neighbours");
                let found = parts.finish(both, &nonce, &message[b..]).expect("short");
                self.compare(&mac, &found, &expected, || {
                    format!("{length} bytes in parts, cut at {a} and {b}")
                });
            }
        }
    }

    /// Tags batches of messages of mixed lengths, each under its own nonce.
    fn batches(&mut self) {
        for round in 0..self.job.either(4, 100) {
            let count = [1, 7, 33, 300][round % 4] + self.random.up_to(8);
            let most = [16, 64, 300, 1200][self.random.up_to(3)].min(self.longest);
            let messages: Vec<Vec<u8>> = (0..count)
                .map(|_| {
                    let length = self.random.up_to(most);
                    self.random.bytes(length)
                })
                .collect();
            let nonces: Vec<Vec<u8>> =
                (0..count).map(|_| self.random.bytes(self.nonce.len())).collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let nonces: Vec<&[u8]> = nonces.iter().map(Vec::as_slice).collect();
            let one = |i: usize| self.macs[0].tag(nonces[i], messages[i]).expect("short");
            let expected: Vec<Tag> = (0..count).map(one).collect();
            for mac in &self.macs {
                let mut found = vec![Tag::default(); count];
                mac.tag_many(&nonces, &messages, &mut found).expect("short");
                if self.job.planted("batch-order") && self.is_best(mac) && count > 33 {
                    found.swap(31, 32);
                }
                for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    self.compare(mac, found, expected, || {
                        format!("message {i} of a batch of {count}, {} bytes", messages[i].len())
                    });
                }
            }
        }
    }
}
