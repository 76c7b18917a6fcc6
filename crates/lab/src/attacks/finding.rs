//! What an attack found: how often it won, beside what the paper says.

use std::fmt;

/// Whether a row attacks something weak, or the real MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What must fall.
    Attack,
    /// The same attack on what must resist.
    Control,
}

/// How often an attack should win.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Under every key.
    Always,
    /// Under no key. (The probability is below 2^-30.)
    Never,
    /// With this probability, which the interval must have inside.
    About(f64),
    /// Under as many of all keys there are: every one was tried.
    Exactly(u64),
    /// Under more than this many of all keys there are: the paper names no number.
    MoreThan(u64),
}

/// How often an attack won.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was attacked.
    pub target: String,
    /// Whether it should fall.
    pub role: Role,
    /// The most tags that were asked for under one key.
    pub queries: u64,
    /// The keys that were tried.
    pub keys: u64,
    /// Those under which the attack won.
    pub found: u64,
    /// How often it should.
    pub expected: Expected,
    /// Where that is from.
    pub formula: String,
    /// What the theorem allows at most, where there is one.
    pub bound: Option<f64>,
}

impl Finding {
    /// Whether the attack won as often as it should, and no more often than the theorem allows.
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

    /// The probability that the attack should have.
    pub fn probability(&self) -> String {
        match self.expected {
            Expected::Always => "1".into(),
            Expected::Never => "0".into(),
            Expected::About(p) => format!("{p:.4}"),
            Expected::Exactly(found) => format!("{found}/{}", self.keys),
            Expected::MoreThan(most) => format!("> {most}/{}", self.keys),
        }
    }

    /// What was found, with the 99 % interval where not every key was tried.
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

/// A bound on a probability, if it says anything.
pub fn bound(value: f64) -> String {
    if value < 1.0 { format!("{value:.3}") } else { "above 1".into() }
}

/// The 99 % confidence interval of a probability, after `found` of `of` tries (Wilson 1927): the
/// p from which `found / of` is at most 2.5758 standard deviations away, those of p itself.
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
