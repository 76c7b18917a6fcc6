//! The tests of this crate, and of the library through it, in one program: each program would
//! compile all kernels again.

mod common;

mod batch;
mod edges;
mod every_mac;
mod grades;
mod hmac;
mod key_file;
mod laws;
mod meter;
mod partials;
mod published;
mod reference;
mod registry;
mod save;
mod session;
mod small;
mod vectors;
mod wycheproof;
