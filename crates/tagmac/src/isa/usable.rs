//! Which levels this CPU has, and which of them have proved themselves.

use core::sync::atomic::{AtomicU8, Ordering};

use super::lanes::Isa;
use super::level::{DETECT, Kernel, Level};
use super::self_test;

/// What became of a level on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In use where asked for.
    Usable,
    /// The CPU does not support it.
    Unsupported,
    /// It failed its self-test, so it is never used.
    SelfTestFailed,
}

/// A level that cannot be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusableLevel(Option<Status>);

impl core::fmt::Display for UnusableLevel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            None => {
                let (first, others) = Level::NAMES.split_first().expect("portable");
                write!(f, "expected one of {first}")?;
                others.iter().try_for_each(|name| write!(f, ", {name}"))
            }
            Some(Status::SelfTestFailed) => f.write_str("this level failed its self-test"),
            Some(_) => f.write_str("this CPU does not support the level"),
        }
    }
}

impl core::error::Error for UnusableLevel {}

struct Operations;

impl Kernel for Operations {
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        // No level could take the place of the portable one. What it computes wrong, the known answers
        // of constructions find.
        !I::AES_INSTRUCTIONS || self_test::passes(isa)
    }
}

/// What became of a construction's self-test on each level, in this process: a byte for each, so that a key
/// for one message pays no more than a comparison. The test of a level's own operations comes before its
/// first use; each construction has one of its own, so that a program holds the kernels of those MACs alone
/// that it uses.
///
/// A `static` for each construction. [`Level::passing`] runs the test and keeps its verdict:
///
/// ```
/// use tagmac::isa::{Level, SelfTest};
///
/// fn passing(level: Level) -> Level {
///     static TEST: SelfTest = SelfTest::new();
///     // In earnest: whether the kernels of this level give a known answer.
///     level.passing(&TEST, |level| level.name() != "aesni")
/// }
///
/// assert_ne!(passing(Level::best()).name(), "aesni");
/// ```
pub struct SelfTest([AtomicU8; DETECT.len()]);

#[cfg(test)]
std::thread_local! {
    /// How often a construction asked for a self-test in this thread, for the test that each does.
    pub(crate) static ASKED: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

impl SelfTest {
    const PASSED: u8 = 1;
    const FAILED: u8 = 2;

    /// A test that has not run.
    #[allow(clippy::new_without_default, reason = "there is none but in a static")]
    pub const fn new() -> Self {
        SelfTest([const { AtomicU8::new(0) }; DETECT.len()])
    }

    /// What is known of a level: 0 if nothing is.
    #[inline(always)]
    fn verdict(&self, level: Level) -> &AtomicU8 {
        &self.0[level.place()]
    }

    /// Whether a level passes, which is found out once.
    fn passes(&self, level: Level, test: impl Fn(Level) -> bool) -> bool {
        match self.verdict(level).load(Ordering::Relaxed) {
            0 => {
                let passes = test(level);
                let verdict = if passes { SelfTest::PASSED } else { SelfTest::FAILED };
                self.verdict(level).fetch_or(verdict, Ordering::Relaxed);
                passes
            }
            verdict => verdict == SelfTest::PASSED,
        }
    }
}

/// What a construction must answer on a level before it runs there: the first bytes of a tag.
pub(crate) struct KnownAnswer {
    pub(crate) answer: u128,
    pub(crate) test: SelfTest,
}

impl KnownAnswer {
    /// An answer that nobody was asked for yet.
    pub(crate) const fn new(answer: u128) -> Self {
        KnownAnswer { answer, test: SelfTest::new() }
    }
}

impl Level {
    /// The highest usable level. There always is one: the portable level needs nothing of the CPU, and
    /// its operations are tested by the known answers of the MACs that use them.
    #[inline]
    pub fn best() -> Level {
        let best = (0..DETECT.len()).rev().find_map(|place| Level::usable(place).ok());
        best.expect("the portable level is always usable")
    }

    /// Every usable level, lowest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..DETECT.len()).filter_map(|place| Level::usable(place).ok())
    }

    /// The level of that name, in any case of letters.
    ///
    /// # Errors
    ///
    /// [`UnusableLevel`] if no level has that name, the CPU does not support it, or it failed its
    /// self-test.
    pub fn from_name(name: &str) -> Result<Level, UnusableLevel> {
        let place = Level::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let level = Level::usable(place.ok_or(UnusableLevel(None))?);
        level.map_err(|status| UnusableLevel(Some(status)))
    }

    /// What became of the level of that name; `None` if this architecture has no such level.
    pub fn status(name: &str) -> Option<Status> {
        match Level::from_name(name) {
            Ok(_) => Some(Status::Usable),
            Err(UnusableLevel(status)) => status,
        }
    }

    /// The level at a place of `DETECT`, if the CPU has it and its operations are right.
    fn usable(place: usize) -> Result<Level, Status> {
        static OPERATIONS: SelfTest = SelfTest::new();
        let level = DETECT[place]().ok_or(Status::Unsupported)?;
        let passes = OPERATIONS.passes(level, |level| level.run(Operations));
        if passes { Ok(level) } else { Err(Status::SelfTestFailed) }
    }

    /// This level, or the highest below it on which a construction passes its test: what a key is made
    /// for. The test runs once on a level, and on a lower one only where it failed.
    ///
    /// # Panics
    ///
    /// If there is none: a broken machine or compiler.
    #[inline(always)]
    pub fn passing(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        #[cfg(test)]
        ASKED.set(ASKED.get() + 1);
        let verdict = known.verdict(self).load(Ordering::Relaxed);
        if verdict == SelfTest::PASSED { self } else { self.tested(known, test) }
    }

    /// Out of the way of keys that serve for one message.
    #[cold]
    #[inline(never)]
    fn tested(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        let levels = (0..=self.place()).rev().filter_map(|place| Level::usable(place).ok());
        let mut passing = levels.filter(|level| known.passes(*level, test));
        passing.next().expect("even the portable level fails its self-test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_construction_that_fails_runs_on_a_lower_level() {
        let (test, best) = (SelfTest::new(), Level::best());
        let runs = std::cell::Cell::new(0);
        let portable_alone = |level: Level| {
            runs.set(runs.get() + 1);
            level.place() == 0
        };
        for _ in 0..2 {
            assert_eq!(best.passing(&test, portable_alone).name(), "portable");
        }
        // Each level is tested once.
        assert_eq!(runs.get(), Level::all().count());
    }

    #[test]
    fn why_a_level_cannot_be_used() {
        let said = |why| UnusableLevel(why).to_string();
        assert_eq!(said(Some(Status::SelfTestFailed)), "this level failed its self-test");
        assert_eq!(said(Some(Status::Unsupported)), "this CPU does not support the level");
    }

    #[test]
    #[should_panic(expected = "portable level fails its self-test")]
    fn one_that_fails_everywhere_never_runs() {
        Level::best().passing(&SelfTest::new(), |_| false);
    }
}
