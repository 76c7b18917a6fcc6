//! The values behind OpenSSL's pointers, each with the place for errors.
//!
//! Calls that only read a value run at once, on any number of threads: OpenSSL promises that of every
//! function with a `const` argument, such as EVP_MAC_CTX_dup. A call that changes a value has to be the
//! only one; otherwise it is refused. No call waits for another.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{RwLock, TryLockError};

use tagmac_border::{Failure, FailureKind, guard};

use crate::core::Core;

/// A value behind OpenSSL's pointer.
pub struct Held<T> {
    core: Core,
    value: RwLock<T>,
}

impl<T: Send + Sync> Held<T> {
    /// The pointer for a value that `make` makes; null if it panics.
    ///
    /// # Safety
    ///
    /// `core` is the provider's context, which is that of `OSSL_provider_init`.
    pub unsafe fn make(core: *mut c_void, make: impl FnOnce() -> T) -> *mut c_void {
        let made = guard(|| {
            // SAFETY: the caller's word.
            let core = unsafe { *core.cast::<Core>() };
            Ok(Held::pointer(core, make()))
        });
        made.unwrap_or(std::ptr::null_mut())
    }

    fn pointer(core: Core, value: T) -> *mut c_void {
        Box::into_raw(Box::new(Held { core, value: RwLock::new(value) })).cast()
    }

    /// Runs a call that changes the value: 1, or 0 with an error on the queue.
    ///
    /// # Safety
    ///
    /// `held` is null or a pointer to a `T` that [`make`](Held::make) or [`give`](Held::give) made.
    pub unsafe fn change(
        name: &CStr,
        held: *mut c_void,
        body: impl FnOnce(&mut T) -> Result<(), Failure>,
    ) -> c_int {
        // SAFETY: the caller's word.
        let Some(held) = (unsafe { held.cast::<Held<T>>().as_ref() }) else { return 0 };
        let done = guard(|| body(&mut *held.value.try_write().map_err(refused)?));
        held.core.answer(name, done)
    }

    /// Runs a call that only reads the value: 1, or 0 with an error on the queue.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change).
    pub unsafe fn read(
        name: &CStr,
        held: *mut c_void,
        body: impl FnOnce(&T) -> Result<(), Failure>,
    ) -> c_int {
        // SAFETY: the caller's word.
        let Some(held) = (unsafe { held.cast::<Held<T>>().as_ref() }) else { return 0 };
        let done = guard(|| body(&*held.value.try_read().map_err(refused)?));
        held.core.answer(name, done)
    }

    /// Runs a call that only reads the value, and whose answer is a pointer to a value of its own.
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
        // SAFETY: the caller's word, twice.
        unsafe {
            let core = held.cast::<Held<T>>().as_ref().map(|held| held.core);
            Held::<T>::read(name, held, |value| {
                given = wrap(core.ok_or("expected a context, found none")?, body(value)?);
                Ok(())
            });
        }
        given
    }

    /// A second one.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change).
    pub unsafe fn duplicate(held: *mut c_void, copy: impl FnOnce(&T) -> T) -> *mut c_void {
        // SAFETY: the caller's word.
        unsafe { Held::give(c"dupctx", held, Held::<T>::pointer, |value: &T| Ok(copy(value))) }
    }

    /// Frees it.
    ///
    /// # Safety
    ///
    /// As for [`change`](Held::change), and nobody uses it again.
    pub unsafe fn free(held: *mut c_void) {
        if !held.is_null() {
            // SAFETY: the caller's word.
            let held = unsafe { Box::from_raw(held.cast::<Held<T>>()) };
            let _ = guard(|| {
                drop(held);
                Ok(())
            });
        }
    }
}

/// Why a call cannot have the value.
fn refused<G>(error: TryLockError<G>) -> Failure {
    match error {
        TryLockError::WouldBlock => {
            "expected a context that no other thread is using, found one in use".into()
        }
        TryLockError::Poisoned(_) => {
            Failure::from("internal error: an earlier call on this context panicked")
                .of(FailureKind::Internal)
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::core::Dispatch;
    use crate::param::{Param, asked};

    /// A provider's context without functions for errors.
    pub fn core() -> Core {
        // SAFETY: a table that ends at once.
        unsafe { Core::new(std::ptr::null(), &Dispatch::END) }
    }

    /// OpenSSL's pointer, for a thread of a test.
    #[derive(Clone, Copy)]
    pub struct Pointer(pub *mut c_void);

    // SAFETY: tests use it as OpenSSL's users may: its value is `Send` and `Sync`.
    unsafe impl Send for Pointer {}
    // SAFETY: as above.
    unsafe impl Sync for Pointer {}

    /// Runs `body` on another thread while a call on this one reads the value.
    ///
    /// # Safety
    ///
    /// As for [`Held::change`].
    pub unsafe fn while_read<T: Send + Sync>(held: Pointer, body: impl FnOnce(Pointer) + Send) {
        // SAFETY: the caller's word.
        let read = unsafe {
            Held::read(c"test", held.0, |_: &T| {
                std::thread::scope(|scope| scope.spawn(move || body(held)).join())
                    .expect("all calls on the other thread go well");
                Ok(())
            })
        };
        assert_eq!(read, 1);
    }

    /// Makes all calls that only read a context, of a MAC with tags of 16 bytes: each goes well.
    ///
    /// # Safety
    ///
    /// `held` is a context, and the functions are those of its kind.
    pub unsafe fn reads(
        held: Pointer,
        duplicate: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
        free: unsafe extern "C" fn(*mut c_void),
        get: unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int,
        finish: unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int,
    ) {
        let (mut found, mut size) = (0, 0);
        let mut params = asked(c"size", &mut found);
        // SAFETY: the caller's word, and places of this frame.
        unsafe {
            let copy = duplicate(held.0);
            assert!(!copy.is_null(), "a duplicate");
            free(copy);
            assert_eq!(get(held.0, params.as_mut_ptr()), 1, "a parameter");
            assert_eq!(finish(held.0, std::ptr::null_mut(), &mut size, 0), 1, "a size");
        }
        assert_eq!((found, size), (16, 16));
    }

    /// The number behind a pointer, -1 where the call is refused.
    ///
    /// # Safety
    ///
    /// `held` is of a number.
    unsafe fn number(held: Pointer) -> i32 {
        let mut found = -1;
        let read = |value: &i32| {
            found = *value;
            Ok(())
        };
        // SAFETY: the caller's word.
        unsafe { Held::read(c"test", held.0, read) };
        found
    }

    #[test]
    fn one_changes_and_all_others_are_refused() {
        let held = Pointer(Held::pointer(core(), 7));
        // SAFETY: a number that was made above, and freed below.
        unsafe {
            while_read::<i32>(held, |held| {
                // The thread has the whole pointer, not only the field in it.
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
        let held = RwLock::new(7);
        let line = |found: Result<(), Failure>| found.unwrap_err().into_line();
        let panicked = guard(|| {
            let _value = held.try_write().map_err(refused)?;
            panic!("at work")
        });
        assert_eq!(line(panicked), "internal error: at work");
        let after = held.try_read().map(drop).map_err(refused);
        assert_eq!(line(after), "internal error: an earlier call on this context panicked");
    }
}
