//! The lab's tests, as one program.

mod attacks;
mod batch;
mod choice;
mod command;
mod deoxys;
mod field;
mod figures;
mod hashes;
mod laws;
mod nearest;
mod pages;
mod report;
mod rows;
mod speeds;
mod tables;
mod vectors;
