//! The messages that one key may authenticate, as a line for each MAC of the page on choosing.

use std::error::Error;

use tagmac_any::bounds::{BoundError, Theorem};
use tagmac_figures::{Panel, Panels};

use super::drawing::Drawing;
use crate::choice::{ACCEPTED, CHOICES};

/// The logarithm of the longest message, 1 TiB, and the lengths per doubling.
const LONGEST: u32 = 40;
const PER_DOUBLING: u32 = 8;

/// Draws the figure.
pub fn draw() -> Result<Drawing, Box<dyn Error>> {
    let mut names = Vec::new();
    let mut borders = Vec::new();
    let mut words = Vec::new();
    for choice in &CHOICES {
        // Nonces are drawn at random.
        let Some(theorem) = choice.algorithm().theorem() else { continue };
        let border = border(theorem, ACCEPTED)?;
        let [(_, length), .., (messages, _)] = border[..] else {
            return Err(
                format!("key-limits: the bound of {} allows no messages", choice.name).into()
            );
        };
        let name = choice.name;
        words.push(format!(
            "{name}: messages of up to 2^{length:.1} bytes, 2^{messages:.1} of 1 byte"
        ));
        names.push(name.into());
        borders.push(border);
    }
    let most = borders.iter().flatten().map(|(messages, _)| *messages).fold(1.0, f64::max);
    let panel = Panel {
        title: "Nonces drawn at random, probability of a forgery at most 2⁻³²".into(),
        ends: (8 * (1 + (most / 8.0).floor() as i32), LONGEST as i32),
        steps: (8, 5),
        borders,
    };
    let alternative = format!(
        "Messages of up to 1 TiB that one key may authenticate by their length, while a forgery has a \
         probability of at most 2^-32. {}.",
        words.join("; ")
    );
    let panels = Panels {
        title: "What one key may authenticate".into(),
        x: "messages under a key".into(),
        y: "bytes of each message".into(),
        size: (690, 350),
        panels: vec![panel],
        names,
        columns: 2,
        notes: vec![
            "Left of and below its line a forgery has at most that probability; an attack on the \
             cipher adds its own advantage.",
        ],
    };
    Ok(Drawing { svg: panels.svg(&alternative)?, alternative })
}

/// Returns the messages, and the bytes of each, that a theorem allows, as logarithms, from the
/// longest messages on.
///
/// # Errors
///
/// Returns the theorem's error.
pub fn border(theorem: Theorem, probability: f64) -> Result<Vec<(f64, f64)>, BoundError> {
    let limit = theorem.limit();
    let steps = (0..=LONGEST * PER_DOUBLING).rev();
    let lengths = steps.map(|i| 2f64.powf(f64::from(i) / f64::from(PER_DOUBLING)) as u64);
    let mut border: Vec<(f64, f64)> = Vec::new();
    for length in lengths.filter(|length| *length <= limit) {
        let messages = theorem.messages(length, probability)?;
        if messages > 0 {
            let point = ((messages as f64).log2(), (length as f64).log2());
            // If this is the longest message allowed, the line begins at the axis.
            if border.is_empty() && limit < 1 << LONGEST {
                border.push((0.0, point.1));
            }
            border.push(point);
        }
    }
    Ok(border)
}
