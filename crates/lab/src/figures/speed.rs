//! UMAC's figure 3: cycles per byte by length, from a record.

use std::error::Error;

use tagmac_figures::{Chart, Curve};

use super::drawing::Drawing;
use crate::speeds::{Speeds, digits};

/// The names of figure 3's curves, in its order, and our engines for them.
const CURVES: [(&str, &str); 7] = [
    ("UMAC-MMX-30", "UMAC99-MMX-30"),
    ("UMAC-MMX-60", "UMAC99-MMX-60"),
    ("UMAC-STD-30", "UMAC99-STD-30"),
    ("UMAC-STD-60", "UMAC99-STD-60"),
    ("UMAC-MMX-15", "UMAC99-MMX-15"),
    ("HMAC-SHA1", "HMAC-SHA1"),
    ("CBC-MAC-RC6", "CBC-MAC-RC6"),
];

/// Draws figure 3, left, from the record with most of its curves.
pub fn umac(all: &[Speeds]) -> Result<Drawing, Box<dyn Error>> {
    let missing =
        |speeds: &&Speeds| CURVES.iter().filter(|(_, name)| speeds.curve(name).is_empty()).count();
    let speeds = all.iter().min_by_key(missing).ok_or("umac-3: no record")?;
    let mut curves = Vec::new();
    let mut words = Vec::new();
    for (label, name) in CURVES {
        let per_byte = |(bytes, cycles): (u64, f64)| (bytes as f64, cycles / bytes as f64);
        let points: Vec<_> = speeds.curve(name).into_iter().map(per_byte).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            words.push(format!("{label}: not measured"));
            continue;
        };
        let ends = [first.1, last.1].map(digits);
        words.push(format!("{label}: {} at {} bytes, {} at {}", ends[0], first.0, ends[1], last.0));
        curves.push(Curve::line(label, points, !name.starts_with("UMAC99")));
    }
    if curves.is_empty() {
        return Err("umac-3: the record has no UMAC of 1999; 'bench sizes' measures it".into());
    }
    let alternative =
        format!("Cycles per byte by bytes of a message, {}. {}.", speeds.about(), words.join("; "));
    let chart = Chart {
        title: format!("UMAC of 1999, {}", speeds.about()),
        x: "bytes of a message".into(),
        y: "cycles per byte".into(),
        ticks: [bytes, |y| if y < 1.0 { format!("{y}") } else { format!("{y:.0}") }],
        curves,
    };
    Ok(Drawing { svg: chart.svg(&alternative)?, alternative })
}

fn bytes(count: f64) -> String {
    if count < 1024.0 { format!("{count:.0}") } else { format!("{:.0} KiB", count / 1024.0) }
}
