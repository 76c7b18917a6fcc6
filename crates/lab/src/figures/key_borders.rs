//! Figure 1 of the LightMAC paper with proven bounds, for three sizes of blocks.
//!
//! A point (q, l) stands for q messages of l blocks each under one key. It is under a border if the
//! bound is at most the probability. The border has the largest q for each l, found by evaluating
//! the bound. Above its top, l is longer than the algorithm or the theorem allows.

use std::error::Error;

use tagmac_any::bounds::{Bound, elimac, lightmac, pmac};
use tagmac_figures::{Panel, Panels};

use super::drawing::Drawing;

/// A border of the figure.
struct Mode {
    name: &'static str,
    /// Returns the logarithm of the maximum of blocks in a message.
    top: fn(n: u32) -> f64,
    /// Returns the bound for blocks of n bits, q messages and l blocks; `None` where it does not
    /// hold.
    bound: fn(n: u32, q: u128, l: u128) -> Option<Bound>,
}

const MODES: [Mode; 6] = [
    Mode {
        name: "LightMAC, theorem 1",
        // 2^s (n - s) bits with s = n / 2.
        top: |n| n as f64 / 2.0 - 1.0,
        bound: |n, q, _| lightmac::prf(n, n / 2, q, u128::MAX).ok(),
    },
    Mode {
        name: "EliMAC-AES, corollary 1",
        top: |_| 32.0,
        bound: |n, q, _| elimac::aes_prf(128, elimac::AES4, q).ok().filter(|_| n == 128),
    },
    Mode {
        name: "PMAC, at most 3q²ℓ/2ⁿ",
        top: |n| n as f64,
        bound: |n, q, l| pmac::prf(n, q, q.saturating_mul(l)).ok(),
    },
    Mode {
        name: "many modes, roughly q²ℓ/2ⁿ",
        top: |n| n as f64,
        bound: |n, q, l| lightmac::generic(n, q, l).ok(),
    },
    Mode {
        name: "EMAC (Pietrzak)",
        top: |n| n as f64 / 8.0,
        bound: |n, q, l| lightmac::emac(n, q, l).ok()?,
    },
    Mode {
        name: "sum of CBCs (Yasuda)",
        top: |n| 0.4 * n as f64,
        bound: |n, q, l| lightmac::sum_of_cbcs(n, q, l).ok()?,
    },
];

/// The size of a block, and the ends of the axes.
struct Blocks {
    n: u32,
    /// The probability of a forgery is 2 to the minus this.
    log: i32,
    ends: (i32, i32),
    step: usize,
}

const BLOCKS: [Blocks; 3] = [
    Blocks { n: 32, log: 20, ends: (14, 18), step: 2 },
    Blocks { n: 64, log: 20, ends: (36, 36), step: 6 },
    Blocks { n: 128, log: 32, ends: (80, 72), step: 8 },
];

impl Mode {
    /// Returns the border from its upper left end, as logarithms of q and l.
    fn border(&self, blocks: &Blocks) -> Vec<(f64, f64)> {
        let probability = 2f64.powi(-blocks.log);
        let fits =
            |q, l| (self.bound)(blocks.n, q, l).is_some_and(|bound| bound.at_most(probability));
        let end = blocks.ends.1.into();
        let top = (self.top)(blocks.n);
        // Sixteen lengths per doubling, as whole numbers of blocks.
        let steps = (16.0 * top.min(end)) as u32;
        let lengths = (0..=steps).rev().map(|i| 2f64.powf(i as f64 / 16.0) as u128);
        let mut border: Vec<(f64, f64)> = Vec::new();
        for l in lengths {
            // EMAC's bound holds from l^2 messages on; the others hold from one.
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
            // The longest messages for each q; steps between whole numbers would mean nothing.
            if border.last().is_none_or(|(last, _)| *last < q) {
                border.push((q, l));
            }
        }
        border.extend(border.last().map(|(q, _)| (*q, 0.0)));
        border
    }
}

/// Draws the figure.
pub fn draw() -> Result<Drawing, Box<dyn Error>> {
    let mut panels = Vec::new();
    let mut words = Vec::new();
    for blocks in &BLOCKS {
        let borders: Vec<_> = MODES.iter().map(|mode| mode.border(blocks)).collect();
        let ends = MODES.iter().zip(&borders).filter_map(|(mode, border)| {
            let (_, length) = border.first()?;
            let (messages, _) = border.last()?;
            Some(format!(
                "{}, up to 2^{length:.1} blocks, 2^{messages:.1} messages of one",
                mode.name
            ))
        });
        let ends: Vec<_> = ends.collect();
        words.push(format!(
            "Blocks of {} bits, probability 2^-{}: {}.",
            blocks.n,
            blocks.log,
            ends.join("; ")
        ));
        panels.push(Panel {
            title: format!("blocks of {} bits, probability 2^-{}", blocks.n, blocks.log),
            ends: blocks.ends,
            steps: (blocks.step, blocks.step),
            borders,
        });
    }
    let title = "Number and length of the messages that one key may authenticate";
    let alternative = format!("{title}. {}", words.join(" "));
    let panels = Panels {
        title: title.into(),
        x: "messages under a key, q".into(),
        y: "blocks of each message, ℓ".into(),
        size: (320, 310),
        panels,
        names: MODES.iter().map(|mode| mode.name.into()).collect(),
        columns: 3,
        notes: NOTES.into(),
    };
    Ok(Drawing { svg: panels.svg(&alternative)?, alternative })
}

const NOTES: [&str; 3] = [
    "Left of and below its line an algorithm's bound is at most that probability; an attack on the \
     cipher adds its own advantage. LightMAC's counter has n/2 bits.",
    "EliMAC-AES is defined for 128 bits. The bound of EMAC is for ℓ⁸ ≤ 2ⁿ and q ≥ ℓ² (its proof was refuted, \
     see errata.md), that of the sum of CBCs for ℓ⁵ ≤ 2²ⁿ.",
    "After figure 1 of the LightMAC paper. Modes of its table 2 are left out if our copy of the \
     text lacks their bounds.",
];
