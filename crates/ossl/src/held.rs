//! What OpenSSL has of ours: a pointer, for one thread at a time, with the place for errors.

use std::ffi::{CStr, c_int, c_void};
use std::sync::Mutex;

use tagmac_border::{Failure, guard};

use crate::core::Core;

/// A value behind OpenSSL's pointer.
pub struct Held<T> {
    core: Core,
    value: Mutex<T>,
}

impl<T> Held<T> {
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
        Box::into_raw(Box::new(Held { core, value: Mutex::new(value) })).cast()
    }

    /// Runs a call on the value: 1, or 0 with an error on the queue.
    ///
    /// # Safety
    ///
    /// `held` is null or a pointer to a `T` that [`make`](Held::make) or [`give`](Held::give) made.
    pub unsafe fn call(
        name: &CStr,
        held: *mut c_void,
        body: impl FnOnce(&mut T) -> Result<(), Failure>,
    ) -> c_int {
        // SAFETY: the caller's word.
        let Some(held) = (unsafe { held.cast::<Held<T>>().as_ref() }) else { return 0 };
        let done = guard(|| {
            let value = held.value.try_lock();
            body(&mut *value.map_err(|_| "expected a context of one thread, found it in use")?)
        });
        held.core.answer(name, done)
    }

    /// The same for a call whose answer is a pointer to a value of its own.
    ///
    /// # Safety
    ///
    /// As for [`call`](Held::call).
    pub unsafe fn give<U>(
        name: &CStr,
        held: *mut c_void,
        wrap: impl FnOnce(Core, U) -> *mut c_void,
        body: impl FnOnce(&mut T) -> Result<U, Failure>,
    ) -> *mut c_void {
        let mut given = std::ptr::null_mut();
        // SAFETY: the caller's word, twice.
        unsafe {
            let core = held.cast::<Held<T>>().as_ref().map(|held| held.core);
            Held::<T>::call(name, held, |value| {
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
    /// As for [`call`](Held::call).
    pub unsafe fn duplicate(held: *mut c_void, copy: impl FnOnce(&T) -> T) -> *mut c_void {
        // SAFETY: the caller's word.
        unsafe { Held::give(c"dupctx", held, Held::<T>::pointer, |value: &mut T| Ok(copy(value))) }
    }

    /// Frees it.
    ///
    /// # Safety
    ///
    /// As for [`call`](Held::call), and nobody uses it again.
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
