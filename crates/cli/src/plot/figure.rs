//! `tagmac bounds --plot`: figure 1 of the LightMAC paper, for three sizes of blocks.
//!
//! A point (q, l) under a line stands for q messages of l blocks each under one key, with a bound of
//! at most the probability. A line is the border: at each l the largest q, found on the bound itself.
//! Above the line's top l is longer than the algorithm or the theorem takes.

use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;
use tagmac::bounds::{Bound, elimac, lightmac, pmac};

use super::canvas::{Axes, Canvas, Drawn};

/// The picture in units.
pub const SIZE: (u32, u32) = (1200, 590);

/// A line of the figure.
struct Mode {
    name: &'static str,
    /// Of Okabe and Ito's palette, which the colour-blind can tell apart.
    color: RGBColor,
    /// Lengths of dashes and gaps; none for a whole line.
    dash: Option<(u32, u32)>,
    /// The logarithm of the most blocks of a message.
    top: fn(n: u32) -> f64,
    /// The bound for blocks of n bits, q messages, l blocks; `None` where it does not hold.
    bound: fn(n: u32, q: u128, l: u128) -> Option<Bound>,
}

const MODES: [Mode; 6] = [
    Mode {
        name: "LightMAC, theorem 1",
        color: RGBColor(213, 94, 0),
        dash: None,
        // 2^s (n - s) bits with s = n / 2.
        top: |n| n as f64 / 2.0 - 1.0,
        bound: |n, q, _| lightmac::prf(n, n / 2, q, u128::MAX).ok(),
    },
    Mode {
        name: "EliMAC-AES, corollary 1",
        color: RGBColor(0, 158, 115),
        dash: None,
        top: |_| 32.0,
        bound: |n, q, _| elimac::aes_prf(128, elimac::AES4, q).ok().filter(|_| n == 128),
    },
    Mode {
        name: "PMAC, at most 3q²ℓ/2ⁿ",
        color: RGBColor(0, 114, 178),
        dash: None,
        top: |n| n as f64,
        bound: |n, q, l| pmac::prf(n, q, q.saturating_mul(l)).ok(),
    },
    Mode {
        name: "many modes, roughly q²ℓ/2ⁿ",
        color: RGBColor(90, 90, 90),
        dash: Some((7, 4)),
        top: |n| n as f64,
        bound: |n, q, l| lightmac::generic(n, q, l).ok(),
    },
    Mode {
        name: "EMAC (Pietrzak)",
        color: RGBColor(204, 121, 167),
        dash: Some((3, 3)),
        top: |n| n as f64 / 8.0,
        bound: |n, q, l| lightmac::emac(n, q, l).ok()?,
    },
    Mode {
        name: "sum of CBCs (Yasuda)",
        color: RGBColor(86, 180, 233),
        dash: Some((11, 3)),
        top: |n| 0.4 * n as f64,
        bound: |n, q, l| lightmac::sum_of_cbcs(n, q, l).ok()?,
    },
];

/// Blocks of n bits, probability 2^-log, and the ends of the axes.
struct Panel {
    n: u32,
    /// A forgery's probability is 2 to the minus this.
    log: i32,
    ends: (i32, i32),
    step: usize,
}

const PANELS: [Panel; 3] = [
    Panel { n: 32, log: 20, ends: (14, 18), step: 2 },
    Panel { n: 64, log: 20, ends: (36, 36), step: 6 },
    Panel { n: 128, log: 32, ends: (80, 72), step: 8 },
];

impl Mode {
    /// The border from its upper left end, as logarithms of q and l.
    fn border(&self, panel: &Panel) -> Vec<(f64, f64)> {
        let probability = 2f64.powi(-panel.log);
        let fits =
            |q, l| (self.bound)(panel.n, q, l).is_some_and(|bound| bound.at_most(probability));
        let end = panel.ends.1.into();
        let top = (self.top)(panel.n);
        // Sixteen lengths to a doubling, as whole numbers of blocks.
        let steps = (16.0 * top.min(end)) as u32;
        let lengths = (0..=steps).rev().map(|i| 2f64.powf(i as f64 / 16.0) as u128);
        let mut border: Vec<(f64, f64)> = Vec::new();
        for l in lengths {
            // EMAC's bound holds from l^2 messages on; the others from one.
            let Some(least) = [1, l.saturating_mul(l)].into_iter().find(|q| fits(*q, l)) else {
                continue;
            };
            let (mut q, mut over) = (least, 1 << 120);
            while over - q > 1 {
                let middle = q + (over - q) / 2;
                if fits(middle, l) { q = middle } else { over = middle }
            }
            let [least, q, l] = [least, q, l].map(|number| (number as f64).log2());
            if border.is_empty() && top <= end {
                border.push((least, l));
            }
            // The longest messages for each q: steps between whole numbers would mean nothing.
            if border.last().is_none_or(|(last, _)| *last < q) {
                border.push((q, l));
            }
        }
        border.extend(border.last().map(|(q, _)| (*q, 0.0)));
        border
    }
}

impl Panel {
    fn draw(&self, canvas: &Canvas<'_, '_>, left: f64) -> Drawn {
        let axes = Axes {
            corner: (left, FLOOR),
            size: (WIDTH, HEIGHT),
            ends: self.ends,
            steps: (self.step, self.step),
        };
        axes.draw_grid(canvas)?;
        for mode in MODES.iter().rev() {
            let border: Vec<_> =
                mode.border(self).into_iter().map(|point| axes.place(point)).collect();
            if !border.is_empty() {
                canvas.dashed(&border, mode.color, mode.dash)?;
            }
        }
        axes.draw_axes(canvas)?;
        let head = format!("blocks of {} bits, probability 2^-{}", self.n, self.log);
        canvas.text(&head, 18, (left + WIDTH / 2.0, FLOOR - HEIGHT - 18.0), HPos::Center)
    }
}

/// The height at which the panels stand, and their size.
const FLOOR: f64 = 400.0;
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 310.0;

/// Draws the figure.
pub fn draw(canvas: &Canvas<'_, '_>) -> Drawn {
    let title = "How many messages, and how long, one key may authenticate";
    canvas.text(title, 25, (600.0, 26.0), HPos::Center)?;
    for (i, panel) in PANELS.iter().enumerate() {
        let left = 85.0 + 390.0 * i as f64;
        panel.draw(canvas, left)?;
        let below = "messages under a key, q";
        canvas.text(below, 17, (left + WIDTH / 2.0, FLOOR + 42.0), HPos::Center)?;
    }
    canvas.aside("blocks of each message, ℓ", 17, (26.0, FLOOR - HEIGHT / 2.0))?;
    for (i, mode) in MODES.iter().enumerate() {
        let (x, y) = (150.0 + 330.0 * (i % 3) as f64, 476.0 + 26.0 * (i / 3) as f64);
        canvas.dashed(&[(x, y), (x + 44.0, y)], mode.color, mode.dash)?;
        canvas.text(mode.name, 17, (x + 54.0, y), HPos::Left)?;
    }
    for (note, y) in NOTES.into_iter().zip([535.0, 554.0, 573.0]) {
        canvas.text(note, 14, (600.0, y), HPos::Center)?;
    }
    Ok(())
}

const NOTES: [&str; 3] = [
    "Left of and below its line an algorithm's bound is at most that probability; what an attack on the cipher gains \
     comes on top. LightMAC's counter has n/2 bits.",
    "EliMAC-AES is defined for 128 bits. The bound of EMAC is for ℓ⁸ ≤ 2ⁿ and q ≥ ℓ² (its proof was refuted, \
     see errata.md), that of the sum of CBCs for ℓ⁵ ≤ 2²ⁿ.",
    "After figure 1 of the LightMAC paper. Modes of its table 2 whose bounds our copy of the text lacks \
     are left out.",
];
