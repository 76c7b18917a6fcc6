//! Levels: the features of each, and how a kernel comes to run on one.

use super::bit_slices::BitSlices;
use super::lanes::Isa;
use super::portable::Portable;
use super::words::Words;

/// Work written once and compiled for every level of [`LEVELS`](Kernel::LEVELS).
pub trait Kernel {
    /// The levels that it is compiled for.
    const LEVELS: Levels = Levels::All;
    /// What the work gives.
    type Out;
    /// Does the work. Needs `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Out;
}

/// For which levels a kernel is compiled. What would be the same code on two of them is compiled for the
/// lower one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Levels {
    /// All: for long messages under AES.
    All,
    /// Those whose words differ: for kernels without wide AES.
    Words,
    /// Those whose one-block vectors differ: for short messages and last blocks.
    Narrow,
}

/// A level that this CPU has and that passed its self-test in this process. The portable level has
/// no such test: no level could take its place.
///
/// ```
/// use tagmac::isa::Level;
/// println!("running on {}", Level::best());
/// ```
#[derive(Clone, Copy)]
pub struct Level(Proof);

/// Makes all that is a list of levels from one table, lowest level first: their types, how they are
/// detected and compiled, and what a [`Level`] knows of them. One list of features serves detection and
/// compilation, so they agree.
///
/// A row with `as BELOW: Words, Narrow` hands kernels for these [`Levels`] down to a level whose
/// features are among its own: they would be the same code.
macro_rules! levels {
    ($(
        $(#[$doc:meta])*
        $arch:literal $detected:ident $name:ident $called:literal $(as $below:ident: $($same:ident),+)?
        = [$($feature:tt),+];
    )+) => {
        $(
            $(#[$doc])*
            #[cfg(target_arch = $arch)]
            #[derive(Clone, Copy)]
            pub struct $name(());

            #[cfg(target_arch = $arch)]
            impl crate::sealed::Sealed for $name {}

            #[cfg(target_arch = $arch)]
            impl $name {
                /// The proof, if this CPU has every feature.
                #[inline]
                fn detect() -> Option<Self> {
                    #[cfg(feature = "std")]
                    let found = $(std::arch::$detected!($feature))&&+;
                    #[cfg(not(feature = "std"))]
                    let found = $(cfg!(target_feature = $feature))&&+;
                    found.then_some($name(()))
                }

                /// Runs `f` on three values, compiled with this level's instructions. Values of up to two
                /// words are passed in registers; what `f` captures is not, so it should capture nothing.
                #[inline(always)]
                pub(super) fn call<A, B, C, R>(
                    self,
                    a: A,
                    b: B,
                    c: C,
                    f: impl FnOnce(A, B, C) -> R,
                ) -> R {
                    #[target_feature($(enable = $feature),+)]
                    fn inside<A, B, C, R>(a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
                        f(a, b, c)
                    }
                    // SAFETY: `self` exists only after `detect` saw every feature in the list.
                    unsafe { inside(a, b, c, f) }
                }

                /// See [`Isa::run_outlined`].
                #[inline(always)]
                pub(super) fn outlined<R>(self, f: impl FnOnce() -> R) -> R {
                    #[inline(never)]
                    #[target_feature($(enable = $feature),+)]
                    fn inside<R>(f: impl FnOnce() -> R) -> R {
                        f()
                    }
                    // SAFETY: `self` exists only after `detect` saw every feature in the list.
                    unsafe { inside(f) }
                }
            }

            $(
                #[cfg(target_arch = $arch)]
                impl From<$name> for $below {
                    #[inline(always)]
                    fn from(_: $name) -> $below {
                        // Every feature of the level below is one of this level: see the test.
                        $below(())
                    }
                }
            )?
        )+

        /// The places of levels in [`Level::NAMES`].
        enum Place {
            Portable,
            $(#[cfg(target_arch = $arch)] $name,)+
        }

        #[derive(Clone, Copy)]
        enum Proof {
            Portable(Portable),
            $(#[cfg(target_arch = $arch)] $name($name),)+
        }

        impl Proof {
            /// The level whose kernels run on this one. First of all: two levels that share kernels
            /// are then one case, and a call on the higher one takes 2 to 4 instructions less.
            #[inline(always)]
            fn shared(self, levels: Levels) -> Proof {
                match (self, levels) {
                    $($(
                        #[cfg(target_arch = $arch)]
                        (Proof::$name(isa), $(Levels::$same)|+) => Proof::$below(isa.into()),
                    )?)+
                    (proof, _) => proof,
                }
            }
        }

        /// Every level of this architecture, lowest first, if the CPU has it: not yet one that passed its
        /// self-test.
        pub(super) const DETECT: &[fn() -> Option<Level>] = &[
            || Portable::detect().map(|isa| Level(Proof::Portable(isa))),
            $(
                #[cfg(target_arch = $arch)]
                || $name::detect().map(|isa| Level(Proof::$name(isa))),
            )+
        ];

        impl Level {
            /// The names of all levels of this architecture, lowest first.
            pub const NAMES: &'static [&'static str] = &[
                "portable",
                $(#[cfg(target_arch = $arch)] $called,)+
            ];

            /// Its place in [`Level::NAMES`].
            #[inline(always)]
            pub(super) fn place(self) -> usize {
                let place = match self.0 {
                    Proof::Portable(_) => Place::Portable,
                    $(#[cfg(target_arch = $arch)] Proof::$name(_) => Place::$name,)+
                };
                place as usize
            }

            /// What is known of the level without a kernel on it.
            #[inline(always)]
            pub(crate) fn facts(self) -> Facts {
                match self.0 {
                    Proof::Portable(_) => const { Facts::new::<Portable>() },
                    $(
                        #[cfg(target_arch = $arch)]
                        Proof::$name(_) => const { Facts::new::<$name>() },
                    )+
                }
            }

            /// Runs a kernel that is made of three values, which travel as `call` says. Here
            /// the choice at run time becomes code for one level.
            #[inline(always)]
            pub(crate) fn run_on<A, B, C, K: Kernel>(
                self,
                a: A,
                b: B,
                c: C,
                kernel: impl FnOnce(A, B, C) -> K,
            ) -> K::Out {
                match self.0.shared(K::LEVELS) {
                    Proof::Portable(isa) => isa.call(a, b, c,
                                #[inline(always)]
                                |a, b, c| kernel(a, b, c).run(isa),
                            ),
                    $(
                        #[cfg(target_arch = $arch)]
                        Proof::$name(isa) => {
                            $(
                                if const { matches!(K::LEVELS, $(Levels::$same)|+) } {
                                    unreachable!("`shared` gives a lower level")
                                }
                            )?
                            isa.call(a, b, c,
                                #[inline(always)]
                                |a, b, c| kernel(a, b, c).run(isa),
                            )
                        }
                    )+
                }
            }
        }

        /// The features of each level, and of the one that it hands kernels down to.
        #[cfg(test)]
        const TABLE: &[(&str, &[&str], &[&str])] = &[$(
            (stringify!($name), &[$($feature),+], &[$(stringify!($below))?]),
        )+];
    };
}

levels! {
    /// SSE4.1 and AES: Westmere and Jaguar on.
    "x86_64" is_x86_feature_detected Aesni "aesni" = ["sse4.1", "aes"];
    /// AVX2 and AES: Haswell and Zen on. Same width for AES, but three-operand instructions.
    "x86_64" is_x86_feature_detected Avx2 "avx2" = ["avx2", "aes"];
    /// AVX2 and VAES: Zen 3, Alder Lake and later CPUs without AVX-512.
    "x86_64" is_x86_feature_detected Vaes "vaes" as Avx2: Words, Narrow = ["avx2", "aes", "vaes"];
    /// Ice Lake and Zen 4 on. Without VL: with it, compilers 1.95 to 1.97 miscompile auto-vectorised
    /// code, also without DQ (rust-lang/rust#158622).
    "x86_64" is_x86_feature_detected Avx512 "avx512" as Avx2: Narrow = [
        "avx2", "aes", "avx512f", "avx512bw", "avx512ifma", "avx512vbmi", "avx512vbmi2", "gfni", "vaes",
        "vpclmulqdq"
    ];
    /// NEON and AES: nearly every 64-bit Arm CPU of servers, phones and desktops.
    "aarch64" is_aarch64_feature_detected Neon "neon" = ["neon", "aes"];
}

impl Level {
    /// Runs a kernel on this level.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Out {
        self.run_on(
            kernel,
            (),
            (),
            #[inline(always)]
            |kernel, (), ()| kernel,
        )
    }
}

/// What is known of a level without a kernel on it.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// See [`Isa::NARROW_PATH_MAX_BLOCKS`].
    pub(crate) narrow_path_max_blocks: usize,
    /// See [`Isa::AES_INSTRUCTIONS`].
    pub(crate) aes_instructions: bool,
    /// Blocks in a vector.
    lanes: usize,
    /// See [`Words::LANES`].
    word_lanes: usize,
    /// See [`Words::MUL52`].
    mul52: bool,
    /// Whether there are [`BitSlices::NIBBLES`].
    pub(crate) nibbles: bool,
}

impl Facts {
    /// Those of a level.
    pub(crate) const fn new<I: Isa>() -> Facts {
        Facts {
            narrow_path_max_blocks: I::NARROW_PATH_MAX_BLOCKS,
            aes_instructions: I::AES_INSTRUCTIONS,
            lanes: I::LANES,
            word_lanes: <I::Words as Words>::LANES,
            mul52: <I::Words as Words>::MUL52,
            nibbles: <I::Words as BitSlices>::NIBBLES.is_some(),
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

impl Level {
    /// The level's name.
    pub fn name(self) -> &'static str {
        Level::NAMES[self.place()]
    }
}

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
        self.place() == other.place()
    }
}

impl Eq for Level {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_the_features_of_the_one_that_serves_it() {
        for (name, features, below) in TABLE {
            let [below] = below else { continue };
            let (_, needed, _) = TABLE.iter().find(|(name, ..)| name == below).expect("a level");
            for feature in *needed {
                assert!(features.contains(feature), "{name} lacks {feature}, which {below} has");
            }
        }
    }
}
