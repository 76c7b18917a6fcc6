//! Levels: which levels this CPU has, and which of them have proved themselves.

use core::sync::atomic::{AtomicU32, Ordering};

use super::portable::{AnyCpu, Portable};
use super::{Isa, Words, self_test};

#[cfg(target_arch = "aarch64")]
use super::aarch64::Neon;
#[cfg(target_arch = "x86_64")]
use super::x86::{Aesni, Avx2, Avx512, Vaes};

/// Work written once and compiled for every level.
pub trait Kernel {
    /// What the work gives.
    type Out;
    /// Does the work. Needs `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Out;
}

/// Where the run-time choice of a level becomes compile-time code. Each type of this trait has the
/// levels for which kernels of one kind are compiled; what runs the same code on two levels is
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

/// The methods of [`Dispatch`], over an enum of proofs.
macro_rules! dispatch {
    ($name:ident, $proof:ident: $($(#[$cfg:meta])? $level:ident),+) => {
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
                    $($(#[$cfg])? $proof::$level(isa) => isa.call(
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
                    $($(#[$cfg])? $proof::$level(isa) => {
                        isa.run(#[inline(always)] || kernel.run(isa))
                    }),+
                }
            }
        }
    };
}

/// What is known of a level without a kernel on it.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// See [`Isa::AES_INSTRUCTIONS`].
    pub(crate) aes_instructions: bool,
    /// Blocks in a vector.
    pub(crate) lanes: usize,
    /// See [`Words::LANES`].
    pub(crate) word_lanes: usize,
    /// See [`Words::MUL52`].
    pub(crate) mul52: bool,
}

impl Facts {
    /// Those of a level.
    pub(crate) const fn new<I: Isa>() -> Facts {
        Facts {
            aes_instructions: I::AES_INSTRUCTIONS,
            lanes: I::LANES,
            word_lanes: <I::Words as Words>::LANES,
            mul52: <I::Words as Words>::MUL52,
        }
    }

    /// Whether short messages under AES are faster in a batch: not where a vector is one block, of which
    /// CPUs overlap as many calls as there are.
    pub(crate) const fn batching_helps_aes(self) -> bool {
        !self.aes_instructions || self.lanes > 1
    }

    /// Whether UMAC's do.
    pub(crate) const fn batching_helps_umac(self) -> bool {
        !self.aes_instructions || self.word_lanes > 1
    }

    /// Whether those of Poly1305-AES do: limbs of 26 bits gain nothing side by side.
    pub(crate) const fn batching_helps_poly1305(self) -> bool {
        !self.aes_instructions || self.mul52
    }
}

macro_rules! levels {
    ($($(#[$cfg:meta])? $level:ident),+) => {
        #[derive(Clone, Copy)]
        enum Proof { $($(#[$cfg])? $level($level)),+ }

        impl Proof {
            /// Every level of this architecture, lowest first: the proof, if the CPU has it.
            const DETECT: &[fn() -> Option<Proof>] =
                &[$($(#[$cfg])? || $level::detect().map(Proof::$level)),+];
        }

        impl Level {
            /// The names of all levels of this architecture, lowest first.
            pub const NAMES: &'static [&'static str] = &[$($(#[$cfg])? <$level as Isa>::NAME),+];

            /// The level's name.
            pub fn name(self) -> &'static str {
                match self.0 { $($(#[$cfg])? Proof::$level(_) => <$level as Isa>::NAME),+ }
            }

            /// Its place in [`Level::NAMES`].
            #[inline(always)]
            fn place(self) -> usize {
                let mut place = 0;
                $($(#[$cfg])? {
                    if matches!(self.0, Proof::$level(_)) {
                        return place;
                    }
                    place += 1;
                })+
                place
            }

            /// What batches ask of the level.
            #[inline(always)]
            pub(crate) fn facts(self) -> Facts {
                match self.0 { $($(#[$cfg])? Proof::$level(_) => const { Facts::new::<$level>() }),+ }
            }

            /// See [`Isa::NARROW_PATH_MAX_BLOCKS`].
            #[inline(always)]
            pub(crate) fn narrow_path_max_blocks(self) -> usize {
                match self.0 { $($(#[$cfg])? Proof::$level(_) => <$level as Isa>::NARROW_PATH_MAX_BLOCKS),+ }
            }
        }

        dispatch!(Level, Proof: $($(#[$cfg])? $level),+);
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

/// A type of some levels, each with those that run the same code as it does.
macro_rules! some_levels {
    ($(#[$doc:meta])* $name:ident, $proof:ident:
     $($(#[$cfg:meta])? $level:ident $(= $(#[$same_cfg:meta] $same:ident)|+)?),+) => {
        #[derive(Clone, Copy)]
        enum $proof { $($(#[$cfg])? $level($level)),+ }

        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($proof);

        impl From<Level> for $name {
            #[inline(always)]
            fn from(level: Level) -> $name {
                $name(match level.0 {
                    $($(#[$cfg])? Proof::$level(isa) => $proof::$level(isa),
                    $($(#[$same_cfg] Proof::$same(isa) => $proof::$level(isa.into()),)+)?)+
                })
            }
        }

        dispatch!($name, $proof: $($(#[$cfg])? $level),+);
    };
}

some_levels!(
    /// The levels whose words differ: for kernels without wide AES.
    WordLevel, WordProof:
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2 = #[cfg(target_arch = "x86_64")] Vaes,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon
);

some_levels!(
    /// The levels whose one-block vectors differ: for short messages and last blocks.
    NarrowLevel, NarrowProof:
    Portable,
    #[cfg(target_arch = "x86_64")]
    Aesni,
    #[cfg(target_arch = "x86_64")]
    Avx2 = #[cfg(target_arch = "x86_64")] Vaes | #[cfg(target_arch = "x86_64")] Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon
);

/// A level that this CPU has and that passed its self-test in this process. The portable level has
/// no such test: no level could take its place.
///
/// ```
/// use tagmac::isa::Level;
/// println!("running on {}", Level::best());
/// ```
#[derive(Clone, Copy)]
pub struct Level(Proof);

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
        // No level could take the place of the portable one. What it computes wrong, the known answers
        // of constructions find.
        !I::AES_INSTRUCTIONS || self_test::passes(isa)
    }
}

/// What became of a self-test on each level, in this process: two bits for each. The test of a
/// level's own operations comes before its first use; each construction has one of its own, so that
/// a program holds the kernels of those MACs alone that it uses.
pub struct SelfTest(AtomicU32);

#[cfg(all(test, feature = "dynamic"))]
std::thread_local! {
    /// How often a construction asked for a self-test in this thread, for the test that each does.
    pub(crate) static ASKED: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

impl SelfTest {
    const PASSED: u32 = 1;
    const FAILED: u32 = 2;

    /// A test that has not run.
    pub(crate) const fn new() -> Self {
        const { assert!(2 * Proof::DETECT.len() <= u32::BITS as usize, "two bits for each level") };
        SelfTest(AtomicU32::new(0))
    }

    /// What is known of a level.
    #[inline(always)]
    fn verdict(&self, level: Level) -> u32 {
        self.0.load(Ordering::Relaxed) >> (2 * level.place()) & 3
    }

    /// Whether a level passes, which is found out once.
    fn passes(&self, level: Level, test: impl Fn(Level) -> bool) -> bool {
        match self.verdict(level) {
            0 => {
                let passes = test(level);
                let verdict = if passes { SelfTest::PASSED } else { SelfTest::FAILED };
                self.0.fetch_or(verdict << (2 * level.place()), Ordering::Relaxed);
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
    /// Runs a kernel on this level.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        Dispatch::run(self, kernel)
    }

    /// The highest usable level. There always is one: the portable level needs nothing of the CPU, and
    /// its operations are tested by the known answers of the MACs that use them.
    #[inline]
    pub fn best() -> Level {
        let best = (0..Proof::DETECT.len()).rev().find_map(|place| Level::usable(place).ok());
        best.expect("the portable level is always usable")
    }

    /// Every usable level, lowest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..Proof::DETECT.len()).filter_map(|place| Level::usable(place).ok())
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
        let level = Level(Proof::DETECT[place]().ok_or(Status::Unsupported)?);
        let passes = OPERATIONS.passes(level, |level| level.run(Operations));
        if passes { Ok(level) } else { Err(Status::SelfTestFailed) }
    }

    /// This level, or the highest below it on which a construction passes its test.
    ///
    /// # Panics
    ///
    /// If there is none: a broken machine or compiler.
    #[inline(always)]
    pub(crate) fn passing(self, known: &SelfTest, test: impl Fn(Level) -> bool + Copy) -> Level {
        #[cfg(all(test, feature = "dynamic"))]
        ASKED.set(ASKED.get() + 1);
        if known.verdict(self) == SelfTest::PASSED { self } else { self.tested(known, test) }
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
    #[should_panic(expected = "portable level fails its self-test")]
    fn one_that_fails_everywhere_never_runs() {
        Level::best().passing(&SelfTest::new(), |_| false);
    }
}
