//! Levels: which rungs this CPU has, and which of them have proved themselves.

use core::sync::atomic::{AtomicU8, Ordering};

use super::portable::Portable;
use super::{Isa, proof};
use crate::algo::answers_hold;

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

            /// See [`Isa::FEW`].
            #[inline(always)]
            pub(crate) fn few(self) -> usize {
                match self.0 { $($(#[$cfg])? Rung::$rung(_) => <$rung as Isa>::FEW),+ }
            }

            /// Runs a kernel that is made of three values, which travel as [`Isa::call`] says.
            #[inline(always)]
            pub(crate) fn run_on<A, B, C, K: Kernel>(
                self,
                a: A,
                b: B,
                c: C,
                kernel: impl FnOnce(A, B, C) -> K,
            ) -> K::Out {
                match self.0 {
                    $($(#[$cfg])? Rung::$rung(isa) => isa.call(
                        a,
                        b,
                        c,
                        #[inline(always)]
                        |a, b, c| kernel(a, b, c).run(isa),
                    )),+
                }
            }

            /// Runs a kernel on this rung.
            #[inline(always)]
            pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
                match self.0 {
                    $($(#[$cfg])? Rung::$rung(isa) => isa.run(#[inline(always)] || kernel.run(isa))),+
                }
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
    Proved,
    /// The CPU lacks it.
    Absent,
    /// It gave a wrong known answer, so it is never used.
    Wrong,
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
            Some(Status::Wrong) => f.write_str("this level failed its known answers"),
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

struct Prove;

impl Kernel for Prove {
    type Out = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        proof::holds(isa)
    }
}

impl Level {
    /// The highest usable rung.
    ///
    /// # Panics
    ///
    /// If even the portable rung gives wrong answers: a broken machine or compiler.
    #[inline]
    pub fn best() -> Level {
        let best = (0..Rung::DETECT.len()).rev().find_map(|place| Level::proved(place).ok());
        best.expect("even the portable level gives wrong known answers")
    }

    /// Every usable rung, lowest first.
    pub fn all() -> impl Iterator<Item = Level> {
        (0..Rung::DETECT.len()).filter_map(|place| Level::proved(place).ok())
    }

    /// The rung of that name, in any case of letters.
    ///
    /// # Errors
    ///
    /// [`UnusableLevel`] if there is no such rung, the CPU lacks it, or it gave a wrong answer.
    pub fn named(name: &str) -> Result<Level, UnusableLevel> {
        let place = Level::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name));
        let level = Level::proved(place.ok_or(UnusableLevel(None))?);
        level.map_err(|status| UnusableLevel(Some(status)))
    }

    /// What became of the rung of that name; `None` if this architecture has no such rung.
    pub fn status(name: &str) -> Option<Status> {
        match Level::named(name) {
            Ok(_) => Some(Status::Proved),
            Err(UnusableLevel(status)) => status,
        }
    }

    /// The rung at a place of `DETECT`, if the CPU has it and its answers are right. They are
    /// asked for once in a process.
    fn proved(place: usize) -> Result<Level, Status> {
        const UNKNOWN: u8 = 0;
        const RIGHT: u8 = 1;
        const WRONG: u8 = 2;
        static VERDICTS: [AtomicU8; Rung::DETECT.len()] =
            [const { AtomicU8::new(UNKNOWN) }; Rung::DETECT.len()];
        let level = Level(Rung::DETECT[place]().ok_or(Status::Absent)?);
        let mut verdict = VERDICTS[place].load(Ordering::Relaxed);
        if verdict == UNKNOWN {
            let right = level.run(Prove) && answers_hold(level);
            verdict = if right { RIGHT } else { WRONG };
            VERDICTS[place].store(verdict, Ordering::Relaxed);
        }
        if verdict == RIGHT { Ok(level) } else { Err(Status::Wrong) }
    }
}
