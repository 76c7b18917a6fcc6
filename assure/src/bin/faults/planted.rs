//! Bugs to plant: the behaviour of a careless command.

use assure::process::calls::{self, is_sync};
use assure::process::trace::Fault;

use super::pairs::Pair;

pub const PLANTED: [&str; 9] = [
    "all-errors-ignored",
    "write-error-ignored",
    "sync-error-ignored",
    "short-write-taken-for-whole",
    "interrupted-call-given-up",
    "half-a-file-left",
    "no-message",
    "mismatch-passes",
    "pin-not-saved",
];

/// Returns whether a planted bug can show at a pair.
pub fn concerns(planted: &str, pair: &Pair, expect: i32) -> bool {
    let fails = matches!(pair.fault, Fault::Error(libc::EIO));
    match planted {
        "write-error-ignored" => fails && calls::writes(pair.nr),
        "sync-error-ignored" => fails && is_sync(pair.nr),
        "short-write-taken-for-whole" => pair.fault == Fault::Short && calls::writes(pair.nr),
        "interrupted-call-given-up" => {
            pair.fault == Fault::Error(libc::EINTR) && pair.nr == libc::SYS_pread64
        }
        "mismatch-passes" => expect == 1,
        // The run succeeds despite the fault.
        "pin-not-saved" => pair.fault == Fault::Short && expect == 0,
        _ => fails && expect == 0,
    }
}

/// Returns the fault of a pair with a planted bug.
pub fn with_bug(planted: Option<&str>, fault: Fault) -> Fault {
    match planted {
        Some("write-error-ignored" | "sync-error-ignored") => Fault::Lie,
        Some("short-write-taken-for-whole") => Fault::ShortLie,
        Some("interrupted-call-given-up") => Fault::Error(libc::EIO),
        _ => fault,
    }
}

/// Returns a line of shell that wraps the command and has the planted bug.
pub fn wrapper(planted: Option<&str>) -> Option<&'static str> {
    match planted? {
        "all-errors-ignored" => Some("\"$0\" \"$@\" || :"),
        "half-a-file-left" => {
            Some("\"$0\" \"$@\"; code=$?; if [ $code != 0 ]; then echo half > new; fi; exit $code")
        }
        "no-message" => Some("\"$0\" \"$@\" 2> /dev/null"),
        "mismatch-passes" => {
            Some("\"$0\" \"$@\"; code=$?; if [ $code = 1 ]; then code=0; fi; exit $code")
        }
        _ => None,
    }
}

/// Returns the file that the planted bug does not save.
pub fn kept(planted: Option<&str>) -> Option<&'static str> {
    (planted? == "pin-not-saved").then_some("pin2")
}
