//! What all pictures share: size, colours, text, and scales.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::failure::Failure;

/// Where pictures are drawn.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Okabe and Ito's colours, which colour-blind people tell apart, without yellow.
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
];
/// Peers'.
pub const GREY: RGBColor = RGBColor(130, 130, 130);
pub const FAINT: RGBColor = RGBColor(225, 225, 225);

/// Draws into the text of an SVG file.
pub fn svg(
    (width, height): (u32, u32),
    draw: impl FnOnce(&Area) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    Ok(text)
}

/// How text hangs on its point.
#[derive(Clone, Copy)]
pub enum Hang {
    Left,
    Middle,
    Right,
}

/// A word at a place.
pub fn text(
    area: &Area,
    (text, size, colour): (&str, i32, RGBColor),
    at: (i32, i32),
    hang: Hang,
) -> Result<(), Failure> {
    let hang = match hang {
        Hang::Left => HPos::Left,
        Hang::Middle => HPos::Center,
        Hang::Right => HPos::Right,
    };
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(hang, VPos::Center));
    area.draw(&Text::new(text.to_string(), at, style))?;
    Ok(())
}

/// Bytes in words.
pub fn bytes(count: f64) -> String {
    match count {
        _ if count * 2.0 % 1024.0 != 0.0 => format!("{count}"),
        _ if count >= (1u64 << 30) as f64 => format!("{} GiB", count / (1u64 << 30) as f64),
        _ if count >= (1 << 20) as f64 => format!("{} MiB", count / (1 << 20) as f64),
        _ if count >= 1024.0 => format!("{} KiB", count / 1024.0),
        _ => format!("{count}"),
    }
}

/// A number as an axis shows it.
pub fn plain(y: f64) -> String {
    match y {
        _ if y >= 1e6 => format!("{:.0} M", y / 1e6),
        _ if y >= 1e4 => format!("{:.0} k", y / 1e3),
        _ if y >= 1.0 => format!("{y:.0}"),
        _ if y == 0.0 => "0".into(),
        _ => format!("{y:.4}").trim_end_matches('0').into(),
    }
}
