//! What an attack is.

use super::finding::Finding;

/// An attack that can be run.
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// Paper and section, or page of the documentation.
    pub source: &'static str,
    /// How it works, for readers who do not know the field.
    pub how: &'static str,
    /// Runs it.
    pub run: fn(&AttackOptions) -> Vec<Finding>,
}

/// What an attack may be asked for.
#[derive(Clone, Copy)]
pub struct AttackOptions {
    /// Whether to take minutes where the paper's full size takes them.
    pub long: bool,
    /// Called with per cents of what takes minutes.
    pub progress: fn(u32),
}

impl Default for AttackOptions {
    fn default() -> Self {
        AttackOptions { long: false, progress: |_| () }
    }
}
