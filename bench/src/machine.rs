//! The machine and the tools of a measurement.

use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};
use tagmac::isa::Level;

use crate::clock::cycles_per_ns;

/// A machine, as shown next to every figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The CPU's name, with family and model, because clouds hide the name.
    pub cpu: String,
    /// All cores of the machine. A run may be limited to fewer.
    pub cores: usize,
    /// The measured clock in GHz.
    pub clock: f64,
    /// The levels that the CPU supports.
    pub levels: Vec<String>,
    pub compiler: String,
    /// The date in UTC.
    pub date: String,
    pub tagmac: String,
    /// The commit that was measured, with `-dirty` if files differed from it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub commit: String,
    /// Bytes of the first, the second and the last cache.
    pub caches: Vec<usize>,
}

impl Machine {
    /// Returns this machine, today.
    pub fn here() -> Machine {
        Machine {
            cpu: cpu(),
            cores: cores(),
            clock: (cycles_per_ns() * 100.0).round() / 100.0,
            levels: Level::all().map(|level| level.name().into()).collect(),
            compiler: compiler(),
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            tagmac: env!("CARGO_PKG_VERSION").into(),
            commit: commit(),
            caches: caches(),
        }
    }

    /// Returns the CPU's name without its family.
    pub fn short(&self) -> &str {
        self.cpu.split(" (").next().unwrap_or(&self.cpu)
    }

    /// Returns the machine in one line.
    pub fn line(&self) -> String {
        let Machine { cpu, cores, clock, compiler, date, .. } = self;
        format!("{cpu}, {cores} cores, {clock} GHz; {compiler}; {date}")
    }
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_string())
    };
    let name = field("model name").unwrap_or_else(|| std::env::consts::ARCH.into());
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

fn cores() -> usize {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let listed = info.lines().filter(|line| line.starts_with("processor")).count();
    let allowed = std::thread::available_parallelism().map_or(1, |n| n.get());
    listed.max(allowed)
}

/// Returns the commit of the repository, or nothing outside of one.
fn commit() -> String {
    let describe = ["describe", "--always", "--dirty", "--abbrev=8", "--exclude=*"];
    let output =
        Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(describe).output();
    let output = output.ok().filter(|output| output.status.success());
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

/// Returns the version of the compiler on the path, which is also cargo's.
fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version.unwrap_or_default();
    let words: Vec<&str> = version.split_whitespace().take(2).collect();
    if words.len() == 2 { words.join(" ") } else { "unknown compiler".into() }
}

/// Returns the sizes that Linux reports; guesses elsewhere.
fn caches() -> Vec<usize> {
    let read = |index: usize, file: &str| {
        fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}"))
    };
    let size = |index| {
        let size = read(index, "size").ok()?;
        let size = size.trim();
        let kib: usize = size.strip_suffix('K')?.parse().ok()?;
        let instructions = read(index, "type").ok()?.trim() == "Instruction";
        (!instructions).then_some(kib * 1024)
    };
    let found: Vec<usize> = (0..5).filter_map(size).collect();
    if found.is_empty() { vec![32 << 10, 1 << 20, 32 << 20] } else { found }
}
