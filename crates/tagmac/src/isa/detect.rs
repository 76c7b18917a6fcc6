//! The type of a level.

/// Makes a level's type. One list of features serves detection and compilation, so they agree.
macro_rules! level {
    ($detected:ident; $(#[$doc:meta])* $name:ident: $($feature:tt),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(());

        impl $name {
            /// The level, if this CPU has every feature of it.
            #[inline]
            pub fn detect() -> Option<Self> {
                #[cfg(feature = "std")]
                let found = $(std::arch::$detected!($feature))&&+;
                #[cfg(not(feature = "std"))]
                let found = $(cfg!(target_feature = $feature))&&+;
                found.then_some($name(()))
            }

            #[inline(always)]
            pub(super) fn enter<A, B, C, R>(self, a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
                #[target_feature($(enable = $feature),+)]
                fn inside<A, B, C, R>(a: A, b: B, c: C, f: impl FnOnce(A, B, C) -> R) -> R {
                    f(a, b, c)
                }
                // SAFETY: `self` exists only after `detect` saw every feature in the list.
                unsafe { inside(a, b, c, f) }
            }

            #[inline(always)]
            pub(super) fn enter_outlined<R>(self, f: impl FnOnce() -> R) -> R {
                #[inline(never)]
                #[target_feature($(enable = $feature),+)]
                fn inside<R>(f: impl FnOnce() -> R) -> R {
                    f()
                }
                // SAFETY: `self` exists only after `detect` saw every feature in the list.
                unsafe { inside(f) }
            }
        }
    };
}
pub(super) use level;
