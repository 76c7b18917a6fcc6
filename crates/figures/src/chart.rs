//! Charts of curves and measured points on two logarithmic axes.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::Failure;
use crate::canvas::{Hang, rows, svg, text};
use crate::palette::{COLOURS, FAINT, INK};

/// A curve, or measured points.
pub struct Curve {
    /// The curve's name.
    pub label: String,
    /// The points by rising x.
    pub points: Vec<(f64, f64)>,
    /// The interval around each point, for measured points, which get no line.
    pub intervals: Vec<(f64, f64)>,
    /// True for a dashed line.
    pub dashed: bool,
}

impl Curve {
    /// Makes a line.
    pub fn line(label: &str, points: Vec<(f64, f64)>, dashed: bool) -> Curve {
        Curve { label: label.into(), points, intervals: Vec::new(), dashed }
    }
}

/// A chart of curves. Both axes are logarithms to base 2.
pub struct Chart {
    /// The first line of the picture.
    pub title: String,
    /// The quantity on the x axis.
    pub x: String,
    /// The quantity on the y axis.
    pub y: String,
    /// Formats the values of the axes.
    pub ticks: [fn(f64) -> String; 2],
    /// The curves in the order of their colours.
    pub curves: Vec<Curve>,
}

const WIDTH: i32 = 960;
const HEIGHT: i32 = 520;
/// Room for the names on the right.
const NAMES: i32 = 230;
const LEFT: i32 = 80;
const TOP: i32 = 46;
/// The height of a name.
const NAME_HEIGHT: i32 = 18;

impl Chart {
    /// Draws the chart as SVG; `alternative` describes it for readers who cannot see it.
    ///
    /// # Errors
    ///
    /// Fails if the drawing fails.
    pub fn svg(&self, alternative: &str) -> Result<String, Failure> {
        let all = || self.curves.iter().flat_map(|curve| &curve.points);
        let (left, right) = ends(all().map(|(x, _)| x.log2()));
        let bars = self.curves.iter().flat_map(|curve| &curve.intervals);
        let both = bars.flat_map(|(low, high)| [*low, *high]).filter(|y| *y > 0.0);
        let (low, high) = ends(all().map(|(_, y)| *y).chain(both).map(f64::log2));
        let (low, high) = (low.floor(), high.ceil());
        let [floor, edge] = [HEIGHT - 60, WIDTH - NAMES];
        let across = |x: f64| {
            LEFT + ((x.log2() - left) / (right - left) * (edge - LEFT) as f64).round() as i32
        };
        let up = |y: f64| {
            floor - ((y.log2().max(low) - low) / (high - low) * (floor - TOP) as f64).round() as i32
        };
        svg((WIDTH as u32, HEIGHT as u32), Some(alternative), |area| {
            text(area, (&self.title, 18, INK), (20, 22), Hang::Left)?;
            let grid = |from: (i32, i32), to| area.draw(&PathElement::new(vec![from, to], FAINT));
            for tick in ticks(left, right) {
                let x = across(tick.exp2());
                grid((x, TOP), (x, floor))?;
                let word = (self.ticks[0])(tick.exp2());
                text(area, (&word, 13, INK), (x, floor + 14), Hang::Middle)?;
            }
            for tick in ticks(low, high) {
                let y = up(tick.exp2());
                grid((LEFT, y), (edge, y))?;
                let word = (self.ticks[1])(tick.exp2());
                text(area, (&word, 13, INK), (LEFT - 6, y), Hang::Right)?;
            }
            let middle = ((LEFT + edge) / 2, floor + 40);
            text(area, (&self.x, 14, INK), middle, Hang::Middle)?;
            text(area, (&self.y, 14, INK), (LEFT, TOP - 6), Hang::Left)?;
            let mut names = Vec::new();
            for (at, curve) in self.curves.iter().enumerate() {
                let colour = COLOURS[at % COLOURS.len()];
                let points: Vec<_> =
                    curve.points.iter().map(|(x, y)| (across(*x), up(*y))).collect();
                names.extend(points.last().map(|end| (*end, &curve.label, colour)));
                let style = colour.stroke_width(2);
                if !curve.intervals.is_empty() {
                    for ((x, y), (low, high)) in points.iter().zip(&curve.intervals) {
                        let whisker = vec![(*x, up(*low)), (*x, up(*high))];
                        area.draw(&PathElement::new(whisker, style))?;
                        area.draw(&Circle::new((*x, *y), 4, colour.filled()))?;
                    }
                } else if curve.dashed {
                    area.draw(&DashedPathElement::new(points, 7, 4, style))?;
                } else {
                    area.draw(&PathElement::new(points, style))?;
                }
            }
            // Names are at the ends of their lines, and are pushed apart where those are close.
            names.sort_by_key(|((_, y), ..)| *y);
            let heights: Vec<i32> = names.iter().map(|((_, y), ..)| *y).collect();
            let rows = rows(&heights, (TOP, floor + 8), NAME_HEIGHT);
            for (((x, y), label, colour), row) in names.into_iter().zip(rows) {
                let from = vec![(x + 6, y), (edge + 8, row), (edge + 24, row)];
                area.draw(&PathElement::new(from, colour.mix(0.6).stroke_width(1)))?;
                let square = [(edge + 26, row - 5), (edge + 36, row + 5)];
                area.draw(&Rectangle::new(square, colour.filled()))?;
                text(area, (label, 13, INK), (edge + 42, row), Hang::Left)?;
            }
            Ok(())
        })
    }
}

/// Returns the least and the greatest value.
pub fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

/// Returns at most ten whole numbers, evenly spaced.
fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let step = ((high - low) / 9.0).ceil().max(1.0);
    let first = (low / step).ceil() as i32;
    (first..).map(move |i| i as f64 * step).take_while(move |tick| *tick <= high)
}
