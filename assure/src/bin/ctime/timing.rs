//! The third witness: clocks. Calls with two classes of secrets run in random order, and Welch's
//! test compares their times (Reparaz, Balasch, Verbauwhede, "Dude, is my code constant time?",
//! 2017).
//!
//! It sees every effect of the CPU that is larger than the noise, even if no listing shows it. It
//! cannot exclude effects below the noise, or differences between other classes. Since it is
//! statistical, only a leak that repeats counts, and in a quick run only a very large one.

use std::arch::x86_64::{_mm_lfence, _rdtsc};
use std::hint::black_box;

use assure::Random;
use tagmac::{Mac, PmacAes128, Poly1305Aes, Tag, Umac32};
use tagmac_any::{Algorithm, AnyMac};

use crate::leaks;
use crate::marked;
use crate::tally::{Depth, Tally};

/// A full run reports a leak if |t| is above this in each repetition.
const LEAK: f64 = 4.5;
/// The same for a quick run.
const CERTAIN_LEAK: f64 = 40.0;
/// The number of repetitions that must all show a leak.
const REPETITIONS: usize = 3;
/// Tested shares of the samples, fastest first: interrupts make the others slow.
const SHARES: [f64; 7] = [0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];
/// Length of the tagged messages in bytes.
const MESSAGE_BYTES: usize = 64;
/// The MACs with timed verdicts: a short and a long tag, one of 32 bytes, a bitsliced cipher.
const VERIFIED: [&str; 6] =
    ["PMAC-AES128", "UMAC-32", "UMAC-128", "POLY1305-AES", "HMAC-SHA256", "PMAC-PRESENT80"];
/// The MACs with timed keys.
const KEYED: [&str; 6] = [
    "PMAC-AES128",
    "LIGHTMAC-AES256-S32",
    "ELIMAC-AES128",
    "POLY1305-AES",
    "UMAC-64",
    "PMAC-PRESENT128",
];

/// Times of one call on inputs of two classes.
struct Samples {
    cycles: Vec<(bool, u64)>,
}

impl Samples {
    /// Measures `count` samples. `input` prepares an input of a class in place, and `call` is
    /// timed.
    fn take<I>(
        count: usize,
        random: &mut Random,
        mut input: I,
        mut prepare: impl FnMut(&mut I, bool, &mut Random),
        mut call: impl FnMut(&I),
    ) -> Samples {
        let mut cycles = Vec::with_capacity(count);
        for _ in 0..count {
            let class = random.word() & 1 == 1;
            prepare(&mut input, class, random);
            let input = black_box(&input);
            let start = now();
            call(input);
            cycles.push((class, now() - start));
        }
        Samples { cycles }
    }

    /// Returns the largest of Welch's |t| over the shares.
    fn largest_t(&self) -> f64 {
        let mut sorted: Vec<u64> = self.cycles.iter().map(|(_, cycles)| *cycles).collect();
        sorted.sort_unstable();
        let limit = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
        SHARES.iter().map(|share| self.t(limit(*share))).fold(0.0, f64::max)
    }

    /// Returns Welch's |t| of the samples of at most `limit` cycles.
    fn t(&self, limit: u64) -> f64 {
        let class = |class: bool| {
            let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
            for (of, cycles) in &self.cycles {
                if *of == class && *cycles <= limit {
                    n += 1.0;
                    let difference = *cycles as f64 - mean;
                    mean += difference / n;
                    squares += difference * (*cycles as f64 - mean);
                }
            }
            (n, mean, squares / (n - 1.0))
        };
        let ((n0, mean0, variance0), (n1, mean1, variance1)) = (class(false), class(true));
        let error = (variance0 / n0 + variance1 / n1).sqrt();
        if error > 0.0 { (mean0 - mean1).abs() / error } else { 0.0 }
    }
}

/// Reads the clock. Earlier instructions have finished, and later ones have not begun.
fn now() -> u64 {
    // SAFETY: every x86-64 CPU has these instructions; they do not access memory.
    unsafe {
        _mm_lfence();
        let cycles = _rdtsc();
        _mm_lfence();
        cycles
    }
}

/// Returns all ones for one class and zero for the other. The compiler must not know which: it
/// would branch on the class, and the next timed call would begin with a different history of
/// branches and stores.
fn mask(class: bool) -> u8 {
    black_box(u8::from(class).wrapping_neg())
}

/// A test of two classes: runs it with a number of calls and returns the largest |t|.
type Test = (String, Box<dyn FnMut(usize, &mut Random) -> f64>);

/// Runs all tests, or the planted one.
pub fn run(depth: Depth, planted: bool) -> Tally {
    let mut tally = Tally::default();
    let count = depth.pick(20_000, 1_000_000);
    let threshold = depth.pick(CERTAIN_LEAK, LEAK);
    let tests = if planted { vec![early_exit()] } else { tests() };
    let (number, mut highest) = (tests.len(), (0.0, String::new()));
    for (name, mut test) in tests {
        let mut random = Random::new(number as u64);
        let mut found = Vec::new();
        // A leak must repeat, so the first test without one ends the search.
        while found.len() < REPETITIONS && found.last().is_none_or(|t| *t >= threshold) {
            found.push(test(count, &mut random));
        }
        let least = found.iter().copied().fold(f64::INFINITY, f64::min);
        if least >= highest.0 {
            highest = (least, name.clone());
        }
        let failure = (least >= threshold).then(|| {
            format!(
                "timing, {name}: expected |t| < {threshold}, found {found:.1?} with {count} calls"
            )
        });
        tally.check(failure);
    }
    let (t, name) = highest;
    tally.note(format_args!(
        "timing: {number} pairs of classes, {count} calls each; the highest |t| that repeats is {t:.1}: {name}"
    ));
    tally
}

fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for name in VERIFIED {
        for place in ["first", "last"] {
            tests.push(verify(name, place));
        }
    }
    for name in KEYED {
        tests.push(key_set_up(name));
    }
    tests.push(clamped());
    tests.push(first_doubling());
    tests.push(marked_words());
    tests
}

fn mac(name: &str, key: &[u8]) -> AnyMac {
    AnyMac::new(algorithm(name), key).expect("a key of the right length")
}

fn algorithm(name: &str) -> Algorithm {
    Algorithm::from_name(name).expect("in the registry")
}

/// Times a correct tag, and one with a wrong byte.
fn verify(name: &'static str, place: &'static str) -> Test {
    let test = move |count: usize, random: &mut Random| {
        let mut key = vec![0; algorithm(name).new_key_bytes()];
        random.fill(&mut key);
        let (mac, message) = (mac(name, &key), [7; MESSAGE_BYTES]);
        let nonce = &[9; 16][..*mac.algorithm().nonce_bytes().end()];
        let right = mac.tag(nonce, &message).expect("within the limit");
        let at = if place == "first" { 0 } else { right.as_bytes().len() - 1 };
        let samples = Samples::take(
            count,
            random,
            right,
            |tag, is_wrong, _| *tag = changed(&right, at, is_wrong),
            |tag| {
                let _ = black_box(mac.verify(nonce, &message, tag));
            },
        );
        samples.largest_t()
    };
    (format!("verify of {name}, wrong in the {place} byte"), Box::new(test))
}

/// Returns a tag with a byte changed or, by the same steps, unchanged.
fn changed(tag: &Tag, at: usize, is_wrong: bool) -> Tag {
    let mut bytes = [0; Tag::MAX_BYTES];
    let bytes = &mut bytes[..tag.as_bytes().len()];
    bytes.copy_from_slice(tag.as_bytes());
    bytes[at] ^= mask(is_wrong) & 0x10;
    Tag::try_from(&*bytes).expect("whole bytes")
}

/// The planted leak: a comparison that ends at the first difference.
fn early_exit() -> Test {
    let test = |count: usize, random: &mut Random| {
        let mac = mac("HMAC-SHA256", &[7; 32]);
        let right = mac.tag(&[], &[7; MESSAGE_BYTES]).expect("no limit");
        let samples = Samples::take(
            count,
            random,
            right,
            |tag, is_wrong, _| *tag = changed(&right, 0, is_wrong),
            |tag| {
                black_box(leaks::is_equal_so_far(tag.as_bytes(), right.as_bytes()));
            },
        );
        samples.largest_t()
    };
    ("a planted comparison that ends early".into(), Box::new(test))
}

/// Times the all-zero key and random ones.
fn key_set_up(name: &'static str) -> Test {
    let test = move |count: usize, random: &mut Random| {
        let (algorithm, message) = (algorithm(name), [7; MESSAGE_BYTES]);
        let nonce = &[9; 16][..*algorithm.nonce_bytes().end()];
        let samples = Samples::take(
            count,
            random,
            vec![0; algorithm.new_key_bytes()],
            |key, is_random, random| {
                random.fill(key);
                let mask = mask(is_random);
                key.iter_mut().for_each(|byte| *byte &= mask);
            },
            |key| {
                let _ = black_box(mac(name, key).tag(nonce, &message));
            },
        );
        samples.largest_t()
    };
    (format!("key set-up and tag of {name}, zero key and random keys"), Box::new(test))
}

/// Times Poly1305-AES with r = 0 and with the largest r.
fn clamped() -> Test {
    let test = |count: usize, random: &mut Random| {
        let samples = Samples::take(
            count,
            random,
            [0; 32],
            |key, is_large, _| key[16..].fill(mask(is_large)),
            |key| {
                let _ = black_box(Poly1305Aes::new(key).tag_with(&[9; 16], &[0xff; 1024]));
            },
        );
        samples.largest_t()
    };
    ("POLY1305-AES, r zero and the largest r".into(), Box::new(test))
}

/// Times PMAC under two keys: the first bit of L is clear for one and set for the other.
fn first_doubling() -> Test {
    let test = |count: usize, random: &mut Random| {
        // The tag of an empty message is E(10*), not L: any two keys will do.
        let mut keys = [[0; 16]; 2];
        keys.iter_mut().for_each(|key| random.fill(key));
        let samples = Samples::take(
            count,
            random,
            keys[0],
            |key, class, _| {
                let mask = mask(class);
                let both = keys[0].iter().zip(&keys[1]);
                key.iter_mut().zip(both).for_each(|(key, (a, b))| *key = a ^ (a ^ b) & mask);
            },
            |key| {
                let _ = black_box(PmacAes128::new(key).tag(&[7; MESSAGE_BYTES]));
            },
        );
        samples.largest_t()
    };
    ("PMAC-AES128 under two random keys".into(), Box::new(test))
}

/// Times UMAC-32 of messages with and without a marked word.
fn marked_words() -> Test {
    let test = |count: usize, random: &mut Random| {
        let mut key = [0; 16];
        random.fill(&mut key);
        let (mac, message) = (Umac32::new(&key), marked::message(&key));
        let (nonce, first) = (1.into(), message[0]);
        let samples = Samples::take(
            count,
            random,
            message,
            // Changes a word of the chunk, and with it the first product.
            |message, is_unmarked, _| message[0] = first ^ mask(is_unmarked) & 1,
            |message| {
                let _ = black_box(mac.tag_with(&nonce, message));
            },
        );
        samples.largest_t()
    };
    ("UMAC-32, with and without a marked word".into(), Box::new(test))
}
