//! Remarks that do not end the work: warnings, and notes on leftovers that were cleaned up.

use std::fmt::Display;
use std::sync::OnceLock;

static SINK: OnceLock<fn(&dyn Display)> = OnceLock::new();

/// Sends all remarks of this process to `sink`. Only the first call has an effect. Without a sink,
/// remarks are dropped.
pub fn set_sink(sink: fn(&dyn Display)) {
    let _ = SINK.set(sink);
}

/// Sends a remark to the sink.
pub fn diagnostic(message: impl Display) {
    if let Some(sink) = SINK.get() {
        sink(&message);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Records all remarks of this process.
    pub(crate) fn listen() {
        set_sink(|remark| HEARD.lock().unwrap().push(remark.to_string()));
    }

    /// Returns whether a remark was recorded.
    pub(crate) fn heard(remark: &str) -> bool {
        HEARD.lock().unwrap().iter().any(|one| one == remark)
    }
}
