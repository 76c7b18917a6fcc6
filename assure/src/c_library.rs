//! The C library, `libtagmac.so`, loaded at run time.

use std::ffi::{CString, c_void};
use std::mem::transmute_copy;

/// The loaded library.
pub struct Library(*mut c_void);

// SAFETY: a handle, which any thread may use to look up names.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the library next to this program.
    pub fn open() -> Option<Library> {
        let path = std::env::current_exe().ok()?.with_file_name("libtagmac.so");
        let path = CString::new(path.to_str()?).ok()?;
        // SAFETY: a path that ends in NUL; the library runs no code when it is loaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        (!library.is_null()).then(|| Library(library))
    }

    /// Returns a function of the library.
    ///
    /// # Safety
    ///
    /// `F` must be its type in the header, and it may be called only while the library is loaded.
    pub unsafe fn get<F: Copy>(&self, name: &str) -> F {
        let name = CString::new(name).expect("no NUL");
        // SAFETY: the library is loaded, and the name ends in NUL.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?} is missing in the C library");
        // SAFETY: the caller's promise; function pointers are plain pointers here.
        unsafe { transmute_copy(&found) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: loaded by `open`, and none of its functions is called after this.
        unsafe { libc::dlclose(self.0) };
    }
}
