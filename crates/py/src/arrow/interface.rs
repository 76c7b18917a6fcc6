//! The structs of Arrow's C data interface and C stream interface, as the specifications have them
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>), so that no Arrow library is needed.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Deref;
use std::ptr::null;

/// The type of an array.
#[repr(C)]
pub struct ArrowSchema {
    pub format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const c_void,
    pub dictionary: *const ArrowSchema,
    release: Option<Release<ArrowSchema>>,
    private_data: *const c_void,
}

/// An array.
#[repr(C)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    n_children: i64,
    pub buffers: *const *const u8,
    children: *const c_void,
    pub dictionary: *const ArrowArray,
    release: Option<Release<ArrowArray>>,
    private_data: *const c_void,
}

/// Arrays of one type, one after the other. Numbers are 0 or of `errno`.
#[repr(C)]
pub struct ArrowArrayStream {
    pub get_schema: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int,
    pub get_next: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int,
    pub get_last_error: unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char,
    pub release: Option<Release<ArrowArrayStream>>,
    private_data: *const c_void,
}

/// What a producer fills in and a consumer releases, once.
pub trait Released: Sized {
    /// One that holds nothing.
    const EMPTY: Self;

    /// The producer's function that gives back what it holds, if it holds anything.
    fn callback(&self) -> Option<Release<Self>>;

    /// Whether it holds nothing.
    fn is_released(&self) -> bool {
        self.callback().is_none()
    }

    /// Gives back what it holds.
    fn release(&mut self) {
        if let Some(release) = self.callback() {
            // SAFETY: the producer gave it for this struct, and it sets the field to null.
            unsafe { release(self) };
        }
    }
}

/// Gives back what a struct holds, and marks it so.
type Release<T> = unsafe extern "C" fn(*mut T);

impl Released for ArrowSchema {
    const EMPTY: ArrowSchema = ArrowSchema {
        format: null(),
        name: null(),
        metadata: null(),
        flags: 0,
        n_children: 0,
        children: null(),
        dictionary: null(),
        release: None,
        private_data: null(),
    };

    fn callback(&self) -> Option<Release<Self>> {
        self.release
    }
}

impl Released for ArrowArray {
    const EMPTY: ArrowArray = ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null(),
        children: null(),
        dictionary: null(),
        release: None,
        private_data: null(),
    };

    fn callback(&self) -> Option<Release<Self>> {
        self.release
    }
}

/// A struct that is ours to release.
pub struct Owned<T: Released>(T);

impl<T: Released> Owned<T> {
    /// What a producer fills in, and what it returns.
    pub fn filled<R>(fill: impl FnOnce(*mut T) -> R) -> (Owned<T>, R) {
        let mut owned = Owned(T::EMPTY);
        let returned = fill(&mut owned.0);
        (owned, returned)
    }
}

impl<T: Released> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}
