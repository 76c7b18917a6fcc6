//! Lines on standard error, which a progress bar makes room for.

use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;

use crate::stdio::Stderr;

/// The bar on the terminal. It is here and not with its owner, so that an error can be printed by
/// code that knows nothing of progress.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the bar on the terminal, or that there is none.
pub fn set_bar(shown: Option<ProgressBar>) {
    *bar() = shown;
}

/// Writes to the terminal while no bar is in the way.
pub fn suspend_bar<T>(write: impl FnOnce() -> T) -> T {
    let shown = bar().clone();
    match shown {
        Some(shown) => shown.suspend(write),
        None => write(),
    }
}

/// Writes `tagmac: MESSAGE` to standard error. If that fails there is nowhere left to say so.
pub fn diagnostic(message: impl Display) {
    let line = format!("tagmac: {message}\n");
    let _ = suspend_bar(|| Stderr.write_all(line.as_bytes()));
}
