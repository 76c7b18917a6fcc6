//! Handles: numbers that stand for the values that Java owns.
//!
//! ```text
//! handle = generation << 32 | slot
//! ```
//!
//! Slots are never freed, so that any number may be looked up. Freeing a value waits for the calls
//! that use it and raises the slot's generation, which makes all copies of its handle invalid.

use std::sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::thrown::Thrown;

/// Segment `i` has `FIRST << i` slots.
const FIRST: usize = 64;
const SEGMENTS: usize = 24;
/// Generations of one kind of value are equal modulo this, so a key's handle is never a session's.
pub const KINDS: u32 = 8;
/// A slot is not used again after this generation.
const LAST_GENERATION: u32 = i32::MAX as u32 - KINDS;

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

type Segment<T> = OnceLock<Box<[RwLock<Slot<T>>]>>;

struct Unused {
    /// The number of slots that were ever used.
    used: usize,
    freed: Vec<usize>,
}

/// The values of one kind.
pub struct Table<T> {
    name: &'static str,
    kind: u32,
    segments: [Segment<T>; SEGMENTS],
    unused: Mutex<Unused>,
}

/// A value that no thread changes meanwhile.
pub struct Shared<'a, T>(RwLockReadGuard<'a, Slot<T>>);

impl<T> std::ops::Deref for Shared<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.value.as_ref().expect("checked by the table")
    }
}

/// A value that no other thread uses meanwhile.
pub struct Exclusive<'a, T>(RwLockWriteGuard<'a, Slot<T>>);

impl<T> std::ops::Deref for Exclusive<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.value.as_ref().expect("checked by the table")
    }
}

impl<T> std::ops::DerefMut for Exclusive<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.value.as_mut().expect("checked by the table")
    }
}

impl<T> Table<T> {
    /// An empty table. `name` is that of a value in messages.
    pub const fn new(name: &'static str, kind: u32) -> Table<T> {
        assert!(kind < KINDS);
        Table {
            name,
            kind,
            segments: [const { OnceLock::new() }; SEGMENTS],
            unused: Mutex::new(Unused { used: 0, freed: Vec::new() }),
        }
    }

    fn segment(index: usize) -> (usize, usize) {
        let segment = (index / FIRST + 1).ilog2() as usize;
        (segment, index - FIRST * ((1 << segment) - 1))
    }

    fn slot(&self, index: usize) -> Option<&RwLock<Slot<T>>> {
        let (segment, place) = Table::<T>::segment(index);
        self.segments.get(segment)?.get()?.get(place)
    }

    /// Stores a value and returns its handle.
    ///
    /// # Errors
    ///
    /// If there are more values than slots.
    pub fn insert(&self, value: T) -> Result<i64, Thrown> {
        let index = {
            let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
            match unused.freed.pop() {
                Some(index) => index,
                None => {
                    let (index, (segment, _)) = (unused.used, Table::<T>::segment(unused.used));
                    let slots = self.segments.get(segment).ok_or_else(|| {
                        Thrown::state(format!("too many open objects: {}", self.name))
                    })?;
                    slots.get_or_init(|| {
                        let empty = || RwLock::new(Slot { generation: self.kind, value: None });
                        (0..FIRST << segment).map(|_| empty()).collect()
                    });
                    unused.used += 1;
                    index
                }
            }
        };
        let slot = self.slot(index).expect("made above");
        let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
        slot.generation += KINDS;
        slot.value = Some(value);
        Ok(i64::from(slot.generation) << 32 | index as i64)
    }

    /// The number of values.
    pub fn open(&self) -> usize {
        let unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        unused.used - unused.freed.len()
    }

    fn closed(&self) -> Thrown {
        Thrown::state(format!("the {} is closed", self.name))
    }

    fn find(&self, handle: i64) -> Option<(&RwLock<Slot<T>>, u32)> {
        Some((self.slot(handle as u32 as usize)?, (handle >> 32) as u32))
    }

    /// Locks a value for reading.
    ///
    /// # Errors
    ///
    /// If it was freed.
    #[inline]
    pub fn read(&self, handle: i64) -> Result<Shared<'_, T>, Thrown> {
        let (slot, generation) = self.find(handle).ok_or_else(|| self.closed())?;
        // A panic of an earlier call could have left the value half changed.
        let slot = slot.read().map_err(|_| Thrown::internal("a panic of an earlier call"))?;
        if slot.generation != generation || slot.value.is_none() {
            return Err(self.closed());
        }
        Ok(Shared(slot))
    }

    /// Locks a value for reading; `None` if it was freed, or another thread changes it or waits to.
    #[inline]
    pub fn try_read(&self, handle: i64) -> Option<Shared<'_, T>> {
        let (slot, generation) = self.find(handle)?;
        let slot = slot.try_read().ok()?;
        (slot.generation == generation && slot.value.is_some()).then_some(Shared(slot))
    }

    /// Locks a value.
    ///
    /// # Errors
    ///
    /// If it was freed.
    pub fn write(&self, handle: i64) -> Result<Exclusive<'_, T>, Thrown> {
        let (slot, generation) = self.find(handle).ok_or_else(|| self.closed())?;
        let slot = slot.write().map_err(|_| Thrown::internal("a panic of an earlier call"))?;
        if slot.generation != generation || slot.value.is_none() {
            return Err(self.closed());
        }
        Ok(Exclusive(slot))
    }

    /// Frees a value, if the handle is valid.
    pub fn remove(&self, handle: i64) {
        let Some((slot, generation)) = self.find(handle) else { return };
        let removed = {
            let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
            if slot.generation != generation {
                return;
            }
            slot.value.take()
        };
        slot.clear_poison();
        if removed.is_some() && generation < LAST_GENERATION {
            let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
            unused.freed.push(handle as u32 as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn handles_end_with_their_value() {
        let table = Table::new("number", 1);
        let one = table.insert(1).expect("room");
        assert_eq!(*table.read(one).expect("a value"), 1);
        *table.write(one).expect("a value") += 1;
        assert_eq!(*table.read(one).expect("a value"), 2);
        let locked = table.write(one).expect("a value");
        assert!(table.try_read(one).is_none());
        drop(locked);
        assert_eq!(table.try_read(one).as_deref(), Some(&2));
        table.remove(one);
        table.remove(one);
        assert!(table.try_read(one).is_none());
        assert!(table.read(one).is_err() && table.write(one).is_err());
        let two = table.insert(2).expect("room");
        assert_eq!(two as u32, one as u32, "the slot is used again");
        assert!(table.read(one).is_err() && table.read(two).is_ok());
        // A panic ends one value and not its slot.
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _two = table.write(two).expect("a value");
            panic!("of a call");
        }));
        assert!(panic.is_err() && table.read(two).is_err());
        table.remove(two);
        let three = table.insert(3).expect("room");
        assert_eq!(*table.read(three).expect("a value"), 3);
    }

    #[test]
    fn any_number_is_a_handle_or_refused() {
        let table = Table::new("number", 2);
        let handles: Vec<i64> = (0..1000).map(|n| table.insert(n).expect("room")).collect();
        assert_eq!(handles.iter().collect::<HashSet<_>>().len(), 1000);
        assert!(handles.iter().zip(0..).all(|(at, n)| *table.read(*at).expect("a value") == n));
        let other = Table::new("other number", 3);
        other.insert(0).expect("room");
        let more = handles.iter().flat_map(|at| [at ^ 1 << 32, at + (4 << 32), at | 1 << 63]);
        for forged in [0, 1, -1, i64::MIN, i64::MAX, 1000, 4 << 32 | 5000].into_iter().chain(more) {
            assert!(table.read(forged).is_err(), "{forged:x}");
            assert!(table.try_read(forged).is_none(), "{forged:x}");
            table.remove(forged);
        }
        assert!(other.read(handles[0]).is_err());
        assert!(handles.iter().all(|at| table.read(*at).is_ok()));
    }

    #[test]
    fn values_are_freed_while_threads_use_them() {
        let table = Table::new("word", 0);
        let word = Arc::new("word".to_string());
        for _ in 0..200 {
            let handle = table.insert(word.clone()).expect("room");
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| while table.read(handle).is_ok_and(|word| **word == "word") {});
                }
                scope.spawn(|| table.remove(handle));
            });
        }
        assert_eq!(Arc::strong_count(&word), 1);
    }
}
