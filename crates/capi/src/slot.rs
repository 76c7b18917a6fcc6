//! What stands in the memory of a `tagmac_key`, `tagmac_stream`, `tagmac_session` or `tagmac_part`: a
//! lock, a pointer to the value, and a check word over both addresses.
//!
//! Zeros are an empty slot. The check word tells a slot with a value from memory that was never
//! cleared, and from a slot that was moved or copied, so that no pointer is followed which this
//! library did not put there. The lock turns the use by two threads at once into a failure.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use tagmac_border::{Failure, ensure};

/// Words of a slot, and of the structs in the header, which say so in figures: one is spare.
const WORDS: usize = 4;

/// What a slot holds: one kind of value. Several threads may read one at once, and any thread may free it.
pub trait Held: Send + Sync {
    /// Its name in C.
    const NAME: &'static str;
    /// Tells it from other kinds.
    const MAGIC: usize;
}

/// A slot for a value of a kind. It lies in the memory of C and is never made in Rust.
#[repr(C)]
pub struct Slot<T> {
    /// 0: free; `WRITE`: one uses it alone; else the number of readers.
    lock: AtomicUsize,
    check: AtomicUsize,
    value: AtomicPtr<T>,
    spare: AtomicUsize,
}

const _: () = assert!(size_of::<Slot<u8>>() == WORDS * size_of::<usize>());
const _: () = assert!(align_of::<Slot<u8>>() == align_of::<usize>());

const WRITE: usize = usize::MAX;

/// A slot that stays as it is, or is changed by one, while the lock is there.
struct Lock<'a>(&'a AtomicUsize, usize);

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        match self.1 {
            WRITE => self.0.store(0, Ordering::Release),
            _ => _ = self.0.fetch_sub(1, Ordering::Release),
        }
    }
}

/// A value, shared with other readers.
pub struct Shared<'a, T> {
    value: &'a T,
    _lock: Lock<'a>,
}

impl<T> std::ops::Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

/// A slot for one alone.
pub struct Alone<'a, T> {
    slot: &'a Slot<T>,
    _lock: Lock<'a>,
    _value: PhantomData<&'a mut T>,
}

/// The slot at an address.
///
/// # Errors
///
/// For a null pointer, and where no slot can be.
///
/// # Safety
///
/// Unless null or not aligned, `at` points to four words that stay allocated during `'a`, and
/// that nobody but this library writes meanwhile.
pub unsafe fn slot<'a, T: Held, C>(at: *const C) -> Result<&'a Slot<T>, Failure> {
    const { assert!(size_of::<C>() == size_of::<Slot<T>>()) };
    ensure(!at.is_null(), format_args!("expected a {}, found a null pointer", T::NAME))?;
    let align = align_of::<Slot<T>>();
    ensure(
        at.addr().is_multiple_of(align),
        format_args!("expected a {} at a multiple of {align} bytes, found another", T::NAME),
    )?;
    // SAFETY: not null and aligned; the caller vouches for the memory. Any bytes are valid atomics,
    // and atomics may be written through a shared reference.
    Ok(unsafe { &*at.cast() })
}

impl<T: Held> Slot<T> {
    /// Of a slot at this address that holds that value.
    fn seal(&self, value: *mut T) -> usize {
        T::MAGIC ^ std::ptr::from_ref(self).addr().rotate_left(13) ^ value.addr()
    }

    /// The value's address, null if there is none. To be called under a lock.
    fn value(&self) -> Result<*mut T, Failure> {
        let value = self.value.load(Ordering::Relaxed);
        let check = self.check.load(Ordering::Relaxed);
        let expected = if value.is_null() { 0 } else { self.seal(value) };
        ensure(
            check == expected,
            format_args!(
                "expected a {} that began as zeros and was not moved or copied, found other bytes",
                T::NAME
            ),
        )?;
        Ok(value)
    }

    fn lock(&self, next: impl Fn(usize) -> Option<usize>) -> Result<Lock<'_>, Failure> {
        let last = self.lock.fetch_update(Ordering::Acquire, Ordering::Relaxed, &next);
        match last.ok().and_then(next) {
            Some(now) => Ok(Lock(&self.lock, now)),
            None => Err(format_args!(
                "expected a {} that no other thread is using, found one in use, or not begun as \
                 zeros",
                T::NAME
            )
            .into()),
        }
    }

    /// The value, for reading.
    ///
    /// # Errors
    ///
    /// If there is none, or somebody is changing it.
    pub fn read(&self) -> Result<Shared<'_, T>, Failure> {
        // An empty slot may be a constant of C's, whose lock cannot be written.
        if self.value.load(Ordering::Relaxed).is_null() {
            return Err(empty::<T>().into());
        }
        let lock = self.lock(|now| (now < WRITE - 1).then(|| now + 1))?;
        let value = self.value()?;
        // SAFETY: null, or the check word says that `put` left the value here, and it lives until
        // `take`, which needs the lock.
        let value = unsafe { value.as_ref() }.ok_or_else(empty::<T>)?;
        Ok(Shared { value, _lock: lock })
    }

    /// The slot, for one alone.
    ///
    /// # Errors
    ///
    /// If anybody uses it.
    pub fn alone(&self) -> Result<Alone<'_, T>, Failure> {
        let lock = self.lock(|now| (now == 0).then_some(WRITE))?;
        self.value()?;
        Ok(Alone { slot: self, _lock: lock, _value: PhantomData })
    }
}

fn empty<T: Held>() -> String {
    format!("expected a {} after its init, found an empty one", T::NAME)
}

impl<T: Held> Alone<'_, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn get(&mut self) -> Result<&mut T, Failure> {
        // SAFETY: null, or left here by `put`; the lock keeps all others away.
        unsafe { self.slot.value()?.as_mut() }.ok_or_else(|| empty::<T>().into())
    }

    /// Refuses a slot that holds a value.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn vacant(&self) -> Result<(), Failure> {
        ensure(
            self.slot.value()?.is_null(),
            format_args!("expected an empty {}, found one in use: free it first", T::NAME),
        )
    }

    /// Leaves a value in an empty slot.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn put(&mut self, value: T) -> Result<(), Failure> {
        self.vacant()?;
        let value = Box::into_raw(Box::new(value));
        self.slot.check.store(self.slot.seal(value), Ordering::Relaxed);
        self.slot.value.store(value, Ordering::Relaxed);
        Ok(())
    }

    /// Takes the value, if there is one, and leaves zeros.
    ///
    /// # Errors
    ///
    /// For bytes that are no slot.
    pub fn take(&mut self) -> Result<Option<Box<T>>, Failure> {
        let value = self.slot.value()?;
        self.slot.value.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.slot.check.store(0, Ordering::Relaxed);
        // SAFETY: left here by `put`, and from now on in no slot.
        Ok((!value.is_null()).then(|| unsafe { Box::from_raw(value) }))
    }
}

/// Frees the value of a slot.
///
/// # Errors
///
/// If somebody uses it, and for bytes that are no slot.
///
/// # Safety
///
/// As [`slot`].
pub unsafe fn free<T: Held, C>(at: *const C) -> Result<(), Failure> {
    // SAFETY: the caller's word.
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
        // SAFETY: four words that are aligned and used by one thread.
        unsafe { slot(words) }.expect("a slot")
    }

    #[test]
    fn zeros_are_empty_and_a_value_comes_back() {
        let words = [0; WORDS];
        assert!(at(&words).read().is_err());
        assert!(at(&words).alone().expect("free").get().is_err());
        at(&words).alone().expect("free").put("it".into()).expect("empty");
        assert_eq!(**at(&words).read().expect("a value"), *"it");
        assert!(at(&words).alone().expect("free").put("more".into()).is_err());
        assert_eq!(
            at(&words).alone().expect("free").take().expect("a slot"),
            Some("it".to_string().into())
        );
        assert_eq!(at(&words).alone().expect("free").take().expect("a slot"), None);
    }

    #[test]
    fn an_empty_slot_may_be_a_constant() {
        // In memory that cannot be written.
        static EMPTY: Words = [0; WORDS];
        assert!(at(&EMPTY).read().is_err());
    }

    #[test]
    fn copies_and_garbage_are_refused() {
        let words = [0; WORDS];
        at(&words).alone().expect("free").put("it".into()).expect("empty");
        // Read through the atomics' own address.
        let copy: Words = std::array::from_fn(|i| {
            // SAFETY: a word of the array, which no other thread uses.
            unsafe { std::ptr::read_volatile(&words[i]) }
        });
        assert_ne!(copy, [0; WORDS]);
        assert!(at(&copy).read().is_err() && at(&copy).alone().is_err());
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
        // SAFETY: neither address is followed.
        unsafe {
            assert!(slot::<String, Words>(std::ptr::null()).is_err());
            assert!(slot::<String, Words>(odd).is_err());
        }
    }
}
