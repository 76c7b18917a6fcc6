//! The lab's tests, as one program.

mod command;
mod laws;
mod report;
mod rows;
mod vectors;
