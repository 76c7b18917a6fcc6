//! The papers' figures that have numbers, and measured curves next to theorems.
//!
//! To add a figure, add a function that makes a [`Drawing`], and a line in [`FIGURES`].

mod collisions;
mod drawing;
mod key_borders;
mod key_life;
pub mod key_limits;
mod modes;
mod speed;

use std::error::Error;

use tagmac_figures::{Chart, Curve, power};

use crate::speeds::Speeds;

pub use drawing::Drawing;
pub use modes::{MODES, Mode};

/// A figure that can be drawn.
pub struct Figure {
    /// Its name on the command line.
    pub name: &'static str,
    /// The subject.
    pub title: &'static str,
    /// The paper and the place in it.
    pub source: &'static str,
    /// Draws it.
    pub draw: DrawFn,
}

/// Draws a picture, with speeds from these records.
pub type DrawFn = fn(&[Speeds]) -> Result<Drawing, Box<dyn Error>>;

/// All figures.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "lightmac-1",
        title: "How long messages under a key may be",
        source: "LightMAC, figure 1",
        draw: lightmac_1,
    },
    Figure {
        name: "pmac-birthday",
        title: "Collisions of PMAC, compared with the theorems",
        source: "PMAC, theorem 1; attack pmac-birthday",
        draw: |_| collisions::pmac(),
    },
    Figure {
        name: "lightmac-none",
        title: "Collisions of LightMAC, compared with the theorem",
        source: "LightMAC, theorem 1; attack lightmac-none",
        draw: |_| collisions::lightmac(),
    },
    Figure {
        name: "umac-3",
        title: "Speed of UMAC by length",
        source: "UMAC, figure 3, left",
        draw: speed::umac,
    },
    Figure {
        name: "key-life",
        title: "How long one key lasts",
        source: "the library's bounds",
        draw: |_| key_life::bars(),
    },
    Figure {
        name: "key-limits",
        title: "What one key may authenticate",
        source: "the library's bounds",
        draw: |_| key_limits::draw(),
    },
    Figure {
        name: "key-borders",
        title: "Number and length of the messages that one key may authenticate",
        source: "LightMAC, figure 1, by the library's bounds",
        draw: |_| key_borders::draw(),
    },
];

/// Returns the figure called `name`.
pub fn find(name: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|figure| figure.name == name)
}

/// Blocks of 32 bits, a probability of 2^-20.
const N: u32 = 32;
const LOG: i32 = 20;

/// Draws figure 1: message blocks against queries.
fn lightmac_1(_: &[Speeds]) -> Result<Drawing, Box<dyn Error>> {
    let probability = 2f64.powi(-LOG);
    // Four numbers per doubling.
    let mut queries: Vec<u64> = (0..=48).map(|i| 2f64.powf(i as f64 / 4.0) as u64).collect();
    queries.push(63);
    queries.sort_unstable();
    queries.dedup();
    let mut words = Vec::new();
    let mut curves = Vec::new();
    for (at, mode) in MODES.iter().enumerate() {
        let most = |q: u64| mode.most_blocks(N, q, probability, 2f64.powi(22));
        let points: Vec<_> = queries.iter().filter_map(|&q| Some((q as f64, most(q)?))).collect();
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let (q, l) = (last.0, last.1);
            words.push(format!("{}: {} blocks at q = 1, {l} at q = {q}", mode.name, first.1));
        }
        curves.push(Curve::line(mode.name, points, at + 1 < MODES.len()));
    }
    let alternative = format!(
        "Maximum number of blocks in each of q messages under one key, for blocks of {N} bits and \
         a probability of 2^-{LOG}. {}.",
        words.join("; ")
    );
    let chart = Chart {
        title: "Blocks of each message under one key: n = 32, probability 2⁻²⁰".into(),
        x: "messages under a key, q".into(),
        y: "blocks of each, ℓ".into(),
        ticks: [power, power],
        curves,
    };
    Ok(Drawing { svg: chart.svg(&alternative)?, alternative })
}
