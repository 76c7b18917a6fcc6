//! Charts of regions under borders, in panels side by side. The axes are powers of 2 from 1 on.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::Failure;
use crate::canvas::{Area, FONT, Hang, svg};
use crate::numbers::exponent;
use crate::palette::{COLOURS, FAINT};

/// A chart of panels.
pub struct Panels {
    /// The first line of the picture.
    pub title: String,
    /// The quantity on the x axis of each panel.
    pub x: String,
    /// The quantity on the y axis.
    pub y: String,
    /// The width and height of a panel.
    pub size: (u32, u32),
    /// The panels from left to right.
    pub panels: Vec<Panel>,
    /// The names of the borders, which look the same in all panels; at most
    /// [`Panels::MAX_BORDERS`].
    pub names: Vec<String>,
    /// The columns of the legend.
    pub columns: usize,
    /// The last lines of the picture.
    pub notes: Vec<&'static str>,
}

/// A panel: axes and borders.
pub struct Panel {
    /// The title above the panel.
    pub title: String,
    /// The exponents at the ends of the axes.
    pub ends: (i32, i32),
    /// The exponents between two ticks.
    pub steps: (usize, usize),
    /// The borders in the order of the names, as logarithms to base 2. A border may have no points.
    pub borders: Vec<Vec<(f64, f64)>>,
}

/// The dashes and gaps of the borders; `None` is a solid line. All differ, so that borders that
/// coincide can still be seen.
const DASHES: [Option<(u32, u32)>; COLOURS.len()] = [
    None,
    Some((9, 5)),
    Some((4, 4)),
    Some((14, 4)),
    Some((7, 8)),
    Some((11, 9)),
    Some((3, 9)),
    Some((2, 5)),
];

/// plotters only has whole pixels, so pictures are drawn this many times as large and shown scaled
/// down.
const SCALE: u32 = 4;
const TOP: f64 = 90.0;
/// The room left of the first panel, and between two panels.
const LEFT: f64 = 85.0;
const GAP: f64 = 70.0;
const RIGHT: f64 = 40.0;

impl Panels {
    /// The maximum of borders that a reader can distinguish.
    pub const MAX_BORDERS: usize = COLOURS.len();

    /// Draws the chart as SVG; `alternative` describes it for readers who cannot see it.
    ///
    /// # Errors
    ///
    /// Fails if the drawing fails.
    pub fn svg(&self, alternative: &str) -> Result<String, Failure> {
        let (panel, count) = (f64::from(self.size.0), self.panels.len() as f64);
        let width = LEFT + count * panel + (count - 1.0) * GAP + RIGHT;
        let floor = TOP + f64::from(self.size.1);
        let legend = floor + 76.0;
        let legend_rows = self.names.len().div_ceil(self.columns);
        let notes = legend + 26.0 * (legend_rows as f64 - 1.0) + 33.0;
        let height = notes + 19.0 * (self.notes.len() as f64 - 1.0) + 17.0;
        let size = (width as u32, height as u32);
        let drawn = svg((size.0 * SCALE, size.1 * SCALE), Some(alternative), |area| {
            let canvas = Canvas(area);
            canvas.text(&self.title, 25, (width / 2.0, 26.0), Hang::Middle)?;
            for (at, panel) in self.panels.iter().enumerate() {
                let axes = Axes {
                    corner: (LEFT + at as f64 * (f64::from(self.size.0) + GAP), floor),
                    size: (self.size.0.into(), self.size.1.into()),
                    panel,
                };
                axes.draw(&canvas, &self.x)?;
            }
            canvas.text_upwards(&self.y, 17, (26.0, TOP + f64::from(self.size.1) / 2.0))?;
            let column = (width - LEFT - RIGHT) / self.columns as f64;
            for (at, name) in self.names.iter().enumerate() {
                let x = LEFT + column * (at % self.columns) as f64;
                let y = legend + 26.0 * (at / self.columns) as f64;
                canvas.border(&[(x, y), (x + 44.0, y)], at)?;
                canvas.text(name, 17, (x + 54.0, y), Hang::Left)?;
            }
            for (at, note) in self.notes.iter().enumerate() {
                canvas.text(note, 14, (width / 2.0, notes + 19.0 * at as f64), Hang::Middle)?;
            }
            Ok(())
        })?;
        // The size in plotters' format.
        let shown =
            |scale: u32| format!("width=\"{}\" height=\"{}\"", size.0 * scale, size.1 * scale);
        Ok(drawn.replacen(&shown(SCALE), &shown(1), 1))
    }
}

/// An area in the pixels of the shown picture.
struct Canvas<'a, 's>(&'a Area<'s>);

impl Canvas<'_, '_> {
    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        [x, y].map(|place| (place * f64::from(SCALE)).round() as i32).into()
    }

    fn text(&self, text: &str, size: u32, at: (f64, f64), hang: Hang) -> Result<(), Failure> {
        let style = (FONT, f64::from(size * SCALE)).into_font().color(&BLACK).pos(hang.pos());
        Ok(self.0.draw_text(text, &style, self.pixel(at))?)
    }

    /// Draws text that reads upwards.
    fn text_upwards(&self, text: &str, size: u32, at: (f64, f64)) -> Result<(), Failure> {
        let font = (FONT, f64::from(size * SCALE)).into_font();
        let style = font.transform(FontTransform::Rotate270).color(&BLACK).pos(Hang::Middle.pos());
        Ok(self.0.draw_text(text, &style, self.pixel(at))?)
    }

    fn line(&self, points: &[(f64, f64)], colour: RGBColor) -> Result<(), Failure> {
        let points: Vec<_> = points.iter().map(|point| self.pixel(*point)).collect();
        Ok(self.0.draw(&PathElement::new(points, colour.stroke_width(SCALE)))?)
    }

    /// Draws a line in the style of a border.
    fn border(&self, points: &[(f64, f64)], at: usize) -> Result<(), Failure> {
        let points: Vec<_> = points.iter().map(|point| self.pixel(*point)).collect();
        let style = COLOURS[at].stroke_width(2 * SCALE);
        match DASHES[at] {
            None => self.0.draw(&PathElement::new(points, style))?,
            Some((dash, gap)) => {
                self.0.draw(&DashedPathElement::new(points, dash * SCALE, gap * SCALE, style))?;
            }
        }
        Ok(())
    }
}

/// A panel's place: the lower left corner, the width and the height.
struct Axes<'a> {
    corner: (f64, f64),
    size: (f64, f64),
    panel: &'a Panel,
}

impl Axes<'_> {
    /// Returns the place of a point given as logarithms.
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let ((left, floor), ends) = (self.corner, self.panel.ends);
        let (x, y) = (x / f64::from(ends.0), y / f64::from(ends.1));
        (left + x * self.size.0, floor - y * self.size.1)
    }

    fn draw(&self, canvas: &Canvas<'_, '_>, x: &str) -> Result<(), Failure> {
        let Panel { title, ends, steps, borders } = self.panel;
        let (left, floor) = self.corner;
        let (right, top) = (left + self.size.0, floor - self.size.1);
        for exp in (0..=ends.0).step_by(steps.0) {
            let (at, _) = self.place((exp.into(), 0.0));
            canvas.line(&[(at, floor), (at, top)], FAINT)?;
            canvas.line(&[(at, floor), (at, floor + 5.0)], BLACK)?;
            canvas.text(&exponent(exp), 16, (at, floor + 18.0), Hang::Middle)?;
        }
        for exp in (0..=ends.1).step_by(steps.1) {
            let (_, at) = self.place((0.0, exp.into()));
            canvas.line(&[(left, at), (right, at)], FAINT)?;
            canvas.line(&[(left - 5.0, at), (left, at)], BLACK)?;
            canvas.text(&exponent(exp), 16, (left - 9.0, at), Hang::Right)?;
        }
        // The first border is drawn last, on top of the others.
        for (at, border) in borders.iter().enumerate().rev() {
            if !border.is_empty() {
                let places: Vec<_> = border.iter().map(|point| self.place(*point)).collect();
                canvas.border(&places, at)?;
            }
        }
        canvas.line(&[(left, top), (left, floor), (right, floor)], BLACK)?;
        canvas.text(x, 17, (left + self.size.0 / 2.0, floor + 42.0), Hang::Middle)?;
        canvas.text(title, 18, (left + self.size.0 / 2.0, top - 18.0), Hang::Middle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels() -> Panels {
        let border = vec![(0.0, 8.0), (4.0, 8.0), (4.0, 0.0)];
        Panels {
            title: "a title".into(),
            x: "messages".into(),
            y: "bytes".into(),
            size: (320, 310),
            panels: vec![Panel {
                title: "a panel".into(),
                ends: (16, 10),
                steps: (8, 5),
                borders: vec![border, Vec::new()],
            }],
            names: vec!["first".into(), "second".into()],
            columns: 2,
            notes: vec!["a note"],
        }
    }

    /// The border turns at 2^4 of 2^16 messages and 2^8 of 2^10 bytes.
    #[test]
    fn a_border_is_where_its_logarithms_are() {
        let svg = panels().svg("words").expect("a picture");
        let line = svg.lines().find(|line| line.contains("#0072B2") && line.contains("<polyline"));
        let points = line.expect("a border").split_once("points=\"").expect("points").1;
        let points = points.split_once('"').expect("their end").0.trim_end();
        assert_eq!(points, "340,608 660,608 660,1600");
        // The border without points has a line in the legend only.
        let dashes = svg.lines().filter(|line| line.contains("#D55E00")).count();
        assert!((1..=5).contains(&dashes), "{dashes}");
        assert!(svg.contains("width=\"445\" height=\"526\" viewBox=\"0 0 1780 2104\""), "{svg}");
    }
}
