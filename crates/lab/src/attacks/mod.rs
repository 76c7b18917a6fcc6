//! The attacks of the papers, each with the real MAC beside it, which must resist.
//!
//! A new attack is a file with a function, and a line in [`ATTACKS`].

use std::fmt::Display;
use std::io::{self, Write};

/// An attack that can be run.
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Paper and section, or page of the documentation.
    pub source: &'static str,
    /// Runs it: whether the attack succeeds as often as it should, and its control resists.
    pub run: fn(&mut Output, &Options) -> io::Result<bool>,
}

/// What an attack may be asked for.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// Whether to take minutes where the paper's full size takes them.
    pub long: bool,
}

/// Where an attack writes what it finds.
pub struct Output<'a>(pub &'a mut dyn Write);

impl Output<'_> {
    /// Writes a line.
    pub fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.0, "{text}")
    }
}

/// All attacks.
pub const ATTACKS: &[Attack] = &[];
