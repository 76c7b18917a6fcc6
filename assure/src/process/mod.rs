//! For jobs that run the command `tagmac` as a process and make its system calls fail.

pub mod calls;
pub mod disk;
pub mod history;
pub mod place;
mod ptrace;
pub mod trace;
