//! Forks while the pool waits and while it works: the child has none of its threads, and must still
//! compute correct tags.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use assure::Job;
use tagmac::{PmacAes128, Tag, threads};

/// The time limit of a child, which has a millisecond of work: a slower one hangs.
const PATIENCE: Duration = Duration::from_secs(120);

pub fn run(job: &Job) {
    let message = vec![0x5a; 1 << 20];
    let mac = PmacAes128::new(&[7; 16]);
    let expected = mac.tag(&message).expect("short");
    check_tag(job, &mac, &message, &expected);
    // A child that hangs takes until its time limit: once is enough.
    let children = if job.planted("pool-of-the-parent") { 1 } else { job.either(20, 300) };
    for _ in 0..children {
        one(job, "while a pool waits", &mac, &message, &expected);
    }
    let (ends, began) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    check_tag(job, &mac, &message, &expected);
                    began.store(true, Ordering::Relaxed);
                }
            });
        }
        while !began.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for _ in 0..children {
            one(job, "while a pool works", &mac, &message, &expected);
        }
        ends.store(true, Ordering::Relaxed);
    });
}

fn check_tag(job: &Job, mac: &PmacAes128, message: &[u8], expected: &Tag) {
    let found = threads::tag(mac, &(), message, 0).expect("short");
    job.check(found == *expected, || "the parent's tag by the pool is wrong".into());
}

/// Forks a child that tags with the pool and reports the result by its status.
fn one(job: &Job, when: &str, mac: &PmacAes128, message: &[u8], expected: &Tag) {
    // Planted: a pool that gives its work to a thread that the child does not have.
    let waits = job.planted("pool-of-the-parent").then(worker);
    // SAFETY: the child only calls the library, which holds no lock that another thread could own,
    // and exits.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            if let Some((ask, answer)) = waits {
                let _ = ask.send(());
                let _ = answer.recv();
            }
            let mut right = threads::tag(mac, &(), message, 0).as_ref() == Ok(expected);
            right &= mac.tag(&message[..99]) == PmacAes128::new(&[7; 16]).tag(&message[..99]);
            if job.planted("wrong-in-the-child") {
                right &= mac.tag(&message[..1]).as_ref() == Ok(expected);
            }
            // SAFETY: ends this process without running the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!right)) };
        }
        child => {
            let found = end(child, if waits.is_some() { PATIENCE / 60 } else { PATIENCE });
            job.check(found == Some(0), || match found {
                None => format!("a child {when} hangs"),
                Some(status) => format!("a child {when} computed wrong tags: status {status}"),
            });
        }
    }
}

type Ask = (std::sync::mpsc::Sender<()>, std::sync::mpsc::Receiver<()>);

/// Starts a thread that answers.
fn worker() -> Ask {
    let (ask, asked) = std::sync::mpsc::channel();
    let (answer, answered) = std::sync::mpsc::channel();
    std::thread::spawn(move || while asked.recv().is_ok() && answer.send(()).is_ok() {});
    (ask, answered)
}

/// Returns the status of a child; `None` for one that had to be killed.
fn end(child: i32, patience: Duration) -> Option<i32> {
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        if unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == child {
            return Some(status);
        }
        if begin.elapsed() > patience {
            // SAFETY: the same child, which has not been waited for.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
