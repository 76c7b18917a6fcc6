//! Times `tagmac seal` and `tagmac audit` of a tree of small files next to other commands that read
//! a tree.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::experiments::command;
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};

pub const NAME: &str = "tree";
pub const ABOUT: &str = "sealing and auditing a tree of small files in the page cache";

/// The minimum of rounds for a figure. The round that fills the page cache is not counted.
const MIN_ROUNDS: usize = 3;
/// Bytes of each file.
const SIZE: usize = 1024;
/// Files of each directory.
const BRANCH: usize = 1000;

/// A command, and the case in which it takes part.
struct Contender {
    case: &'static str,
    name: &'static str,
    words: Vec<String>,
    /// Reads its file names from `find -print0` and `xargs`.
    by_xargs: bool,
}

/// Runs the experiment. Its files are in the directory for temporary files.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "files", "seconds");
    record.missing.clear();
    let folder = tempfile::tempdir()?;
    let files = if harness.quick { 10_000 } else { 100_000 };
    let tree = folder.path().join("tree");
    for number in 0..files {
        let branch = tree.join((number / BRANCH).to_string());
        if number % BRANCH == 0 {
            fs::create_dir_all(&branch)?;
        }
        fs::write(branch.join(number.to_string()), [number as u8; SIZE])?;
    }
    let tagmac = command::tagmac_beside()?.to_string_lossy().into_owned();
    prepare(&tagmac, folder.path())?;
    let (there, gone): (Vec<_>, Vec<_>) =
        contenders(&tagmac).into_iter().partition(|one| command::exists(&one.words[0]));
    record.missing.extend(gone.iter().map(|one| format!("{}: no such command", one.words[0])));
    record.missing.dedup();
    harness.begin(NAME, 1, budget);
    let rounds = if harness.quick { 5 } else { 9 };
    let (start, limit) = (Instant::now(), harness.effort().limit);
    let mut samples = vec![Vec::new(); there.len()];
    for round in 0..=rounds {
        if round > MIN_ROUNDS && start.elapsed() >= limit {
            break;
        }
        for (one, samples) in there.iter().zip(&mut samples) {
            let seconds = time(one, folder.path())?;
            // The first round fills the page cache.
            if round > 0 {
                samples.push(seconds);
            }
        }
    }
    for (one, samples) in there.iter().zip(samples) {
        record.series.push(Series {
            name: one.name.into(),
            library: command::version(&one.words[0]),
            level: None,
            case: Some(one.case.into()),
            ceiling: None,
            function: String::new(),
            call: String::new(),
            points: vec![Point::new(files, Figure::of(samples))],
        });
    }
    harness.step(&record)?;
    Ok(record)
}

/// Returns the commands to compare. They run in the directory that has `tree`, and with the files
/// that [`prepare`] makes.
fn contenders(tagmac: &str) -> Vec<Contender> {
    let mut all = Vec::new();
    for (case, name, line, by_xargs) in [
        ("read and listed", "tagmac seal", "TAGMAC seal -k key -o new tree", false),
        ("read and listed", "hashdeep", "hashdeep -r -l tree", false),
        ("read and listed", "b3sum", "b3sum", true),
        ("read and listed", "sha256sum", "sha256sum", true),
        ("listed again, unchanged", "tagmac seal --since", SINCE, false),
        ("listed again, unchanged", "find -printf", FIND, false),
        ("compared", "tagmac audit", "TAGMAC audit --quiet -k key manifest tree", false),
        ("compared", "hashdeep -a", "hashdeep -r -l -a -k hashdeep.list tree", false),
        ("compared", "b3sum --check", "b3sum --check --quiet b3sum.list", false),
        ("a seventh compared", "tagmac audit --subset 1/7", SEVENTH, false),
        ("nothing read", "tagmac audit --quick", QUICK, false),
    ] {
        let word = |word: &str| if word == "TAGMAC" { tagmac.into() } else { word.into() };
        let words = line.split(' ').map(word).collect();
        all.push(Contender { case, name, words, by_xargs });
    }
    all
}

const SINCE: &str = "TAGMAC seal -k key --since manifest -o new tree";
/// The same facts of each file that `seal --since` compares.
const FIND: &str = "find tree -printf %y\\t%s\\t%T@\\t%C@\\t%i\\t%D\\t%p\\n";
const SEVENTH: &str = "TAGMAC audit --quiet -k key --subset 1/7 manifest tree";
const QUICK: &str = "TAGMAC audit --quiet -k key --quick manifest tree";

/// Makes the key, the manifest and the lists of the other commands in `folder`.
fn prepare(tagmac: &str, folder: &Path) -> Result<(), Failure> {
    let run = |words: &[&str]| -> Result<(), Failure> {
        let made = Command::new(words[0]).args(&words[1..]).current_dir(folder).output()?;
        match made.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&made.stderr).into_owned().into()),
        }
    };
    run(&[tagmac, "keygen", "-o", "key"])?;
    // A file that changed less than two seconds ago is read again by the next seal.
    std::thread::sleep(Duration::from_secs(3));
    run(&[tagmac, "seal", "-k", "key", "-o", "manifest", "tree"])?;
    for (name, list) in [
        ("hashdeep", "hashdeep -r -l tree > hashdeep.list"),
        ("b3sum", "find tree -type f -print0 | xargs -0 b3sum > b3sum.list"),
    ] {
        if command::exists(name) {
            run(&["sh", "-c", list])?;
        }
    }
    Ok(())
}

/// Returns the seconds of one run, whose output is discarded.
fn time(one: &Contender, folder: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut process = if one.by_xargs {
        let names = Command::new("find")
            .args(["tree", "-type", "f", "-print0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut process = Command::new("xargs");
        process.arg("-0").args(&one.words).stdin(names.stdout.expect("a pipe"));
        process
    } else {
        let mut process = Command::new(&one.words[0]);
        process.args(&one.words[1..]).stdin(Stdio::null());
        process
    };
    // Commands that see a terminal or a pipe flush more often than those that write a file.
    let out = File::create(folder.join("out"))?;
    let ran = process.current_dir(folder).stdout(out).stderr(Stdio::piped()).output()?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(format!("{}: {}: {said}", one.words.join(" "), ran.status).into());
    }
    Ok(start.elapsed().as_secs_f64())
}
