//! The C ABI of tagmac: `libtagmac`, with `include/tagmac.h` and `include/tagmac_hazmat.h`.
//!
//! `tests/header.rs` writes the headers from the doc comments of `status.rs`, `global.rs`,
//! `key.rs`, `stream.rs`, `session.rs` and `hazmat.rs`, so write those comments for C programmers.
//! Every call goes through the registry of [`tagmac_any`]: a new MAC needs no code here.

mod global;
mod hazmat;
mod key;
mod session;
mod slot;
mod status;
mod stream;
