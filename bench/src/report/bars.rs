//! Pictures of bars: one row for each engine, one bar for each case, quartiles as whiskers.

use plotters::prelude::*;

use super::draw::{COLOURS, FAINT, GREY, Hang, plain, svg, text};
use crate::failure::Failure;
use crate::measure::Figure;

/// A row.
pub struct Row {
    pub label: String,
    pub ours: bool,
    /// In the order of the cases.
    pub figures: Vec<Option<Figure>>,
}

/// A picture.
pub struct Bars {
    pub title: String,
    /// What a bar's length is, and in what unit.
    pub unit: String,
    pub cases: Vec<String>,
    pub rows: Vec<Row>,
}

const WIDTH: i32 = 960;
const NAMES: i32 = 250;
const NUMBERS: i32 = 70;
const TOP: i32 = 70;
const BAR: i32 = 11;

impl Bars {
    /// The picture as SVG. The scale begins at zero.
    pub fn svg(&self) -> Result<String, Failure> {
        let step = self.cases.len() as i32 * BAR + 8;
        let height = TOP + self.rows.len() as i32 * step + 40;
        let figures = self.rows.iter().flat_map(|row| row.figures.iter().flatten());
        let most = figures.map(|figure| figure.high.min(2.0 * figure.median)).fold(0.0, f64::max);
        let scale = (WIDTH - NAMES - NUMBERS) as f64 / most.max(1e-9);
        let across = |y: f64| NAMES + (y * scale).min((WIDTH - NAMES - 4) as f64) as i32;
        svg((WIDTH as u32, height as u32), |area| {
            text(area, (&self.title, 18, COLOURS[6]), (20, 22), Hang::Left)?;
            for (at, case) in self.cases.iter().enumerate() {
                let left = NAMES + at as i32 * 210;
                let style = self.colour(at, true).filled();
                area.draw(&Rectangle::new([(left, 42), (left + 12, 54)], style))?;
                text(area, (case, 13, COLOURS[6]), (left + 18, 49), Hang::Left)?;
            }
            let tick = nice(most / 6.0);
            let bottom = height - 34;
            for tick in (0..).map(|i| i as f64 * tick).take_while(|tick| *tick <= most) {
                let x = across(tick);
                area.draw(&PathElement::new(vec![(x, TOP - 8), (x, bottom)], FAINT))?;
                text(area, (&plain(tick), 12, GREY), (x, bottom + 9), Hang::Middle)?;
            }
            text(area, (&self.unit, 13, GREY), (NAMES, height - 9), Hang::Left)?;
            for (at, row) in self.rows.iter().enumerate() {
                let top = TOP + at as i32 * step;
                let colour = if row.ours { COLOURS[6] } else { GREY };
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
                    let number = crate::table::number(figure.median);
                    let beside = across(figure.high.min(2.0 * figure.median)).max(end) + 5;
                    text(area, (&number, 11, colour), (beside, middle), Hang::Left)?;
                }
            }
            Ok(())
        })
    }

    /// Peers' bars are paler.
    fn colour(&self, case: usize, ours: bool) -> RGBAColor {
        COLOURS[case % COLOURS.len()].mix(if ours { 1.0 } else { 0.45 })
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|nice| nice * power);
    steps.into_iter().find(|nice| *nice >= step).unwrap_or(step)
}
