//! The lab's tests, as one program.

mod command;
mod laws;
mod rows;
mod vectors;
