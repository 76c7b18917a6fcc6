//! The argument parser of `crates/cli`, with the modules that it needs there.

// The command uses all of it.
#![allow(dead_code)]

#[path = "../../../crates/cli/src/args/mod.rs"]
pub mod args;
#[path = "../../../crates/cli/src/diagnostic.rs"]
mod diagnostic;
#[path = "../../../crates/cli/src/given.rs"]
mod given;
#[path = "../../../crates/cli/src/harden.rs"]
mod harden;
#[path = "../../../crates/cli/src/help/mod.rs"]
mod help;
#[path = "../../../crates/cli/src/json.rs"]
mod json;
#[path = "../../../crates/cli/src/key.rs"]
mod key;
#[path = "../../../crates/cli/src/mac.rs"]
mod mac;
#[path = "../../../crates/cli/src/names.rs"]
mod names;
#[path = "../../../crates/cli/src/number.rs"]
pub mod number;
#[path = "../../../crates/cli/src/progress.rs"]
mod progress;
#[path = "../../../crates/cli/src/say.rs"]
mod say;
#[path = "../../../crates/cli/src/stdio.rs"]
mod stdio;
