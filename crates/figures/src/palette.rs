//! The colours.

use plotters::style::RGBColor;

/// Okabe and Ito's colours, which colour-blind people tell apart, without yellow; then two more.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
    RGBColor(130, 90, 200),
];
/// Text.
pub const INK: RGBColor = RGBColor(60, 60, 60);
/// What others made, beside tagmac.
pub const GREY: RGBColor = RGBColor(130, 130, 130);
/// Grids.
pub const FAINT: RGBColor = RGBColor(225, 225, 225);

/// The colour of one of many: Okabe and Ito's, then that of text, and again from the start.
pub fn nth(at: usize) -> RGBColor {
    match at % 7 {
        6 => INK,
        at => COLOURS[at],
    }
}
