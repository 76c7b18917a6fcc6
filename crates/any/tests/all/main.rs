//! The tests of what has every MAC, and of the library by it, in one program: each program would compile
//! kernels of its own.

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
