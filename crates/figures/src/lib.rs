//! Pictures as SVG. The lab and the bench bring the data; how it is drawn is here alone.
//!
//! [`Bars`], [`Lines`] and [`Roofline`] show measurements with their quartiles. [`Chart`] has curves and
//! measured points, [`Spans`] bars on a logarithmic scale, and [`Panels`] the borders of regions, in several
//! panels with one legend. A new kind of picture is a file that draws on the canvas, with the palette's colours.

#![forbid(unsafe_code)]

mod bars;
mod canvas;
mod chart;
mod lines;
mod numbers;
mod palette;
mod panels;
mod roofline;
mod spans;
mod speeds;

use std::error::Error;

pub use bars::{Bars, Row};
pub use canvas::escaped;
pub use chart::{Chart, Curve};
pub use lines::{Line, Lines};
pub use numbers::{bytes, number, power};
pub use panels::{Panel, Panels};
pub use roofline::{Dot, Roofline};
pub use spans::{Span, Spans};
pub use speeds::{DARK, LIGHT, Speed, Speeds, Theme};

/// What can go wrong: the drawing itself.
pub type Failure = Box<dyn Error>;

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The second quartile.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}
