//! The results of the attacks, and the comparators, in the form of the pages.

use std::time::{Duration, Instant};

use crate::attacks::{ATTACKS, Attack, AttackOptions, Expected, Finding, Point, bound, interval};
use crate::attacks::{lightmac_curve as lightmac_points, pmac_curve as pmac_points};
use crate::comparators::COMPARATORS;
use crate::tables::{Cell, Grid};

/// An attack that has been run.
pub struct Outcome {
    /// The attack.
    pub attack: &'static Attack,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// Its duration.
    pub time: Duration,
}

/// Runs all attacks, and calls `begin` before each.
pub fn attack_all(mut begin: impl FnMut(&Attack)) -> Vec<Outcome> {
    let run = |attack: &'static Attack| {
        begin(attack);
        let start = Instant::now();
        let findings = (attack.run)(&AttackOptions::default());
        Outcome { attack, findings, time: start.elapsed() }
    };
    ATTACKS.iter().map(run).collect()
}

/// Returns one finding of an attack: `NAME` for the first, `NAME 2` for the second.
pub fn found(outcomes: &[Outcome], which: &str) -> Option<String> {
    let (name, number) = which.split_once(' ').unwrap_or((which, "1"));
    let outcome = outcomes.iter().find(|one| one.attack.name == name)?;
    let finding = outcome.findings.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    let Finding { found, keys, expected, .. } = *finding;
    Some(match expected {
        Expected::Exactly(_) | Expected::MoreThan(_) => format!("{}, all keys", spaced(found)),
        Expected::About(_) => {
            let [low, high] = interval(found, keys);
            format!("{found}/{keys} ({low:.4} to {high:.4})")
        }
        Expected::Always | Expected::Never => format!("{found}/{keys}"),
    })
}

/// Formats a number, with spaces between thousands if it is long.
fn spaced(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(" ")
}

fn curve(mac: &str, points: &[Point]) -> String {
    let head = format!("{mac}: q messages of l blocks");
    let mut grid = Grid::new([&*head, "this attack", "found", "our bound", "theorem 1"]);
    for point in points {
        let Finding { found, keys, expected, .. } = point.finding;
        let [low, high] = interval(found, keys);
        let computed = match expected {
            Expected::About(p) => format!("{p:.4}"),
            _ => String::new(),
        };
        let found = format!("{:.4} ({low:.4} to {high:.4})", found as f64 / keys as f64);
        let own = point.finding.bound.map_or(String::new(), bound);
        let cells = [computed, found, own, bound(point.theorem)];
        grid.row(&format!("{} of {}", point.q, point.l), cells.map(Cell::Ours).to_vec());
    }
    grid.markdown()
}

/// Returns the table of PMAC's collisions.
pub fn pmac_curve() -> String {
    curve("PMAC", pmac_points())
}

/// Returns the table of LightMAC's collisions.
pub fn lightmac_curve() -> String {
    curve("LightMAC", lightmac_points())
}

/// Returns the comparators with their definitions.
pub fn comparators() -> String {
    comparator_grid().markdown()
}

/// Returns the same as a grid.
pub fn comparator_grid() -> Grid {
    let mut grid = Grid::new(["name", "kind", "definition", "definition", "source"]);
    for one in COMPARATORS {
        let (kind, status) = (one.kind.to_string(), one.status.to_string());
        let cells = [kind, one.about.into(), status, one.source.into()];
        grid.row(one.name, cells.map(Cell::Ours).to_vec());
    }
    grid
}
