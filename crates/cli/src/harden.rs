//! Keeps keys out of core dumps. Windows writes none by default, and this does nothing there.

#[cfg(unix)]
pub use unix::*;

/// Does nothing.
#[cfg(windows)]
pub fn forbid_cores() {}

/// Starts a child.
#[cfg(windows)]
pub fn unhardened<T>(start: impl FnOnce() -> T) -> T {
    start()
}

#[cfg(unix)]
mod unix {
    use std::sync::OnceLock;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    /// The limit on core dumps that the command was started with.
    static BEFORE: OnceLock<Rlimit> = OnceLock::new();

    /// Forbids core dumps of this process. On Linux this also closes its memory to other processes of
    /// the same user. If the system refuses, the command continues without this protection.
    pub fn forbid_cores() {
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{DumpableBehavior, set_dumpable_behavior};
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        }
        set(BEFORE.get_or_init(|| getrlimit(Resource::Core)), true);
    }

    /// Starts a child under the core limit that the command was started with. The other half of the
    /// protection ends when the child executes another program.
    pub fn unhardened<T>(start: impl FnOnce() -> T) -> T {
        let Some(before) = BEFORE.get() else { return start() };
        set(before, false);
        let started = start();
        set(before, true);
        started
    }

    /// Keeps the hard limit, so that the soft limit can be raised again.
    fn set(before: &Rlimit, none: bool) {
        let current = if none { Some(0) } else { before.current };
        let _ = setrlimit(Resource::Core, Rlimit { current, maximum: before.maximum });
    }
}
