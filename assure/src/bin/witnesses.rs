//! Witnesses: compares every MAC of the registry with implementations that share no code with it.
//! They are other libraries (`peers`), plain implementations written from the papers
//! (`assure::plain`), and `reference/` in Python.
//!
//! Most keys, nonces and messages are random. Others are crafted to reach rare paths: words of
//! UMAC's polynomials that need a marker, values of Poly1305 around 2^130 - 5, full carries, and
//! LightMAC's longest message.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;

use assure::plain::{self, NhKey};
use assure::{Job, Random, on_all_cores};
use num_bigint::BigUint;
use peers::{Info, Visit};
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

/// Each is planted between a witness and the comparison.
const PLANTS: [&str; 4] =
    ["no-marker", "no-final-reduction", "counter-of-last", "one-tag-in-a-million"];

type Call = Box<dyn FnMut(&[u8]) -> Vec<u8>>;
type Make = Box<dyn Fn(&[u8], &[u8]) -> Call>;

/// A library's function, with its name in the registry.
struct Peer {
    info: Info,
    make: Make,
}

/// Collects the peers of the registry's functions.
struct Collect(BTreeMap<&'static str, Vec<Peer>>);

impl Visit for Collect {
    fn peer<M, T>(&mut self, info: Info, make: impl Fn(&[u8], &[u8]) -> M + 'static)
    where
        M: FnMut(&[u8]) -> T + 'static,
        T: AsRef<[u8]> + 'static,
    {
        if info.repeats {
            let make: Make = Box::new(move |key, nonce| {
                let mut call = make(key, nonce);
                Box::new(move |message| call(message).as_ref().to_vec())
            });
            self.0.entry(info.function).or_default().push(Peer { info, make });
        }
    }
}

/// A message under a key and a nonce, and the reason for trying it.
struct Tuple {
    key: Vec<u8>,
    nonce: Vec<u8>,
    message: Vec<u8>,
    why: &'static str,
}

fn main() -> ExitCode {
    let job = match Job::from_args("witnesses", &PLANTS) {
        Ok(job) => job,
        Err(code) => return code,
    };
    for missing in peers::missing() {
        job.note(&format!("not compared: {missing}"));
    }
    let mut names = Collect(BTreeMap::new());
    peers::all(&mut names);
    for (function, peers) in &names.0 {
        if Algorithm::from_name(function).is_ok() {
            let peers: Vec<&str> = peers.iter().map(|peer| peer.info.name).collect();
            job.note(&format!("{function}: {}", peers.join(", ")));
        }
    }
    let tuples = Mutex::new(0u64);
    let lines = Mutex::new(Vec::new());
    let shares: Vec<(Algorithm, u64)> = Algorithm::all()
        .flat_map(|algorithm| (0..4).map(move |share| (algorithm, share)))
        .collect();
    on_all_cores(&shares, |&(algorithm, share)| {
        // A library's contexts stay in the thread that created them.
        let mut collect = Collect(BTreeMap::new());
        peers::all(&mut collect);
        let peers = collect.0.remove(algorithm.name()).unwrap_or_default();
        let name = algorithm.name();
        let mut random =
            Random::new(name.bytes().fold(share, |seed, byte| seed * 31 + u64::from(byte)));
        let count = if peers.is_empty() { job.either(50, 2000) } else { job.either(300, 20_000) };
        let mut all: Vec<Tuple> =
            (0..count).map(|_| Tuple::random(algorithm, &mut random)).collect();
        if share == 0 {
            all.extend(crafted(algorithm, &mut random, job.either(40, 2000)));
        }
        *tuples.lock().expect("no thread panicked") += all.len() as u64;
        for (i, tuple) in all.iter().enumerate() {
            compare(&job, algorithm, &peers, tuple, i);
            // Python needs a millisecond for a block.
            if tuple.message.len() <= 600 && i % 10 == 0 || tuple.why != RANDOM && i % 40 == 0 {
                lines.lock().expect("no thread panicked").push(line(algorithm, tuple));
            }
        }
    });
    let tuples = tuples.into_inner().expect("no thread panicked");
    job.note(&format!("{tuples} messages, each under its own key"));
    reference(&job, &lines.into_inner().expect("no thread panicked"));
    job.finish()
}

const RANDOM: &str = "random";

impl Tuple {
    fn random(algorithm: Algorithm, random: &mut Random) -> Tuple {
        let (least, most) = algorithm.nonce_bytes().into_inner();
        // Half of them are as long as those of other libraries.
        let nonce_bytes = match random.up_to(3) {
            0 => most,
            1 => most.min(8).max(least),
            _ => least + random.up_to(most - least),
        };
        let longest = [20, 100, 300, 5000][random.up_to(3)];
        // PRESENT and RC6 are slow in plain code.
        let longest = if algorithm.name().contains("PRESENT") { longest.min(300) } else { longest };
        let longest =
            algorithm.max_message_bytes().map_or(longest, |most| longest.min(most as usize));
        let length = random.up_to(longest);
        Tuple {
            key: random.bytes(algorithm.new_key_bytes()),
            nonce: random.bytes(nonce_bytes),
            message: random.bytes(length),
            why: RANDOM,
        }
    }
}

/// Compares the library, on a level of this CPU, with all implementations of the algorithm.
fn compare(job: &Job, algorithm: Algorithm, peers: &[Peer], tuple: &Tuple, index: usize) {
    let Tuple { key, nonce, message, why } = tuple;
    let name = algorithm.name();
    let levels: Vec<Level> = Level::all().collect();
    let level = levels[index % levels.len()];
    let mac = AnyMac::with_options(algorithm, key, algorithm.default_tag_bits(), level)
        .expect("a key of the right length");
    let found = mac.tag(nonce, message).expect("within the limit");
    let same = |witness: &str, mut expected: Vec<u8>| {
        let planted = job.planted("no-marker") && *why == MARKED
            || job.planted("no-final-reduction") && *why == AROUND_P
            || job.planted("counter-of-last") && *why == LONGEST
            || job.planted("one-tag-in-a-million") && index == 33 && name == "PMAC-AES256";
        expected[0] ^= u8::from(planted);
        job.check(expected == found.as_bytes(), || {
            format!(
                "{name} on {level}, {} bytes ({why}), key {key:02x?}, nonce {nonce:02x?}: \
                 {witness} has {expected:02x?}, the library {found:?}",
                message.len()
            )
        });
    };
    if let Some(expected) = plain::tag(name, key, nonce, message) {
        same("the plain implementation", expected);
    }
    for Peer { info, make } in peers {
        let fits = info.key_bytes == key.len() && info.nonce_bytes == nonce.len();
        if fits && info.tag_bytes * 8 == found.bits() {
            same(info.name, make(key, nonce)(message));
        }
    }
}

const MARKED: &str = "a word that needs a marker";
const AROUND_P: &str = "a value around 2^130 - 5";
const CARRIES: &str = "full carries";
const LONGEST: &str = "the longest message";

/// Returns messages that random choice would not find.
fn crafted(algorithm: Algorithm, random: &mut Random, count: usize) -> Vec<Tuple> {
    let name = algorithm.name();
    let mut all = Vec::new();
    if name.starts_with("UMAC-") {
        for i in 0..count {
            all.push(marked(algorithm, random, i));
        }
    }
    if name == "POLY1305-AES" {
        for i in 0..count {
            all.push(around_p(random, i));
            all.push(carries(random, i));
        }
    }
    let reachable = algorithm.max_message_bytes().filter(|&most| most <= 1 << 12);
    for _ in 0..reachable.map_or(0, |_| 4) {
        let mut tuple = Tuple::random(algorithm, random);
        tuple.message = random.bytes(reachable.expect("a limit") as usize);
        all.push(Tuple { why: LONGEST, ..tuple });
    }
    all
}

/// Returns a message of two to four chunks. NH hashes one of them to 2^64 - 2^32 or above, which
/// POLY of 64 bits cannot use without a marker.
fn marked(algorithm: Algorithm, random: &mut Random, i: usize) -> Tuple {
    let key = random.bytes(16);
    let iterations = algorithm.default_tag_bits() / 32;
    let nh_key = plain::nh_key(&key, i % iterations);
    let edges =
        [u64::MAX - 0xffff_ffff, u64::MAX - 58, u64::MAX, u64::MAX - 59, u64::MAX - 0x1_0000_0000];
    let target = if i % 7 < 5 { edges[i % 7] } else { u64::MAX - (random.word() >> 32) };
    let mut message = random.bytes(1024 * (2 + i % 3) + i % 40);
    let chunk = 1024 * (i % 2);
    hash_to(&nh_key, &mut message[chunk..chunk + 1024], target);
    let nonce = random.bytes(1 + i % 16);
    Tuple { key, nonce, message, why: MARKED }
}

/// Sets the last three products of a chunk so that its hash is `target`: for the remaining number h
/// 2^32 + l they are (2^32 - 1) h + 1 h + 1 l.
fn hash_to(key: &NhKey, chunk: &mut [u8], target: u64) {
    let last = chunk.len() / 4 - 8;
    // Sets the word so that its sum with its key is `sum`.
    let set = |chunk: &mut [u8], at: usize, sum: u32| {
        let word = sum.wrapping_sub(key[last + at]);
        chunk[4 * (last + at)..][..4].copy_from_slice(&word.to_le_bytes());
    };
    for at in 0..8 {
        set(chunk, at, 0);
    }
    let left = target.wrapping_sub(plain::nh(key, chunk));
    let (high, low) = ((left >> 32) as u32, left as u32);
    for (at, [a, b]) in [[u32::MAX, high], [1, high], [1, low]].into_iter().enumerate() {
        set(chunk, at, a);
        set(chunk, at + 4, b);
    }
    assert_eq!(plain::nh(key, chunk), target, "three products make any number");
}

/// Returns a message with the hash p - 2 .. p + 6 modulo p, by solving for its last block.
fn around_p(random: &mut Random, i: usize) -> Tuple {
    let p = plain::poly1305_prime();
    let one = BigUint::from(1u8);
    // p - 2, p - 1, and 0 .. 6, which are congruent to p .. p + 6.
    let wanted = (&p - 2u8 + BigUint::from(i % 9)) % &p;
    loop {
        let key = random.bytes(32);
        let r = plain::clamped(&key[16..]);
        let inverse = r.modpow(&(&p - 2u8), &p);
        let blocks = i % 12;
        let mut message = random.bytes(16 * blocks);
        let before: BigUint = message.chunks(16).fold(BigUint::ZERO, |h, chunk| {
            (h + BigUint::from_bytes_le(&[chunk, &[1]].concat())) * &r % &p
        });
        let last: BigUint = (&wanted * inverse + &p - before) % &p;
        // A block with its final 1 is between 2^128 and 2^129: a quarter of the solutions.
        if last >= &one << 128u8 && last < &one << 129u8 {
            let mut block = (last - (&one << 128u8)).to_bytes_le();
            block.resize(16, 0);
            message.extend(block);
            return Tuple { key, nonce: random.bytes(16), message, why: AROUND_P };
        }
    }
}

/// Returns messages of words of ones and zeros, under an r with all allowed bits set, or few.
fn carries(random: &mut Random, i: usize) -> Tuple {
    let mut key = random.bytes(32);
    match i % 4 {
        0 => key[16..].fill(0xff),
        1 => key[16..].copy_from_slice(&(1u128 << (random.up_to(127))).to_le_bytes()),
        2 => key[16..].fill(0),
        _ => {}
    }
    let mut message = Vec::new();
    for _ in 0..1 + random.up_to(40) {
        let block = match random.up_to(4) {
            0 => u128::MAX,
            1 => u128::MAX - 4,
            2 => 0,
            3 => u128::MAX << (44 * (i % 3)),
            _ => u128::MAX >> (26 * (i % 5)),
        };
        message.extend(block.to_le_bytes());
    }
    message.truncate(message.len() - random.up_to(16));
    Tuple { key, nonce: random.bytes(16), message, why: CARRIES }
}

/// Returns an input line for `assure/reference_tags.py`, and the expected tag.
fn line(algorithm: Algorithm, tuple: &Tuple) -> (String, String) {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mac = AnyMac::new(algorithm, &tuple.key).expect("a key of the right length");
    let tag = mac.tag(&tuple.nonce, &tuple.message).expect("within the limit");
    let Tuple { key, nonce, message, .. } = tuple;
    let asked = format!("{algorithm} {} {} {}\n", hex(key), hex(nonce), hex(message));
    (asked, hex(tag.as_bytes()))
}

/// Runs `reference/` on some of the messages, in two processes.
fn reference(job: &Job, lines: &[(String, String)]) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let halves: Vec<_> = lines.chunks(lines.len().div_ceil(2).max(1)).collect();
    let asked = std::sync::atomic::AtomicU64::new(0);
    on_all_cores(&halves, |lines| {
        let mut python = Command::new("python3")
            .arg(root.join("reference_tags.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let mut input = python.stdin.take().expect("a pipe");
        let all: String = lines.iter().map(|(asked, _)| asked.as_str()).collect();
        let writer = std::thread::spawn(move || input.write_all(all.as_bytes()));
        let output = python.wait_with_output().expect("python3");
        writer.join().expect("no panic").expect("python3 reads everything");
        let tags = String::from_utf8(output.stdout).expect("hex");
        let mut tags = tags.lines();
        for (asked_for, found) in lines.iter() {
            let expected = tags.next();
            // `reference/` has no HMAC: the answers are hashlib's.
            job.check(expected == Some(found), || {
                format!(
                    "{}: reference/ has {expected:?}, the library {found}",
                    asked_for.trim_end()
                )
            });
            asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    job.note(&format!("reference/: compared {} of the messages", asked.into_inner()));
}
