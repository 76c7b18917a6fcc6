//! Secrets are erased when their owner is dropped: no window of the key, or of values derived from
//! it, may remain in a block of the heap or on the stack.
//!
//! The windows come from the memory of live keys (`known.rs`). The heap preserves freed blocks
//! (`heap.rs`), and a scenario has a separate stack (`stack.rs`), so that both can be read as they
//! were left. The C library and the command run in other processes, and their memory is read from
//! outside. Registers are not searched.

mod any;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod c;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod command;
mod heap;
mod known;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod stack;
mod typed;

use std::hint::black_box;
use std::process::ExitCode;

use assure::{Job, Random};
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

use any::Case;
use known::{Known, told};
use stack::Stack;

/// Each leaves a secret where one of the searches must find it.
const PLANTS: [&str; 8] = [
    "row-without-stack",
    "block-freed-with-the-key",
    "copy-on-the-stack",
    "never-dropped",
    "without-zeroize",
    "typed-never-dropped",
    "c-key-not-freed",
    "command-stopped-before-its-end",
];

/// Called while a scenario holds secrets, to record the contents of its blocks.
type Learn<'a> = dyn FnMut() + 'a;

/// Runs scenarios and searches the memory afterwards.
struct Search<'a> {
    job: &'a Job,
    stack: Stack,
    deepest: usize,
    windows: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, child, algorithm, how] = &arguments[..]
        && child == c::CHILD
    {
        return c::child(algorithm, how);
    }
    let job = match Job::from_args("secrets", &PLANTS) {
        Ok(job) => job,
        Err(code) => return code,
    };
    let mut search = Search { job: &job, stack: Stack::new(), deepest: 0, windows: 0 };
    let levels: Vec<Level> = Level::all().collect();
    let few = [levels[0], levels[levels.len() - 1]];
    let levels = if job.full() { &levels[..] } else { &few };
    for algorithm in Algorithm::all() {
        for keys in lengths(algorithm).map(|length| keys_of(algorithm, length)) {
            for &level in levels {
                search.any(algorithm, level, &keys);
            }
        }
    }
    for typed in &typed::ALL {
        for &level in levels {
            search.typed(typed, level);
        }
    }
    let (deepest, windows) = (search.deepest, search.windows);
    job.note(&format!("{windows} windows were looked for, on stacks of up to {deepest} bytes"));
    c::run(&job);
    command::run(&job);
    job.finish()
}

/// Length of the longest key in bytes: more than a block of SHA-256.
const LONGEST: usize = 131;

/// Returns the key lengths of an algorithm in bytes: new keys, and one that HMAC hashes first.
fn lengths(algorithm: Algorithm) -> impl Iterator<Item = usize> {
    let long = algorithm.key_bytes().contains(&LONGEST).then_some(LONGEST);
    std::iter::once(algorithm.new_key_bytes()).chain(long)
}

/// Returns two new keys of an algorithm, the same in every run.
fn keys(algorithm: Algorithm) -> [Vec<u8>; 2] {
    keys_of(algorithm, algorithm.new_key_bytes())
}

fn keys_of(algorithm: Algorithm, length: usize) -> [Vec<u8>; 2] {
    let seed = algorithm.name().bytes().fold(11, |seed, byte| seed * 31 + u64::from(byte));
    let mut random = Random::new(seed);
    [(); 2].map(|()| random.bytes(length))
}

/// Returns all windows of a key of the registry that has tagged messages.
fn known(algorithm: Algorithm, keys: &[Vec<u8>; 2]) -> Known {
    let id = AnyMac::new(algorithm, &keys[0]).expect("a key of the right length").key_id();
    let messages = any::messages(algorithm);
    let mut known = Known::default();
    for case in [Case::Tag, Case::Stream] {
        let play = |key: &[u8], learn: &mut Learn<'_>| {
            drop(any::play(case, algorithm, Level::best(), &messages, key, learn));
        };
        known.extend(&learned(&mut Stack::new(), keys, id.as_bytes(), &play));
    }
    known
}

/// Returns the contents of a scenario's blocks that depend on the key.
fn learned(
    stack: &mut Stack,
    keys: &[Vec<u8>; 2],
    public: &[u8],
    play: &dyn Fn(&[u8], &mut Learn<'_>),
) -> Known {
    // One run before, for values that a process computes only once, such as verdicts on levels.
    play(&keys[0], &mut || ());
    let seen = [&keys[0], &keys[1]].map(|key| {
        let mut seen = Vec::with_capacity(64);
        heap::begin();
        stack.run(&mut || play(key, &mut || seen.push(heap::live())));
        heap::end();
        seen
    });
    let mut known = Known::default();
    known.secret("the key", &keys[0]);
    for (moment, (first, second)) in seen[0].iter().zip(&seen[1]).enumerate() {
        for (block, (first, second)) in first.iter().zip(second).enumerate() {
            let name = format!("moment {moment}, block {block} of {} bytes", first.len());
            known.differences(&name, first, second, public);
        }
    }
    known
}

impl Search<'_> {
    fn any(&mut self, algorithm: Algorithm, level: Level, keys: &[Vec<u8>; 2]) {
        let id = AnyMac::new(algorithm, &keys[0]).expect("a key of the right length").key_id();
        let messages = any::messages(algorithm);
        for case in Case::ALL {
            if !case.fits(algorithm) {
                continue;
            }
            let (job, make) = (self.job, case == Case::Make);
            let play = |key: &[u8], learn: &mut Learn<'_>| {
                let mac = any::play(case, algorithm, level, &messages, key, learn);
                if job.planted("row-without-stack") {
                    drop_elsewhere(mac);
                } else {
                    drop(mac);
                }
                if make {
                    plant(job, algorithm, key);
                }
            };
            let name = format!("{algorithm} on {level}, {case:?}, keys of {} bytes", keys[0].len());
            self.scenario(&name, keys, id.as_bytes(), &play);
        }
    }

    fn typed(&mut self, typed: &typed::Typed, level: Level) {
        let mut random = Random::new(typed.key as u64);
        let keys = [(); 2].map(|()| random.bytes(typed.key));
        let forgotten = self.job.planted("typed-never-dropped");
        let play = |key: &[u8], learn: &mut Learn<'_>| {
            (typed.play)(key, level, learn);
            tagmac::wipe_stack::<{ 64 << 10 }>();
            if forgotten && typed.name == "PmacAes128" {
                let key = key.try_into().expect("16 bytes");
                std::mem::forget(Box::new(tagmac::PmacAes128::with_level(key, level)));
            }
        };
        self.scenario(&format!("{} on {level}", typed.name), &keys, &[], &play);
    }

    /// Learns the windows, runs once more, and searches.
    fn scenario(
        &mut self,
        name: &str,
        keys: &[Vec<u8>; 2],
        public: &[u8],
        play: &dyn Fn(&[u8], &mut Learn<'_>),
    ) {
        let mut known = learned(&mut self.stack, keys, public, play);
        known.text("the key in hex", c::hex(&keys[0]).as_bytes());
        self.windows += known.len();
        let more = known.len() - keys[0].windows(8).len() - (2 * keys[0].len() - 15);
        self.job.check(more > 0, || format!("{name}: no secrets in live blocks"));
        heap::begin();
        self.stack.run(&mut || play(&keys[0], &mut || ()));
        let blocks = heap::end();
        let (freed, live): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| block.freed);
        for (what, blocks) in [("freed", freed), ("live", live)] {
            let hits: Vec<_> = blocks.iter().flat_map(|block| known.hits(&block.bytes)).collect();
            self.job.check(hits.is_empty(), || {
                format!("{name}: secrets in {what} blocks: {}", told(&hits))
            });
        }
        let hits = known.hits(self.stack.bytes());
        self.deepest = self.deepest.max(self.stack.depth());
        self.job.check(hits.is_empty(), || {
            let top = self.stack.bytes().len();
            let near = hits.last().map_or(0, |hit| top - hit.at);
            let far = hits.first().map_or(0, |hit| top - hit.at);
            let told = told(&hits);
            format!("{name}: secrets on the stack: {told}; {near} to {far} deep")
        });
    }
}

/// Bugs of a library that does not wipe.
fn plant(job: &Job, algorithm: Algorithm, key: &[u8]) {
    if job.planted("block-freed-with-the-key") {
        drop(black_box(key.to_vec()));
    }
    if job.planted("copy-on-the-stack") {
        leave(key);
    }
    if job.planted("never-dropped") {
        std::mem::forget(AnyMac::new(algorithm, key));
    }
    if job.planted("without-zeroize") {
        black_box(assure::plain::tag(algorithm.name(), key, &[9; 16], &[0x11; 100]));
    }
}

/// Handles a row with `stack: 0`: wipes the key, but not the stack of its calls.
fn drop_elsewhere(mac: AnyMac) {
    let mut mac = Some(mac);
    Stack::new().run(&mut || drop(mac.take()));
}

#[inline(never)]
fn leave(key: &[u8]) {
    let mut copy = [0; LONGEST];
    copy[..key.len()].copy_from_slice(key);
    black_box(&mut copy);
}
