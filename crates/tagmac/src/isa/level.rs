//! Levels: which rungs this CPU has, and which of them have proved themselves.

use core::sync::atomic::{AtomicU32, Ordering};

use super::portable::Portable;
use super::{Isa, self_test};

#[cfg(target_arch = "aarch64")]
use super::aarch64::Neon;
#[cfg(target_arch = "x86_64")]
use super::x86::{Aesni, Avx2, Avx512, Vaes};

/// Work written once and compiled for every rung.
pub trait Kernel {
    /// What the work gives.
    type Out;
    /// Does the work. Needs `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Out;
}

macro_rules! levels {
    ($($(#[$cfg:meta])? $rung:ident),+) => {
        #[derive(Clone, Copy)]
        enum Rung { $($(#[$cfg])? $rung($rung)),+ }

        impl Rung {
            /// Every rung of this architecture, lowest first: the proof, if the CPU has it.
            const DETECT: &[fn() -> Option<Rung>] =
                &[$($(#[$cfg])? || $rung::detect().map(Rung::$rung)),+];
        }

        impl Level {
            /// The names of all rungs of this architecture, lowest first.
            pub const NAMES: &'static [&'static str] = &[$($(#[$cfg])? <$rung as Isa>::NAME),+];

            /// The rung's name.
            pub fn name(self) -> &'static str {
                match self.0 { $($(#[$cfg])? Rung::$rung(_) => <$rung as Isa>::NAME),+ }
            }

            /// Its place in [`Level::NAMES`].
            #[inline]
            fn place(self) -> usize {
                let mut place = 0;
                $($(#[$cfg])? {
                    if matches!(self.0, Rung::$rung(_)) {
                        return place;
                    }
                    place += 1;
                })+
                place
            }

            /// See [`Isa::FEW`].
            #[inline(always)]
            pub(crate) fn few(self) -> usize {
                match self.0 { $($(#[$cfg])? Rung::$rung(_) => <$rung as Isa>::FEW),+ }
            }
        }
    };
}

levels!(
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Vaes,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon
);

/// Where the run-time choice of a rung becomes compile-time code. Each type of this trait has the
/// rungs for which kernels of one kind are compiled; what runs the same code on two rungs is
/// compiled for the lower one.
pub trait Dispatch: From<Level> {
    /// Runs a kernel that is made of three values, which travel as [`Isa::call`] says.
    fn run_on<A, B, C, K: Kernel>(
        self,
        a: A,
        b: B,
        c: C,
        kernel: impl FnOnce(A, B, C) -> K,
    ) -> K::Out;

    /// Runs a kernel.
    fn run<K: Kernel>(self, kernel: K) -> K::Out;
}

/// The methods of [`Dispatch`] over a type of rungs.
macro_rules! dispatch {
    ($name:ty, $rungs:ident: $($(#[$cfg:meta])? $rung:ident),+) => {
        impl Dispatch for $name {
            #[inline(always)]
            fn run_on<A, B, C, K: Kernel>(
                self,
                a: A,
                b: B,
                c: C,
                kernel: impl FnOnce(A, B, C) -> K,
            ) -> K::Out {
                match self.0 {
                    $($(#[$cfg])? $rungs::$rung(isa) => isa.call(
                        a,
                        b,
                        c,
                        #[inline(always)]
                        |a, b, c| kernel(a, b, c).run(isa),
                    )),+
                }
            }

            #[inline(always)]
            fn run<K: Kernel>(self, kernel: K) -> K::Out {
                match self.0 {
                    $($(#[$cfg])? $rungs::$rung(isa) => {
                        isa.run(#[inline(always)] || kernel.run(isa))
                    }),+
                }
            }
        }
    };
}

dispatch!(
    Level, Rung:
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Vaes,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon
);

#[derive(Clone, Copy)]
enum WordRung {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Aesni(Aesni),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

/// The rungs whose words differ: for kernels without wide AES.
#[derive(Clone, Copy)]
pub struct WordLevel(WordRung);

impl From<Level> for WordLevel {
    #[inline(always)]
    fn from(level: Level) -> WordLevel {
        WordLevel(match level.0 {
            Rung::Portable(isa) => WordRung::Portable(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Aesni(isa) => WordRung::Aesni(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Avx2(isa) => WordRung::Avx2(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Vaes(isa) => WordRung::Avx2(isa.into()),
            #[cfg(target_arch = "x86_64")]
            Rung::Avx512(isa) => WordRung::Avx512(isa),
            #[cfg(target_arch = "aarch64")]
            Rung::Neon(isa) => WordRung::Neon(isa),
        })
    }
}

dispatch!(
    WordLevel, WordRung:
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon
);

#[derive(Clone, Copy)]
enum NarrowRung {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Aesni(Aesni),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

/// The rungs whose one-block vectors differ: for short messages and last blocks.
#[derive(Clone, Copy)]
pub struct NarrowLevel(NarrowRung);

impl From<Level> for NarrowLevel {
    #[inline(always)]
    fn from(level: Level) -> NarrowLevel {
        NarrowLevel(match level.0 {
            Rung::Portable(isa) => NarrowRung::Portable(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Aesni(isa) => NarrowRung::Aesni(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Avx2(isa) => NarrowRung::Avx2(isa),
            #[cfg(target_arch = "x86_64")]
            Rung::Vaes(isa) => NarrowRung::Avx2(isa.into()),
            #[cfg(target_arch = "x86_64")]
            Rung::Avx512(isa) => NarrowRung::Avx2(isa.into()),
            #[cfg(target_arch = "aarch64")]
            Rung::Neon(isa) => NarrowRung::Neon(isa),
        })
    }
}

dispatch!(
    NarrowLevel, NarrowRung:
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "aarch64")]
    Neon
);

/// A rung that this CPU has and that gave the right known answers in this process.
///
/// ```
/// use tagmac::isa::Level;
/// println!("running on {}", Level::best());
/// ```
#[derive(Clone, Copy)]
pub struct Level(Rung);

/// What became of a rung on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// In use where asked for.
    Usable,
    /// The CPU lacks it.
    Unsupported,
    /// It failed its self-test, so it is never used.
    SelfTestFailed,
}

/// A rung that cannot be used here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnusableLevel(Option<Status>);

impl core::fmt::Display for UnusableLevel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.0 {
            None => {
                f.write_str("no such level; expected one of")?;
                Level::NAMES.iter().try_for_each(|name| write!(f, " {name}"))
            }
            Some(Status::SelfTestFailed) => f.write_str("this level failed its self-test"),
            Some(_) => f.write_str("this CPU lacks the level"),
        }
    }
}

impl core::error::Error for UnusableLevel {}

impl core::fmt::Display for Level {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

impl core::fmt::Debug for Level {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Level({})", self.name())
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Level) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Level {}

struct Operations;

impl Kernel for Operations {
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        self_test::passes(isa)
    }
}

/// What became of a self-test on each rung, in this process: two bits for each. The test of a
/// rung's own operations comes before its first use; each construction has one of its own, so that
/// a program holds the kernels of those MACs alone that it uses.
pub(crate) struct SelfTest(AtomicU32);

impl SelfTest {
    const PASSED: u32 = 1;
    const FAILED: u32 = 2;

    /// A test that has not run.
    pub(crate) const fn new() -> Self {
        SelfTest(AtomicU32::new(0))
    }

    /// Whether a rung passes, which is found out once.
    #[inline]
    fn passes(&self, level: Level, test: impl Fn(Level) -> bool) -> bool {
        let shift = 2 * level.place();
        match self.0.load(Ordering::Relaxed) >> shift & 3 {
            0 => self.run(level, shift, test),
            verdict => verdict == SelfTest::PASSED,
        }
    }

    #[cold]
    #[inline(never)]
    fn run(&self, level: Level, shift: usize, test: impl Fn(Level) -> bool) -> bool {
        let passes = test(level);
        let verdict = if passes { SelfTest::PASSED } else { SelfTest::FAILED };
        self.0.fetch_or(verdict << shift, Ordering::Relaxed);
        passes
    }
}

/// What a construction must answer on a rung before it runs there: the first bytes of a tag.
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
    /// Runs a kernel on this rung.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        Dispatch::run(self, kernel)
    }

    /// The highest usable rung.
    ///
    /// # Panics
    ///
    /// If even the portable rung fails its self-test: a broken machine or compiler.
    #[inline]
    pub fn best() -> Level {
        let best = (0..Rung::DETECT.len()).rev().find_map(|place| Level::usable(place).ok());
        best.expect("even the portable level fails its self-test")
    }

    /// Every usable rung, lowest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..Rung::DETECT.len()).filter_map(|place| Level::usable(place).ok())
    }

    /// The rung of that name, in any case of letters.
    ///
    /// # Errors
    ///
    /// [`UnusableLevel`] if there is no such rung, the CPU lacks it, or it failed its self-test.
    pub fn named(name: &str) -> Result<Level, UnusableLevel> {
        let place = Level::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let level = Level::usable(place.ok_or(UnusableLevel(None))?);
        level.map_err(|status| UnusableLevel(Some(status)))
    }

    /// What became of the rung of that name; `None` if this architecture has no such rung.
    pub fn status(name: &str) -> Option<Status> {
        match Level::named(name) {
            Ok(_) => Some(Status::Usable),
            Err(UnusableLevel(status)) => status,
        }
    }

    /// The rung at a place of `DETECT`, if the CPU has it and its operations are right.
    fn usable(place: usize) -> Result<Level, Status> {
        static OPERATIONS: SelfTest = SelfTest::new();
        let level = Level(Rung::DETECT[place]().ok_or(Status::Unsupported)?);
        let passes = OPERATIONS.passes(level, |level| level.run(Operations));
        if passes { Ok(level) } else { Err(Status::SelfTestFailed) }
    }

    /// This rung, or the highest below it on which a construction passes its test.
    ///
    /// # Panics
    ///
    /// If there is none: a broken machine or compiler.
    #[inline]
    pub(crate) fn passing(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        if known.passes(self, test) { self } else { self.lower(known, test) }
    }

    #[cold]
    fn lower(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        let lower = (0..self.place()).rev().filter_map(|place| Level::usable(place).ok());
        let mut passing = lower.filter(|level| known.passes(*level, test));
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
            assert_eq!(best.passing(&test, &portable_alone).name(), "portable");
        }
        // Each rung is tested once.
        assert_eq!(runs.get(), Level::all().count());
    }

    #[test]
    #[should_panic(expected = "portable level fails its self-test")]
    fn one_that_fails_everywhere_never_runs() {
        Level::best().passing(&SelfTest::new(), |_| false);
    }
}
