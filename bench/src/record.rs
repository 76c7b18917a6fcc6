//! The record of an experiment: a JSON file that the report reads, and a CSV file for spreadsheets.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::measure::Figure;

/// The lab's experiment. Its record is for `tagmac-lab` and is not on any page about tagmac.
pub const LAB: &str = "lab";

/// The experiments that build programs in other languages.
pub const NEEDS_BUILD: [&str; 4] = [WAYS, JAVA, SPARK, SOAK];
pub const WAYS: &str = "ways";
pub const JAVA: &str = "java";
pub const SPARK: &str = "spark";
pub const SOAK: &str = "soak";

/// The results of an experiment on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The experiment's subcommand.
    pub experiment: String,
    /// A description in one sentence.
    pub about: String,
    /// The unit of `x`: bytes of a message, keys, an offset.
    pub x: String,
    /// The unit of `y`: core cycles of one call, or seconds.
    pub y: String,
    pub machine: Machine,
    /// The things that were left out, with reasons.
    pub missing: Vec<String>,
    pub series: Vec<Series>,
}

/// The figures of one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    pub name: String,
    pub library: String,
    /// The level; only tagmac's engines have one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub level: Option<String>,
    /// The way to call, in an experiment that has several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<String>,
    /// The least cycles per byte that the instructions allow.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ceiling: Option<f64>,
    /// The function that it computes. Engines of the same function return the same tags.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub function: String,
    /// A description of the call.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub call: String,
    pub points: Vec<Point>,
}

/// `(x, median, first quartile, third quartile)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point(pub u64, pub f64, pub f64, pub f64);

impl Point {
    /// Makes a point from a figure at x.
    pub fn new(x: usize, figure: Figure) -> Point {
        // Four digits: enough to compare, and small to commit.
        let short = |y: f64| {
            let digits = 10f64.powf(3.0 - y.abs().max(1e-9).log10().floor());
            (y * digits).round() / digits
        };
        Point(x as u64, short(figure.median), short(figure.low), short(figure.high))
    }

    /// Returns the figure.
    pub fn figure(&self) -> Figure {
        Figure { median: self.1, low: self.2, high: self.3 }
    }
}

impl Series {
    /// Returns the figure at x.
    pub fn at(&self, x: u64) -> Option<Figure> {
        self.points.iter().find(|point| point.0 == x).map(Point::figure)
    }

    /// Adds a point, keeping the order of x.
    pub fn add(&mut self, point: Point) {
        let at = self.points.partition_point(|known| known.0 < point.0);
        self.points.insert(at, point);
    }

    /// Returns true for an engine of tagmac.
    pub fn is_ours(&self) -> bool {
        self.library.starts_with("tagmac ")
    }
}

/// Replaces a file atomically: a killed run leaves the old one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

impl Record {
    /// Takes each figure with a lower median from an earlier pass. Other programs on the machine
    /// can only raise a median, for all engines in the same way.
    pub fn keep_quieter(&mut self, before: Record) {
        self.missing.retain(|what| before.missing.contains(what));
        for series in before.series {
            let is_same = |own: &&mut Series| {
                (&own.name, &own.level, &own.case) == (&series.name, &series.level, &series.case)
            };
            let Some(own) = self.series.iter_mut().find(is_same) else {
                self.series.push(series);
                continue;
            };
            for point in series.points {
                match own.points.iter_mut().find(|own| own.0 == point.0) {
                    Some(own) if own.1 <= point.1 => {}
                    Some(own) => *own = point,
                    None => own.add(point),
                }
            }
        }
    }

    /// Writes `<experiment>.json` and `<experiment>.csv` into a folder, which it creates if
    /// necessary.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        self.write_json(folder)?;
        replace(&folder.join(&self.experiment).with_extension("csv"), &self.csv()?)
    }

    /// Writes only `<experiment>.json`.
    pub fn write_json(&self, folder: &Path) -> io::Result<()> {
        let mut text = String::new();
        // One series per line, so that a diff shows changes line by line.
        let mut rest = serde_json::to_value(self)?;
        let series = rest["series"].take();
        let series = series.as_array().map(Vec::as_slice).unwrap_or_default();
        let series: Vec<String> = series.iter().map(ToString::to_string).collect();
        rest["series"] = "SERIES".into();
        text += &serde_json::to_string_pretty(&rest)?;
        text = text.replace("\"SERIES\"", &format!("[\n    {}\n  ]", series.join(",\n    ")));
        let path = folder.join(&self.experiment).with_extension("json");
        replace(&path, (text + "\n").as_bytes())
    }

    fn csv(&self) -> io::Result<Vec<u8>> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let machine = &self.machine;
        let y = &self.y;
        table.write_record([
            "experiment",
            "engine",
            "library",
            "level",
            "case",
            &self.x,
            y,
            &format!("{y} low"),
            &format!("{y} high"),
            "noisy",
            "cpu",
            "GHz",
            "compiler",
            "date",
        ])?;
        for series in &self.series {
            for point in &series.points {
                let figure = point.figure();
                let noisy = if figure.is_noisy() { "noisy" } else { "" };
                table.write_record([
                    &self.experiment,
                    &series.name,
                    &series.library,
                    series.level.as_deref().unwrap_or_default(),
                    series.case.as_deref().unwrap_or_default(),
                    &point.0.to_string(),
                    &figure.median.to_string(),
                    &figure.low.to_string(),
                    &figure.high.to_string(),
                    noisy,
                    &machine.cpu,
                    &machine.clock.to_string(),
                    &machine.compiler,
                    &machine.date,
                ])?;
            }
        }
        table.into_inner().map_err(|error| error.into_error())
    }

    /// Reads the record of an experiment from a folder, if it exists.
    pub fn read(folder: &Path, experiment: &str) -> io::Result<Option<Record>> {
        let file = match File::open(folder.join(experiment).with_extension("json")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(serde_json::from_reader(BufReader::new(file))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(missing: &[&str], series: &str) -> Record {
        let text = r#"{"experiment": "e", "about": "a", "x": "bytes", "y": "cycles", "missing": [],
            "machine": {"cpu": "c", "cores": 1, "clock": 1.0, "caches": [], "levels": [],
            "compiler": "r", "tagmac": "t", "date": "d"}, "series": SERIES}"#;
        let mut record: Record =
            serde_json::from_str(&text.replace("SERIES", series)).expect("a record");
        record.missing = missing.iter().map(ToString::to_string).collect();
        record
    }

    #[test]
    fn of_two_passes_each_figure_is_the_quieter_one() {
        let before = r#"[{"name": "A", "library": "l", "points": [[16, 9.0, 8.0, 9.0], [64, 7.0, 7.0, 7.0]]},
            {"name": "B", "library": "l", "points": [[16, 1.0, 1.0, 1.0]]}]"#;
        let after = r#"[{"name": "A", "library": "l", "points": [[16, 8.5, 8.0, 20.0], [32, 3.0, 3.0, 3.0]]},
            {"name": "A", "library": "l", "case": "chained", "points": [[16, 30.0, 30.0, 30.0]]}]"#;
        let mut quieter = record(&["b3sum", "lengths at 5 more values"], after);
        quieter.keep_quieter(record(&["b3sum"], before));
        let expected = r#"[{"name": "A", "library": "l", "points": [[16, 8.5, 8.0, 20.0], [32, 3.0, 3.0, 3.0], [64, 7.0, 7.0, 7.0]]},
            {"name": "A", "library": "l", "case": "chained", "points": [[16, 30.0, 30.0, 30.0]]},
            {"name": "B", "library": "l", "points": [[16, 1.0, 1.0, 1.0]]}]"#;
        assert_eq!(quieter, record(&["b3sum"], expected));
    }
}
