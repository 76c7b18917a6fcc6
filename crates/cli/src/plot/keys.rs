//! `tagmac bounds --algorithm --plot`: what one key may authenticate, as a line for each algorithm.
//!
//! A point (q, l) left of and below a line stands for q messages of l bytes each under one key, with a
//! bound of at most the probability. Above the line's top l is longer than the algorithm takes.

use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;
use tagmac::bounds::{BoundError, Theorem};

use super::canvas::{Axes, Canvas, Drawn};

/// The picture in units.
pub const SIZE: (u32, u32) = (800, 640);

/// The longest message that is drawn, 1 TiB, as its logarithm, and the lengths to a doubling.
const LONGEST: u32 = 40;
const PER_DOUBLING: u32 = 8;

/// How lines look: of Okabe and Ito's palette, which the colour-blind can tell apart. Only the first is
/// whole, so that lines in one place can all be seen.
const LOOKS: [(RGBColor, Option<(u32, u32)>); Line::MOST] = [
    (RGBColor(0, 114, 178), None),
    (RGBColor(213, 94, 0), Some((9, 5))),
    (RGBColor(0, 158, 115), Some((4, 4))),
    (RGBColor(204, 121, 167), Some((14, 4))),
    (RGBColor(0, 0, 0), Some((2, 5))),
    (RGBColor(86, 180, 233), Some((7, 8))),
    (RGBColor(230, 159, 0), Some((11, 9))),
    (RGBColor(90, 90, 90), Some((3, 9))),
];

/// An algorithm's line.
pub struct Line {
    /// What the line is called.
    pub name: String,
    /// The border from its upper left end, as logarithms of messages and bytes.
    border: Vec<(f64, f64)>,
}

impl Line {
    /// More lines than this nobody can tell apart.
    pub const MOST: usize = 8;

    /// The line of a MAC that a theorem bounds.
    pub fn new(name: &str, theorem: Theorem, probability: f64) -> Result<Line, BoundError> {
        let limit = theorem.limit();
        let steps = (0..=LONGEST * PER_DOUBLING).rev();
        let lengths = steps.map(|i| 2f64.powf(f64::from(i) / f64::from(PER_DOUBLING)) as u64);
        let mut border: Vec<(f64, f64)> = Vec::new();
        for length in lengths.filter(|length| *length <= limit) {
            let messages = theorem.messages(length, probability)?;
            if messages > 0 {
                let point = ((messages as f64).log2(), (length as f64).log2());
                // No message is longer: the line begins at the axis.
                if border.is_empty() && limit < 1 << LONGEST {
                    border.push((0.0, point.1));
                }
                border.push(point);
            }
        }
        let name = if border.is_empty() { format!("{name}: nothing") } else { name.into() };
        Ok(Line { name, border })
    }
}

/// Draws lines.
pub fn draw(canvas: &Canvas<'_, '_>, title: &str, lines: &[Line]) -> Drawn {
    let most = lines.iter().flat_map(|line| &line.border).map(|(q, _)| *q).fold(1.0, f64::max);
    let axes = Axes {
        corner: (80.0, 440.0),
        size: (690.0, 350.0),
        ends: (8 * (1 + (most / 8.0).floor() as i32), LONGEST as i32),
        steps: (8, 5),
    };
    canvas.text(title, 17, (400.0, 56.0), HPos::Center)?;
    axes.draw_grid(canvas)?;
    for (line, (color, dash)) in lines.iter().zip(LOOKS) {
        let border: Vec<_> = line.border.iter().map(|point| axes.place(*point)).collect();
        if !border.is_empty() {
            canvas.dashed(&border, color, dash)?;
        }
    }
    axes.draw_axes(canvas)?;
    canvas.text("messages under a key", 17, (425.0, 482.0), HPos::Center)?;
    canvas.aside("bytes of each message", 17, (24.0, 265.0))?;
    for (i, (line, (color, dash))) in lines.iter().zip(LOOKS).enumerate() {
        let (x, y) = (80.0 + 360.0 * (i % 2) as f64, 512.0 + 24.0 * (i / 2) as f64);
        canvas.dashed(&[(x, y), (x + 44.0, y)], color, dash)?;
        canvas.text(&line.name, 16, (x + 54.0, y), HPos::Left)?;
    }
    let note = "Left of and below its line a forgery has at most that probability; what an attack on the \
                cipher gains comes on top.";
    canvas.text(note, 13, (400.0, 622.0), HPos::Center)
}
