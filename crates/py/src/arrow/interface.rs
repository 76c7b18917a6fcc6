//! The structs of Arrow's C data interface and C stream interface, as the specifications have them
//! (<https://arrow.apache.org/docs/format/CDataInterface.html>), so that no Arrow library is needed.

use std::ffi::{c_char, c_int, c_void};
use std::ops::Deref;
use std::ptr::{NonNull, null};

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
    release: Option<Release<ArrowArrayStream>>,
    private_data: *const c_void,
}

/// What a producer fills in and a consumer releases, once.
pub trait Released: Sized {
    /// The producer's function that gives back what it holds; none if it holds nothing.
    fn callback(&mut self) -> &mut Option<Release<Self>>;
}

/// What a consumer gives to be filled in.
pub trait Filled: Released {
    /// One that holds nothing.
    const EMPTY: Self;

    /// Whether it holds nothing.
    fn is_released(&self) -> bool;
}

/// Gives back what a struct holds, and marks it so.
type Release<T> = unsafe extern "C" fn(*mut T);

impl Released for ArrowSchema {
    fn callback(&mut self) -> &mut Option<Release<Self>> {
        &mut self.release
    }
}

impl Released for ArrowArray {
    fn callback(&mut self) -> &mut Option<Release<Self>> {
        &mut self.release
    }
}

impl Released for ArrowArrayStream {
    fn callback(&mut self) -> &mut Option<Release<Self>> {
        &mut self.release
    }
}

impl Filled for ArrowSchema {
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

    fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

impl Filled for ArrowArray {
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

    fn is_released(&self) -> bool {
        self.release.is_none()
    }
}

/// A struct that is ours to release.
pub struct Owned<T: Released>(T);

impl<T: Filled> Owned<T> {
    /// What a producer fills in, and what it returns.
    pub fn filled<R>(fill: impl FnOnce(*mut T) -> R) -> (Owned<T>, R) {
        let mut owned = Owned(T::EMPTY);
        let returned = fill(&mut owned.0);
        (owned, returned)
    }
}

impl<T: Released> Owned<T> {
    /// Moves a struct here from where its producer has it, and marks it released there: whoever else
    /// comes to it could release it while it is in use. None if it is released.
    ///
    /// # Safety
    ///
    /// The struct is there, and nobody uses it meanwhile.
    pub unsafe fn taken(mut from: NonNull<T>) -> Option<Owned<T>> {
        // SAFETY: as the caller says. The specification lets structs be moved in this way.
        unsafe {
            (*from.as_mut().callback())?;
            let owned = Owned(from.read());
            *from.as_mut().callback() = None;
            Some(owned)
        }
    }

    /// Where it is.
    pub fn at(&mut self) -> *mut T {
        &mut self.0
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
        if let Some(release) = *self.0.callback() {
            // SAFETY: the producer gave it for this struct, and nothing uses the struct any more.
            unsafe { release(&mut self.0) };
        }
    }
}
