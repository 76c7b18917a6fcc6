//! System calls that a test can make fail.
//!
//! Each function wraps one or more calls of a kind: `read`, `write`, `sync`, `cut` (truncating a
//! file), `make` and `name` (a file), `open` (in a directory), `close` (standard output). Builds
//! with the feature `fault-injection` and debug assertions, as in tests, read the variable
//! `TAGMAC_FAULT`. It is `KIND:N:ACTION` for the N-th call of a kind, from 1, or `KIND:N-M:ACTION`
//! for calls N to M. The kind `any` counts all calls.
//!
//! | ACTION | effect |
//! |---|---|
//! | `kill` | the process ends before the call, as by SIGKILL |
//! | `tear=B` | it ends after B bytes of a write |
//! | `fail=E` | the call fails with the system's error number E |
//! | `short=B` | a write stops after B bytes, as where no room is left |
//! | `run=LINE` | `sh` runs LINE, and then the call is made |
//!
//! A test of the library decides at each call of its thread, with `with_hook`.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

use crate::sys::{self, FileExt};

/// Reads exactly `bytes`.
pub fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    before("read")?;
    file.read_exact_at(bytes, at)
}

/// Reads into memory without bytes by one call. Returns the bytes, or `None` if the call did not fill
/// the memory.
pub fn read_new_at<'m>(
    file: &File,
    memory: &'m mut [MaybeUninit<u8>],
    at: u64,
) -> io::Result<Option<&'m mut [u8]>> {
    before("read")?;
    match sys::read_new(file, memory, at) {
        Ok((bytes, rest)) => Ok(rest.is_empty().then_some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes all of `bytes`.
pub fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    write(bytes, |bytes| file.write_all_at(bytes, at))
}

/// Syncs the file's data.
pub fn sync_data(file: &File) -> io::Result<()> {
    before("sync")?;
    file.sync_data()
}

/// Syncs the data of a file that may be open for reading only.
pub fn sync_read(file: &File) -> io::Result<()> {
    before("sync")?;
    sys::sync_read(file)
}

/// Syncs the file's data and metadata.
pub fn sync_all(file: &File) -> io::Result<()> {
    before("sync")?;
    file.sync_all()
}

/// Syncs the names in a directory.
pub fn sync_folder(folder: &File) -> io::Result<()> {
    before("sync")?;
    sys::sync_folder(folder)
}

/// Syncs the file system that the file is on.
pub fn sync_file_system(file: &File) -> io::Result<()> {
    before("sync")?;
    sys::sync_file_system(file)
}

/// Sets the file's length.
pub fn set_len(file: &File, length: u64) -> io::Result<()> {
    before("cut")?;
    file.set_len(length)
}

/// Makes a call that opens a name in a directory; repeats it if a signal interrupts it.
pub fn open<T>(call: impl Fn() -> io::Result<T>) -> io::Result<T> {
    loop {
        match before("open").and_then(|()| call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            opened => return opened,
        }
    }
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
pub use injected::{HookedFault, with_hook};
pub use injected::{before, write};

#[cfg(not(all(feature = "fault-injection", debug_assertions)))]
mod injected {
    use std::io;

    /// Called before each system call of a kind.
    pub fn before(_kind: &str) -> io::Result<()> {
        Ok(())
    }

    /// Makes a write call.
    pub fn write(bytes: &[u8], call: impl Fn(&[u8]) -> io::Result<()>) -> io::Result<()> {
        call(bytes)
    }
}

#[cfg(all(feature = "fault-injection", debug_assertions))]
mod injected {
    use std::cell::RefCell;
    use std::io;
    use std::ops::RangeInclusive;
    use std::process::Command;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use rustix::io::Errno;
    use rustix::process::{Signal, getpid, kill_process};

    /// The effect on a call.
    enum Action {
        Kill,
        Tear(usize),
        Fail(i32),
        Short(usize),
        Run(String),
    }

    struct Fault {
        kind: String,
        numbers: RangeInclusive<u64>,
        action: Action,
    }

    static FAULT: LazyLock<Option<Fault>> = LazyLock::new(|| {
        let text = std::env::var("TAGMAC_FAULT").ok()?;
        Some(parse(&text).unwrap_or_else(|| panic!("TAGMAC_FAULT: {text}")))
    });
    static CALLS: AtomicU64 = AtomicU64::new(0);

    fn parse(text: &str) -> Option<Fault> {
        let (kind, rest) = text.split_once(':')?;
        let (numbers, action) = rest.split_once(':')?;
        let (action, value) = action.split_once('=').unwrap_or((action, ""));
        let action = match action {
            "kill" => Action::Kill,
            "tear" => Action::Tear(value.parse().ok()?),
            "fail" => Action::Fail(value.parse().ok()?),
            "short" => Action::Short(value.parse().ok()?),
            "run" => Action::Run(value.into()),
            _ => return None,
        };
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let numbers = first.parse().ok()?..=last.parse().ok()?;
        Some(Fault { kind: kind.into(), numbers, action })
    }

    /// The effect that a hook chooses for a call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HookedFault {
        /// The call fails with this system error number.
        Fail(i32),
        /// A write stops after this number of bytes and fails with the system error number; any
        /// other call fails at once.
        Short(usize, i32),
        /// A write reports success but writes nothing. For tests of the tests.
        Lose,
    }

    type Hook = dyn FnMut(&str) -> Option<HookedFault>;

    thread_local! {
        static HOOK: RefCell<Option<Box<Hook>>> = const { RefCell::new(None) };
    }

    /// Calls `hook` with the kind of each call that `run` makes on this thread. The hook runs
    /// before the call. To simulate a kill, make all calls fail from some call on.
    pub fn with_hook<T>(
        hook: impl FnMut(&str) -> Option<HookedFault> + 'static,
        run: impl FnOnce() -> T,
    ) -> T {
        /// Removes the hook, even after a panic.
        struct Unhook;
        impl Drop for Unhook {
            fn drop(&mut self) {
                HOOK.with_borrow_mut(|hook| *hook = None);
            }
        }
        HOOK.with_borrow_mut(|now| *now = Some(Box::new(hook)));
        let _unhook = Unhook;
        run()
    }

    fn hooked(kind: &str) -> Option<HookedFault> {
        HOOK.with_borrow_mut(|hook| hook.as_mut().and_then(|hook| hook(kind)))
    }

    /// Returns the effect on this call, if any.
    fn action(kind: &str) -> Option<&'static Action> {
        let fault = FAULT.as_ref().filter(|fault| fault.kind == kind || fault.kind == "any")?;
        let number = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        fault.numbers.contains(&number).then_some(&fault.action)
    }

    fn kill() -> ! {
        let _ = kill_process(getpid(), Signal::KILL);
        unreachable!("nothing outlives SIGKILL")
    }

    fn now(action: &Action) -> io::Result<()> {
        match action {
            Action::Kill | Action::Tear(_) => kill(),
            Action::Fail(error) => Err(io::Error::from_raw_os_error(*error)),
            Action::Short(_) => Err(Errno::NOSPC.into()),
            Action::Run(line) => {
                let status = Command::new("sh").arg("-c").arg(line).status()?;
                assert!(status.success(), "{line}: {status}");
                Ok(())
            }
        }
    }

    /// Called before each system call of a kind.
    pub fn before(kind: &str) -> io::Result<()> {
        if let Some(HookedFault::Fail(error) | HookedFault::Short(_, error)) = hooked(kind) {
            return Err(io::Error::from_raw_os_error(error));
        }
        action(kind).map_or(Ok(()), now)
    }

    /// Makes a write call.
    pub fn write(bytes: &[u8], call: impl Fn(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match hooked("write") {
            Some(HookedFault::Fail(error)) => return Err(io::Error::from_raw_os_error(error)),
            Some(HookedFault::Short(most, error)) => {
                call(&bytes[..bytes.len().min(most)])?;
                return Err(io::Error::from_raw_os_error(error));
            }
            Some(HookedFault::Lose) => return Ok(()),
            None => {}
        }
        let action = action("write");
        if let Some(Action::Tear(most) | Action::Short(most)) = action {
            call(&bytes[..bytes.len().min(*most)])?;
        }
        if let Some(action) = action {
            now(action)?;
        }
        call(bytes)
    }
}
