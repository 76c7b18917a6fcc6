//! Remarks on work that goes on all the same: a warning, or what was done about something left over.

use std::fmt::Display;
use std::sync::OnceLock;

static SINK: OnceLock<fn(&dyn Display)> = OnceLock::new();

/// Hands all remarks of this process to `sink`. The first sink stays. Without one, nobody hears of
/// them.
pub fn set_sink(sink: fn(&dyn Display)) {
    let _ = SINK.set(sink);
}

/// Makes a remark.
pub fn diagnostic(message: impl Display) {
    if let Some(sink) = SINK.get() {
        sink(&message);
    }
}
