//! The C ABI of tagmac: `libtagmac`, with the headers in `include/`.
//!
//! `tests/header.rs` writes `tagmac.h`, `tagmac_files.h` and `tagmac_hazmat.h` from the doc comments
//! of this crate, so write those comments for C programmers.
//! Every call goes through the registry of [`tagmac_any`]: a new MAC needs no code here.

#[cfg(unix)]
mod file;
mod global;
mod hazmat;
mod key;
mod key_file;
mod many;
#[cfg(unix)]
mod range;
#[cfg(unix)]
mod sealed;
mod session;
mod slot;
mod status;
mod stream;
