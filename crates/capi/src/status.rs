//! What C gets: 0 or -1, and the line that says why.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};

use tagmac_border::{Failure, guard};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the body of a call; what it gives, or `otherwise` with its failure kept for
/// [`last`].
pub fn value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    guard(body).unwrap_or_else(|failure| {
        // A thread that is about to end has no place for it any more.
        let _ = LAST.try_with(|last| *last.borrow_mut() = failure.into_c());
        otherwise
    })
}

/// Runs the body of a call: 0, or -1 as [`value`].
pub fn status(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    value(-1, || body().map(|()| 0))
}

/// The last failure on this thread, until the next one.
pub fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(const { c"".as_ptr() as *const c_char })
}

/// A text that is never freed.
pub fn constant(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}
