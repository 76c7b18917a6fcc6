//! Draws pictures as SVG. The lab and the bench supply the data; this crate draws.
//!
//! [`Bars`], [`Lines`] and [`Roofline`] show measurements with their quartiles. [`Chart`] shows
//! curves and measured points, [`Spans`] bars on a logarithmic scale, and [`Panels`] the borders of
//! regions in several panels with one legend. For a new kind of picture, add a file that draws on
//! the canvas with the palette's colours.

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

/// An error of drawing.
pub type Failure = Box<dyn Error>;

/// The quartiles of a measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The median.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
}
