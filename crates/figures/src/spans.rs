//! Bars from a common start, on a logarithmic axis to base 10.

use plotters::prelude::*;

use crate::Failure;
use crate::canvas::{Hang, svg, text};
use crate::chart::ends;
use crate::palette::{COLOURS, FAINT, INK};

/// A bar.
pub struct Span {
    /// The name left of the bar.
    pub name: String,
    /// The end of the bar.
    pub value: f64,
    /// The text at the bar's end.
    pub label: String,
}

/// A chart of spans.
pub struct Spans {
    /// The first line of the picture.
    pub title: String,
    /// The bars from top to bottom.
    pub spans: Vec<Span>,
    /// The values and names of the grid lines.
    pub marks: Vec<(f64, &'static str)>,
}

const WIDTH: i32 = 960;
/// Room for the names on the left and the labels on the right.
const NAMES: i32 = 250;
const LABELS: i32 = 130;
const TOP: i32 = 46;
const STEP: i32 = 30;
const THICKNESS: i32 = 20;

impl Spans {
    /// Draws the chart as SVG; `alternative` describes it for readers who cannot see it.
    ///
    /// # Errors
    ///
    /// Fails if the drawing fails.
    pub fn svg(&self, alternative: &str) -> Result<String, Failure> {
        let height = TOP + 20 + self.spans.len() as i32 * STEP + 40;
        let values = self.spans.iter().map(|span| span.value);
        let (low, high) = ends(values.chain(self.marks.iter().map(|mark| mark.0)).map(f64::log10));
        let (low, right) = (low - 0.5, WIDTH - LABELS);
        let across =
            |x: f64| NAMES + ((x.log10() - low) / (high - low) * (right - NAMES) as f64) as i32;
        svg((WIDTH as u32, height as u32), Some(alternative), |area| {
            text(area, (&self.title, 18, INK), (20, 22), Hang::Left)?;
            let bottom = height - 34;
            for (value, name) in &self.marks {
                let x = across(*value);
                area.draw(&PathElement::new(vec![(x, TOP), (x, bottom)], FAINT))?;
                text(area, (name, 13, INK), (x, bottom + 14), Hang::Middle)?;
            }
            for (at, Span { name, value, label }) in self.spans.iter().enumerate() {
                let top = TOP + 8 + at as i32 * STEP;
                let end = across(*value);
                let corners = [(NAMES, top), (end, top + THICKNESS)];
                area.draw(&Rectangle::new(corners, COLOURS[0].filled()))?;
                let middle = top + THICKNESS / 2;
                text(area, (name, 14, INK), (NAMES - 8, middle), Hang::Right)?;
                text(area, (label, 13, INK), (end + 6, middle), Hang::Left)?;
            }
            Ok(())
        })
    }
}
