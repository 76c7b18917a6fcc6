//! Runs a target of `assure/targets` under libFuzzer, which owns the command line. So environment
//! variables name the target and its planted bug.

#![no_main]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fuzz_targets::{PLANTS, TARGETS, Target, by_name, corpus};

/// The maximum of bytes that are allocated at a time.
const MEMORY: usize = 192 << 20;

/// Counts allocated bytes, including those that are never touched.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(MEMORY);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize) {
    let before = BYTES.fetch_add(bytes, Ordering::Relaxed);
    if before.saturating_add(bytes) > LIMIT.load(Ordering::Relaxed) {
        // The message needs memory, too.
        LIMIT.store(usize::MAX, Ordering::Relaxed);
        panic!("out of memory: {bytes} more bytes would exceed {MEMORY}");
    }
}

// SAFETY: every call is passed on to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

static TARGET: OnceLock<&Target> = OnceLock::new();

fn init() {
    let name = std::env::var("TAGMAC_FUZZ_TARGET").unwrap_or_default();
    if let Ok(folder) = std::env::var("TAGMAC_FUZZ_UNPACK") {
        let asked = TARGETS.iter().filter(|target| name.is_empty() || name == target.name);
        asked.for_each(|target| unpack(Path::new(&folder), target));
        process::exit(0);
    }
    let target = by_name(&name).expect("a target of assure/targets");
    TARGET.set(target).ok().expect("called once");
    if let Ok(name) = std::env::var("TAGMAC_FUZZ_PLANT") {
        let plant = PLANTS.iter().find(|(_, planted, _)| *planted == name);
        plant.expect("a planted bug in assure/targets").0.set();
    }
}

/// Writes a target's seeds and corpus, one input per file, as libFuzzer reads them.
fn unpack(folder: &Path, target: &Target) {
    let folder = folder.join(target.name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let inputs = (target.seeds)().into_iter().chain(corpus::read(target.name));
    for (number, input) in inputs.enumerate() {
        std::fs::write(folder.join(format!("{number:05}")), input).expect("a file");
    }
    println!("{} {} {} {}", target.name, target.max_len, target.runs, target.parses);
}

libfuzzer_sys::fuzz_target!(init: init(), |data: &[u8]| {
    (TARGET.get().expect("set at the start").run)(data);
});
