//! Line charts: a figure against x, with its quartiles as a band.

use plotters::prelude::*;

use crate::canvas::{FONT, Hang, rows, svg, text};
use crate::numbers::{bytes, plain};
use crate::palette::{FAINT, INK, nth};
use crate::{Failure, Quartiles};

/// A line.
pub struct Line {
    /// The line's name.
    pub label: String,
    /// True for tagmac; other lines are dashed.
    pub ours: bool,
    /// The points by rising x.
    pub points: Vec<(f64, Quartiles)>,
}

/// A line chart.
pub struct Lines {
    /// The first line of the picture.
    pub title: String,
    /// The quantity on the x axis.
    pub x: String,
    /// The quantity on the y axis.
    pub y: String,
    /// True if x grows by doubling and is a number of bytes.
    pub doubling: bool,
    /// The lines in the order of their colours.
    pub lines: Vec<Line>,
}

const WIDTH: u32 = 960;
/// Room for the names on the right.
const NAMES: u32 = 250;
/// The height of a name.
const NAME_HEIGHT: i32 = 15;

impl Lines {
    /// Draws the chart as SVG. The y axis is logarithmic; so is the x axis if x doubles.
    pub fn svg(&self) -> Result<String, Failure> {
        let height = 560.max(120 + self.lines.len() as u32 * NAME_HEIGHT as u32);
        let across = |x: f64| if self.doubling { x.log2() } else { x };
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let (left, right) = range(all().map(|(x, _)| across(*x)));
        let (low, high) = range(all().map(|(_, figure)| figure.median.log2()));
        svg((WIDTH, height), None, |area| {
            text(area, (&self.title, 18, INK), (70, 22), Hang::Left)?;
            let mut chart = ChartBuilder::on(area)
                .margin_top(44)
                .margin_right(NAMES)
                .margin_left(10)
                .margin_bottom(8)
                .x_label_area_size(44)
                .y_label_area_size(60)
                .build_cartesian_2d(left..right, (low - 0.3)..(high + 0.3))?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .bold_line_style(FAINT)
                .x_desc(&self.x)
                .y_desc(&self.y)
                .label_style((FONT, 13))
                .axis_desc_style((FONT, 14))
                .x_labels(14)
                .y_labels(12)
                .x_label_formatter(&|x| {
                    let x = if self.doubling { x.exp2() } else { *x };
                    if self.doubling && self.x.contains("bytes") { bytes(x) } else { plain(x) }
                })
                .y_label_formatter(&|y| plain(y.exp2()))
                .draw()?;
            let mut names = Vec::new();
            for (at, line) in self.lines.iter().enumerate() {
                let colour = nth(at);
                let point = |x: f64, y: f64| (across(x), y.max(1e-6).log2());
                let up = line.points.iter().map(|(x, figure)| point(*x, figure.high));
                let down = line.points.iter().rev().map(|(x, figure)| point(*x, figure.low));
                let band: Vec<(f64, f64)> = up.chain(down).collect();
                chart.draw_series([Polygon::new(band, colour.mix(0.15))])?;
                let middle = line.points.iter().map(|(x, figure)| point(*x, figure.median));
                match line.ours {
                    true => chart.draw_series(LineSeries::new(middle, colour.stroke_width(2)))?,
                    false => chart.draw_series(DashedLineSeries::new(
                        middle,
                        5,
                        3,
                        colour.stroke_width(1),
                    ))?,
                };
                if let Some((x, figure)) = line.points.last() {
                    let (_, at) = chart.backend_coord(&point(*x, figure.median));
                    names.push((at, &line.label, colour));
                }
            }
            // Names are at the ends of their lines, and are pushed apart where those are close.
            names.sort_by_key(|name| name.0);
            let heights: Vec<i32> = names.iter().map(|name| name.0).collect();
            let rows = rows(&heights, (50, height as i32 - 60), NAME_HEIGHT);
            for ((at, label, colour), row) in names.into_iter().zip(rows) {
                let start = WIDTH as i32 - NAMES as i32;
                let style = colour.mix(0.6).stroke_width(1);
                area.draw(&PathElement::new(vec![(start + 2, at), (start + 16, row)], style))?;
                text(area, (label, 13, colour), (start + 20, row), Hang::Left)?;
            }
            Ok(())
        })
    }
}

/// Returns the least and the greatest value, widened if they are equal.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low < high { (low, high) } else { (low.min(0.0), low.min(0.0) + 1.0) }
}
