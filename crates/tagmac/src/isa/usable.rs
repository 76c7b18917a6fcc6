//! Detection and self-tests of levels.

use core::sync::atomic::{AtomicU8, Ordering};

use super::lanes::Isa;
use super::level::{DETECT, Kernel, Level};
use super::self_test;

/// The status of a level on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Available.
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
        // There is no level to fall back to from the portable one. The known answers of
        // constructions detect its errors.
        !I::AES_INSTRUCTIONS || self_test::passes(isa)
    }
}

/// The state of a construction's self-test on each level, in this process. It is one byte per
/// level, so that a key for one message costs only a comparison. A level's own operations are
/// tested before its first use. Each construction has a separate test, so that a program contains
/// only the kernels of the MACs that it uses.
///
/// Use a `static` for each construction. [`Level::passing`] runs the test and stores its result:
///
/// ```
/// use tagmac::isa::{Level, SelfTest};
///
/// fn passing(level: Level) -> Level {
///     static TEST: SelfTest = SelfTest::new();
/// // A real test checks a known answer on this level.
///     level.passing(&TEST, |level| level.name() != "aesni")
/// }
///
/// assert_ne!(passing(Level::best()).name(), "aesni");
/// ```
pub struct SelfTest([AtomicU8; DETECT.len()]);

#[cfg(test)]
std::thread_local! {
    /// The number of self-tests that constructions requested in this thread, for testing.
    pub(crate) static ASKED: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

impl SelfTest {
    const PASSED: u8 = 1;
    const FAILED: u8 = 2;

    /// Returns a test that has not run yet.
    #[allow(clippy::new_without_default, reason = "only used in statics")]
    pub const fn new() -> Self {
        SelfTest([const { AtomicU8::new(0) }; DETECT.len()])
    }

    /// The result on a level; 0 if the test has not run.
    #[inline(always)]
    fn verdict(&self, level: Level) -> &AtomicU8 {
        &self.0[level.place()]
    }

    /// Returns whether a level passes. The test runs once.
    fn passes(&self, level: Level, test: impl Fn(Level) -> bool) -> bool {
        match self.verdict(level).load(Ordering::Relaxed) {
            0 => {
                let passes = test(level);
                let verdict = if passes { SelfTest::PASSED } else { SelfTest::FAILED };
                #[cfg(target_has_atomic = "8")]
                self.verdict(level).fetch_or(verdict, Ordering::Relaxed);
                // CPUs with one core that cannot do both in one step, such as a Cortex-M0.
                #[cfg(not(target_has_atomic = "8"))]
                self.verdict(level).store(verdict, Ordering::Relaxed);
                passes
            }
            verdict => verdict == SelfTest::PASSED,
        }
    }
}

/// The known answer of a construction, the first bytes of a tag, which it must reproduce on a level
/// before it runs there.
pub(crate) struct KnownAnswer {
    pub(crate) answer: u128,
    pub(crate) test: SelfTest,
}

impl KnownAnswer {
    /// An answer that was not checked yet.
    pub(crate) const fn new(answer: u128) -> Self {
        KnownAnswer { answer, test: SelfTest::new() }
    }
}

impl Level {
    /// Returns the highest usable level. There is always one: the portable level needs no CPU
    /// features, and the known answers of MACs test its operations.
    #[inline]
    pub fn best() -> Level {
        let best = (0..DETECT.len()).rev().find_map(|place| Level::usable(place).ok());
        best.expect("the portable level is always usable")
    }

    /// Returns every usable level, lowest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..DETECT.len()).filter_map(|place| Level::usable(place).ok())
    }

    /// Returns the level with this name. Case is ignored.
    ///
    /// # Errors
    ///
    /// [`UnusableLevel`] if no level has this name, the CPU does not support it, or it failed its
    /// self-test.
    pub fn from_name(name: &str) -> Result<Level, UnusableLevel> {
        let place = Level::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let level = Level::usable(place.ok_or(UnusableLevel(None))?);
        level.map_err(|status| UnusableLevel(Some(status)))
    }

    /// Returns the status of the level with this name, or `None` if this architecture has no such
    /// level.
    pub fn status(name: &str) -> Option<Status> {
        match Level::from_name(name) {
            Ok(_) => Some(Status::Usable),
            Err(UnusableLevel(status)) => status,
        }
    }

    /// The level at index `place` of `DETECT`, if the CPU has it and its operations pass.
    fn usable(place: usize) -> Result<Level, Status> {
        static OPERATIONS: SelfTest = SelfTest::new();
        let level = DETECT[place]().ok_or(Status::Unsupported)?;
        let passes = OPERATIONS.passes(level, |level| level.run(Operations));
        if passes { Ok(level) } else { Err(Status::SelfTestFailed) }
    }

    /// Returns the highest level up to this one on which a construction passes its test. Keys are
    /// made for this level. The test runs once on a level, and on a lower level only after a
    /// failure.
    ///
    /// # Panics
    ///
    /// If no level passes, because of a broken machine or compiler.
    #[inline(always)]
    pub fn passing(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        #[cfg(test)]
        ASKED.set(ASKED.get() + 1);
        let verdict = known.verdict(self).load(Ordering::Relaxed);
        if verdict == SelfTest::PASSED { self } else { self.tested(known, test) }
    }

    /// Cold, so that one-message keys stay fast.
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
