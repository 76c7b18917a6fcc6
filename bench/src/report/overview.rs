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

/// Returns the speed in GB/s at a length.
fn speed(record: &Record, name: &str, x: u64) -> Option<f64> {
    let series = record.best().find(|series| series.name == name)?;
    Some(record.machine.clock * x as f64 / series.at(x)?.median)
}

/// Returns the title: the conclusion that the picture supports.
fn title(record: &Record) -> Option<String> {
    let [ours, hmac] = [DEFAULT, HMAC].map(|name| speed(record, name, LENGTH));
    let (ours, hmac) = (ours?, hmac?);
    Some(format!("PMAC: {} GB/s on one core, {:.0} times HMAC-SHA256", number(ours), ours / hmac))
}

/// Names the peers that are faster than the default for long messages.
fn exception(record: &Record) -> String {
    let Some(ours) = speed(record, DEFAULT, LENGTH) else { return String::new() };
    let faster =
        shown(record).filter(|(series, _)| !series.is_ours()).filter_map(|(series, label)| {
            let other = speed(record, &series.name, LENGTH)?;
            (other > ours).then(|| format!("{label} is {:.1} times as fast", other / ours))
        });
    faster.collect::<Vec<_>>().join(", ")
}

/// Returns the two versions of the picture, light and dark.
pub fn pictures(machine: &Machine) -> Result<[String; 2], Failure> {
    let record = machine.record("sizes").ok_or("README's picture needs the record of 'sizes'")?;
    let speeds = shown(record).map(|(series, label)| Speed {
        label: label.into(),
        ours: series.is_ours(),
        points: series
            .points
            .iter()
            .filter(|point| (16..=LONGEST).contains(&point.0))
            .map(|point| {
                let x = point.0 as f64;
                (x, record.machine.clock * 1e9 * x / point.figure().median)
            })
            .collect(),
    });
    let picture = Speeds {
        title: title(record).ok_or("README's picture needs PMAC and HMAC at 16 KiB")?,
        about: format!(
            "16 KiB messages, key ready, {} at {} GHz. {}.",
            machine.title(),
            record.machine.clock,
            exception(record)
        ),
        speeds: speeds.collect(),
    };
    let words = words(record);
    Ok([picture.svg(&LIGHT, &words)?, picture.svg(&DARK, &words)?])
}

/// Returns the alternative text of the picture.
fn words(record: &Record) -> String {
    let each = shown(record).filter_map(|(series, label)| {
        Some(format!("{label} {}", number(speed(record, &series.name, LENGTH)?)))
    });
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
