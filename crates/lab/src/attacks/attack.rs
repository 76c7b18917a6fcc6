//! The description of an attack.

use super::finding::Finding;

/// An attack that can be run.
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// The result in one line.
    pub about: &'static str,
    /// Paper and section, or page of the documentation.
    pub source: &'static str,
    /// An explanation for readers who do not know the field.
    pub how: &'static str,
    /// Runs it.
    pub run: fn(&AttackOptions) -> Vec<Finding>,
}

/// The options of an attack.
#[derive(Clone, Copy)]
pub struct AttackOptions {
    /// True to run the paper's full size where that takes minutes.
    pub long: bool,
    /// Called with the percentage done of an attack that takes minutes.
    pub progress: fn(u32),
}

impl Default for AttackOptions {
    fn default() -> Self {
        AttackOptions { long: false, progress: |_| () }
    }
}
