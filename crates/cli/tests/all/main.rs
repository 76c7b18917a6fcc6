//! The tests of the command. They are one program because that links fastest.

mod common;

mod atomic;
mod audit;
mod bounds;
mod check;
mod checkpoint;
mod checkpoint_changed;
#[cfg(target_os = "linux")]
mod completion;
mod exit;
mod faults;
mod formats;
mod key;
#[cfg(target_os = "linux")]
mod leaves;
mod leaves_kept;
mod limits;
mod lists;
mod manifest;
mod manifests;
#[cfg(all(target_os = "linux", feature = "fault-injection", debug_assertions))]
mod memory;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod mount;
mod nights;
#[cfg(target_os = "linux")]
mod nonblocking;
mod nonce;
#[cfg(target_os = "linux")]
mod open;
mod output;
mod page;
mod parts;
mod pipes;
mod process;
mod progress;
mod rekey;
mod rekey_list;
#[cfg(all(feature = "fault-injection", debug_assertions))]
mod replaced;
mod report;
mod sample_leaves;
mod seal;
mod tag;
mod update;
#[cfg(all(feature = "fault-injection", debug_assertions))]
mod update_faults;
#[cfg(all(target_os = "linux", feature = "fault-injection", debug_assertions))]
mod update_memory;
#[cfg(all(feature = "fault-injection", debug_assertions))]
mod update_pending;
mod update_refused;
#[cfg(not(feature = "objects"))]
mod urls;
mod year;
