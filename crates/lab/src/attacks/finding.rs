//! The result of an attack: how often it won, and the paper's probability.

use std::fmt;

/// The role of a row: an attack on something weak, or its control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The target must fall.
    Attack,
    /// The same attack on a target that must resist.
    Control,
}

/// The expected frequency of success.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// The attack wins under every key.
    Always,
    /// The attack wins under no key: its probability is below 2^-30.
    Never,
    /// The attack wins with this probability, which must be within the interval.
    About(f64),
    /// The attack wins under this many keys, after trying all keys.
    Exactly(u64),
    /// The attack wins under more than this many of all keys; the paper has no exact number.
    MoreThan(u64),
}

/// The frequency of an attack's success.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The target.
    pub target: String,
    /// The role of the row.
    pub role: Role,
    /// The maximum of tags requested under one key.
    pub queries: u64,
    /// The number of keys tried.
    pub keys: u64,
    /// The number of successes.
    pub found: u64,
    /// The expected frequency.
    pub expected: Expected,
    /// The formula of the expected frequency.
    pub formula: String,
    /// The theorem's bound, if there is one.
    pub bound: Option<f64>,
}

impl Finding {
    /// Returns true if the attack won as often as expected, and no more often than the theorem
    /// allows.
    pub fn holds(&self) -> bool {
        let [low, high] = interval(self.found, self.keys);
        let as_expected = match self.expected {
            Expected::Always => self.found == self.keys,
            Expected::Never => self.found == 0,
            Expected::About(p) => low <= p && p <= high,
            Expected::Exactly(found) => self.found == found,
            Expected::MoreThan(most) => self.found > most,
        };
        let found = self.found as f64 / self.keys as f64;
        let allowed = match self.expected {
            Expected::Exactly(_) | Expected::MoreThan(_) => {
                self.bound.is_none_or(|bound| found <= bound)
            }
            _ => self.bound.is_none_or(|bound| low <= bound),
        };
        self.keys > 0 && as_expected && allowed
    }

    /// Returns the expected probability as text.
    pub fn probability(&self) -> String {
        match self.expected {
            Expected::Always => "1".into(),
            Expected::Never => "0".into(),
            Expected::About(p) => format!("{p:.4}"),
            Expected::Exactly(found) => format!("{found}/{}", self.keys),
            Expected::MoreThan(most) => format!("> {most}/{}", self.keys),
        }
    }

    /// Returns the measured frequency, with the 99 % interval unless every key was tried.
    pub fn measured(&self) -> String {
        let (found, keys) = (self.found, self.keys);
        if let Expected::Exactly(_) | Expected::MoreThan(_) = self.expected {
            return format!("{found}/{keys}, all keys");
        }
        let [low, high] = interval(found, keys);
        format!("{found}/{keys} = {:.4} ({low:.4} to {high:.4})", found as f64 / keys as f64)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            Role::Attack => "attack ",
            Role::Control => "control",
        };
        let verdict = if self.holds() { "as expected" } else { "NOT as expected" };
        let queries = match self.queries {
            0 => String::new(),
            1 => "1 query, ".into(),
            queries => format!("{queries} queries, "),
        };
        write!(f, "{role}  {}: {queries}", self.target)?;
        write!(f, "expected {} [{}], ", self.probability(), self.formula)?;
        write!(f, "found {}", self.measured())?;
        if let Some(bound) = self.bound {
            write!(f, ", bound {}", if bound < 1.0 { format!("{bound:.4}") } else { "1".into() })?;
        }
        write!(f, ": {verdict}")
    }
}

/// Formats a bound on a probability; empty if it is useless.
pub fn bound(value: f64) -> String {
    if value < 1.0 { format!("{value:.3}") } else { "above 1".into() }
}

/// Returns the 99 % confidence interval of a probability after `found` of `of` tries (Wilson 1927).
/// It contains each p at most 2.5758 of p's own standard deviations away from `found / of`.
pub fn interval(found: u64, of: u64) -> [f64; 2] {
    const Z: f64 = 2.575_829_303_548_901;
    let (n, p) = (of as f64, found as f64 / of as f64);
    let center = p + Z * Z / (2.0 * n);
    let width = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // Rounding must not cut off the ends.
    let low = if found == 0 { 0.0 } else { (center - width) / scale };
    let high = if found == of { 1.0 } else { (center + width) / scale };
    [low, high]
}
