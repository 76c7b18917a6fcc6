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

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    static HEARD: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Keeps all remarks of this process.
    pub(crate) fn listen() {
        set_sink(|remark| HEARD.lock().unwrap().push(remark.to_string()));
    }

    /// Whether there was such a remark since.
    pub(crate) fn heard(remark: &str) -> bool {
        HEARD.lock().unwrap().iter().any(|one| one == remark)
    }
}
