//! The C library, `libtagmac.so`, as programs open it while they run.

use std::ffi::{CString, c_void};
use std::mem::transmute_copy;

/// The library while it is loaded.
pub struct Library(*mut c_void);

// SAFETY: a handle, which any thread may look up names with.
unsafe impl Sync for Library {}

impl Library {
    /// The one beside this program.
    pub fn open() -> Option<Library> {
        let path = std::env::current_exe().ok()?.with_file_name("libtagmac.so");
        let path = CString::new(path.to_str()?).ok()?;
        // SAFETY: a path that ends in NUL; the library runs nothing when it is loaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        (!library.is_null()).then(|| Library(library))
    }

    /// A function of the library.
    ///
    /// # Safety
    ///
    /// `F` is the type that the header gives it, and it is called while the library is loaded.
    pub unsafe fn get<F: Copy>(&self, name: &str) -> F {
        let name = CString::new(name).expect("no NUL");
        // SAFETY: the library is open, and the name ends in NUL.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!found.is_null(), "expected {name:?} in the C library, found none");
        // SAFETY: the caller's word; pointers to functions are pointers here.
        unsafe { transmute_copy(&found) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened by `open`, and none of its functions is called after this.
        unsafe { libc::dlclose(self.0) };
    }
}
