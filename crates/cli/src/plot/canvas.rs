//! Lines and text in units, and the files that pictures are in.
//!
//! Text is set in the sans-serif font of whoever shows the picture.

use std::error::Error as Failure;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use tagmac_files::escaped::Escaped;
use tagmac_files::overwrite::Overwrite;
use tagmac_files::{Error, new_file};

use crate::diagnostic::diagnostic;

/// Places are whole numbers, so it is drawn this many times as large, and shown small.
const SCALE: u32 = 4;
const FONT: &str = "sans-serif";

/// What every plot begins with, as a comment.
const MAGIC: &str = "a plot of tagmac bounds";

/// What drawing gives.
pub type Drawn = Result<(), Box<dyn Failure>>;

/// Refuses a name that no plot has.
pub fn check_name(file: &Path) -> Result<(), Error> {
    if file.extension().is_none_or(|extension| extension != "svg") {
        let name = Escaped::name(file);
        return Err(Error::usage(format_args!(
            "--plot: expected a name that ends with .svg, found '{name}'"
        )));
    }
    Ok(())
}

/// Writes a picture of `size` units, which are pixels where the SVG is shown, into a new file or in place
/// of another plot.
pub fn write(
    file: &Path,
    size: (u32, u32),
    draw: impl FnOnce(&Canvas<'_, '_>) -> Drawn,
) -> Result<(), Error> {
    let name = Escaped::name(file);
    // Only what is wrong with the drawing itself can fail before the file.
    let bytes = svg(size, draw).map_err(|error| Error::io(format_args!("{name}: {error}")))?;
    new_file::write(file, 0o666, Overwrite::Kind("a plot of 'tagmac bounds'", is_plot), &bytes)?;
    diagnostic(format_args!("wrote the plot to {name}"));
    Ok(())
}

/// Whether a file begins as a plot does.
fn is_plot(file: File) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(128).read_to_end(&mut start)?;
    Ok(start.windows(MAGIC.len()).any(|text| text == MAGIC.as_bytes()))
}

fn svg(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Canvas<'_, '_>) -> Drawn,
) -> Result<Vec<u8>, Box<dyn Failure>> {
    // How `plotters` writes the size of a picture.
    let size = |scale: u32| format!("width=\"{}\" height=\"{}\"", width * scale, height * scale);
    let mut text = String::new();
    {
        let drawn = (width * SCALE, height * SCALE);
        let area = SVGBackend::with_string(&mut text, drawn).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&Canvas(&area))?;
        area.present()?;
    }
    let text = text.replacen(&size(SCALE), &size(1), 1);
    Ok(format!("<!-- {MAGIC} -->\n{text}").into_bytes())
}

/// Somewhere to draw, in units.
pub struct Canvas<'a, 's>(&'a DrawingArea<SVGBackend<'s>, Shift>);

impl Canvas<'_, '_> {
    fn pixel(&self, (x, y): (f64, f64)) -> (i32, i32) {
        [x, y].map(|place| (place * SCALE as f64).round() as i32).into()
    }

    /// Text in black, centered in height.
    pub fn text(&self, text: &str, size: u32, at: (f64, f64), h: HPos) -> Drawn {
        let style = (FONT, (size * SCALE) as f64).into_font().color(&BLACK);
        let style = style.pos(Pos::new(h, VPos::Center));
        Ok(self.0.draw_text(text, &style, self.pixel(at))?)
    }

    /// Text that is read from below, centered.
    pub fn aside(&self, text: &str, size: u32, at: (f64, f64)) -> Drawn {
        let font = (FONT, (size * SCALE) as f64).into_font();
        let style = font.transform(FontTransform::Rotate270).color(&BLACK);
        let style = style.pos(Pos::new(HPos::Center, VPos::Center));
        Ok(self.0.draw_text(text, &style, self.pixel(at))?)
    }

    /// A line through points.
    pub fn line(&self, points: &[(f64, f64)], color: RGBColor, width: u32) -> Drawn {
        let points: Vec<(i32, i32)> = points.iter().map(|point| self.pixel(*point)).collect();
        Ok(self.0.draw(&PathElement::new(points, color.stroke_width(width * SCALE)))?)
    }

    /// The same in dashes: their length and that of the gaps; `None` for a whole line.
    pub fn dashed(
        &self,
        points: &[(f64, f64)],
        color: RGBColor,
        dash: Option<(u32, u32)>,
    ) -> Drawn {
        let Some((dash, gap)) = dash else { return self.line(points, color, 2) };
        let points: Vec<(i32, i32)> = points.iter().map(|point| self.pixel(*point)).collect();
        let style = color.stroke_width(2 * SCALE);
        let (dash, gap) = (dash * SCALE, gap * SCALE);
        Ok(self.0.draw(&DashedPathElement::new(points, dash, gap, style))?)
    }
}

/// Two axes of powers of 2, from 1 on, in the rectangle whose lower left corner is at `corner`.
pub struct Axes {
    /// The lower left corner.
    pub corner: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
    /// The exponents at the ends of the axes.
    pub ends: (i32, i32),
    /// The exponents between two ticks.
    pub steps: (usize, usize),
}

impl Axes {
    /// Where a point is, of which the logarithms are given.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let (left, floor) = self.corner;
        (
            left + x / f64::from(self.ends.0) * self.size.0,
            floor - y / f64::from(self.ends.1) * self.size.1,
        )
    }

    /// Ticks, their numbers and a grid.
    pub fn draw_grid(&self, canvas: &Canvas<'_, '_>) -> Drawn {
        const GREY: RGBColor = RGBColor(226, 226, 226);
        let (left, floor) = self.corner;
        let (right, top) = (left + self.size.0, floor - self.size.1);
        for x in (0..=self.ends.0).step_by(self.steps.0) {
            let (at, _) = self.place((x.into(), 0.0));
            canvas.line(&[(at, floor), (at, top)], GREY, 1)?;
            canvas.line(&[(at, floor), (at, floor + 5.0)], BLACK, 1)?;
            canvas.text(&power(x), 16, (at, floor + 18.0), HPos::Center)?;
        }
        for y in (0..=self.ends.1).step_by(self.steps.1) {
            let (_, at) = self.place((0.0, y.into()));
            canvas.line(&[(left, at), (right, at)], GREY, 1)?;
            canvas.line(&[(left - 5.0, at), (left, at)], BLACK, 1)?;
            canvas.text(&power(y), 16, (left - 9.0, at), HPos::Right)?;
        }
        Ok(())
    }

    /// The two axes.
    pub fn draw_axes(&self, canvas: &Canvas<'_, '_>) -> Drawn {
        let (left, floor) = self.corner;
        let (right, top) = (left + self.size.0, floor - self.size.1);
        canvas.line(&[(left, top), (left, floor), (right, floor)], BLACK, 1)
    }
}

/// A power of 2, its exponent raised.
fn power(exponent: i32) -> String {
    let raise =
        |c: char| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize];
    "2".chars().chain(exponent.to_string().chars().map(raise)).collect()
}
