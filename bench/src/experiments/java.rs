//! Runs the JMH benchmarks of java/bench, and times the same batch from Rust. The modules run other
//! programs on the JVM.

pub mod soak;
pub mod spark;

use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tagmac::Tag;
use tagmac::isa::Level;
use tagmac_any::{Algorithm, AnyMac};

use super::programs::{REPO, ended, series, succeed};
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{JAVA, Point, Record};

pub const ABOUT: &str = "tags on the JVM, of one message and of 1,024 in one call: JMH, needs \
                         Maven; TAGMAC_JAVAS names java programs, separated by colons";

/// The benchmarks of java/bench with all their parameters.
const BENCHMARKS: u32 = 38;
const WARM: u32 = 3;
const MEASURED: u32 = 7;
/// The environment variable with the `java` programs to measure, separated by colons.
const PROGRAMS: &str = "TAGMAC_JAVAS";

/// A result, as JMH writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Jmh {
    benchmark: String,
    jdk_version: String,
    #[serde(default)]
    params: Params,
    primary_metric: Metric,
}

#[derive(Default, Deserialize)]
struct Params {
    bytes: Option<String>,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    /// Nanoseconds per call: of each fork, of each iteration.
    raw_data: Vec<Vec<f64>>,
}

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(JAVA, ABOUT, "bytes of a message", "nanoseconds per call");
    record.missing.clear();
    let javas = std::env::var(PROGRAMS).unwrap_or_else(|_| "java".into());
    let javas: Vec<&str> = javas.split(':').collect();
    harness.begin(JAVA, 1 + javas.len(), budget);
    build()?;
    harness.step(&record)?;
    let iterations = BENCHMARKS * (WARM + MEASURED) * javas.len() as u32;
    let iteration = (budget / iterations).max(Duration::from_millis(100));
    for java in javas {
        add(&mut record, jmh(java, iteration, harness.quick)?)?;
        harness.step(&record)?;
    }
    for algorithm in ["PMAC-AES128", "LIGHTMAC-AES128"] {
        let point = Point::new(MANY_BYTES, in_rust(algorithm)?);
        record.series.push(series(&format!("tagmac/{algorithm}, Rust"), "", MANY, point));
    }
    Ok(record)
}

/// Adds the results of one Java.
fn add(record: &mut Record, results: Vec<Jmh>) -> Result<(), Failure> {
    for result in results {
        let java = format!("Java {}", result.jdk_version);
        let (_, method) = result.benchmark.rsplit_once('.').ok_or("JMH: expected a method")?;
        let name = result.params.name;
        let (case, name) = match method {
            "key" => ("one message", format!("tagmac/{name}, TagmacKey")),
            "tagMany" => (MANY, format!("tagmac/{name}, tagMany")),
            "jcaWithNonce" => ("one message", format!("{name}, JCA, with init")),
            _ => ("one message", format!("{name}, JCA")),
        };
        let version = result.jdk_version.split('.').next().unwrap_or_default();
        let name = format!("{name}, Java {version}");
        let bytes = result.params.bytes.map_or(Ok(MANY_BYTES), |bytes| bytes.parse())?;
        let figure = Figure::of(result.primary_metric.raw_data.concat());
        let point = Point::new(bytes, figure);
        match record.series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => record.series.push(series(&name, &java, case, point)),
        }
    }
    Ok(())
}

const MANY: &str = "1,024 messages in one call";
const MANY_BYTES: usize = 64;
const MESSAGES: usize = 1024;

/// Builds the jar and the benchmarks.
fn build() -> Result<(), Failure> {
    install()?;
    succeed(maven("java/bench/pom.xml").arg("compile"))
}

/// Builds the jar and installs it for Maven.
fn install() -> Result<(), Failure> {
    succeed(Command::new(Path::new(REPO).join("scripts/build-java")).arg("--install"))
}

fn maven(pom: &str) -> Command {
    let mut maven = Command::new("mvn");
    maven.current_dir(REPO).args(["-q", "-B", "-f", pom]);
    maven
}

/// The class path of the benchmarks.
fn classes() -> Result<String, Failure> {
    let target = Path::new(REPO).join("java/bench/target");
    let libraries = std::fs::read_to_string(target.join("classpath"))?;
    Ok(format!("{}:{}", target.join("classes").display(), libraries.trim()))
}

/// Runs the benchmarks with a `java` program.
fn jmh(java: &str, iteration: Duration, quick: bool) -> Result<Vec<Jmh>, Failure> {
    let folder = tempfile::tempdir()?;
    let results = folder.path().join("jmh.json");
    let time = format!("{}ms", iteration.as_millis());
    let mut java = Command::new(java);
    java.args(["-cp", &classes()?, "org.openjdk.jmh.Main", "-foe", "true", "-f", "1"]);
    java.args(["-wi", &WARM.to_string(), "-w", &time, "-i", &MEASURED.to_string(), "-r", &time]);
    java.args(["-rf", "json", "-rff"]).arg(&results);
    if quick {
        java.args(["-p", "bytes=64"]);
    }
    succeed(&mut java)?;
    Ok(serde_json::from_slice(&std::fs::read(&results)?)?)
}

/// Runs a program and calls `line` for each line of its output.
fn lines(
    command: &mut Command,
    mut line: impl FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{name}: {e}"))?;
    let output = child.stdout.take().expect("piped");
    for text in BufReader::new(output).lines() {
        if let Err(failure) = text.map_err(Failure::from).and_then(|text| line(&text)) {
            child.kill()?;
            child.wait()?;
            return Err(failure);
        }
    }
    ended(&name, child.wait()?)
}

/// Times the batch of `Macs.tagMany` from Rust.
fn in_rust(algorithm: &str) -> Result<Figure, Failure> {
    let algorithm: Algorithm = algorithm.parse()?;
    let key = vec![0; algorithm.new_key_bytes()];
    let mac = AnyMac::with_options(algorithm, &key, algorithm.default_tag_bits(), Level::best())?;
    let data: Vec<u8> = (0..MESSAGES * MANY_BYTES).map(|i| i as u8).collect();
    let messages: Vec<&[u8]> = data.chunks(MANY_BYTES).collect();
    let nonces = [&[][..]; MESSAGES];
    let mut tags = vec![Tag::default(); MESSAGES];
    let mut samples = Vec::new();
    for _ in 0..1000 {
        let start = Instant::now();
        mac.tag_many(&nonces, black_box(&messages), &mut tags)?;
        samples.push(start.elapsed().as_nanos() as f64);
        black_box(&tags);
    }
    Ok(Figure::of(samples))
}
