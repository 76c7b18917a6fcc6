//! Simulates power cuts and reads the files that are left on the disk.
//!
//! For each way to make or change a key, manifest, partial, checkpoint or sidecar, the command's
//! writes, syncs and renames are recorded from its system calls. From these `process::disk` makes
//! the states that a weak file system may have after a power cut at each moment: data that was not
//! synced may be lost, torn or reordered. Each state is restored in a folder, where the command
//! reads it:
//!
//! - The file is complete, and either the old or the new one; once the command has reported
//!   success, the new one. With a sidecar, the next update finds the state before or after, or
//!   completes the edit, and the tag is that of the file's bytes. "damaged" is a failure here,
//!   since the documents promise old or new.
//! - The next audit accepts the ledger and the pin. The pin rejects the first manifest of the
//!   chain if it has seen the second one, and accepts it otherwise.
//! - The same command then succeeds, and leaves no temporary file.
//!
//! Equal states count once. Not covered: file systems that promise less, for example one that loses
//! synced bytes or writes different ones, and a second cut during recovery.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use assure::process::calls;
use assure::process::disk::Crash;
use assure::process::history::{Files, History};
use assure::process::place::{self, Place, is_draft};
use assure::process::trace::{self, Fault, Injection, Phase};
use assure::{Job, Random};

/// Number of workers. Each has its own folder.
const WORKERS: usize = 2;

/// A bug to plant: one call of an example does nothing and reports success.
struct Plant {
    name: &'static str,
    example: &'static str,
    /// A sync if true, a write otherwise.
    sync: bool,
    /// Its index, from 0.
    number: usize,
}

const fn plant(name: &'static str, example: &'static str, sync: bool, number: usize) -> Plant {
    Plant { name, example, sync, number }
}

const PLANTS: [Plant; 13] = [
    plant("no-sync-of-a-new-key", "keygen", true, 0),
    plant("no-sync-of-the-folder", "keygen", true, 1),
    plant("no-sync-of-a-manifest", "seal, replacing", true, 0),
    plant("no-sync-of-a-ledger", "audit --ledger --pin", true, 0),
    plant("no-sync-of-a-ledgers-name", "audit --ledger --pin", true, 1),
    plant("no-sync-of-a-pin", "audit --ledger --pin", true, 2),
    plant("no-sync-of-a-pins-name", "audit --ledger --pin, the first", true, 3),
    plant("no-sync-of-a-checkpoint", "tag --checkpoint", true, 3),
    plant("no-sync-of-node-pages", "update --patch", true, 0),
    plant("no-sync-of-a-header", "update --patch", true, 1),
    plant("no-sync-of-a-patched-file", "update --patch", true, 4),
    plant("no-write-of-a-node-page", "update --append", false, 0),
    plant("no-write-of-a-key", "keygen", false, 0),
];

/// The condition that a state must meet.
enum Rule {
    /// The file `name` is the old one or the new one. The command `read` reads it, and exits with
    /// this status for the old one.
    Whole { name: &'static str, read: Option<(Vec<&'static str>, i32)>, refuses: bool },
    /// The ledger and the pin are each the old one or the new one, and the pin has never seen a
    /// later ledger.
    Recorded(Records),
    /// The same command prints the same line again.
    Same,
    /// The file has its old or new bytes, and the sidecar matches them.
    Updated { name: &'static str, new: Vec<u8> },
}

/// The records of an audit of `m2`.
#[derive(Clone, Copy)]
struct Records {
    ledger: &'static str,
    pin: &'static str,
}

/// A command on an example.
struct Example {
    name: &'static str,
    args: Vec<&'static str>,
    rule: Rule,
}

/// A worker's folder.
struct Bench {
    place: Place,
    files: Files,
    examples: Vec<Example>,
}

/// A run of an example.
struct Recorded {
    history: History,
    /// The files at the end.
    end: Files,
    out: String,
}

fn main() -> ExitCode {
    let names = PLANTS.each_ref().map(|plant| plant.name);
    let job = match Job::from_args("crashes", &names) {
        Ok(job) => job,
        Err(code) => return code,
    };
    if let Err(error) = run(&job) {
        job.check(false, || error);
    }
    job.finish()
}

fn run(job: &Job) -> Result<(), String> {
    let command = place::command()?;
    if !trace::works(Path::new("/")) {
        return Err("programs cannot be traced on this system".into());
    }
    let plant = PLANTS.iter().find(|plant| job.planted(plant.name));
    let (next, made, ops) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), String> {
        let bench = Bench::new(&command, job.full())?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(example) = bench.examples.get(index) else { return Ok(()) };
            if plant.is_some_and(|plant| plant.example != example.name) {
                continue;
            }
            let recorded = bench.record(example, plant)?;
            // A state of the largest example takes as long as ten others.
            let large = example.name.contains("rewriting");
            let limit = job.either(16, if large { 60 } else { 800 });
            let mut random = Random::new(index as u64);
            let (crashes, tried) = recorded.history.crashes(limit, &mut random);
            made.fetch_add(tried, Ordering::Relaxed);
            ops.fetch_add(recorded.history.ops.len(), Ordering::Relaxed);
            eprintln!("crashes: {}: {} states", example.name, crashes.len());
            let mut failed = 0;
            for crash in &crashes {
                let result = bench.holds(example, &recorded, crash);
                failed += u64::from(result.is_err());
                let (right, what) = (result.is_ok(), result.err().unwrap_or_default());
                job.check(right, || {
                    let (name, after, all) =
                        (example.name, crash.after, recorded.history.ops.len());
                    let what = format!(
                        "{name}: after {after} of {all} operations, {}: {what}",
                        crash.lost
                    );
                    what.replace('\n', " | ")
                });
                // Finding a planted bug once is enough.
                if plant.is_some() && failed > 4 {
                    return Ok(());
                }
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..WORKERS).map(|_| scope.spawn(work)).collect();
        let own = work();
        let mut ended = others.into_iter().map(|other| other.join().expect("no worker panics"));
        ended.try_for_each(|ended| ended).and(own)
    })?;
    let (made, ops) = (made.into_inner(), ops.into_inner());
    job.note(&format!("{ops} operations recorded; {made} prefixes and reorderings tried; equal ones were checked once"));
    Ok(())
}

impl Bench {
    fn new(command: &Path, full: bool) -> Result<Bench, String> {
        let mut place = Place::new(command).map_err(|error| error.to_string())?;
        let mut random = Random::new(13);
        place.must(&["keygen", "-o", "k"])?;
        for (name, bytes) in [("f", 3000), ("b", 1_100_000), ("patch", 1500)] {
            place.write(name, random.bytes(bytes));
        }
        std::fs::create_dir_all(place.file("t")).map_err(|error| error.to_string())?;
        place.write("t/a", "old");
        place.must(&["seal", "-k", "k", "-o", "m", "t"])?;
        place.write("t/a", "new");
        place.must(&["seal", "-k", "k", "-o", "m2", "t"])?;
        let records = ["audit", "-k", "k", "--ledger", "led", "--pin", "pin", "m2", "t"];
        place.must(&records)?;
        // The records have seen this manifest and not the next one.
        place.write("m1", place.read("m2").ok_or("no manifest")?);
        place.must(&["seal", "-k", "k", "-o", "m2", "t"])?;
        let part =
            ["part", "-k", "k", "--object", "o", "--start", "2048", "--last", "-o", "p2", "f"];
        place.must(&part)?;
        let old = random.bytes(20_000);
        let mut patched = old.clone();
        patched[7000..8500].copy_from_slice(&place.read("patch").ok_or("no patch")?);
        let grown = [&old[..], &random.bytes(900)].concat();
        let mut changed = old.clone();
        changed[300] ^= 1;
        for name in ["s", "sa", "sr"] {
            place.write(name, &old);
            place.must(&["update", "-k", "k", "--leaf", "64", name])?;
        }
        place.write("u", &old);
        place.write("sa", &grown);
        place.write("sr", &changed);
        // The larger part of this sidecar is node pages of earlier states.
        let large = random.bytes(1_200_000);
        let mut edited = large.clone();
        if full {
            place.write("l", &large);
            place.must(&["update", "-k", "k", "l"])?;
            place.write("large", random.bytes(700_000));
            edited[..700_000].copy_from_slice(&place.read("large").ok_or("no patch")?);
        }
        place.note_modes();
        let files = place.files();
        let one = ["--num-threads", "1"];
        let update = |tail: &[&'static str]| [&["update", "-k", "k"], &one[..], tail].concat();
        let updated = |name, new: &[u8]| Rule::Updated { name, new: new.to_vec() };
        let audit = vec!["audit", "-k", "k", "m", "t"];
        let saves = ["--checkpoint", "cs", "--checkpoint-every", "1"];
        let first = ["--ledger", "led2", "--pin", "pin2", "m2", "t"];
        let whole = |name, read, refuses| Rule::Whole { name, read, refuses };
        let part = vec![
            "part", "-k", "k", "--object", "o", "--start", "0", "--length", "2048", "-o", "new",
            "f",
        ];
        let checkpoint =
            [&["tag", "-k", "k"], &one[..], &["--checkpoint", "c", "--checkpoint-every", "1", "b"]];
        let cut = &old[..12_345];
        let mut examples = vec![
            Example {
                name: "keygen",
                args: vec!["keygen", "-o", "new"],
                rule: whole("new", Some((vec!["tag", "-k", "new", "f"], 4)), true),
            },
            Example {
                name: "seal, replacing",
                args: [&["seal", "-k", "k"], &one[..], &["-o", "m", "t"]].concat(),
                rule: whole("m", Some((audit.clone(), 1)), false),
            },
            Example {
                name: "seal --since",
                args: [&["seal", "-k", "k"], &one[..], &["--since", "m", "-o", "m", "t"]].concat(),
                rule: whole("m", Some((audit.clone(), 1)), false),
            },
            Example {
                name: "seal --checkpoint",
                args: [&["seal", "-k", "k"], &one[..], &saves[..], &["-o", "m", "t"]].concat(),
                rule: whole("m", Some((audit, 1)), false),
            },
            Example {
                name: "audit --ledger --pin",
                args: [&records[..3], &one[..], &records[3..]].concat(),
                rule: Rule::Recorded(Records { ledger: "led", pin: "pin" }),
            },
            Example {
                name: "audit --ledger --pin, the first",
                args: [&records[..3], &one[..], &first[..]].concat(),
                rule: Rule::Recorded(Records { ledger: "led2", pin: "pin2" }),
            },
            Example {
                name: "audit --report --metrics",
                args: [&records[..3], &one[..], &["--report", "r", "--metrics", "x", "m2", "t"]]
                    .concat(),
                rule: whole("r", None, false),
            },
            Example {
                name: "part",
                args: part,
                rule: whole("new", Some((vec!["combine", "-k", "k", "new", "p2"], 4)), true),
            },
            Example { name: "tag --checkpoint", args: checkpoint.concat(), rule: Rule::Same },
            Example {
                name: "update, the first",
                args: update(&["--leaf", "64", "u"]),
                rule: updated("u", &old),
            },
            Example {
                name: "update --patch",
                args: update(&["--patch", "7000", "patch", "s"]),
                rule: updated("s", &patched),
            },
            Example {
                name: "update --truncate",
                args: update(&["--truncate", "12345", "s"]),
                rule: updated("s", cut),
            },
            Example {
                name: "update --append",
                args: update(&["--append", "sa"]),
                rule: updated("sa", &grown),
            },
            Example {
                name: "update --range",
                args: update(&["--range", "300:1", "sr"]),
                rule: updated("sr", &changed),
            },
        ];
        if full {
            examples.push(Example {
                name: "update --patch, rewriting the sidecar",
                args: update(&["--patch", "0", "large", "l"]),
                rule: updated("l", &edited),
            });
        }
        Ok(Bench { place, files, examples })
    }

    /// Runs an example, with an optional bug.
    fn record(&self, example: &Example, plant: Option<&Plant>) -> Result<Recorded, String> {
        let program = self.place.program(&example.args, b"");
        let run = |injection| {
            self.place.restore(&self.files);
            trace::run(&program, injection).map_err(|error| error.to_string())
        };
        let mut traced = run(None)?;
        if let Some(plant) = plant {
            let is_one = |nr| match plant.sync {
                true => [libc::SYS_fsync, libc::SYS_fdatasync].contains(&nr),
                false => calls::writes(nr),
            };
            let calls =
                traced.counted().filter(|call| call.phase == Phase::Main && is_one(call.nr));
            let number = calls.filter_map(|call| call.number).nth(plant.number);
            let number = number.ok_or("the example makes too few calls for the planted bug")?;
            traced =
                run(Some(Injection { phase: Phase::Main, number, nr: None, fault: Fault::Lie }))?;
        } else if traced.status.code() != Some(0) {
            let err = String::from_utf8_lossy(&traced.err);
            return Err(format!("{}: {}: {err}", example.name, traced.status));
        }
        let history = History::new(self.place.path(), &self.files, &traced.calls)?;
        let out = String::from_utf8_lossy(&traced.out).into_owned();
        let end = self.place.files();
        // The model must end in the same state as the system.
        if plant.is_none() && history.end() != end {
            return Err(format!("{}: the model's files differ from the real ones", example.name));
        }
        Ok(Recorded { history, end, out })
    }

    /// Checks that a state is allowed.
    fn holds(&self, example: &Example, recorded: &Recorded, crash: &Crash) -> Result<(), String> {
        let place = &self.place;
        place.restore(&recorded.history.whole(&crash.files));
        let done = recorded.history.reported(crash.after);
        match &example.rule {
            Rule::Whole { name, read, refuses } => {
                let (found, old) = (crash.files.get(*name), self.files.get(*name));
                let new = recorded.end.get(*name);
                if found != new && (done || found != old) {
                    let what = |bytes: Option<&Vec<u8>>| {
                        bytes.map_or("no file".into(), |bytes| format!("{} bytes", bytes.len()))
                    };
                    let or = if done { "".into() } else { format!(" or {}", what(old)) };
                    let (new, found) = (what(new), what(found));
                    return Err(format!("expected {new}{or} under {name}, found {found}"));
                }
                if let Some((args, status)) = read {
                    let ran = place.run(args, b"");
                    let expected = if found == new { 0 } else { *status };
                    let is_key = args.first() == Some(&"tag") && expected != 0;
                    if ran.code != Some(expected) && !(is_key && ran.code != Some(0)) {
                        return Err(format!("a reader did not exit with {expected}: {ran:?}"));
                    }
                }
                let ran = place.run(&example.args, b"");
                let expected = if *refuses && found.is_some() { 4 } else { 0 };
                if ran.code != Some(expected) {
                    return Err(format!("the next run did not exit with {expected}: {ran:?}"));
                }
            }
            Rule::Recorded(records) => self.is_recorded(example, recorded, crash, records, done)?,
            Rule::Same => {
                let ran = place.run(&example.args, b"");
                if ran.code != Some(0) || ran.out != recorded.out {
                    return Err(format!("the next run did not print the same line: {ran:?}"));
                }
            }
            Rule::Updated { name, new } => self.is_updated(example, recorded, name, new, done)?,
        }
        // The next run that writes such a file removes leftovers; an edit may not write one.
        let edited = matches!(example.rule, Rule::Updated { .. });
        match place.files().keys().find(|name| is_draft(name) && !edited) {
            Some(left) => Err(format!("the next run did not remove {left}")),
            None => Ok(()),
        }
    }

    /// Checks the ledger and the pin.
    fn is_recorded(
        &self,
        example: &Example,
        recorded: &Recorded,
        crash: &Crash,
        &Records { ledger, pin }: &Records,
        done: bool,
    ) -> Result<(), String> {
        let place = &self.place;
        let is_new = |name: &str| -> Result<bool, String> {
            let (found, new) = (crash.files.get(name), recorded.end.get(name));
            match found == new {
                false if done || found != self.files.get(name) => {
                    Err(format!("{name} is neither old nor new, or not new after success"))
                }
                is_new => Ok(is_new),
            }
        };
        let (has_ledger, has_pin) = (is_new(ledger)?, is_new(pin)?);
        if has_pin && !has_ledger {
            return Err(format!("{pin} has seen a later {ledger}"));
        }
        // An audit of the first manifest does not move a pin that has seen it.
        let audit = |manifest| {
            let kept = place.files();
            let args = ["audit", "-k", "k", "--ledger", ledger, "--pin", pin, manifest, "t"];
            let ran = place.run(&args, b"");
            place.restore(&kept);
            ran
        };
        for (manifest, expected) in [("m1", i32::from(has_pin)), ("m2", 0)] {
            let ran = audit(manifest);
            if ran.code != Some(expected) {
                return Err(format!(
                    "an audit of {manifest} did not exit with {expected}: {ran:?}"
                ));
            }
        }
        let ran = place.run(&example.args, b"");
        if ran.code != Some(0) || audit("m1").code != Some(1) {
            return Err(format!("the next run did not save {pin}: {ran:?}"));
        }
        Ok(())
    }

    /// Checks that an update finds the state before or after.
    fn is_updated(
        &self,
        example: &Example,
        recorded: &Recorded,
        name: &str,
        new: &[u8],
        done: bool,
    ) -> Result<(), String> {
        let place = &self.place;
        let ran = place.run(&["update", "-k", "k", name], b"");
        let bytes = place.read(name);
        let is_new = bytes.as_deref() == Some(new);
        let is_old = bytes.as_ref() == self.files.get(name);
        if ran.code == Some(0) && ran.out == recorded.out && is_new {
            return self.has_its_sums(name, new, &recorded.out);
        }
        if done {
            return Err(format!("the line was printed, but the state is not the new one: {ran:?}"));
        }
        // The old state: its bytes are unchanged, or the update refuses bytes that it did not
        // write.
        let old = match ran.code {
            Some(0) => is_old && ran.out != recorded.out,
            Some(1) => is_old && ran.err.contains("--append accepts the added bytes"),
            _ => false,
        };
        if !old {
            return Err(format!("the state is neither old nor new: {ran:?}"));
        }
        let ran = place.run(&example.args, b"");
        let is_new = place.read(name).as_deref() == Some(new);
        match ran.code == Some(0) && ran.out == recorded.out && is_new {
            true => self.has_its_sums(name, new, &recorded.out),
            false => Err(format!("the edit does not succeed the next time: {ran:?}")),
        }
    }

    /// Checks that all sums in the sidecar match the file: a patch with the current bytes verifies
    /// each leaf against its sum, and gives the same tag.
    fn has_its_sums(&self, name: &str, bytes: &[u8], line: &str) -> Result<(), String> {
        let ran = self.place.run(&["update", "-k", "k", "--patch", "0", "-", name], bytes);
        match ran.code == Some(0) && ran.out == line {
            true => Ok(()),
            false => Err(format!("the sums in the sidecar do not match the file: {ran:?}")),
        }
    }
}
