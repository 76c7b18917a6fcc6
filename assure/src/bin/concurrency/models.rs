//! Models of the library's small state machines: each atomic operation of the sources is a step.

use assure::Job;

use crate::model::{Model, Step, explore};

/// Explores all models and counts their states.
pub fn run(job: &Job) {
    let mut states = 0;
    let mut explored = |name: &str, (found, verdict): (u64, Result<(), String>)| {
        states += found;
        job.checks(found - 1);
        job.check(verdict.is_ok(), || format!("model {name}: {}", verdict.unwrap_err()));
    };
    let most = job.either(3, 4);
    for threads in 2..=most {
        for budget in 1..=threads as u8 {
            let locked = !job.planted("budget-read-then-written");
            explored("of a budget", explore(Meter::new(threads, budget, locked)));
        }
        for helpers in 1..=3 {
            let exchanged = !job.planted("helpers-taken-without-exchange");
            explored("of idle helpers", explore(Idle::new(threads, helpers, exchanged)));
        }
        for passes in [false, true] {
            let early = job.planted("verdict-before-the-test");
            explored("of a self-test", explore(SelfTest::new(threads, passes, early)));
        }
        let planted = [job.planted("reader-while-written"), job.planted("readers-one-by-one")];
        for readers in 1..=threads {
            explored("of a slot in C", explore(Slot::new(threads, readers, planted)));
        }
        for forks in 0..threads {
            let waits = job.planted("pool-waited-for-after-fork");
            explored("of a pool's start", explore(Start::new(threads, forks, waits)));
        }
    }
    job.note(&format!("{states} states of five models, in every order of up to {most} threads"));
}

/// `meter.rs`: `verifying` counts a failure under the lock, verifies, and subtracts it again under
/// the lock. Even threads have a wrong tag, odd ones a correct one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Meter {
    budget: u8,
    left: u8,
    held: Option<usize>,
    locked: bool,
    at: Vec<u8>,
    read: Vec<u8>,
    failed: u8,
    refused: u8,
}

impl Meter {
    fn new(threads: usize, budget: u8, locked: bool) -> Meter {
        let (at, read) = (vec![0; threads], vec![0; threads]);
        Meter { budget, left: budget, held: None, locked, at, read, failed: 0, refused: 0 }
    }
}

impl Model for Meter {
    fn threads(&self) -> usize {
        self.at.len()
    }

    fn step(&mut self, thread: usize) -> Step {
        let is_right = thread % 2 == 1;
        match self.at[thread] {
            // Locks, to count or to subtract.
            0 | 4 if self.locked && self.held.is_some() => return Step::Waits,
            0 | 4 => self.held = Some(thread),
            1 | 5 => self.read[thread] = self.left,
            2 if self.read[thread] == 0 => {
                (self.held, self.refused) = (None, self.refused + 1);
                self.at[thread] = 7;
                return Step::Ran;
            }
            2 => (self.left, self.held) = (self.read[thread] - 1, None),
            // Verifies without a lock.
            3 if is_right => {}
            3 => {
                self.failed += 1;
                self.at[thread] = 7;
                return Step::Ran;
            }
            6 => (self.left, self.held) = (self.read[thread] + 1, None),
            _ => return Step::Ended,
        }
        self.at[thread] += 1;
        Step::Ran
    }

    fn holds(&self) -> Result<(), String> {
        let (budget, failed) = (self.budget, self.failed);
        if failed <= budget { Ok(()) } else { Err(format!("{failed} failures of {budget}")) }
    }

    fn ended(&self) -> Result<(), String> {
        let (left, expected) = (self.left, self.budget - self.failed);
        if left == expected {
            Ok(())
        } else {
            Err(format!("expected {expected} left, found {left}"))
        }
    }
}

/// `threads/pool.rs`: `take` exchanges the number of idle helpers, and dropping `Helpers` adds to
/// it. Each thread asks for two, twice.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Idle {
    helpers: u8,
    idle: u8,
    exchanged: bool,
    at: Vec<u8>,
    read: Vec<u8>,
    taken: Vec<u8>,
}

impl Idle {
    fn new(threads: usize, helpers: u8, exchanged: bool) -> Idle {
        let zeros = vec![0; threads];
        let (at, read, taken) = (zeros.clone(), zeros.clone(), zeros);
        Idle { helpers, idle: helpers, exchanged, at, read, taken }
    }
}

impl Model for Idle {
    fn threads(&self) -> usize {
        self.at.len()
    }

    fn step(&mut self, thread: usize) -> Step {
        match self.at[thread] % 3 {
            _ if self.at[thread] == 6 => return Step::Ended,
            0 => self.read[thread] = self.idle,
            // The exchange fails if the number has changed, and reads it again.
            1 if self.exchanged && self.idle != self.read[thread] => {
                self.read[thread] = self.idle;
                return Step::Ran;
            }
            1 => {
                self.taken[thread] = self.read[thread].min(2);
                self.idle = self.read[thread] - self.taken[thread];
            }
            _ => self.idle += std::mem::take(&mut self.taken[thread]),
        }
        self.at[thread] += 1;
        Step::Ran
    }

    fn holds(&self) -> Result<(), String> {
        let (taken, helpers) = (self.taken.iter().sum::<u8>(), self.helpers);
        if taken <= helpers { Ok(()) } else { Err(format!("{taken} helpers of {helpers} at work")) }
    }

    fn ended(&self) -> Result<(), String> {
        let (idle, helpers) = (self.idle, self.helpers);
        if idle == helpers {
            Ok(())
        } else {
            Err(format!("expected {helpers} idle helpers, found {idle}"))
        }
    }
}

/// `isa/usable.rs`: a thread that finds no verdict runs the self-test and stores the result.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SelfTest {
    passes: bool,
    early: bool,
    verdict: u8,
    at: Vec<u8>,
    said: Vec<Option<bool>>,
}

impl SelfTest {
    fn new(threads: usize, passes: bool, early: bool) -> SelfTest {
        SelfTest { passes, early, verdict: 0, at: vec![0; threads], said: vec![None; threads] }
    }
}

impl Model for SelfTest {
    fn threads(&self) -> usize {
        self.at.len()
    }

    fn step(&mut self, thread: usize) -> Step {
        match self.at[thread] {
            0 if self.verdict != 0 => {
                self.said[thread] = Some(self.verdict == 1);
                self.at[thread] = 3;
                return Step::Ran;
            }
            // Planted: a verdict visible to others while the test still runs.
            0 if self.early => self.verdict |= 1,
            0 | 1 => {}
            2 => {
                self.verdict |= if self.passes { 1 } else { 2 };
                self.said[thread] = Some(self.passes);
            }
            _ => return Step::Ended,
        }
        self.at[thread] += 1;
        Step::Ran
    }

    fn holds(&self) -> Result<(), String> {
        match self.said.iter().flatten().find(|&&said| said != self.passes) {
            Some(said) => Err(format!("expected {}, found {said}", self.passes)),
            None => Ok(()),
        }
    }

    fn ended(&self) -> Result<(), String> {
        if self.verdict < 3 { Ok(()) } else { Err("two verdicts were stored".into()) }
    }
}

/// `slot.rs` of the C library, and `held.rs` of the provider for OpenSSL: a reader increments the
/// lock, and a writer takes it at zero. A session's nonce is read and written under it. The first
/// threads read, the others each use a nonce, and a refusal ends the call. A reader may be refused
/// only because of a writer.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Slot {
    blind: bool,
    one_by_one: bool,
    readers: usize,
    lock: u8,
    next: u8,
    at: Vec<u8>,
    read: Vec<u8>,
    nonces: Vec<u8>,
    without_cause: bool,
}

impl Slot {
    const WRITE: u8 = u8::MAX;

    fn new(threads: usize, readers: usize, [blind, one_by_one]: [bool; 2]) -> Slot {
        let (at, read, nonces) = (vec![0; threads], vec![0; threads], Vec::new());
        let (lock, next, without_cause) = (0, 0, false);
        Slot { blind, one_by_one, readers, lock, next, at, read, nonces, without_cause }
    }
}

impl Model for Slot {
    fn threads(&self) -> usize {
        self.at.len()
    }

    fn step(&mut self, thread: usize) -> Step {
        let (reads, free) = (thread < self.readers, self.lock == 0 || self.blind);
        let refused = match reads {
            true if self.one_by_one => !free,
            true => self.lock == Slot::WRITE && !self.blind,
            false => !free,
        };
        match (self.at[thread], reads) {
            (0, _) if refused => {
                self.at[thread] = 3;
                self.without_cause |= reads && self.lock != Slot::WRITE;
                return Step::Ran;
            }
            (0, true) => self.lock = if self.blind { self.lock } else { self.lock + 1 },
            (0, false) => self.lock = Slot::WRITE,
            (1, _) => self.read[thread] = self.next,
            (2, true) => self.lock = if self.blind { self.lock } else { self.lock - 1 },
            (2, false) => {
                self.nonces.push(self.read[thread]);
                self.nonces.sort_unstable();
                (self.next, self.lock) = (self.read[thread] + 1, 0);
            }
            _ => return Step::Ended,
        }
        self.at[thread] += 1;
        Step::Ran
    }

    fn holds(&self) -> Result<(), String> {
        if self.without_cause {
            return Err("a reader was refused although only readers were active".into());
        }
        match self.nonces.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("nonce {} was used for two messages", pair[0])),
            None => Ok(()),
        }
    }

    fn ended(&self) -> Result<(), String> {
        if self.lock == 0 { Ok(()) } else { Err("the slot stayed locked".into()) }
    }
}

/// `threads/pool.rs`: `Pool::get`, where thread `forks` forks at any moment and continues alone in
/// the child. It must not wait for a start that no thread will complete.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Start {
    waits: bool,
    forks: usize,
    starting: Option<usize>,
    made: u8,
    is_child: bool,
    at: Vec<u8>,
}

impl Start {
    fn new(threads: usize, forks: usize, waits: bool) -> Start {
        Start { waits, forks, starting: None, made: 0, is_child: false, at: vec![0; threads] }
    }
}

impl Model for Start {
    fn threads(&self) -> usize {
        // The extra one is the fork.
        self.at.len() + 1
    }

    fn step(&mut self, thread: usize) -> Step {
        if thread == self.at.len() {
            if self.is_child || self.at[self.forks] > 1 {
                return Step::Ended;
            }
            self.is_child = true;
            return Step::Ran;
        }
        if self.is_child && thread != self.forks {
            return Step::Ended;
        }
        match self.at[thread] {
            // Looks at the pool, without waiting.
            0 if self.made > 0 => self.at[thread] = 4,
            0 => {}
            // Begins the start if it is the first.
            1 => match self.starting {
                Some(other) if self.waits && other != thread && self.made == 0 => {
                    return Step::Waits;
                }
                Some(_) => self.at[thread] = 4,
                None => self.starting = Some(thread),
            },
            2 => self.made += 1,
            3 => {}
            _ => return Step::Ended,
        }
        self.at[thread] += 1;
        Step::Ran
    }

    fn holds(&self) -> Result<(), String> {
        let made = self.made;
        if made < 2 { Ok(()) } else { Err(format!("expected one pool, found {made}")) }
    }

    fn ended(&self) -> Result<(), String> {
        Ok(())
    }
}
