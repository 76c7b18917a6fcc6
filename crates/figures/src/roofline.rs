//! The roofline: a dot for each MAC and level, under the limits of instructions and memory.

use plotters::prelude::*;

use crate::Failure;
use crate::canvas::{FONT, Hang, svg, text};
use crate::numbers::plain;
use crate::palette::{FAINT, GREY, INK, nth};

/// A MAC on a level.
pub struct Dot {
    /// The dot's name; may be empty.
    pub label: String,
    /// The level of the CPU.
    pub level: String,
    /// The least cycles per byte that the instructions cost.
    pub ceiling: f64,
    /// The measured cycles per byte.
    pub found: f64,
}

/// A roofline.
pub struct Roofline {
    /// The first line of the picture.
    pub title: String,
    /// The dots in any order.
    pub dots: Vec<Dot>,
    /// The levels in the order of their colours.
    pub levels: Vec<String>,
    /// The cost of reading a byte: its source, and cycles.
    pub memory: Vec<(String, f64)>,
}

const SIZE: (u32, u32) = (960, 640);

impl Roofline {
    /// Draws the roofline as SVG.
    pub fn svg(&self) -> Result<String, Failure> {
        let across = |ceiling: f64| (1.0 / ceiling).log2();
        let (mut left, mut right) = (f64::MAX, f64::MIN);
        for dot in &self.dots {
            (left, right) = (left.min(across(dot.ceiling)), right.max(across(dot.ceiling)));
        }
        let (left, right) = (left - 0.5, right + 1.5);
        svg(SIZE, None, |area| {
            text(area, (&self.title, 18, INK), (70, 22), Hang::Left)?;
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
                .label_style((FONT, 13))
                .axis_desc_style((FONT, 14))
                .x_label_formatter(&|x| plain(x.exp2()))
                .y_label_formatter(&|y| plain(y.exp2()))
                .draw()?;
            let roof = LineSeries::new([(left, left), (right, right)], INK.stroke_width(2));
            chart.draw_series(roof)?;
            let levels = 60 + 18 * self.levels.len() as i32;
            let mut taken = vec![Place { left: 70, right: 190, top: 44, bottom: levels }];
            for (name, cycles) in &self.memory {
                let y = across(*cycles);
                if y < right + 0.5 {
                    let line = [(left, y), (right, y)];
                    chart.draw_series(DashedLineSeries::new(line, 4, 4, GREY.stroke_width(1)))?;
                    let (x, y) = chart.backend_coord(&(left, y));
                    text(area, (name, 12, GREY), (x + 6, y - 9), Hang::Left)?;
                    taken.push(Place { left: x, right: x + 140, top: y - 16, bottom: y + 2 });
                }
            }
            let mut dots = Vec::new();
            for dot in &self.dots {
                let at = self.levels.iter().position(|level| *level == dot.level).unwrap_or(0);
                let colour = nth(at);
                let place = (across(dot.ceiling), across(dot.found));
                chart.draw_series([Circle::new(place, 4, colour.filled())])?;
                let (x, y) = chart.backend_coord(&place);
                taken.push(Place { left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 });
                dots.push((x, y, &dot.label, colour));
            }
            let on_roof = |x: i32| {
                let (ends, x) = ([left, right].map(|at| chart.backend_coord(&(at, at))), x as f64);
                let [(x0, y0), (x1, y1)] = ends.map(|(x, y)| (x as f64, y as f64));
                (y0 + (x - x0) / (x1 - x0) * (y1 - y0)) as i32
            };
            for (x, y, label, colour) in dots {
                let beside = Place::beside((x, y), label).into_iter().find(|place| {
                    // The roof rises, so everything under its left end is under the roof.
                    let [left, right] = [place.left, place.right].map(on_roof);
                    let crossed = place.top < left && place.bottom > right;
                    let inside = place.left > 70 && place.right < SIZE.0 as i32 - 4;
                    inside && !crossed && !taken.iter().any(|other| place.covers(other))
                });
                // A name without a free place is left out; the table has it.
                let Some(place) = beside.filter(|_| !label.is_empty()) else { continue };
                let middle = (place.top + place.bottom) / 2;
                text(area, (label, 11, colour), (place.left, middle), Hang::Left)?;
                taken.push(place);
            }
            for (at, level) in self.levels.iter().enumerate() {
                let y = 60 + at as i32 * 18;
                let colour = nth(at);
                area.draw(&Circle::new((90, y), 4, colour.filled()))?;
                text(area, (level, 13, colour), (100, y), Hang::Left)?;
            }
            Ok(())
        })
    }
}

/// A rectangle that is occupied.
struct Place {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Place {
    /// Returns the possible places of a dot's name: right, left, below and above.
    fn beside((x, y): (i32, i32), name: &str) -> [Place; 4] {
        // The widest average letter of this size.
        let width = 7 * name.chars().count() as i32;
        let at =
            |left, middle| Place { left, right: left + width, top: middle - 6, bottom: middle + 6 };
        [at(x + 8, y + 2), at(x - 8 - width, y + 2), at(x + 2, y + 14), at(x - width, y - 12)]
    }

    fn covers(&self, other: &Place) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}
