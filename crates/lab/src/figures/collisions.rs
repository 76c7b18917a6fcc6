//! Measured collisions on the toy cipher, with their intervals and the theorems' bounds.

use std::error::Error;

use tagmac_figures::{Chart, Curve, power};

use super::drawing::Drawing;
use crate::attacks::{Expected, Point, bound, interval, lightmac_curve, pmac_curve};

/// Returns the points of q messages, by length.
fn of(points: &[Point], q: u64) -> Vec<Point> {
    points.iter().filter(|point| point.q == q).cloned().collect()
}

fn measured(points: &[Point]) -> Curve {
    let found = |point: &Point| point.finding.found as f64 / point.finding.keys as f64;
    let ends = |point: &Point| {
        let [low, high] = interval(point.finding.found, point.finding.keys);
        (low, high)
    };
    Curve {
        label: "found, 99 % interval".into(),
        points: points.iter().map(|point| (point.l as f64, found(point))).collect(),
        intervals: points.iter().map(ends).collect(),
        dashed: false,
    }
}

/// Returns a theorem's line, up to 1.
fn line(label: &str, points: &[Point], value: impl Fn(&Point) -> Option<f64>) -> Curve {
    let point = |point: &Point| Some((point.l as f64, value(point)?.min(1.0)));
    Curve::line(label, points.iter().filter_map(point).collect(), true)
}

fn expected(point: &Point) -> Option<f64> {
    match point.finding.expected {
        Expected::About(p) => Some(p),
        _ => None,
    }
}

fn drawing(title: String, curves: Vec<Curve>, points: &[Point]) -> Result<Drawing, Box<dyn Error>> {
    let word = |point: &Point| {
        let Point { l, finding, theorem, .. } = point;
        format!("{l} blocks: found {}, theorem {}", finding.measured(), bound(*theorem))
    };
    let words = points.iter().map(word).collect::<Vec<_>>().join("; ");
    let alternative = format!("{title}, by blocks of each message. {words}.");
    let chart = Chart {
        title,
        x: "blocks of each message".into(),
        y: "probability".into(),
        ticks: [|x| format!("{x:.0}"), power],
        curves,
    };
    Ok(Drawing { svg: chart.svg(&alternative)?, alternative })
}

/// Draws PMAC's collisions: 32 messages.
pub fn pmac() -> Result<Drawing, Box<dyn Error>> {
    let points = of(pmac_curve(), 32);
    let curves = vec![
        measured(&points),
        line("this attack, computed", &points, expected),
        line("our bound", &points, |point| point.finding.bound),
        line("theorem 1", &points, |point| Some(point.theorem)),
    ];
    drawing("PMAC, n = 16: a collision among 32 messages".into(), curves, &points)
}

/// Draws LightMAC's collisions: 128 messages.
pub fn lightmac() -> Result<Drawing, Box<dyn Error>> {
    let points = of(lightmac_curve(), 128);
    let curves = vec![
        measured(&points),
        line("this attack, computed", &points, expected),
        line("theorem 1", &points, |point| Some(point.theorem)),
    ];
    drawing("LightMAC, n = 16: a collision among 128 messages".into(), curves, &points)
}
