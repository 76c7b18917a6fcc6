//! Times the whole command next to other commands that read files and print something short.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::Figure;
use crate::record::{Point, Record, Series};

pub const NAME: &str = "cli";
pub const ABOUT: &str = "the whole command on a large file in the page cache, and on many small \
                         files";

/// The minimum of rounds for a figure. The round that fills the page cache is not counted.
const MIN_ROUNDS: usize = 3;

/// Runs the experiment. Its files are in the directory for temporary files.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes of each file", "seconds");
    record.missing.clear();
    let folder = tempfile::tempdir()?;
    let (large, small, files) =
        if harness.quick { (256 << 20, 1024, 10_000) } else { (1 << 30, 1024, 100_000) };
    fs::write(folder.path().join("large"), vec![7u8; large])?;
    let many = folder.path().join("many");
    for number in 0..files {
        // A thousand files per folder, as in a real tree.
        let branch = many.join((number / 1000).to_string());
        if number % 1000 == 0 {
            fs::create_dir_all(&branch)?;
        }
        fs::File::create(branch.join(number.to_string()))?.write_all(&[7; 1024][..small])?;
    }
    let tagmac = tagmac_beside()?;
    let key = folder.path().join("key");
    let made = Command::new(&tagmac).arg("keygen").arg("-o").arg(&key).output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
    }
    let rounds = if harness.quick { 5 } else { 9 };
    harness.begin(NAME, 2, budget);
    let tagmac = tagmac.to_string_lossy().into_owned();
    let commands = commands(&tagmac, &key.to_string_lossy());
    let (there, gone): (Vec<_>, Vec<_>) = commands.into_iter().partition(|all| exists(&all[0]));
    record.missing.extend(gone.iter().map(|all| format!("{}: no such command", all[0])));
    for (case, x) in
        [("one large file".to_string(), large), (format!("{files} small files"), small)]
    {
        let target = if x == large { folder.path().join("large") } else { many.clone() };
        let mut samples = vec![Vec::new(); there.len()];
        let (start, limit) = (Instant::now(), harness.effort().limit);
        for round in 0..=rounds {
            if round > MIN_ROUNDS && start.elapsed() >= limit {
                break;
            }
            for (words, samples) in there.iter().zip(&mut samples) {
                let seconds = time(words, &target)?;
                // The first round fills the page cache.
                if round > 0 {
                    samples.push(seconds);
                }
            }
        }
        for (words, samples) in there.iter().zip(samples) {
            record.series.push(Series {
                name: shown(words),
                library: version(&words[0]),
                level: None,
                case: Some(case.clone()),
                ceiling: None,
                function: String::new(),
                call: String::new(),
                points: vec![Point::new(x, Figure::of(samples))],
            });
        }
        harness.step(&record)?;
    }
    Ok(record)
}

/// Returns the commands to compare; each gets file names as arguments.
fn commands(tagmac: &str, key: &str) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(Into::into).collect();
    vec![
        vec![tagmac.into(), "tag".into(), "-k".into(), key.into()],
        words("cat"),
        words("sha256sum"),
        words("b3sum"),
        words("openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef"),
    ]
}

/// Returns the path of the command, and builds it first if it does not exist.
pub fn tagmac_beside() -> Result<PathBuf, Failure> {
    let tagmac = std::env::current_exe()?.with_file_name("tagmac");
    if !tagmac.exists() {
        eprintln!("building the command tagmac");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "--release", "--package", "tagmac-cli"]);
        if !build.status()?.success() || !tagmac.exists() {
            let name = tagmac.display();
            return Err(format!("{name}: the command tagmac was not built").into());
        }
    }
    Ok(tagmac)
}

/// Returns whether a command can be started.
pub fn exists(command: &str) -> bool {
    // OpenSSL warns about the option, but runs.
    let mut quiet = Command::new(command);
    quiet.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Returns the first line that a command prints about its version.
pub fn version(command: &str) -> String {
    let output = |argument| Command::new(command).arg(argument).output().ok();
    let text = [output("--version"), output("version"), output("-V")]
        .into_iter()
        .flatten()
        .find(|output| output.status.success())
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.and_then(|text| text.lines().next().map(str::to_string)).unwrap_or_default()
}

/// Returns the name in the report.
fn shown(words: &[String]) -> String {
    match words[0].rsplit('/').next() {
        Some("openssl") => "openssl dgst -hmac".into(),
        Some("tagmac") => "tagmac tag".into(),
        other => other.unwrap_or_default().into(),
    }
}

/// Returns the seconds of one run on a file, or of `xargs` over all files of a tree, as users run
/// it.
fn time(words: &[String], target: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let status = match target.is_dir() {
        false => {
            Command::new(&words[0]).args(&words[1..]).arg(target).stdout(Stdio::null()).status()
        }
        true => {
            let mut names = Command::new("find")
                .arg(target)
                .args(["-type", "f", "-print0"])
                .stdout(Stdio::piped())
                .spawn()?;
            let names_out = names.stdout.take().expect("a pipe");
            let status = Command::new("xargs")
                .arg("-0")
                .args(words)
                .stdin(names_out)
                .stdout(Stdio::null())
                .status();
            names.wait()?;
            status
        }
    }?;
    if !status.success() {
        return Err(format!("{}: {status}", words.join(" ")).into());
    }
    Ok(start.elapsed().as_secs_f64())
}
