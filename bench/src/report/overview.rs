//! README's picture: the speed of seven MACs by length, from the record `sizes` of the first
//! machine.

use tagmac_figures::{DARK, LIGHT, Speed, Speeds, escaped, number};

use super::machine_tables::Machine;
use super::wins::DEFAULT;
use crate::failure::Failure;
use crate::record::{Record, Series};

/// Two MACs of tagmac and the most common other MACs, with their labels in the picture.
const SHOWN: [(&str, &str); 7] = [
    (DEFAULT, "tagmac PMAC"),
    ("UMAC-64", "tagmac UMAC-64"),
    ("AEGIS-128X4 MAC", "AEGIS-128X4"),
    ("OpenSSL Poly1305-AES", "OpenSSL Poly1305-AES"),
    ("BLAKE3, keyed", "BLAKE3, keyed"),
    ("libsodium SipHash-2-4", "libsodium SipHash-2-4"),
    (HMAC, "OpenSSL HMAC-SHA256"),
];
const HMAC: &str = "OpenSSL HMAC-SHA256";
/// The length in the picture's title.
const LENGTH: u64 = 16 << 10;
/// The longest length in the picture; longer messages are no faster.
const LONGEST: u64 = 1 << 20;

/// The names of the two files, light and dark.
pub const FILES: [&str; 2] = ["speed", "speed-dark"];

/// Returns the series of the picture, with their labels.
fn shown(record: &Record) -> impl Iterator<Item = (&Series, &'static str)> {
    SHOWN.iter().filter_map(|(name, label)| {
        record.best().find(|series| series.name == *name).map(|series| (series, *label))
    })
}

/// Converts the cycles of `x` bytes to GB/s.
fn speed(record: &Record, x: u64, cycles: f64) -> f64 {
    record.machine.clock * x as f64 / cycles
}

/// Returns each series of the picture that has the title's length, with its label and its GB/s there.
fn at_length(record: &Record) -> impl Iterator<Item = (&Series, &'static str, f64)> {
    shown(record).filter_map(|(series, label)| {
        Some((series, label, speed(record, LENGTH, series.at(LENGTH)?.median)))
    })
}

/// Returns the title, which is the conclusion that the picture supports, and the peers that are
/// faster than the default.
fn title(record: &Record) -> Option<(String, String)> {
    let of = |name| at_length(record).find(|(series, ..)| series.name == name);
    let ((.., ours), (.., hmac)) = (of(DEFAULT)?, of(HMAC)?);
    let faster = at_length(record)
        .filter(|(series, _, other)| !series.is_ours() && *other > ours)
        .map(|(_, label, other)| format!("{label} is {:.1} times as fast", other / ours));
    let title =
        format!("PMAC: {} GB/s on one core, {:.0} times HMAC-SHA256", number(ours), ours / hmac);
    Some((title, faster.collect::<Vec<_>>().join(", ")))
}

/// Returns the two versions of the picture, light and dark.
pub fn pictures(machine: &Machine) -> Result<[String; 2], Failure> {
    let record = machine.record("sizes").ok_or("README's picture needs the record of 'sizes'")?;
    let (title, exception) =
        title(record).ok_or("README's picture needs PMAC and HMAC at 16 KiB")?;
    let speeds = shown(record).map(|(series, label)| Speed {
        label: label.into(),
        ours: series.is_ours(),
        points: series
            .points
            .iter()
            .filter(|point| (16..=LONGEST).contains(&point.0))
            .map(|point| (point.0 as f64, speed(record, point.0, point.figure().median)))
            .collect(),
    });
    let picture = Speeds {
        title,
        about: format!(
            "16 KiB messages, key ready, {} at {} GHz. {exception}.",
            machine.title(),
            record.machine.clock,
        ),
        speeds: speeds.collect(),
    };
    let words = words(record);
    Ok([picture.svg(&LIGHT, &words)?, picture.svg(&DARK, &words)?])
}

/// Returns the alternative text of the picture.
fn words(record: &Record) -> String {
    let each = at_length(record).map(|(_, label, speed)| format!("{label} {}", number(speed)));
    format!("Speed by message length; in GB/s at 16 KiB: {}", each.collect::<Vec<_>>().join(", "))
}

/// Returns README's block with the picture.
pub fn block(machines: &[Machine]) -> String {
    let Some(record) = machines.first().and_then(|machine| machine.record("sizes")) else {
        return "not recorded".into();
    };
    let [light, dark] = FILES;
    format!(
        "<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"docs/pictures/{dark}.svg\">\n\
         <img src=\"docs/pictures/{light}.svg\" width=\"800\" alt=\"{}\">\n</picture>",
        escaped(&words(record))
    )
}
