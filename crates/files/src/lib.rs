//! The files that tagmac stores and reads, for the command and for other languages.
//!
//! | task | where |
//! |---|---|
//! | the parallel reader, and a run that can be resumed | [`read`], [`checkpoint`] |
//! | lines of lists | [`mod@line`], [`line_reader`] |
//! | a tree and its manifest | [`seal`], [`audit`], [`rekey`], [`manifest`], [`dir`], [`walk`], [`exclusion`] |
//! | verified reads of a sealed tree | [`leaves`], [`leaf_size`] |
//! | a bucket's objects and their manifest | [`objects`] |
//! | audits of a part of the entries | [`position`], [`selection`], [`ledger`], [`chain`], [`pin`], [`proof`], [`day`] |
//! | a tag that follows edits | [`sidecar`] |
//! | partials of an object | [`partial`] |
//! | keys | [`raw_key`], [`key_file`], [`key_access`], [`key_source`], [`open_key`] |
//! | names of objects in stores | [`url`] |
//! | parallel work, with the results in order | [`pool`] |
//! | files that appear complete or not at all | [`new_file`], [`atomic`] |
//! | calls that differ between Unix and Windows | [`sys`] |
//!
//! Nothing here prints or exits. Operations return an [`Error`], or a [`ReadError`] for a single
//! file. Errors display as one line of facts; they do not mention the command's options or the
//! arguments of other languages. Remarks go to the sink of [`diagnostic`], and progress to a
//! [`progress::Progress`].

#![forbid(unsafe_code)]

pub mod atomic;
pub mod audit;
pub mod byte_order;
pub mod chain;
pub mod checkpoint;
mod column;
pub mod day;
pub mod diagnostic;
pub mod dir;
mod earlier;
pub mod error;
mod error_kind;
pub mod escaped;
pub mod exclusion;
pub mod faults;
pub mod filter;
pub mod folder;
mod found;
#[doc(hidden)]
pub mod fuzzing;
pub mod hex;
pub mod identity;
#[cfg(unix)]
pub mod key_access;
#[cfg(windows)]
#[path = "key_access_windows.rs"]
pub mod key_access;
pub mod key_file;
pub mod key_source;
pub mod leaf_size;
pub mod leaves;
pub mod ledger;
pub mod line;
pub mod line_reader;
mod listing;
pub mod manifest;
pub mod memory;
#[cfg(unix)]
mod mounted_secret;
pub mod name_list;
pub mod new_file;
pub mod night;
pub mod objects;
pub mod open;
pub mod open_key;
pub mod overwrite;
pub mod partial;
pub mod pin;
pub mod plain;
pub mod pool;
pub mod position;
pub mod progress;
pub mod proof;
pub mod rate;
pub mod raw_key;
pub mod read;
mod read_error;
pub mod rekey;
mod room;
mod rules;
mod scanner;
pub mod seal;
mod seal_checkpoint;
mod sealed_file;
pub mod selection;
pub mod sidecar;
mod stack;
mod stat;
pub mod sys;
pub mod url;
pub mod walk;
mod xattrs;

pub use error::{Error, ErrorKind, FileError, NoParts, TooManyObjects};
pub use read_error::{Irregular, ReadError};
