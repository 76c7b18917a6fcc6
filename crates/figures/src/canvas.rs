//! The parts that all pictures share: the file, text, and labels that do not overlap.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::Failure;

/// The drawing area of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The viewer's default.
pub const FONT: &str = "sans-serif";

/// Draws on white and returns the text of an SVG file. `alternative` describes the picture.
pub fn svg(
    size: (u32, u32),
    alternative: Option<&str>,
    draw: impl FnOnce(&Area) -> Result<(), Failure>,
) -> Result<String, Failure> {
    svg_on(size, WHITE, alternative, draw)
}

/// Draws on a background of any colour.
pub fn svg_on(
    size: (u32, u32),
    background: RGBColor,
    alternative: Option<&str>,
    draw: impl FnOnce(&Area) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&background)?;
        draw(&area)?;
        area.present()?;
    }
    Ok(match alternative {
        None => text,
        Some(words) => {
            let label = format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(words));
            text.replacen("<svg ", &label, 1)
        }
    })
}

/// Escapes text for HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The end of a text that is at its point.
#[derive(Clone, Copy)]
pub enum Hang {
    Left,
    Middle,
    Right,
}

impl Hang {
    /// Returns the anchor for text that is vertically centred.
    pub fn pos(self) -> Pos {
        let hang = match self {
            Hang::Left => HPos::Left,
            Hang::Middle => HPos::Center,
            Hang::Right => HPos::Right,
        };
        Pos::new(hang, VPos::Center)
    }
}

/// Draws a text at a point.
pub fn text(
    area: &Area,
    (text, size, colour): (&str, i32, RGBColor),
    at: (i32, i32),
    hang: Hang,
) -> Result<(), Failure> {
    let style = (FONT, size).into_font().color(&colour).pos(hang.pos());
    area.draw(&Text::new(text.to_string(), at, style))?;
    Ok(())
}

/// Returns the heights of labels that belong to rising heights. Labels are pushed apart to `step`,
/// from `start` on and, if there is room, before `end`.
pub fn rows(heights: &[i32], (start, end): (i32, i32), step: i32) -> Vec<i32> {
    let mut free = start;
    let row = |(place, height): (usize, &i32)| {
        let last = end - (heights.len() - place) as i32 * step;
        let row = (*height).max(free).min(last.max(free));
        free = row + step;
        row
    };
    heights.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance() {
        assert_eq!(rows(&[10, 50, 90], (0, 200), 15), [10, 50, 90]);
        assert_eq!(rows(&[50, 50, 52], (0, 200), 15), [50, 65, 80]);
        assert_eq!(rows(&[-20, 198, 199], (0, 200), 15), [0, 170, 185], "within the picture");
        assert_eq!(rows(&[5, 5, 5], (0, 20), 15), [0, 15, 30], "too many");
    }

    #[test]
    fn words_are_escaped() {
        let svg = svg((10, 10), Some("a < b & \"c\""), |_| Ok(())).expect("a picture");
        assert!(svg.starts_with("<svg role=\"img\" aria-label=\"a &lt; b &amp; &quot;c&quot;\" "));
    }
}
