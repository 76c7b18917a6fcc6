//! State shared by threads: first uses, one key, one budget, one session, the pool.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use tagmac::{PmacAes128, Tag, threads};
use tagmac_any::bounds::Theorem;
use tagmac_any::meter::{Budget, Metered, MeteredVerifyError, Usage};
use tagmac_any::{Algorithm, AnyMac, Session};

/// Replaces the system's function and reports four cores, so that the pool has three helpers on any
/// machine; on fewer cores they take turns.
///
/// # Safety
///
/// As for the system's: `set` has space for `bytes` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(_process: i32, bytes: usize, set: *mut u8) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        set.write_bytes(0, bytes);
        set.write(0b1111);
    }
    0
}

/// Counts the pool's helpers in this process.
pub fn helpers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("tagmac-")).count()
}

/// Counts a check and reports the text if it failed.
pub type Check<'a> = dyn Fn(bool, &str) + Sync + 'a;

/// The amount of work, and the planted bug.
pub struct Plan<'a> {
    pub threads: usize,
    pub rounds: usize,
    pub algorithms: Vec<Algorithm>,
    pub planted: &'a str,
}

pub fn run(plan: &Plan<'_>, check: &Check<'_>) {
    first_use(plan, check);
    one_key(plan, check);
    one_budget(plan, check);
    one_reserve(plan, check);
    one_session(plan, check);
    pool(plan, check);
}

fn together(threads: usize, work: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(thread);
            });
        }
    });
}

fn key(algorithm: Algorithm, number: usize) -> Vec<u8> {
    (0..algorithm.new_key_bytes()).map(|i| (i * 7 + number) as u8).collect()
}

fn messages(algorithm: Algorithm) -> Vec<Vec<u8>> {
    let limit = algorithm.max_message_bytes().unwrap_or(u64::MAX) as usize;
    [3, 100, 1000, 9000].map(|length: usize| vec![0x37; length.min(limit)]).into()
}

fn nonce(algorithm: Algorithm) -> &'static [u8] {
    &[9; 16][..*algorithm.nonce_bytes().end()]
}

/// All threads make their first key of an algorithm at once: the first one detects and tests
/// levels.
fn first_use(plan: &Plan<'_>, check: &Check<'_>) {
    for &algorithm in &plan.algorithms {
        let tags = Mutex::new(Vec::new());
        together(plan.threads, |thread| {
            let number = usize::from(plan.planted == "another-key" && thread == 1);
            let mac =
                AnyMac::new(algorithm, &key(algorithm, number)).expect("a key of the right length");
            let tag = mac.tag(nonce(algorithm), b"the first message").expect("short");
            tags.lock().expect("no panic").push(tag);
        });
        let tags = tags.into_inner().expect("no panic");
        for tag in &tags {
            check(*tag == tags[0], &format!("{algorithm}: threads got different first tags"));
        }
    }
}

/// All threads need the tables of a key that has not made them yet.
fn one_key(plan: &Plan<'_>, check: &Check<'_>) {
    for round in 0..plan.rounds {
        for &algorithm in &plan.algorithms {
            let (key, messages) = (key(algorithm, round), messages(algorithm));
            let make = || AnyMac::new(algorithm, &key).expect("a key of the right length");
            let tag = |mac: &AnyMac, message: &Vec<u8>| {
                mac.tag(nonce(algorithm), message).expect("short")
            };
            let (right, shared) = (make(), make());
            let expected: Vec<Tag> = messages.iter().map(|message| tag(&right, message)).collect();
            together(plan.threads, |thread| {
                for i in 0..messages.len() {
                    let i = (i + thread) % messages.len();
                    let found = tag(&shared, &messages[i]);
                    check(found == expected[i], &format!("{algorithm}: wrong tag of a shared key"));
                    let mut stream = shared.stream(nonce(algorithm)).expect("a nonce");
                    stream.update(&messages[i]);
                    let found = stream.tag().expect("short");
                    check(
                        found == expected[i],
                        &format!("{algorithm}: wrong stream tag of a shared key"),
                    );
                }
            });
        }
    }
}

fn budget(messages: u64, failures: u64) -> Budget {
    let theorem = Theorem::Pmac { n: 128, t: 128 };
    let mut budget = Budget::new(theorem, 1 << 20, 1e-9).expect("a probability");
    (budget.messages, budget.failures) = (messages, failures);
    budget
}

/// Threads tag and verify correct and wrong tags until the budget is used up.
fn one_budget(plan: &Plan<'_>, check: &Check<'_>) {
    let wrong = Tag::new(&[0; 16], 128).expect("16 bytes");
    for round in 0..plan.rounds {
        let (messages, failures) = (40 + round as u64 % 7, 11);
        let make = || {
            let mac = PmacAes128::new(&[7; 16]);
            Metered::new(mac, budget(messages, failures), Usage::default()).expect("an empty usage")
        };
        let right = PmacAes128::new(&[7; 16]).tag(b"message").expect("short");
        let meters = [make(), make()];
        let (tagged, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        together(plan.threads, |thread| {
            // Planted: two counters, so that threads do not see each other's counts.
            let meter = &meters[usize::from(plan.planted == "two-counts") * (thread % 2)];
            for _ in 0..30 {
                if meter.tag(b"message").is_ok() {
                    tagged.fetch_add(1, Ordering::Relaxed);
                }
                match meter.verify(b"message", &wrong) {
                    Err(MeteredVerifyError::Mismatch) => _ = failed.fetch_add(1, Ordering::Relaxed),
                    verdict => check(verdict.is_err(), "a wrong tag was accepted"),
                }
                let verdict = meter.verify(b"message", &right);
                let passes = !matches!(verdict, Err(MeteredVerifyError::Mismatch));
                check(passes, "a correct tag was refused");
            }
        });
        let (tagged, failed) = (tagged.into_inner(), failed.into_inner());
        let told = format!("{tagged} tags and {failed} failures of {messages} and {failures}");
        check(tagged <= messages && failed <= failures, &told);
        let used = meters[0].usage();
        let counts = (used.messages, used.failures);
        check(counts == (tagged, failed), &format!("{told}, counted as {counts:?}"));
    }
}

/// Threads reserve and tag: the count never exceeds the budget.
fn one_reserve(plan: &Plan<'_>, check: &Check<'_>) {
    for _ in 0..plan.rounds {
        let mac = PmacAes128::new(&[7; 16]);
        let meter = Metered::new(mac, budget(1000, 10), Usage::default()).expect("an empty usage");
        let tagged = AtomicU64::new(0);
        together(plan.threads, |_| {
            for _ in 0..20 {
                let _ = meter.reserve(13, 13 * 16);
                for _ in 0..9 {
                    if meter.tag(b"message").is_ok() {
                        tagged.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        let (tagged, used) = (tagged.into_inner(), meter.usage().messages);
        check(tagged <= used && used <= 1000, &format!("{tagged} tags, {used} counted of 1000"));
    }
}

/// Threads share one session: nonces never repeat, and the budget ends for all.
fn one_session(plan: &Plan<'_>, check: &Check<'_>) {
    let umac = Algorithm::from_name("UMAC-64").expect("a name in the registry");
    for round in 0..plan.rounds {
        let mac = AnyMac::new(umac, &key(umac, round)).expect("a key of the right length");
        let mut budget = mac.budget(None, None).expect("no bound");
        budget.messages = 200;
        let make = || Session::new(mac.clone(), &[0; 8], budget).expect("a nonce");
        let sessions = [Mutex::new(make()), Mutex::new(make())];
        let sent = Mutex::new(Vec::new());
        together(plan.threads, |thread| {
            // Planted: two sessions under one key.
            let session = &sessions[usize::from(plan.planted == "two-sessions") * (thread % 2)];
            for _ in 0..30 {
                let made = session.lock().expect("no panic").tag(b"packet");
                if let Ok((nonce, tag)) = made {
                    let right = mac.verify(nonce.as_bytes(), b"packet", &tag).is_ok();
                    check(right, "a session's tag does not verify");
                    sent.lock().expect("no panic").push(nonce.as_bytes().to_vec());
                }
            }
        });
        let sent = sent.into_inner().expect("no panic");
        let distinct = sent.iter().collect::<HashSet<_>>().len();
        let expected = (30 * plan.threads).min(200);
        let told = format!("{} packets under {distinct} nonces, expected {expected}", sent.len());
        check(distinct == sent.len() && sent.len() == expected, &told);
    }
}

/// Threads that all want the pool's helpers.
fn pool(plan: &Plan<'_>, check: &Check<'_>) {
    let message = vec![0x5a; 1 << 20];
    let mac = Arc::new(PmacAes128::new(&[7; 16]));
    let expected = mac.tag(&message).expect("short");
    for _ in 0..plan.rounds {
        together(plan.threads.min(8), |thread| {
            let message = &message
                [..message.len() - usize::from(plan.planted == "lost-piece" && thread == 0)];
            let found = threads::tag(&*mac, &(), message, 0).expect("short");
            check(found == expected, "wrong tag by the pool");
        });
    }
    check(helpers() > 0, "the pool has no helpers");
}
