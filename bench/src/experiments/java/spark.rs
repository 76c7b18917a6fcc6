//! Runs ColumnsBench of java/tagmac-spark: functions of Spark SQL over a column.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{install, lines, maven};
use crate::experiments::programs::{REPO, series, succeed};
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, SPARK};

pub const ABOUT: &str =
    "functions of Spark SQL over a column of 100 bytes in Parquet, with the scan: needs Maven";

/// The rows have this many bytes.
const BYTES: usize = 100;
const ROUNDS: usize = 3;
/// A million rows take all functions about this long.
const MILLION: Duration = Duration::from_millis(2000);

/// Runs the experiment. The first round is left out: it includes the compilers of the JVM.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let y = "nanoseconds of processor time per row";
    let mut record = harness.record(SPARK, ABOUT, "bytes of a row", y);
    record.missing.clear();
    harness.begin(SPARK, 2, budget);
    let classes = build()?;
    harness.step(&record)?;
    let millions = match harness.quick {
        true => 1,
        false => (budget.as_millis() / MILLION.as_millis() / (ROUNDS as u128 + 1)).max(1),
    };
    let folder = tempfile::tempdir()?;
    let key = Path::new(REPO).join("vectors/formats/PMAC-AES128/k");
    let mut java = Command::new("java");
    for package in ["sun.nio.ch", "java.nio", "java.lang.invoke", "java.util"] {
        java.arg(format!("--add-opens=java.base/{package}=ALL-UNNAMED"));
    }
    java.args(["-Xmx1g", "-cp", &classes, "org.tagmac.spark.ColumnsBench"]);
    java.args([folder.path(), &key]).args([millions.to_string(), (ROUNDS + 1).to_string()]);
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    lines(&mut java, |line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [round, call, each, "ns"] = words[..] else {
            return Err(format!("ColumnsBench: found '{line}'").into());
        };
        if round == "0" {
            found.push((call.into(), Vec::new()));
        } else if let Some((_, samples)) = found.iter_mut().find(|(known, _)| known == call) {
            samples.push(each.parse()?);
        }
        Ok(())
    })?;
    let case = format!("{millions} million rows");
    for (call, samples) in found {
        let library = if call.starts_with("tagmac") { "tagmac-spark" } else { "Spark 3.5" };
        let point = Point::new(BYTES, Figure::of(samples));
        record.series.push(series(&call, library, &case, point));
    }
    harness.step(&record)?;
    Ok(record)
}

/// Builds the module and returns its class path.
fn build() -> Result<String, Failure> {
    install()?;
    let repo = Path::new(REPO);
    let list = repo.join("target/java/spark.classpath");
    let mut maven = maven("java/pom.xml");
    maven.args(["-pl", "tagmac,tagmac-spark/scala-2.13"]);
    maven.arg(format!("-Dmdep.outputFile={}", list.display()));
    succeed(maven.args([
        "test-compile",
        "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath",
    ]))?;
    let target = repo.join("java/tagmac-spark/scala-2.13/target");
    let list = std::fs::read_to_string(list)?;
    let own = ["classes", "test-classes"].map(|name| target.join(name).display().to_string());
    Ok(format!("{}:{}", own.join(":"), list.trim()))
}
