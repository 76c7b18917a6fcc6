//! Speeds from a record of `bench`; the lab does not measure.
//!
//! A record is a folder of `bench/record`, with a JSON file for each experiment.

use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The repository's records, and the preferred one.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/record");
const FIRST: &str = "amd-epyc-zen4";

/// The experiments whose figures are shown.
const EXPERIMENTS: [&str; 9] =
    ["lab", "sizes", "short", "keys", "lengths", "unaligned", "verify", "cold", "ceilings"];

/// A record of a machine.
pub struct Speeds {
    records: Vec<Record>,
}

#[derive(Deserialize)]
struct Record {
    experiment: String,
    machine: Machine,
    series: Vec<Series>,
}

/// The machine and the tools of a measurement.
#[derive(Deserialize)]
struct Machine {
    cpu: String,
    clock: f64,
    levels: Vec<String>,
    compiler: String,
    date: String,
}

#[derive(Deserialize)]
struct Series {
    name: String,
    level: Option<String>,
    #[serde(default)]
    case: Option<String>,
    /// The least cycles per byte that the cipher's rounds or the multiplications cost.
    #[serde(default)]
    ceiling: Option<f64>,
    /// x, median, first quartile, third quartile.
    points: Vec<(u64, f64, f64, f64)>,
}

/// The kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A tag, the key ready.
    Ready,
    /// A tag with the key ready, only from the experiment with each length.
    EachLength,
    /// Key set-up and a tag.
    NewKey,
    /// Key set-up and a tag, with the message off a cache line.
    NewKeyUnaligned,
    /// From the raw key, message and tag to the verdict.
    Verify,
    /// A tag with all caches cold.
    Cold,
}

impl Call {
    /// Returns the experiments and cases that time the call. The first one with a figure counts.
    /// `lab` comes first because it has comparators and ours in one process.
    fn places(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Call::Ready => &[
                ("lab", ""),
                ("sizes", ""),
                ("short", "back to back"),
                ("keys", "key ready"),
                ("lengths", ""),
            ],
            Call::EachLength => &[("lengths", "")],
            Call::NewKey => &[("lab", "new key"), ("keys", "new key")],
            Call::NewKeyUnaligned => &[("keys", "new key, message off a line of cache")],
            Call::Verify => &[("lab", "raw key, good tag"), ("verify", "raw key, good tag")],
            Call::Cold => &[("lab", "cold"), ("cold", "cold")],
        }
    }

    /// Returns the command that measures it.
    pub fn command(self) -> &'static str {
        match self {
            Call::Ready => "bench lab",
            Call::EachLength => "bench lengths",
            Call::NewKey | Call::NewKeyUnaligned => "bench keys",
            Call::Verify => "bench verify",
            Call::Cold => "bench cold",
        }
    }
}

/// Reads the repository's records, one for each machine.
///
/// # Errors
///
/// Returns one line about a record that could not be read.
pub fn kept() -> Result<Vec<Speeds>, String> {
    let named = |error| format!("{KEPT}: {error}; name a record with --speeds");
    let mut folders = Vec::new();
    for entry in fs::read_dir(KEPT).map_err(named)? {
        folders.push(entry.map_err(named)?.path());
    }
    folders.sort_by_key(|folder| (!folder.ends_with(FIRST), folder.clone()));
    folders.iter().map(|folder| Speeds::read(folder)).collect()
}

impl Speeds {
    /// Reads the record in a folder.
    ///
    /// # Errors
    ///
    /// Returns one line about a record that could not be read.
    pub fn read(folder: &Path) -> Result<Speeds, String> {
        let name = folder.display();
        let mut records = Vec::new();
        for experiment in EXPERIMENTS {
            let path = folder.join(experiment).with_extension("json");
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(format!("{}: {error}", path.display())),
            };
            let record: Record = serde_json::from_str(&text)
                .map_err(|error| format!("{}: not a record of bench: {error}", path.display()))?;
            records.push(record);
        }
        if records.is_empty() {
            return Err(format!(
                "{name}: no record in this folder; name one like \
                 bench/record/amd-epyc-zen4"
            ));
        }
        Ok(Speeds { records })
    }

    /// Returns CPU, clock, compiler and date.
    pub fn about(&self) -> String {
        let Machine { cpu, clock, compiler, date, .. } = self.machine();
        format!("{cpu}, {clock} GHz, one core; {compiler}; {date}")
    }

    /// Returns the CPU's short name.
    pub fn cpu(&self) -> &str {
        // The model names for the family and model that a cloud shows.
        const NAMES: [(&str, &str); 4] = [
            ("(family 25, model 17)", "Zen 4"),
            ("(family 26, model 2)", "Zen 5"),
            ("(family 6, model 106)", "Ice Lake"),
            ("(family 6, model 207)", "Emerald Rapids"),
        ];
        let cpu = &self.machine().cpu;
        let known = NAMES.iter().find(|(ending, _)| cpu.ends_with(ending));
        known.map_or_else(|| cpu.split(" (").next().unwrap_or(cpu), |(_, name)| name)
    }

    fn machine(&self) -> &Machine {
        &self.records[0].machine
    }

    /// Returns the median core cycles of a call, by the name of a MAC or comparator and the
    /// message's bytes.
    pub fn cycles(&self, call: Call, name: &str, bytes: u64) -> Option<f64> {
        let mut places = call.places().iter();
        places.find_map(|(experiment, case)| self.at(experiment, case, name, bytes))
    }

    /// Returns the figure of an experiment on the machine's best level.
    pub fn at(&self, experiment: &str, case: &str, name: &str, x: u64) -> Option<f64> {
        let record = self.records.iter().find(|record| record.experiment == experiment)?;
        let best = record.machine.levels.last();
        let fits = |one: &&Series| {
            one.name == name
                && one.case.as_deref().unwrap_or_default() == case
                && (one.level.is_none() || one.level.as_ref() == best)
        };
        let points = record.series.iter().filter(fits).flat_map(|series| &series.points);
        points.into_iter().find(|point| point.0 == x).map(|point| point.1)
    }

    /// Returns the least cycles per byte that the machine could need for a comparator, if known.
    pub fn ceiling(&self, name: &str) -> Option<f64> {
        let record = self.records.iter().find(|record| record.experiment == "lab")?;
        record.series.iter().find(|series| series.name == name)?.ceiling
    }

    /// Returns the lengths with figures of a call in the quick experiments, and the cycles.
    pub fn curve(&self, name: &str) -> Vec<(u64, f64)> {
        let lengths = [16, 32, 64, 128, 256, 1024, 1536, 4096, 16384, 65536, 262_144];
        let found = |bytes| Some((bytes, self.cycles(Call::Ready, name, bytes)?));
        lengths.into_iter().filter_map(found).collect()
    }
}

/// Formats a value with three digits, as in the papers.
pub fn digits(value: f64) -> String {
    match value {
        _ if value < 0.0995 => format!("{value:.3}"),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
