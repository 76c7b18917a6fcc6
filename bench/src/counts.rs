//! Counts the instructions of one call with callgrind and compares them with a stored baseline.
//!
//! Counts do not depend on the load of the machine, so a change that costs instructions shows.
//! callgrind does not know AVX-512 and VAES, so levels that use them are left out.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::{Deserialize, Serialize};
use tagmac::isa::Level;

use crate::ceiling::Costs;
use crate::engine::{Engine, Role};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::tagmac_engines;

pub const NAME: &str = "counts";
/// A message within a block, one of a few blocks, and one that is mostly the cost of blocks.
const LENGTHS: [usize; 3] = [16, 64, 1536];
/// Levels with instructions that callgrind lacks.
const UNCOUNTED: [&str; 2] = ["vaes", "avx512"];
/// The tolerated difference from the baseline: a share of it, and a number of instructions.
const TOLERANCE: f64 = 0.02;
const SLACK: u64 = 4;
/// The environment variable that tells the process under callgrind to run [`counted`].
const COUNTED: &str = "TAGMAC_BENCH_COUNTED";

/// The baseline: counts by level, engine and length, and the compiler that made them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Baseline {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

/// Returns the subcommand.
pub fn command() -> Command {
    let update = Arg::new("update").long("update").action(ArgAction::SetTrue);
    Command::new(NAME)
        .about(
            "Counts the instructions of one call with callgrind and compares them with the \
             baseline",
        )
        .arg(update.help("Store these counts as the new baseline"))
}

/// Counts, then compares with the baseline or replaces it.
pub fn run(args: &ArgMatches) -> Result<(), Failure> {
    if std::env::var_os(COUNTED).is_some() {
        return counted();
    }
    let compiler = Machine::here().compiler;
    let found = Baseline { compiler, counts: count()? };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.json");
    if args.get_flag("update") {
        fs::write(&path, serde_json::to_string_pretty(&found)? + "\n")?;
        println!("stored {} counts", found.counts.len());
        return Ok(());
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("counts.json: {error}"))?;
    compare(&serde_json::from_str(&text)?, &found)
}

/// Fails if a count exceeds the baseline by more than the tolerance, and prints each such count.
fn compare(baseline: &Baseline, found: &Baseline) -> Result<(), Failure> {
    if baseline.compiler != found.compiler {
        println!(
            "not compared: the baseline was made with {}, this is {}; 'bench counts --update' \
             makes a new one",
            baseline.compiler, found.compiler
        );
        return Ok(());
    }
    let mut worse = 0;
    for (name, &found) in &found.counts {
        let Some(&expected) = baseline.counts.get(name) else {
            return Err(format!("{name}: not in the baseline; run 'bench counts --update'").into());
        };
        let slack = SLACK.max((expected as f64 * TOLERANCE) as u64);
        if found > expected + slack {
            worse += 1;
            println!("{name}: expected {expected} instructions, found {found}");
        } else if found + slack < expected {
            println!("{name}: {found} instructions, fewer than the baseline's {expected}");
        }
    }
    println!("{} counts, {worse} above the baseline", found.counts.len());
    if worse == 0 { Ok(()) } else { Err("more instructions than in the baseline".into()) }
}

/// Returns the engines of a level.
fn engines(level: Level) -> Vec<Engine> {
    let costs = Costs { aes: 1.0, aes_chained: 1.0, mul32: 1.0, mul52: None };
    tagmac_engines::engines(Role::Any, level, &costs)
}

fn names() -> Vec<(Level, String, usize)> {
    let levels = Level::all().filter(|level| !UNCOUNTED.contains(&level.name()));
    levels
        .flat_map(|level| {
            let engines = engines(level).into_iter();
            engines
                .flat_map(move |engine| LENGTHS.map(|length| (level, engine.name.clone(), length)))
        })
        .collect()
}

/// Runs this program under callgrind, which writes a file each time `one_call` returns.
fn count() -> Result<BTreeMap<String, u64>, Failure> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("out");
    let run = Process::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no"])
        .arg(concat!("--toggle-collect=", module_path!(), "::one_call"))
        .arg(concat!("--dump-after=", module_path!(), "::one_call"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .arg(NAME)
        .env(COUNTED, "1")
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !run.status.success() {
        return Err(format!("valgrind: {}", String::from_utf8_lossy(&run.stderr).trim()).into());
    }
    let names = String::from_utf8_lossy(&run.stdout).into_owned();
    names
        .lines()
        .enumerate()
        .map(|(at, name)| {
            let mut path = PathBuf::from(&out).into_os_string();
            path.push(format!(".{}", at + 1));
            Ok((name.to_string(), total(&fs::read_to_string(&path)?)?))
        })
        .collect()
}

/// Returns the number of instructions in a callgrind file.
fn total(text: &str) -> Result<u64, Failure> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")));
    let count = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    count.ok_or_else(|| "callgrind: the output has no line of totals".into())
}

/// Makes one call of each engine on each length, after two that warm up: the second one makes the
/// key's tables, see `Tables` in crates/tagmac.
fn counted() -> Result<(), Failure> {
    let message = vec![7; 1536];
    for (level, name, length) in names() {
        let mut engine = engines(level).into_iter().find(|e| e.name == name).expect("a name");
        engine.timed.repeat(&message[..length], 2);
        one_call(&mut engine, &message[..length]);
        println!("{level} {name} {length}");
    }
    Ok(())
}

/// The function in which callgrind counts. Callgrind must see it return, so the call is not in tail
/// position.
#[inline(never)]
fn one_call(engine: &mut Engine, message: &[u8]) {
    engine.timed.repeat(message, 1);
    black_box(engine);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(counts: &[(&str, u64)]) -> Baseline {
        let counts = counts.iter().map(|(name, count)| (name.to_string(), *count)).collect();
        Baseline { compiler: "rustc 1".into(), counts }
    }

    #[test]
    fn more_instructions_fail() {
        let stored = baseline(&[("a", 1000), ("b", 50)]);
        assert!(compare(&stored, &baseline(&[("a", 1020), ("b", 54)])).is_ok());
        assert!(compare(&stored, &baseline(&[("a", 1021), ("b", 50)])).is_err());
        assert!(compare(&stored, &baseline(&[("a", 500), ("b", 55)])).is_err());
        assert!(compare(&stored, &baseline(&[("c", 1)])).is_err());
    }

    #[test]
    fn totals_are_found() {
        assert_eq!(total("events: Ir\nfn=(1)\n1 2\ntotals: 1234\n").unwrap(), 1234);
        assert!(total("events: Ir\n").is_err());
    }
}
