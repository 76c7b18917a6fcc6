//! The values that OpenSSL's pointers refer to, each with access to the error queue.
//!
//! Calls that only read a value run concurrently, on any number of threads: OpenSSL promises that
//! for every function with a `const` argument, such as EVP_MAC_CTX_dup. A call that changes a value
//! must be the only one; otherwise it is refused. No call waits for another.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use tagmac_border::lock::Lock;
use tagmac_border::{Failure, FailureKind, ensure, guard};

use crate::core::Core;

/// A value that a pointer of OpenSSL refers to.
pub struct Held<T> {
    core: Core,
    lock: Lock,
    /// During a change, and after a panic in one.
    half_changed: AtomicBool,
    value: UnsafeCell<T>,
}

impl<T: Send + Sync> Held<T> {
    /// Makes a value with `make` and returns a pointer to it; null if `make` panics.
    ///
    /// # Safety
    ///
    /// `core` is the context that `OSSL_provider_init` made.
    pub unsafe fn make(core: *mut c_void, make: impl FnOnce() -> T) -> *mut c_void {
        let made = guard(|| {
            // SAFETY: guaranteed by the caller.
            let core = unsafe { *core.cast::<Core>() };
            Ok(Held::pointer(core, make()))
        });
        made.unwrap_or(std::ptr::null_mut())
    }

    fn pointer(core: Core, value: T) -> *mut c_void {
        let (lock, half_changed) = (Lock::default(), AtomicBool::new(false));
        Box::into_raw(Box::new(Held { core, lock, half_changed, value: value.into() })).cast()
    }

    fn try_change(&self, body: impl FnOnce(&mut T) -> Result<(), Failure>) -> Result<(), Failure> {
        guard(|| {
            let _locked = self.lock.alone().ok_or_else(in_use)?;
            self.check()?;
            self.half_changed.store(true, Ordering::Relaxed);
            // SAFETY: no other thread has the lock.
            let done = body(unsafe { &mut *self.value.get() });
            self.half_changed.store(false, Ordering::Relaxed);
            done
        })
    }

    fn try_read(&self, body: impl FnOnce(&T) -> Result<(), Failure>) -> Result<(), Failure> {
        guard(|| {
            let _locked = self.lock.shared().ok_or_else(in_use)?;
            self.check()?;
            // SAFETY: all threads with the lock only read.
            body(unsafe { &*self.value.get() })
        })
    }

    /// Refuses a value that a panic left half changed. The caller has the lock.
    fn check(&self) -> Result<(), Failure> {
        ensure(!self.half_changed.load(Ordering::Relaxed), || {
            let line = "internal error: an earlier call on this context panicked";
            Failure::from(line).of(FailureKind::Internal)
        })
    }

    /// Runs a call that changes the value. Returns 1, or 0 with an error on the queue.
    ///
    /// # Safety
    ///
    /// `held` is null or a pointer to a `T` that [`make`](Held::make) or [`give`](Held::give) made.
    pub unsafe fn change(
        name: &CStr,
        held: *mut c_void,
        body: impl FnOnce(&mut T) -> Result<(), Failure>,
    ) -> c_int {
        // SAFETY: guaranteed by the caller.
        let Some(held) = (unsafe { held.cast::<Held<T>>().as_ref() }) else { return 0 };
        held.core.answer(name, held.try_change(body))
    }

    /// Runs a call that only reads the value. Returns 1, or 0 with an error on the queue.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change).
    pub unsafe fn read(
        name: &CStr,
        held: *mut c_void,
        body: impl FnOnce(&T) -> Result<(), Failure>,
    ) -> c_int {
        // SAFETY: guaranteed by the caller.
        let Some(held) = (unsafe { held.cast::<Held<T>>().as_ref() }) else { return 0 };
        held.core.answer(name, held.try_read(body))
    }

    /// Runs a call that only reads the value and returns a pointer to a new value.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change).
    pub unsafe fn give<U>(
        name: &CStr,
        held: *mut c_void,
        wrap: impl FnOnce(Core, U) -> *mut c_void,
        body: impl FnOnce(&T) -> Result<U, Failure>,
    ) -> *mut c_void {
        let mut given = std::ptr::null_mut();
        // SAFETY: guaranteed by the caller, for both calls.
        unsafe {
            let core = held.cast::<Held<T>>().as_ref().map(|held| held.core);
            Held::<T>::read(name, held, |value| {
                given = wrap(core.ok_or("the context is a null pointer")?, body(value)?);
                Ok(())
            });
        }
        given
    }

    /// Duplicates a value.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change).
    pub unsafe fn duplicate(held: *mut c_void, copy: impl FnOnce(&T) -> T) -> *mut c_void {
        // SAFETY: guaranteed by the caller.
        unsafe { Held::give(c"dupctx", held, Held::<T>::pointer, |value: &T| Ok(copy(value))) }
    }

    /// Frees a value.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change), and the pointer is not used again.
    pub unsafe fn free(held: *mut c_void) {
        if !held.is_null() {
            // SAFETY: guaranteed by the caller.
            let held = unsafe { Box::from_raw(held.cast::<Held<T>>()) };
            let _ = guard(|| {
                drop(held);
                Ok(())
            });
        }
    }
}

#[cold]
fn in_use() -> Failure {
    "the context is in use by another thread".into()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::core::Dispatch;
    use crate::param::{Param, asked};

    /// A core without error functions.
    pub fn core() -> Core {
        // SAFETY: the table is empty.
        unsafe { Core::new(std::ptr::null(), &Dispatch::END) }
    }

    /// A pointer for other threads of a test.
    #[derive(Clone, Copy)]
    pub struct Pointer(pub *mut c_void);

    // SAFETY: tests use it as OpenSSL's users may; its value is `Send` and `Sync`.
    unsafe impl Send for Pointer {}
    // SAFETY: as above.
    unsafe impl Sync for Pointer {}

    /// Runs `body` on another thread while a call on this one reads the value.
    ///
    /// # Safety
    ///
    /// As for [`Held::change`].
    pub unsafe fn while_read<T: Send + Sync>(held: Pointer, body: impl FnOnce(Pointer) + Send) {
        // SAFETY: guaranteed by the caller.
        let read = unsafe {
            Held::read(c"test", held.0, |_: &T| {
                std::thread::scope(|scope| scope.spawn(move || body(held)).join())
                    .expect("all calls on the other thread succeed");
                Ok(())
            })
        };
        assert_eq!(read, 1);
    }

    /// Makes every call that only reads a context, for a MAC with tags of 16 bytes. Each must
    /// succeed.
    ///
    /// # Safety
    ///
    /// `held` is a context, and the functions are those of its type.
    pub unsafe fn reads(
        held: Pointer,
        duplicate: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
        free: unsafe extern "C" fn(*mut c_void),
        get: unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int,
        finish: unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int,
    ) {
        let (mut found, mut size) = (0, 0);
        let mut params = asked(c"size", &mut found);
        // SAFETY: guaranteed by the caller; the outputs are local variables.
        unsafe {
            let copy = duplicate(held.0);
            assert!(!copy.is_null(), "a duplicate");
            free(copy);
            assert_eq!(get(held.0, params.as_mut_ptr()), 1, "a parameter");
            assert_eq!(finish(held.0, std::ptr::null_mut(), &mut size, 0), 1, "a size");
        }
        assert_eq!((found, size), (16, 16));
    }

    /// Returns the number that a pointer refers to, or -1 if the call is refused.
    ///
    /// # Safety
    ///
    /// `held` refers to a number.
    unsafe fn number(held: Pointer) -> i32 {
        let mut found = -1;
        let read = |value: &i32| {
            found = *value;
            Ok(())
        };
        // SAFETY: guaranteed by the caller.
        unsafe { Held::read(c"test", held.0, read) };
        found
    }

    #[test]
    fn one_changes_and_all_others_are_refused() {
        let held = Pointer(Held::pointer(core(), 7));
        // SAFETY: the number is made above and freed below.
        unsafe {
            while_read::<i32>(held, |held| {
                // Moves the whole pointer into the closure, not only its field.
                let Pointer(held) = held;
                assert_eq!(number(Pointer(held)), 7);
                assert_eq!(Held::change(c"test", held, |_: &mut i32| Ok(())), 0);
            });
            let changed = Held::change(c"test", held.0, |value: &mut i32| {
                *value = 8;
                assert_eq!(Held::read(c"test", held.0, |_: &i32| Ok(())), 0);
                assert_eq!(Held::change(c"test", held.0, |_: &mut i32| Ok(())), 0);
                Ok(())
            });
            assert_eq!(changed, 1);
            assert_eq!(number(held), 8);
            Held::<i32>::free(held.0);
        }
    }

    #[test]
    fn a_panic_that_changes_a_value_is_the_end_of_it() {
        let held = Held::pointer(core(), 7).cast::<Held<i32>>();
        // SAFETY: made above, and freed below.
        let value = unsafe { &*held };
        let line = |found: Result<(), Failure>| found.unwrap_err().into_line();
        assert_eq!(line(value.try_change(|_| panic!("at work"))), "internal error: at work");
        let after = "internal error: an earlier call on this context panicked";
        assert_eq!(line(value.try_read(|_| Ok(()))), after);
        assert_eq!(line(value.try_change(|_| Ok(()))), after);
        // SAFETY: not used again.
        unsafe { Held::<i32>::free(held.cast()) };
    }
}
