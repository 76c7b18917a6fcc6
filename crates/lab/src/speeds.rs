//! Speeds, from a record of `bench`: the lab measures none itself.
//!
//! A record is a folder of `bench/record`, with a JSON file for each experiment.

use std::fs;
use std::path::Path;

use serde::Deserialize;

/// The records of the repository, and the one that counts first.
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

/// Where and with what it was measured.
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
    /// Cycles per byte that the cipher's rounds or the multiplications take at least.
    #[serde(default)]
    ceiling: Option<f64>,
    /// x, median, first quartile, third quartile.
    points: Vec<(u64, f64, f64, f64)>,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A tag, the key ready.
    Ready,
    /// The same in the experiment that has each length, and no other.
    EachLength,
    /// All that is made of the key, and a tag.
    NewKey,
    /// The same, the message off a line of cache.
    NewKeyUnaligned,
    /// From the raw key, message and tag to the verdict.
    Verify,
    /// A tag with all caches cold.
    Cold,
}

impl Call {
    /// Experiments and cases that time it. The first one that has a figure counts: `lab`, where it is
    /// there, because it has comparators and ours in one process.
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

    /// The command that measures it.
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

/// The repository's records, a machine each.
///
/// # Errors
///
/// One line: what could not be read.
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
    /// The record in a folder.
    ///
    /// # Errors
    ///
    /// One line: what could not be read.
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
                .map_err(|error| format!("{}: no record of bench: {error}", path.display()))?;
            records.push(record);
        }
        if records.is_empty() {
            return Err(format!("{name}: expected a folder of bench/record, found no record"));
        }
        Ok(Speeds { records })
    }

    /// CPU, clock, compiler and date.
    pub fn about(&self) -> String {
        let Machine { cpu, clock, compiler, date, .. } = self.machine();
        format!("{cpu}, {clock} GHz, one core; {compiler}; {date}")
    }

    /// The CPU in short.
    pub fn cpu(&self) -> &str {
        // What a cloud shows of its CPUs.
        const NAMES: [(&str, &str); 4] = [
            ("(family 25, model 1)", "Zen 3"),
            ("(family 25, model 17)", "Zen 4"),
            ("(family 26, model 2)", "Zen 5"),
            ("(family 6, model 106)", "Ice Lake"),
        ];
        let cpu = &self.machine().cpu;
        let known = NAMES.iter().find(|(ending, _)| cpu.ends_with(ending));
        known.map_or_else(|| cpu.split(" (").next().unwrap_or(cpu), |(_, name)| name)
    }

    fn machine(&self) -> &Machine {
        &self.records[0].machine
    }

    /// Median core cycles of a call, by the name of a MAC or a comparator and the message's bytes.
    pub fn cycles(&self, call: Call, name: &str, bytes: u64) -> Option<f64> {
        let mut places = call.places().iter();
        places.find_map(|(experiment, case)| self.at(experiment, case, name, bytes))
    }

    /// The figure of an experiment on the machine's best level.
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

    /// The least cycles per byte that the machine could need for a comparator, where that is known.
    pub fn ceiling(&self, name: &str) -> Option<f64> {
        let record = self.records.iter().find(|record| record.experiment == "lab")?;
        record.series.iter().find(|series| series.name == name)?.ceiling
    }

    /// The bytes for which a call has figures in the quick experiments, and the cycles.
    pub fn curve(&self, name: &str) -> Vec<(u64, f64)> {
        let lengths = [16, 32, 64, 128, 256, 1024, 1536, 4096, 16384, 65536, 262_144];
        let found = |bytes| Some((bytes, self.cycles(Call::Ready, name, bytes)?));
        lengths.into_iter().filter_map(found).collect()
    }
}

/// Three digits, as the papers have.
pub fn digits(value: f64) -> String {
    match value {
        _ if value < 0.0995 => format!("{value:.3}"),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
