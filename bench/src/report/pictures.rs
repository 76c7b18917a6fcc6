//! The pictures of a record.

use tagmac_figures::{Bars, Dot, Line, Lines, Quartiles, Roofline, Row, bytes};

use crate::failure::Failure;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};
use crate::table::title;

/// A picture: the name of its file, and the SVG.
pub struct Picture {
    pub name: String,
    pub svg: String,
}

/// Engines that share a picture: the end of its file name, and its title.
const FAMILIES: [(&str, &str); 4] = [
    ("block-ciphers", "MACs of block ciphers"),
    ("universal", "MACs of universal hashes, with nonces"),
    ("others", "Other MACs, next to three of tagmac"),
    ("small-and-old", "Small blocks, RC6 and the UMAC of 1999"),
];

/// The engines of the overview.
const OVERVIEW: [&str; 12] = [
    "PMAC-AES128",
    "LIGHTMAC-AES128-S32",
    "ELIMAC-AES128",
    "UMAC-64",
    "UMAC-128",
    "POLY1305-AES",
    "OpenSSL HMAC-SHA256",
    "OpenSSL CMAC-AES128",
    "OpenSSL GMAC-AES128",
    "OpenSSL Poly1305-AES",
    "BLAKE3, keyed",
    "AEGIS-128X4 MAC",
];

/// The length of the roofline's messages.
const ROOFLINE: u64 = 16 << 10;

/// Returns true if an engine belongs to a family.
fn is_of(series: &Series, family: &str) -> bool {
    let function = series.function.as_str();
    let begins = |names: &[&str]| names.iter().any(|name| function.starts_with(name));
    let small = begins(&["UMAC99", "PMAC-RC6"]) || function.contains("PRESENT");
    let cipher = !small && begins(&["PMAC", "LIGHTMAC", "ELIMAC", "CMAC"]);
    let universal = !small && begins(&["UMAC", "POLY1305", "Poly1305", "GMAC", "GHASH"]);
    match family {
        "block-ciphers" => cipher,
        "universal" => universal,
        "small-and-old" => small,
        _ => {
            !(small || cipher || universal)
                || ["PMAC-AES128", "ELIMAC-AES128, cached", "UMAC-64"].contains(&&*series.name)
        }
    }
}

impl Record {
    /// Returns tagmac's engines on the best level, and the peers.
    pub fn best(&self) -> impl Iterator<Item = &Series> {
        let best = self.machine.levels.last();
        self.series.iter().filter(move |series| match &series.level {
            Some(level) => Some(level) == best,
            None => true,
        })
    }
}

/// Makes the pictures of a record. `memory` has the costs of reading a byte, from the record of
/// ceilings.
pub fn of(record: &Record, memory: &[(String, f64)]) -> Result<Vec<Picture>, Failure> {
    let mut all = Vec::new();
    let mut add = |name: &str, svg: String| all.push(Picture { name: name.into(), svg });
    match record.experiment.as_str() {
        "lengths" => {
            let overview = |series: &Series| OVERVIEW.contains(&&*series.name);
            add("lengths", lines(record, "Cycles per byte by length", &overview)?);
            for (family, about) in FAMILIES {
                let is_shown = |series: &Series| is_of(series, family);
                if record.best().any(is_shown) {
                    add(&format!("lengths-{family}"), lines(record, about, &is_shown)?);
                }
            }
        }
        "sizes" => {
            add("roofline", roofline(record, memory)?);
            let overview = |series: &Series| OVERVIEW.contains(&&*series.name);
            add("sizes", lines(record, "Cycles per byte, up to 64 MiB", &overview)?);
        }
        "threads" => add("threads", lines(record, "One message, more threads", &|_| true)?),
        "unaligned" => {
            let shown = |series: &Series| OVERVIEW.contains(&&*series.name);
            add("unaligned", lines(record, "1536 bytes off a line of cache", &shown)?);
        }
        "agility" => {
            let shown = |series: &Series| OVERVIEW.contains(&&*series.name);
            add("agility", lines(record, "64 bytes under many keys in turn", &shown)?);
        }
        "batch" => {
            let shown = |series: &Series| {
                let case = series.case.as_deref();
                series.level.as_ref() == record.machine.levels.last()
                    && matches!(case, Some("in one call" | "one by one"))
            };
            add("batch", lines(record, "1024 messages in one call and one by one", &shown)?);
        }
        "ceilings" => {
            let memory = |series: &Series| series.points.len() > 1;
            add("ceilings", lines(record, "Reading memory", &memory)?);
        }
        "short" => {
            for x in [16, 64] {
                add(&format!("short-{x}"), bars(record, x, &format!("A message of {x} bytes"))?);
            }
        }
        "keys" | "verify" | "cold" | "session" => {
            for x in [64, 1536] {
                let name = format!("{}-{x}", record.experiment);
                add(&name, bars(record, x, &format!("A message of {x} bytes"))?);
            }
        }
        "cli" => {
            let mut cases: Vec<(&str, u64)> = Vec::new();
            for series in &record.series {
                let (Some(case), Some(point)) = (&series.case, series.points.first()) else {
                    continue;
                };
                if !cases.contains(&(case, point.0)) {
                    cases.push((case, point.0));
                }
            }
            for (at, (case, x)) in cases.into_iter().enumerate() {
                add(&format!("cli-{}", at + 1), command_bars(record, case, x)?);
            }
        }
        _ => {}
    }
    Ok(all)
}

fn quartiles(Figure { median, low, high }: Figure) -> Quartiles {
    Quartiles { median, low, high }
}

fn lines(record: &Record, about: &str, shown: &dyn Fn(&Series) -> bool) -> Result<String, Failure> {
    let per_byte = record.x == "bytes";
    let share = |figure: Figure, by: f64| Quartiles {
        median: figure.median / by,
        low: figure.low / by,
        high: figure.high / by,
    };
    let lines = record.best().filter(|series| shown(series)).map(|series| Line {
        label: match &series.case {
            Some(case) => format!("{}, {case}", series.name),
            None => series.name.clone(),
        },
        ours: series.is_ours(),
        points: thinned(&series.points)
            .filter(|point| !per_byte || point.0 > 0)
            .map(|point| {
                let by = if per_byte { point.0 as f64 } else { 1.0 };
                (point.0 as f64, share(point.figure(), by))
            })
            .collect(),
    });
    let unit = if per_byte { "cycles per byte" } else { "cycles per message" };
    let x = if per_byte { "bytes of the message" } else { &record.x };
    Lines {
        title: format!("{about} ({}, {} GHz)", record.machine.short(), record.machine.clock),
        x: x.into(),
        y: unit.into(),
        doubling: record.x != "offset",
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
    .svg()
}

/// Keeps the points that a picture can show. Its width is logarithmic, so thousands of lengths
/// would coincide: keeps one in each 64th of a doubling, and lengths that differ by one from a
/// power of two.
fn thinned(points: &[Point]) -> impl Iterator<Item = &Point> {
    let place = |x: u64| ((x.max(1) as f64).log2() * 64.0) as u64;
    let mut last = None;
    points.iter().filter(move |point| {
        let is_new = last != Some(place(point.0));
        let near = [point.0.wrapping_sub(1), point.0, point.0 + 1];
        if is_new {
            last = Some(place(point.0));
        }
        is_new || near.iter().any(|x| x.is_power_of_two())
    })
}

/// Draws bars of the best level and the peers at x, shortest first.
fn bars(record: &Record, x: u64, about: &str) -> Result<String, Failure> {
    let mut cases: Vec<&str> = Vec::new();
    for series in record.series.iter().filter(|series| series.at(x).is_some()) {
        let Some(case) = &series.case else { continue };
        // Bad tags are in the table only.
        if !cases.contains(&case.as_str()) && !case.ends_with("bad tag") {
            cases.push(case);
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    for series in record.best() {
        // PRESENT, UMAC 1999 and a cache filled for each key would press the other bars together.
        let figure = series.at(x).filter(|_| !is_of(series, "small-and-old"));
        let (Some(figure), Some(case)) = (figure, &series.case) else { continue };
        let Some(at) = cases.iter().position(|known| known == case) else { continue };
        let row = match rows.iter_mut().position(|row| row.label == series.name) {
            Some(row) => &mut rows[row],
            None => {
                let figures = vec![None; cases.len()];
                rows.push(Row { label: series.name.clone(), ours: series.is_ours(), figures });
                rows.last_mut().expect("just pushed")
            }
        };
        row.figures[at] = Some(quartiles(figure));
    }
    if matches!(&*record.experiment, "keys" | "verify") {
        rows.retain(|row| !row.label.ends_with(", cached"));
    }
    let key =
        |row: &Row| row.figures.iter().flatten().map(|figure| figure.median).fold(0., f64::max);
    rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
    Bars {
        title: format!("{about} ({}, {} GHz)", record.machine.short(), record.machine.clock),
        unit: "cycles".into(),
        cases: cases.into_iter().map(Into::into).collect(),
        rows,
    }
    .svg()
}

fn command_bars(record: &Record, case: &str, x: u64) -> Result<String, Failure> {
    let of_case = record.series.iter().filter(|series| series.case.as_deref() == Some(case));
    let rows = of_case.map(|series| Row {
        label: series.name.clone(),
        ours: series.is_ours(),
        figures: vec![series.at(x).map(quartiles)],
    });
    Bars {
        title: format!("{case}, {} each", bytes(x as f64)),
        unit: "seconds of the whole command".into(),
        cases: vec!["the whole command".into()],
        rows: rows.collect(),
    }
    .svg()
}

fn roofline(record: &Record, memory: &[(String, f64)]) -> Result<String, Failure> {
    let dots = record.series.iter().filter_map(|series| {
        Some(Dot {
            label: title(series).split(" (").next().unwrap_or_default().into(),
            level: series.level.clone()?,
            ceiling: series.ceiling?,
            found: series.at(ROOFLINE)?.median / ROOFLINE as f64,
        })
    });
    Roofline {
        title: format!(
            "16 KiB under the roof ({}, {} GHz)",
            record.machine.short(),
            record.machine.clock
        ),
        dots: dots.filter(|dot| !dot.label.ends_with("counting")).collect(),
        levels: record.machine.levels.clone(),
        memory: memory.to_vec(),
    }
    .svg()
}
