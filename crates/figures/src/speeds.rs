//! README's picture: speed by length, for a reader who looks at it for five seconds.

use plotters::prelude::*;

use crate::Failure;
use crate::canvas::{Hang, rows, svg_on, text};
use crate::numbers::{bytes, plain};

/// The speed of one MAC.
pub struct Speed {
    /// The name at the right end of the line.
    pub label: String,
    /// True for tagmac, whose lines have colours. Other lines are grey.
    pub ours: bool,
    /// Bytes of a message and GB/s, by rising length.
    pub points: Vec<(f64, f64)>,
}

/// A chart of speeds on two logarithmic axes.
pub struct Speeds {
    /// The conclusion that the picture supports.
    pub title: String,
    /// The second line: the conditions, and the exception.
    pub about: String,
    /// The speeds; at most seven.
    pub speeds: Vec<Speed>,
}

/// The colours of one version of the picture.
pub struct Theme {
    background: RGBColor,
    ink: RGBColor,
    faint: RGBColor,
    others: RGBColor,
    ours: [RGBColor; 3],
}

/// The colours for a light page.
pub const LIGHT: Theme = Theme {
    background: RGBColor(255, 255, 255),
    ink: RGBColor(40, 44, 52),
    faint: RGBColor(228, 230, 234),
    others: RGBColor(118, 124, 134),
    ours: [RGBColor(0, 98, 171), RGBColor(190, 76, 0), RGBColor(0, 128, 92)],
};
/// The colours for a dark page.
pub const DARK: Theme = Theme {
    background: RGBColor(13, 17, 23),
    ink: RGBColor(222, 226, 232),
    faint: RGBColor(45, 51, 60),
    others: RGBColor(150, 157, 168),
    ours: [RGBColor(94, 179, 255), RGBColor(255, 160, 90), RGBColor(80, 205, 160)],
};

const WIDTH: i32 = 800;
const HEIGHT: i32 = 440;
const LEFT: i32 = 64;
const TOP: i32 = 96;
const FLOOR: i32 = HEIGHT - 62;
const EDGE: i32 = WIDTH - 200;
/// Sizes of text in points; the SVG has 4/5 of them as pixels.
const LARGE: i32 = 24;
const SMALL: i32 = 17;
const NAME_HEIGHT: i32 = 19;

impl Speeds {
    /// Draws the chart as SVG; `alternative` describes it.
    ///
    /// # Errors
    ///
    /// Fails if the drawing fails.
    pub fn svg(&self, theme: &Theme, alternative: &str) -> Result<String, Failure> {
        let all = || self.speeds.iter().flat_map(|speed| &speed.points);
        let (left, right) = crate::chart::ends(all().map(|(x, _)| x.log2()));
        let (low, high) = crate::chart::ends(all().map(|(_, y)| y.log10()));
        let (low, high) = (low - 0.06, high + 0.06);
        let place = |x: f64, y: f64| {
            let across = (x.log2() - left) / (right - left) * f64::from(EDGE - LEFT);
            let up = (y.log10() - low) / (high - low) * f64::from(FLOOR - TOP);
            (LEFT + across.round() as i32, FLOOR - up.round() as i32)
        };
        let size = (WIDTH as u32, HEIGHT as u32);
        svg_on(size, theme.background, Some(alternative), |area| {
            text(area, (&self.title, LARGE, theme.ink), (LEFT - 48, 24), Hang::Left)?;
            text(area, (&self.about, SMALL, theme.others), (LEFT - 48, 50), Hang::Left)?;
            text(area, ("GB/s", SMALL, theme.ink), (LEFT - 6, TOP - 16), Hang::Right)?;
            for tick in (4..).step_by(2).map(|power| f64::from(power).exp2()) {
                if tick.log2() > right {
                    break;
                }
                let (x, _) = place(tick, 1.0);
                area.draw(&PathElement::new(vec![(x, TOP), (x, FLOOR)], theme.faint))?;
                let label = if tick < 1024.0 { format!("{tick} B") } else { bytes(tick) };
                text(area, (&label, SMALL, theme.ink), (x, FLOOR + 16), Hang::Middle)?;
            }
            let about_x = "length of the message";
            text(area, (about_x, SMALL, theme.ink), ((LEFT + EDGE) / 2, FLOOR + 42), Hang::Middle)?;
            for tick in [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0] {
                let (_, y) = place(1.0, tick);
                if (TOP..=FLOOR).contains(&y) {
                    area.draw(&PathElement::new(vec![(LEFT, y), (EDGE, y)], theme.faint))?;
                    text(area, (&plain(tick), SMALL, theme.ink), (LEFT - 6, y), Hang::Right)?;
                }
            }
            let mut names = Vec::new();
            let mut colours = theme.ours.iter().cycle();
            // Ours are drawn last, on top of the others.
            let (ours, others): (Vec<_>, Vec<_>) = self.speeds.iter().partition(|one| one.ours);
            for speed in others.into_iter().chain(ours) {
                let colour =
                    if speed.ours { *colours.next().expect("a cycle") } else { theme.others };
                let points: Vec<_> = speed.points.iter().map(|(x, y)| place(*x, *y)).collect();
                let width = if speed.ours { 3 } else { 1 };
                for at in &points {
                    area.draw(&Circle::new(*at, width, colour.filled()))?;
                }
                names.extend(points.last().map(|(_, y)| (*y, &speed.label, colour)));
                area.draw(&PathElement::new(points, colour.stroke_width(width as u32)))?;
            }
            names.sort_by_key(|(y, ..)| *y);
            let heights: Vec<i32> = names.iter().map(|(y, ..)| *y).collect();
            let rows = rows(&heights, (TOP, FLOOR + 8), NAME_HEIGHT);
            for ((y, label, colour), row) in names.into_iter().zip(rows) {
                if y != row {
                    let from = vec![(EDGE + 3, y), (EDGE + 9, row)];
                    area.draw(&PathElement::new(from, colour.stroke_width(1)))?;
                }
                text(area, (label, SMALL, colour), (EDGE + 11, row), Hang::Left)?;
            }
            Ok(())
        })
    }
}
