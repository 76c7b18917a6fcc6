//! The roofline: a dot for each MAC and level, under what instructions and memory allow.

use plotters::prelude::*;

use super::draw::{COLOURS, FAINT, GREY, Hang, plain, svg, text};
use crate::failure::Failure;

/// A MAC on a level.
pub struct Dot {
    pub label: String,
    pub level: String,
    /// Cycles per byte that its instructions cost at least.
    pub ceiling: f64,
    /// Cycles per byte, measured.
    pub found: f64,
}

/// A picture.
pub struct Roofline {
    pub title: String,
    pub dots: Vec<Dot>,
    /// In the order of their colours.
    pub levels: Vec<String>,
    /// What reading a byte costs: from where, and how many cycles.
    pub memory: Vec<(String, f64)>,
}

const SIZE: (u32, u32) = (960, 640);

impl Roofline {
    /// The picture as SVG.
    pub fn svg(&self) -> Result<String, Failure> {
        let across = |ceiling: f64| (1.0 / ceiling).log2();
        let (mut left, mut right) = (f64::MAX, f64::MIN);
        for dot in &self.dots {
            (left, right) = (left.min(across(dot.ceiling)), right.max(across(dot.ceiling)));
        }
        let (left, right) = (left - 0.5, right + 1.5);
        svg(SIZE, |area| {
            text(area, (&self.title, 18, COLOURS[6]), (70, 22), Hang::Left)?;
            let mut chart = ChartBuilder::on(area)
                .margin_top(44)
                .margin_right(20)
                .margin_left(10)
                .margin_bottom(8)
                .x_label_area_size(44)
                .y_label_area_size(60)
                .build_cartesian_2d(left..right, (left - 0.5)..(right + 0.5))?;
            chart
                .configure_mesh()
                .light_line_style(WHITE)
                .bold_line_style(FAINT)
                .x_desc("bytes per cycle that the instructions allow")
                .y_desc("bytes per cycle, measured")
                .label_style(("sans-serif", 13))
                .axis_desc_style(("sans-serif", 14))
                .x_label_formatter(&|x| plain(x.exp2()))
                .y_label_formatter(&|y| plain(y.exp2()))
                .draw()?;
            let roof = LineSeries::new([(left, left), (right, right)], COLOURS[6].stroke_width(2));
            chart.draw_series(roof)?;
            for (name, cycles) in &self.memory {
                let y = across(*cycles);
                if y < right + 0.5 {
                    let line = [(left, y), (right, y)];
                    chart.draw_series(DashedLineSeries::new(line, 4, 4, GREY.stroke_width(1)))?;
                    let (x, y) = chart.backend_coord(&(left, y));
                    text(area, (name, 12, GREY), (x + 6, y - 9), Hang::Left)?;
                }
            }
            let mut taken: Vec<(i32, i32)> = Vec::new();
            for dot in &self.dots {
                let at = self.levels.iter().position(|level| *level == dot.level).unwrap_or(0);
                let colour = COLOURS[at % COLOURS.len()];
                let place = (across(dot.ceiling), across(dot.found));
                chart.draw_series([Circle::new(place, 4, colour.filled())])?;
                let (x, y) = chart.backend_coord(&place);
                // A name that would cover another is left to the table.
                let covers = |&(a, b): &(i32, i32)| (a - x).abs() < 120 && (b - y).abs() < 12;
                if !dot.label.is_empty() && !taken.iter().any(covers) {
                    text(area, (&dot.label, 11, colour), (x + 7, y + 4), Hang::Left)?;
                    taken.push((x, y));
                }
            }
            for (at, level) in self.levels.iter().enumerate() {
                let y = 60 + at as i32 * 18;
                let colour = COLOURS[at % COLOURS.len()];
                area.draw(&Circle::new((90, y), 4, colour.filled()))?;
                text(area, (level, 13, colour), (100, y), Hang::Left)?;
            }
            Ok(())
        })
    }
}
