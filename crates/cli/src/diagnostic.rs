//! Messages on standard error, which do not disturb a progress bar.

use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;

use crate::stdio::Stderr;

/// The bar on the terminal. It is global so that code without access to the progress can print an
/// error.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> MutexGuard<'static, Option<ProgressBar>> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets or removes the bar on the terminal.
pub fn set_bar(shown: Option<ProgressBar>) {
    *bar() = shown;
}

/// Runs `write` while the bar is hidden.
pub fn suspend_bar<T>(write: impl FnOnce() -> T) -> T {
    let shown = bar().clone();
    match shown {
        Some(shown) => shown.suspend(write),
        None => write(),
    }
}

/// Writes `tagmac: MESSAGE` to standard error. An error is ignored, because there is no other place
/// to report it.
pub fn diagnostic(message: impl Display) {
    let line = format!("tagmac: {message}\n");
    let _ = suspend_bar(|| Stderr.write_all(line.as_bytes()));
}
