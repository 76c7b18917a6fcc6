//! Pictures of curves on two logarithmic axes, and of bars on one, as SVG with a text alternative.

use std::error::Error;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Okabe and Ito's colours, which colour-blind people tell apart, without yellow; and two more.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
    RGBColor(130, 90, 200),
];
const FAINT: RGBColor = RGBColor(225, 225, 225);

/// A picture.
pub struct Drawing {
    /// The picture, which also has the words.
    pub svg: String,
    /// What it shows, in words.
    pub alternative: String,
}

/// A curve, or points.
pub struct Curve {
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// The ends of an interval around each point, for measured ones: they get no line.
    pub intervals: Vec<(f64, f64)>,
    pub dashed: bool,
}

impl Curve {
    /// A line.
    pub fn line(label: &str, points: Vec<(f64, f64)>, dashed: bool) -> Curve {
        Curve { label: label.into(), points, intervals: Vec::new(), dashed }
    }
}

/// A picture of curves. Both axes are logarithms to base 2.
pub struct Chart {
    pub title: String,
    pub x: String,
    pub y: String,
    /// How a value of an axis is written.
    pub ticks: [fn(f64) -> String; 2],
    pub curves: Vec<Curve>,
}

/// A picture of bars from a common start on a logarithmic axis to base 10.
pub struct Bars {
    pub title: String,
    pub bars: Vec<(String, f64, String)>,
    pub marks: Vec<(f64, &'static str)>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

const WIDTH: i32 = 960;
const NAMES: i32 = 230;
const LEFT: i32 = 80;
const TOP: i32 = 46;

fn text(area: &Area, line: &str, size: i32, (at, h): ((i32, i32), HPos)) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&RGBColor(60, 60, 60));
    Ok(area.draw(&Text::new(line.to_string(), at, style.pos(Pos::new(h, VPos::Center))))?)
}

fn svg(
    (title, alternative): (&str, &str),
    height: i32,
    draw: impl FnOnce(&Area) -> Drawn,
) -> Result<String, Box<dyn Error>> {
    let mut out = String::new();
    {
        let size = (WIDTH as u32, height as u32);
        let area = SVGBackend::with_string(&mut out, size).into_drawing_area();
        area.fill(&WHITE)?;
        text(&area, title, 18, ((20, 22), HPos::Left))?;
        draw(&area)?;
        area.present()?;
    }
    let alternative = escaped(alternative);
    Ok(out.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{alternative}\" "), 1))
}

/// Text within HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The least and the greatest.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
}

impl Chart {
    /// The picture, with words for those who do not see it.
    pub fn svg(&self, alternative: &str) -> Result<String, Box<dyn Error>> {
        let height = 520;
        let all = || self.curves.iter().flat_map(|curve| &curve.points);
        let (left, right) = ends(all().map(|(x, _)| x.log2()));
        let bars = self.curves.iter().flat_map(|curve| &curve.intervals);
        let both = bars.flat_map(|(low, high)| [*low, *high]).filter(|y| *y > 0.0);
        let (low, high) = ends(all().map(|(_, y)| *y).chain(both).map(f64::log2));
        let (low, high) = (low.floor(), high.ceil());
        let [floor, edge] = [height - 60, WIDTH - NAMES];
        let across = |x: f64| {
            LEFT + ((x.log2() - left) / (right - left) * (edge - LEFT) as f64).round() as i32
        };
        let up = |y: f64| {
            floor - ((y.log2().max(low) - low) / (high - low) * (floor - TOP) as f64).round() as i32
        };
        svg((&self.title, alternative), height, |area| {
            let grid = |from: (i32, i32), to| area.draw(&PathElement::new(vec![from, to], FAINT));
            let step = |low: f64, high: f64| ((high - low) / 9.0).ceil().max(1.0);
            let ticks = |low: f64, high: f64| {
                let step = step(low, high);
                let first = (low / step).ceil() as i32;
                (first..).map(move |i| i as f64 * step).take_while(move |t| *t <= high)
            };
            for tick in ticks(left, right) {
                let x = across(tick.exp2());
                grid((x, TOP), (x, floor))?;
                let word = (self.ticks[0])(tick.exp2());
                text(area, &word, 13, ((x, floor + 14), HPos::Center))?;
            }
            for tick in ticks(low, high) {
                let y = up(tick.exp2());
                grid((LEFT, y), (edge, y))?;
                let word = (self.ticks[1])(tick.exp2());
                text(area, &word, 13, ((LEFT - 6, y), HPos::Right))?;
            }
            let middle = ((LEFT + edge) / 2, floor + 40);
            text(area, &self.x, 14, (middle, HPos::Center))?;
            text(area, &self.y, 14, ((LEFT, TOP - 6), HPos::Left))?;
            let mut names = Vec::new();
            for (at, curve) in self.curves.iter().enumerate() {
                let colour = COLOURS[at % COLOURS.len()];
                let points: Vec<_> =
                    curve.points.iter().map(|(x, y)| (across(*x), up(*y))).collect();
                let style = colour.stroke_width(2);
                if !curve.intervals.is_empty() {
                    for ((x, y), (low, high)) in points.iter().zip(&curve.intervals) {
                        let whisker = vec![(*x, up(*low)), (*x, up(*high))];
                        area.draw(&PathElement::new(whisker, style))?;
                        area.draw(&Circle::new((*x, *y), 4, colour.filled()))?;
                    }
                } else if curve.dashed {
                    let points = points.clone();
                    area.draw(&DashedPathElement::new(points, 7, 4, style))?;
                } else {
                    area.draw(&PathElement::new(points.clone(), style))?;
                }
                names.extend(points.last().map(|end| (*end, &curve.label, colour)));
            }
            // Names stand beside the ends of their lines, pushed apart where those are close.
            names.sort_by_key(|((_, y), ..)| *y);
            let room = 18;
            let mut free = TOP;
            for (place, ((x, y), label, colour)) in names.iter().enumerate() {
                let last = floor + 8 - (names.len() - place) as i32 * room;
                let row = (*y).max(free).min(last.max(free));
                let from = vec![(x + 6, *y), (edge + 8, row), (edge + 24, row)];
                area.draw(&PathElement::new(from, colour.mix(0.6).stroke_width(1)))?;
                let square = [(edge + 26, row - 5), (edge + 36, row + 5)];
                area.draw(&Rectangle::new(square, colour.filled()))?;
                text(area, label, 13, ((edge + 42, row), HPos::Left))?;
                free = row + room;
            }
            Ok(())
        })
    }
}

impl Bars {
    /// The picture, with words for those who do not see it.
    pub fn svg(&self, alternative: &str) -> Result<String, Box<dyn Error>> {
        let (step, names) = (30, 250);
        let height = TOP + 20 + self.bars.len() as i32 * step + 40;
        let all = self.bars.iter().map(|bar| bar.1).chain(self.marks.iter().map(|mark| mark.0));
        let (low, high) = ends(all.map(f64::log10));
        let (low, high, right) = (low - 0.5, high, WIDTH - 130);
        let across =
            |x: f64| names + ((x.log10() - low) / (high - low) * (right - names) as f64) as i32;
        svg((&self.title, alternative), height, |area| {
            let bottom = height - 34;
            for (value, name) in &self.marks {
                let x = across(*value);
                area.draw(&PathElement::new(vec![(x, TOP), (x, bottom)], FAINT))?;
                text(area, name, 13, ((x, bottom + 14), HPos::Center))?;
            }
            for (at, (name, value, label)) in self.bars.iter().enumerate() {
                let top = TOP + 8 + at as i32 * step;
                let end = across(*value);
                let corners = [(names, top), (end, top + step - 10)];
                area.draw(&Rectangle::new(corners, COLOURS[0].filled()))?;
                let middle = top + (step - 10) / 2;
                text(area, name, 14, ((names - 8, middle), HPos::Right))?;
                text(area, label, 13, ((end + 6, middle), HPos::Left))?;
            }
            Ok(())
        })
    }
}

/// 2 to a power, its exponent raised; whole powers alone.
pub fn power(value: f64) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
    };
    "2".chars().chain(value.log2().round().to_string().chars().map(raise)).collect()
}
