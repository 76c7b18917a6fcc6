//! The C library next to this program, with its exports from `dlsym`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::rooms::Room;

/// A C object: a key, a stream, a session or a part. Initially zeros.
pub type Object = *mut c_void;
type In = *const u8;
type Out = *mut u8;
type Text = *const c_char;

macro_rules! library {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The tested functions of the library.
        pub struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Library {
            /// Loads `libtagmac.so` from the folder of this program.
            pub fn load() -> Library {
                let program = std::env::current_exe().expect("a program");
                let path = program.with_file_name("libtagmac.so");
                let name = CString::new(path.to_str().expect("text")).expect("no NUL");
                // SAFETY: the library was built with this program, and its constructors are Rust's.
                let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
                assert!(!library.is_null(), "{}: missing, or cannot be loaded", path.display());
                Library {
                    $($name: {
                        let name = concat!("tagmac_", stringify!($name), "\0");
                        let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("one NUL");
                        // SAFETY: the library is loaded and stays loaded.
                        let symbol = unsafe { libc::dlsym(library, name.as_ptr()) };
                        assert!(!symbol.is_null(), "{}: {name:?} is missing", path.display());
                        // SAFETY: the type matches `tagmac.h`.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> $result,
                            >(symbol)
                        }
                    },)*
                }
            }
        }
    };
}

library! {
    set_level: fn(Text) -> c_int;
    memzero: fn(Object, usize) -> c_int;
    tag: fn(Out, usize, Text, In, usize, In, usize, In, usize) -> c_int;
    verify: fn(In, usize, Text, In, usize, In, usize, In, usize) -> c_int;
    key_init: fn(Object, Text, In, usize, usize) -> c_int;
    key_parse: fn(Object, In, usize, usize) -> c_int;
    key_free: fn(Object) -> c_int;
    key_id: fn(Object, Out, usize) -> c_int;
    key_tag: fn(Object, Out, usize, In, usize, In, usize) -> c_int;
    key_verify: fn(Object, In, usize, In, usize, In, usize) -> c_int;
    stream_init: fn(Object, Object, In, usize) -> c_int;
    stream_update: fn(Object, In, usize) -> c_int;
    stream_final: fn(Object, Out, usize) -> c_int;
    stream_verify: fn(Object, In, usize) -> c_int;
    stream_next: fn(Object, In, usize) -> c_int;
    stream_free: fn(Object) -> c_int;
    session_init: fn(Object, Object, In, usize, u64, f64) -> c_int;
    session_restore: fn(Object, Object, In, usize, u64, f64) -> c_int;
    session_tag: fn(Object, Out, usize, Out, usize, In, usize) -> c_int;
    session_reserve: fn(Object, u64) -> c_int;
    session_save: fn(Object, Out, usize) -> c_int;
    session_counts: fn(Object, *mut u64, *mut u64, *mut u64) -> c_int;
    session_nonce_size: fn(Object) -> usize;
    session_free: fn(Object) -> c_int;
    part_init: fn(Object, Object, u64, In, usize) -> c_int;
    part_join: fn(Object, Object, Object) -> c_int;
    part_finish: fn(Object, Object, Out, usize, In, usize, In, usize) -> c_int;
    part_range: fn(Object, *mut u64, *mut u64) -> c_int;
    part_free: fn(Object) -> c_int;
}

/// Size of a C object in bytes.
const OBJECT: usize = 4 * size_of::<usize>();

/// A guarded buffer that holds one C object.
pub struct Slot(Room, Object);

impl Slot {
    pub fn new(side: crate::rooms::Side) -> Slot {
        let mut room = Room::for_results(OBJECT);
        let at = room.place(&[0; OBJECT], side);
        Slot(room, at.cast())
    }

    /// Returns the address of the object.
    pub fn at(&self) -> Object {
        debug_assert!(!self.1.is_null(), "no object in {:p}", &raw const self.0);
        self.1
    }
}
