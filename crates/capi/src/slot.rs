//! The memory of a `tagmac_key`, `tagmac_stream`, `tagmac_session` or `tagmac_part`: a lock, a
//! pointer to the value, and a check word over both addresses.
//!
//! A slot of zeros is empty. The check word detects memory that was never cleared and slots that
//! were moved or copied. So the library follows only pointers that it stored itself. The lock turns
//! use by two threads at the same time into an error.
//!
//! Calls that only use a key do not lock it: with the lock, each of two threads with one key took
//! three times as long. So only a key must not be freed during such a call.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use tagmac_border::lock::{Lock, Locked};
use tagmac_border::{Failure, ensure};

/// Words of a slot. The structs of the header have the same number as a literal. One word is spare.
const WORDS: usize = 4;

/// The type of a slot's value. Several threads may read a value at the same time, and any thread
/// may free it.
pub trait Held: Send + Sync {
    /// The name of its struct in C.
    const NAME: &'static str;
    /// Distinguishes it from the other types.
    const MAGIC: usize;
}

/// A slot for a `T`. It is in memory of the C program and is never constructed in Rust.
#[repr(C)]
pub struct Slot<T> {
    lock: Lock,
    check: AtomicUsize,
    value: AtomicPtr<T>,
    spare: AtomicUsize,
}

const _: () = assert!(size_of::<Slot<u8>>() == WORDS * size_of::<usize>());
const _: () = assert!(align_of::<Slot<u8>>() == align_of::<usize>());

/// A value locked for reading.
pub struct Shared<'a, T> {
    value: &'a T,
    _lock: Locked<'a>,
}

impl<T> std::ops::Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

/// A slot locked exclusively.
pub struct Alone<'a, T> {
    slot: &'a Slot<T>,
    _lock: Locked<'a>,
    _value: PhantomData<&'a mut T>,
}

/// Returns the slot at an address.
///
/// # Errors
///
/// If `at` is null or not aligned.
///
/// # Safety
///
/// Unless null or not aligned, `at` points to four words that stay allocated during `'a`. Only this
/// library writes to them during that time.
#[inline]
pub unsafe fn slot<'a, T: Held, C>(at: *const C) -> Result<&'a Slot<T>, Failure> {
    const { assert!(size_of::<C>() == size_of::<Slot<T>>()) };
    ensure(!at.is_null(), || format!("{} is a null pointer", T::NAME))?;
    let align = align_of::<Slot<T>>();
    ensure(at.addr().is_multiple_of(align), || {
        format!("{} is not at a multiple of {align} bytes", T::NAME)
    })?;
    // SAFETY: not null and aligned; the caller guarantees the memory. Any bytes are valid atomics,
    // and atomics may be written through a shared reference.
    Ok(unsafe { &*at.cast() })
}

impl<T: Held> Slot<T> {
    /// The check word for a slot at this address with that value.
    fn seal(&self, value: *mut T) -> usize {
        T::MAGIC ^ std::ptr::from_ref(self).addr().rotate_left(13) ^ value.addr()
    }

    /// Returns the address of the value, or null.
    #[inline]
    fn value(&self) -> Result<*mut T, Failure> {
        let value = self.value.load(Ordering::Acquire);
        let check = self.check.load(Ordering::Relaxed);
        let expected = if value.is_null() { 0 } else { self.seal(value) };
        ensure(check == expected, || {
            format!(
                "{} was moved or copied, did not begin as zeros, or is an object of another type",
                T::NAME
            )
        })?;
        Ok(value)
    }

    /// Returns the value without a lock.
    ///
    /// # Errors
    ///
    /// If the slot is empty.
    ///
    /// # Safety
    ///
    /// No thread changes or frees the value while the caller uses it.
    #[inline]
    pub unsafe fn get(&self) -> Result<&T, Failure> {
        // SAFETY: either null, or the check word shows that `put` stored the value here. The caller
        // guarantees that it stays.
        unsafe { self.value()?.as_ref() }.ok_or_else(|| empty::<T>().into())
    }

    /// Locks the value for reading.
    ///
    /// # Errors
    ///
    /// If the slot is empty or locked exclusively.
    pub fn read(&self) -> Result<Shared<'_, T>, Failure> {
        // An empty slot may be a constant in read-only memory, where the lock cannot be written.
        if self.value.load(Ordering::Relaxed).is_null() {
            return Err(empty::<T>().into());
        }
        let lock = self.lock.shared().ok_or_else(in_use::<T>)?;
        let value = self.value()?;
        // SAFETY: either null, or the check word shows that `put` stored the value here. It stays
        // valid until `take`, which needs the lock.
        let value = unsafe { value.as_ref() }.ok_or_else(empty::<T>)?;
        Ok(Shared { value, _lock: lock })
    }

    /// Locks the slot exclusively.
    ///
    /// # Errors
    ///
    /// If the slot is locked.
    pub fn alone(&self) -> Result<Alone<'_, T>, Failure> {
        let lock = self.lock.alone().ok_or_else(in_use::<T>)?;
        self.value()?;
        Ok(Alone { slot: self, _lock: lock, _value: PhantomData })
    }
}

#[cold]
fn empty<T: Held>() -> String {
    format!("{} is empty: call its init function first", T::NAME)
}

#[cold]
fn in_use<T: Held>() -> String {
    format!(
        "{} is already in use by another thread or argument, or did not begin as zeros",
        T::NAME
    )
}

impl<T: Held> Alone<'_, T> {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// If the slot is empty.
    pub fn get(&mut self) -> Result<&mut T, Failure> {
        // SAFETY: null, or stored here by `put`; the lock is exclusive.
        unsafe { self.slot.value()?.as_mut() }.ok_or_else(|| empty::<T>().into())
    }

    /// Rejects a slot with a value.
    ///
    /// # Errors
    ///
    /// If the slot has a value.
    pub fn vacant(&self) -> Result<(), Failure> {
        ensure(self.slot.value()?.is_null(), || {
            format!("{} is already initialised: free it first", T::NAME)
        })
    }

    /// Stores a value in an empty slot.
    ///
    /// # Errors
    ///
    /// If the slot has a value.
    pub fn put(&mut self, value: T) -> Result<(), Failure> {
        self.vacant()?;
        let value = Box::into_raw(Box::new(value));
        self.slot.check.store(self.slot.seal(value), Ordering::Relaxed);
        // Last, because `get` does not lock.
        self.slot.value.store(value, Ordering::Release);
        Ok(())
    }

    /// Takes the value out, if the slot has one, and leaves zeros.
    ///
    /// # Errors
    ///
    /// If the bytes are not a slot.
    pub fn take(&mut self) -> Result<Option<Box<T>>, Failure> {
        let value = self.slot.value()?;
        self.slot.value.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.slot.check.store(0, Ordering::Relaxed);
        // SAFETY: stored here by `put`, and no longer in any slot.
        Ok((!value.is_null()).then(|| unsafe { Box::from_raw(value) }))
    }
}

/// Frees the value of a slot.
///
/// # Errors
///
/// If the slot is in use, or if the bytes are not a slot.
///
/// # Safety
///
/// As for [`slot`].
pub unsafe fn free<T: Held, C>(at: *const C) -> Result<(), Failure> {
    // SAFETY: guaranteed by the caller.
    unsafe { slot::<T, C>(at) }?.alone()?.take().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Held for String {
        const NAME: &'static str = "string";
        const MAGIC: usize = 7;
    }

    type Words = [usize; WORDS];

    fn at(words: &Words) -> &Slot<String> {
        // SAFETY: four aligned words, used by one thread.
        unsafe { slot(words) }.expect("a slot")
    }

    #[test]
    fn zeros_are_empty_and_a_value_comes_back() {
        let words = [0; WORDS];
        assert!(at(&words).read().is_err());
        assert!(at(&words).alone().expect("free").get().is_err());
        at(&words).alone().expect("free").put("it".into()).expect("empty");
        assert_eq!(**at(&words).read().expect("a value"), *"it");
        // SAFETY: one thread uses it.
        assert_eq!(unsafe { at(&words).get() }.expect("a value"), "it");
        assert!(at(&words).alone().expect("free").put("more".into()).is_err());
        assert_eq!(
            at(&words).alone().expect("free").take().expect("a slot"),
            Some("it".to_string().into())
        );
        assert_eq!(at(&words).alone().expect("free").take().expect("a slot"), None);
    }

    #[test]
    fn an_empty_slot_may_be_a_constant() {
        // A static without interior mutability is in read-only memory.
        static EMPTY: Words = [0; WORDS];
        assert!(at(&EMPTY).read().is_err());
        // SAFETY: nothing changes it.
        assert!(unsafe { at(&EMPTY).get() }.is_err());
    }

    #[test]
    fn copies_and_garbage_are_refused() {
        let words = [0; WORDS];
        at(&words).alone().expect("free").put("it".into()).expect("empty");
        let copy: Words = std::array::from_fn(|i| {
            // SAFETY: a word of the array, which no other thread uses.
            unsafe { std::ptr::read_volatile(&words[i]) }
        });
        assert_ne!(copy, [0; WORDS]);
        assert!(at(&copy).read().is_err() && at(&copy).alone().is_err());
        // SAFETY: one thread uses it.
        assert!(unsafe { at(&copy).get() }.is_err());
        for garbage in [[1; WORDS], [usize::MAX; WORDS], [0, 5, 0, 0], [0, 0, 5, 0], [3, 0, 0, 0]] {
            assert!(at(&garbage).read().is_err(), "{garbage:?}");
            let held = at(&garbage).alone();
            assert!(held.is_err(), "{garbage:?}");
        }
        at(&words).alone().expect("free").take().expect("a slot");
    }

    #[test]
    fn readers_share_and_one_writes() {
        let words = [0; WORDS];
        at(&words).alone().expect("free").put("it".into()).expect("empty");
        let (one, two) = (at(&words).read(), at(&words).read());
        assert!(one.is_ok() && two.is_ok() && at(&words).alone().is_err());
        drop((one, two));
        let mut alone = at(&words).alone().expect("free");
        assert!(at(&words).read().is_err() && at(&words).alone().is_err());
        alone.take().expect("a slot");
    }

    #[test]
    fn no_place_for_a_slot() {
        let words = [0usize; WORDS + 1];
        let odd = words.as_ptr().cast::<u8>().wrapping_add(1).cast::<Words>();
        // SAFETY: both addresses are refused before they are read.
        unsafe {
            assert!(slot::<String, Words>(std::ptr::null()).is_err());
            assert!(slot::<String, Words>(odd).is_err());
        }
    }
}
