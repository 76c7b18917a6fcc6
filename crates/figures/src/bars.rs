//! Bar charts: a row for each engine, a bar for each case, and quartiles as whiskers.

use plotters::prelude::*;

use crate::canvas::{Hang, svg, text};
use crate::numbers::{number, plain};
use crate::palette::{FAINT, GREY, INK, nth};
use crate::{Failure, Quartiles};

/// A row of bars.
pub struct Row {
    /// The row's name.
    pub label: String,
    /// True for tagmac; the bars of others are paler.
    pub ours: bool,
    /// The figures, in the order of the cases.
    pub figures: Vec<Option<Quartiles>>,
}

/// A bar chart.
pub struct Bars {
    /// The first line of the picture.
    pub title: String,
    /// The quantity that a bar's length shows, and its unit.
    pub unit: String,
    /// The names of the cases.
    pub cases: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<Row>,
}

const WIDTH: i32 = 960;
const NAMES: i32 = 250;
const NUMBERS: i32 = 70;
/// The height of the first case name, and the height that a row of names and a bar need.
const CASES: i32 = 49;
const CASE: i32 = 18;
const BAR: i32 = 11;

impl Bars {
    /// Draws the chart as SVG. The scale begins at zero, or is logarithmic if the bars differ too
    /// much.
    pub fn svg(&self) -> Result<String, Failure> {
        let step = self.cases.len() as i32 * BAR + 8;
        let places = self.places_of_cases();
        let under_cases = places.last().map_or(CASES, |(_, y)| *y) + 21;
        let height = under_cases + self.rows.len() as i32 * step + 40;
        let figures = || self.rows.iter().flat_map(|row| row.figures.iter().flatten());
        let scale = Scale::of(figures());
        let room = f64::from(WIDTH - NAMES - NUMBERS);
        let most = f64::from(WIDTH - NAMES - 4);
        let across = |y: f64| NAMES + (scale.share(y) * room).clamp(0.0, most) as i32;
        svg((WIDTH as u32, height as u32), None, |area| {
            text(area, (&self.title, 18, INK), (20, 22), Hang::Left)?;
            for (at, (case, (x, y))) in self.cases.iter().zip(places).enumerate() {
                let style = self.colour(at, true).filled();
                area.draw(&Rectangle::new([(x, y - 7), (x + 12, y + 5)], style))?;
                text(area, (case, 13, INK), (x + 18, y), Hang::Left)?;
            }
            let bottom = height - 34;
            for tick in scale.ticks() {
                let x = across(tick);
                area.draw(&PathElement::new(vec![(x, under_cases - 8), (x, bottom)], FAINT))?;
                text(area, (&plain(tick), 12, GREY), (x, bottom + 9), Hang::Middle)?;
            }
            let unit = match scale {
                Scale::Even { .. } => self.unit.clone(),
                Scale::Logarithmic { .. } => format!("{}, on a logarithmic scale", self.unit),
            };
            text(area, (&unit, 13, GREY), (NAMES, height - 9), Hang::Left)?;
            for (at, row) in self.rows.iter().enumerate() {
                let top = under_cases + at as i32 * step;
                let colour = if row.ours { INK } else { GREY };
                let middle = top + (step - 8) / 2;
                text(area, (&row.label, 13, colour), (NAMES - 8, middle), Hang::Right)?;
                for (case, figure) in row.figures.iter().enumerate() {
                    let Some(figure) = figure else { continue };
                    let top = top + case as i32 * BAR;
                    let end = across(figure.median);
                    let corners = [(NAMES, top), (end, top + BAR - 2)];
                    area.draw(&Rectangle::new(corners, self.colour(case, row.ours).filled()))?;
                    let middle = top + BAR / 2 - 1;
                    let whisker = vec![(across(figure.low), middle), (across(figure.high), middle)];
                    area.draw(&PathElement::new(whisker, BLACK.stroke_width(1)))?;
                    let value = number(figure.median);
                    let beside = across(figure.high.min(2.0 * figure.median)).max(end) + 5;
                    text(area, (&value, 11, colour), (beside, middle), Hang::Left)?;
                }
            }
            Ok(())
        })
    }

    /// Returns where the names of the cases begin, in as many rows as they need.
    fn places_of_cases(&self) -> Vec<(i32, i32)> {
        let (mut x, mut y) = (NAMES, CASES);
        let mut places = Vec::new();
        for case in &self.cases {
            // The widest average letter of this size.
            let width = 18 + 8 * case.chars().count() as i32 + 14;
            if x > NAMES && x + width > WIDTH {
                (x, y) = (NAMES, y + CASE);
            }
            places.push((x, y));
            x += width;
        }
        places
    }

    /// Returns the colour of a case; paler for peers.
    fn colour(&self, case: usize, ours: bool) -> RGBAColor {
        nth(case).mix(if ours { 1.0 } else { 0.45 })
    }
}

/// The relation between a value and the length of its bar.
#[derive(Clone, Copy)]
enum Scale {
    Even { most: f64 },
    Logarithmic { least: f64, most: f64 },
}

impl Scale {
    /// The greatest ratio of two bars for a linear scale: a shorter bar could not be distinguished
    /// from zero.
    const EVEN: f64 = 100.0;

    fn of<'a>(figures: impl Iterator<Item = &'a Quartiles>) -> Scale {
        let (mut least, mut most) = (f64::MAX, 1e-9_f64);
        for figure in figures {
            least = least.min(figure.median.min(figure.low));
            most = most.max(figure.high.min(2.0 * figure.median));
        }
        match least > 0.0 && most >= Scale::EVEN * least {
            // Leave some length for the shortest bar.
            true => Scale::Logarithmic { least: least / 1.5, most },
            false => Scale::Even { most },
        }
    }

    /// Returns the position of a figure, between 0 and 1.
    fn share(self, y: f64) -> f64 {
        match self {
            Scale::Even { most } => y / most,
            Scale::Logarithmic { least, most } => (y.max(least) / least).ln() / (most / least).ln(),
        }
    }

    fn ticks(self) -> Vec<f64> {
        match self {
            Scale::Even { most } => {
                let tick = nice(most / 6.0);
                (0..).map(|i| i as f64 * tick).take_while(|tick| *tick <= most).collect()
            }
            Scale::Logarithmic { least, most } => {
                let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
                // Label only powers of ten if there are many decades, because the numbers would
                // overlap.
                let within: &[f64] = if most / least > 1e4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let all =
                    decades.flat_map(|decade| within.iter().map(move |n| n * 10f64.powi(decade)));
                all.filter(|tick| (least..=most).contains(tick)).collect()
            }
        }
    }
}

/// Returns 1, 2 or 5 times a power of ten, at least `step`.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|nice| nice * power);
    steps.into_iter().find(|nice| *nice >= step).unwrap_or(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(cases: &[&str], medians: &[f64]) -> Bars {
        let figure = |median: &f64| Quartiles { median: *median, low: *median, high: *median };
        let row = |median: &f64| Row {
            label: format!("row {median}"),
            ours: true,
            figures: vec![Some(figure(median)); cases.len()],
        };
        Bars {
            title: "a title".into(),
            unit: "cycles".into(),
            cases: cases.iter().map(|case| (*case).into()).collect(),
            rows: medians.iter().map(row).collect(),
        }
    }

    /// Returns the widths of the bars: of all rectangles except the background and the case's
    /// colour.
    fn widths(bars: &Bars) -> Vec<f64> {
        let svg = bars.svg().expect("a picture");
        let rectangles = svg.lines().filter(|line| line.starts_with("<rect"));
        let width = |line: &str| {
            let (_, rest) = line.split_once(" width=\"").expect("a width");
            rest.split_once('"').expect("a number").0.parse().expect("a number")
        };
        rectangles.map(width).skip(1 + bars.cases.len()).collect()
    }

    #[test]
    fn a_hundredfold_is_logarithmic() {
        let even = widths(&bars(&["a"], &[10.0, 20.0, 990.0]));
        assert!((even[2] / even[1] - 49.5).abs() < 5.0, "{even:?}");
        let wide = bars(&["a"], &[10.0, 100.0, 1000.0, 10_000.0]);
        let widths = widths(&wide);
        let steps: Vec<f64> = widths.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() <= 1.0), "{widths:?}");
        assert!(widths[0] > 20.0, "the shortest is seen: {widths:?}");
        let svg = wide.svg().expect("a picture");
        assert!(svg.contains("on a logarithmic scale") && svg.contains("\n1000\n"), "{svg}");
        assert!(!bars(&["a"], &[10.0, 990.0]).svg().expect("a picture").contains("logarithmic"));
    }

    #[test]
    fn names_of_cases_do_not_overlap() {
        let long = "a new key, a message off a line of cache";
        let places = bars(&["back to back", "chained", long, long], &[1.0]).places_of_cases();
        for two in places.windows(2) {
            let ((x, y), (next, below)) = (two[0], two[1]);
            assert!(below > y || next > x + 60, "{places:?}");
        }
        assert!(places.iter().all(|(x, _)| *x < WIDTH - 300), "{places:?}");
        assert!(places[3].1 > places[0].1, "{places:?}");
    }
}
