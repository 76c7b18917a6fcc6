//! The colours of the pictures.

use plotters::style::RGBColor;

/// Okabe and Ito's colours, which colour-blind readers can distinguish, without yellow; then two
/// more.
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
/// The colour of text.
pub const INK: RGBColor = RGBColor(60, 60, 60);
/// The colour of other libraries.
pub const GREY: RGBColor = RGBColor(130, 130, 130);
/// The colour of grids.
pub const FAINT: RGBColor = RGBColor(225, 225, 225);

/// Returns the colour of item `at`: Okabe and Ito's, then that of text, then from the start again.
pub fn nth(at: usize) -> RGBColor {
    match at % 7 {
        6 => INK,
        at => COLOURS[at],
    }
}
