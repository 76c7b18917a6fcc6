//! What threads share, once more: a program of its own, which `assure/concurrency.py` builds with
//! ThreadSanitizer.

#[allow(dead_code, reason = "some of it is for the job alone")]
mod shared;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tagmac::dynamic::Algorithm;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, rounds, planted] = &arguments[..] else {
        eprintln!("usage: tsan THREADS ROUNDS PLANTED");
        return ExitCode::from(2);
    };
    let (checked, failed) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let check = |right: bool, told: &str| {
        checked.fetch_add(1, Ordering::Relaxed);
        if !right {
            failed.lock().expect("no panic").push(told.to_string());
        }
    };
    let number = |text: &String| text.parse().expect("a number");
    let (threads, rounds) = (number(threads), number(rounds));
    let algorithms = Algorithm::all().collect();
    shared::run(&shared::Plan { threads, rounds, algorithms, planted }, &check);
    let failed = failed.into_inner().expect("no panic");
    failed.iter().for_each(|told| println!("failed: {told}"));
    println!("tsan: {} checked, {} failed", checked.into_inner(), failed.len());
    ExitCode::from(u8::from(!failed.is_empty()))
}
