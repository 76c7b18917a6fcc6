//! The C ABI of tagmac: `libtagmac`, with `include/tagmac.h` and `include/tagmac_hazmat.h`.
//!
//! The headers are written from the comments of `status.rs`, `global.rs`, `key.rs`, `stream.rs`,
//! `session.rs` and `hazmat.rs` by `tests/header.rs`, so these speak to a reader of C. All goes through
//! the registry of [`tagmac_any`]: a new MAC needs nothing here.

mod global;
mod hazmat;
mod key;
mod session;
mod slot;
mod status;
mod stream;
