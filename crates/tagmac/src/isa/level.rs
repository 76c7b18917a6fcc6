//! Levels: the features of each, and the dispatch of kernels to them.

use super::bit_slices::BitSlices;
use super::lanes::Isa;
use super::portable::Portable;
use super::words::Words;

/// Work written once and compiled for every level of [`LEVELS`](Kernel::LEVELS).
pub trait Kernel {
    /// The levels that the kernel is compiled for.
    const LEVELS: Levels = Levels::All;
    /// The result.
    type Out;
    /// Does the work. Needs `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Out;
}

/// The levels that a kernel is compiled for. Two levels with the same code share the kernel of the
/// lower one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Levels {
    /// All levels: for long messages under AES.
    All,
    /// Levels with different words: for kernels without wide AES.
    Words,
    /// Levels with different one-block vectors: for short messages and last blocks.
    Narrow,
}

/// A level that this CPU supports and that passed its self-test in this process. The portable level
/// has no such test, because there is no other level to fall back to.
///
/// ```
/// use tagmac::isa::Level;
/// println!("running on {}", Level::best());
/// ```
#[derive(Clone, Copy)]
pub struct Level(Proof);

/// Defines all lists of levels from one table, lowest level first: their types, detection and
/// compilation, and the facts of a [`Level`]. Detection and compilation use the same list of
/// features, so they agree.
///
/// A row with `as BELOW: Words, Narrow` uses the kernels of a lower level for these [`Levels`],
/// because the code would be the same. The features of that level must be a subset.
///
/// A kernel with AVX begins with `vzeroupper`, which takes about a cycle. The program may have left
/// values in the upper halves of vector registers. Then each change between instructions with and
/// without AVX takes a hundred cycles or more on recent Intel CPUs, until the halves are cleared,
/// and kernels for short messages do not clear them otherwise.
macro_rules! levels {
    ($(
        $(#[$doc:meta])*
        $arch:literal $detected:ident $name:ident $called:literal $(as $below:ident: $($same:ident),+)?
        = [$($feature:tt),+] $(, begins with $begin:ident)?;
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
                /// Returns the proof if this CPU has every feature.
                #[inline]
                fn detect() -> Option<Self> {
                    #[cfg(feature = "std")]
                    let found = $(std::arch::$detected!($feature))&&+;
                    #[cfg(not(feature = "std"))]
                    let found = $(cfg!(target_feature = $feature))&&+;
                    found.then_some($name(()))
                }

                /// Runs `f` on three values, compiled with this level's instructions. Values of up
                /// to two words are passed in registers. Captured values are not, so `f` should
                /// capture nothing.
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
                        $(core::arch::x86_64::$begin();)?
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
                        // The features of the lower level are a subset, see the test.
                        $below(())
                    }
                }
            )?
        )+

        /// The positions of levels in [`Level::NAMES`].
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
            /// The level whose kernels run on this one. Applied first, so that two levels with
            /// shared kernels are one case: this saves 2 to 4 instructions per call on the higher
            /// one.
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

        /// Detects every level of this architecture, lowest first. Does not run self-tests.
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

            /// The level's position in [`Level::NAMES`].
            #[inline(always)]
            pub(super) fn place(self) -> usize {
                let place = match self.0 {
                    Proof::Portable(_) => Place::Portable,
                    $(#[cfg(target_arch = $arch)] Proof::$name(_) => Place::$name,)+
                };
                place as usize
            }

            /// Constants of the level that need no dispatch.
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

            /// Runs a kernel that is built from three values, passed as in `call`. Here the choice
            /// at run time becomes code for one level.
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
                                    unreachable!("`shared` returns a lower level")
                                }
                            )?
                            isa.call(a, b, c,
                                #[inline(always)]
                                |a, b, c| {
                                    // Others gain nothing, and UMAC's short tags lose a cycle.
                                    if const { matches!(K::LEVELS, Levels::All) } {
                                        isa.align_frame();
                                    }
                                    kernel(a, b, c).run(isa)
                                },
                            )
                        }
                    )+
                }
            }
        }

        /// The features of each level, and the lower level that provides its kernels.
        #[cfg(test)]
        const TABLE: &[(&str, &[&str], &[&str])] = &[$(
            (stringify!($name), &[$($feature),+], &[$(stringify!($below))?]),
        )+];
    };
}

levels! {
    /// SSE4.1 and AES: from Westmere and Jaguar.
    "x86_64" is_x86_feature_detected Aesni "aesni" = ["sse4.1", "aes"];
    /// AVX2 and AES: from Haswell and Zen. The same width for AES, but three-operand instructions.
    "x86_64" is_x86_feature_detected Avx2 "avx2" = ["avx2", "aes"],
        begins with _mm256_zeroupper;
    /// AVX2 and VAES: Zen 3, Alder Lake and later CPUs without AVX-512.
    "x86_64" is_x86_feature_detected Vaes "vaes" as Avx2: Words, Narrow = ["avx2", "aes", "vaes"],
        begins with _mm256_zeroupper;
    /// From Ice Lake and Zen 4. Without VL: with it, compilers 1.95 to 1.97 miscompile
    /// auto-vectorised code, also without DQ (rust-lang/rust#158622).
    "x86_64" is_x86_feature_detected Avx512 "avx512" as Avx2: Narrow = [
        "avx2", "aes", "avx512f", "avx512bw", "avx512ifma", "avx512vbmi", "avx512vbmi2", "gfni", "vaes",
        "vpclmulqdq"
    ], begins with _mm256_zeroupper;
    /// NEON and AES: almost every 64-bit Arm CPU of servers, phones and desktops.
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

/// Constants of a level that need no dispatch.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    /// See [`Isa::NARROW_PATH_MAX_BLOCKS`].
    pub(crate) narrow_path_max_blocks: usize,
    /// See [`Isa::AES_INSTRUCTIONS`].
    pub(crate) aes_instructions: bool,
    /// The number of blocks in a vector.
    pub(crate) lanes: usize,
    /// See [`Words::LANES`].
    word_lanes: usize,
    /// See [`Words::MUL52`].
    mul52: bool,
    /// The level has [`BitSlices::NIBBLES`].
    pub(crate) nibbles: bool,
}

impl Facts {
    /// The constants of a level.
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

    /// Returns whether a batch of short messages under AES is faster. It is not if a vector is one
    /// block and AES an instruction: then CPUs overlap the calls for single messages.
    pub(crate) const fn batching_helps_aes(self) -> bool {
        !self.aes_instructions || self.lanes > 1
    }

    /// Returns whether a batch under UMAC is faster.
    pub(crate) const fn batching_helps_umac(self) -> bool {
        !self.aes_instructions || self.word_lanes > 1
    }

    /// Returns whether a batch under Poly1305-AES is faster. With limbs of 26 bits it is not.
    pub(crate) const fn batching_helps_poly1305(self) -> bool {
        !self.aes_instructions || self.mul52
    }

    /// Returns the maximum length of a message that is faster in a batch with pads: `limit` bytes if
    /// AES is an instruction. Otherwise a pad costs as much as hundreds of bytes, and many pads at
    /// once cost little more than one.
    pub(crate) const fn batch_max_len(self, helps: bool, limit: usize) -> usize {
        match (helps, self.aes_instructions) {
            (false, _) => 0,
            (true, true) => limit,
            (true, false) => usize::MAX,
        }
    }
}

impl Level {
    /// Returns the level's name.
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

    // With AVX in all code, compilers clear the halves everywhere.
    #[cfg(all(feature = "std", target_arch = "x86_64", not(target_feature = "avx")))]
    #[test]
    fn a_kernel_with_avx_clears_the_upper_halves_of_vectors() {
        use core::arch::asm;

        struct Nothing;

        impl Kernel for Nothing {
            type Out = ();

            #[inline(always)]
            fn run<I: Isa>(self, _: I) {}
        }

        /// Sets the upper half of a register, runs `f`, and returns half of what is left.
        fn left_after(f: impl FnOnce()) -> u64 {
            let left;
            // SAFETY: the caller found AVX2; the register is declared.
            unsafe { asm!("vpcmpeqd ymm15, ymm15, ymm15", out("xmm15") _) };
            f();
            // SAFETY: as above. If the compiler used the register meanwhile, only `left` changes.
            unsafe {
                asm!(
                    "vextracti128 xmm15, ymm15, 1",
                    "vmovq {left}, xmm15",
                    left = out(reg) left,
                    out("xmm15") _,
                );
            }
            left
        }

        if std::arch::is_x86_feature_detected!("avx2") {
            assert_eq!(left_after(|| ()), u64::MAX);
            let of_levels = TABLE.iter().map(|(_, features, _)| *features);
            let portable: &[&str] = &[];
            for (detected, features) in DETECT.iter().zip([portable].into_iter().chain(of_levels)) {
                let Some(level) = detected() else { continue };
                let expected = if features.contains(&"avx2") { 0 } else { u64::MAX };
                assert_eq!(left_after(|| level.run(Nothing)), expected, "{level}");
            }
        }
    }
}
