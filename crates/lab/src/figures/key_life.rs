//! The life of a key on a full line, for each MAC of the page on choosing.

use std::error::Error;

use tagmac_figures::{Span, Spans};

use super::drawing::Drawing;
use crate::choice::{CHOICES, DAY, PACKET, YEAR, duration};

/// The end of the axis in seconds. Longer lives are cut off there.
const MOST: f64 = 1e4 * YEAR;

/// Draws a bar for each MAC with a bound.
pub fn bars() -> Result<Drawing, Box<dyn Error>> {
    let mut spans = Vec::new();
    for choice in CHOICES {
        if let Some(seconds) = choice.seconds(PACKET) {
            let label = duration(seconds);
            spans.push(Span { name: choice.name.into(), value: seconds.min(MOST), label });
        }
    }
    let words: Vec<_> = spans.iter().map(|span| format!("{} {}", span.name, span.label)).collect();
    let alternative = format!(
        "The life of a key at 10 Gb/s of messages of {PACKET} bytes, until the probability of a \
         forgery, or of distinguishing tags from random numbers, may be 2^-32: {}.",
        words.join(", ")
    );
    let marks = vec![
        (1e-3, "1 ms"),
        (1.0, "1 s"),
        (3600.0, "1 hour"),
        (DAY, "1 day"),
        (YEAR, "1 year"),
        (100.0 * YEAR, "100 years"),
        (MOST, "10,000 years"),
    ];
    let title =
        "How long one key lasts at 10 Gb/s, messages of 1.5 KiB, the bound at most 2⁻³²".into();
    Ok(Drawing { svg: Spans { title, spans, marks }.svg(&alternative)?, alternative })
}
