//! Every system call fails once.
//!
//! Each command runs on a small example under `ptrace`, and each system call that it makes is a
//! place for faults. For each call and each of EIO, ENOSPC, EINTR, EACCES, a short read or write, a
//! kill, and a kill in the midst of a write, the command runs again with just that call failing so.
//! The command is the one that users have: the fault comes from the kernel's side.
//!
//! - It exits with 0 only if all of its result is right, and still is when the power is cut at that
//!   moment: the result is checked in the folder as `disk` says that a cut leaves it at worst.
//! - Otherwise it exits with 4, or with 3 if the key cannot be read, and says why in lines that begin
//!   with `tagmac: `. What it was to replace is as it was, or whole and new; nothing else
//!   changed; no file is left over but after a kill. The same command again succeeds, and removes
//!   what a kill left.
//! - A call that a signal interrupts, and a short read or write, make no difference at all.
//! - Where the right answer is "does not match" (exit status 1), no fault makes it a 0.
//!
//! Before `main`, where the loader and the runtime work, only this is asked: never 0 with a wrong
//! result, and no file changed.
//!
//! What this cannot show: two faults in one run; calls that the examples do not make; a kernel that
//! reports success for what it lost.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use assure::process::disk::{Files, History};
use assure::process::place::{self, Place, is_draft};
use assure::process::trace::{self, Call, Fault, Injection, Phase, Trace};
use assure::{Job, Random};

/// Pairs of the quick run.
const QUICK: usize = 320;
/// Workers: each has a folder of its own.
const WORKERS: usize = 2;

/// Bugs that can be planted: each is what a command would do that takes less care.
const PLANTED: [&str; 8] = [
    "all-errors-ignored",
    "write-error-ignored",
    "sync-error-ignored",
    "short-write-taken-for-whole",
    "interrupted-call-given-up",
    "half-a-file-left",
    "no-message",
    "mismatch-passes",
];

/// What shows that a result is right.
#[derive(Clone, Debug)]
enum Proof {
    /// Standard output.
    Output,
    /// The key file `new` tags.
    Key,
    /// The manifest agrees with the folder `t`.
    Manifest(&'static str),
    /// The partial `new` and `p2` make the tag of `f`.
    Partial,
    /// The file has the bytes that it has without a fault.
    SameBytes(&'static str),
    /// The report has the lines that it has without a fault, or says what could not be read.
    Report(&'static str),
    /// The file has these bytes, and its sidecar follows them.
    Updated(&'static str, Vec<u8>),
}

/// A command on an example.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    args: Vec<&'static str>,
    stdin: Vec<u8>,
    /// The right exit status.
    expect: i32,
    /// Files that it may make or change.
    makes: Vec<&'static str>,
    /// It refuses to replace a file.
    refuses: bool,
    proof: Proof,
    /// What succeeds after it, if not the same again.
    again: Option<Vec<&'static str>>,
    /// Its calls are in no fixed order.
    threads: bool,
}

impl Case {
    fn new(name: &'static str, args: &[&'static str]) -> Case {
        Case {
            name,
            args: args.to_vec(),
            stdin: Vec::new(),
            expect: 0,
            makes: Vec::new(),
            refuses: false,
            proof: Proof::Output,
            again: None,
            threads: false,
        }
    }

    fn proof(self, proof: Proof, makes: &[&'static str]) -> Case {
        Case { proof, makes: makes.to_vec(), ..self }
    }

    fn refuses(self) -> Case {
        Case { refuses: true, ..self }
    }

    fn expect(self, expect: i32) -> Case {
        Case { expect, ..self }
    }

    fn again(self, again: &[&'static str]) -> Case {
        Case { again: Some(again.to_vec()), ..self }
    }
}

/// A run without faults, and what it gave.
struct Baseline {
    trace: Trace,
    out: String,
    /// The files of which a proof compares the bytes.
    made: Files,
}

/// A worker's folder with the examples.
struct Bench {
    place: Place,
    files: Files,
    cases: Vec<Case>,
    /// The line of `combine`.
    line: String,
    /// The line of `tag` for each file with a sidecar, as it is to be.
    lines: BTreeMap<&'static str, String>,
}

/// A fault in a case.
#[derive(Clone, Debug)]
struct Pair {
    case: usize,
    phase: Phase,
    number: usize,
    /// The call that is there without faults.
    nr: i64,
    fault: Fault,
}

fn main() -> ExitCode {
    let job = match Job::from_args("faults", &PLANTED) {
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
        return Err("expected a system that lets programs be traced".into());
    }
    let planted = PLANTED.into_iter().find(|name| job.planted(name));
    let first = Bench::new(&command, job.full())?;
    let (mut pairs, mut calls) = (Vec::new(), 0);
    for (index, case) in first.cases.iter().enumerate() {
        let baseline = first.baseline(case)?;
        calls += baseline.trace.counted().count();
        let mut of_case = pairs_of(index, &baseline.trace);
        if case.name == "selftest" {
            // It takes a second, and its only calls on files are writes.
            of_case.retain(|pair| trace::writes(pair.nr));
            of_case = spread(of_case, 20);
        }
        if case.threads {
            // Of these the order is not known, and glibc ends a process that cannot start a thread.
            let starts = [libc::SYS_futex, libc::SYS_clone3, libc::SYS_clone];
            of_case.retain(|pair| !is_of_the_runtime(pair.nr) && !starts.contains(&pair.nr));
        }
        if case.name.starts_with("bounds --plot") {
            // To draw takes ten times as long as all that the others do.
            of_case = spread(of_case, 150);
        }
        pairs.extend(of_case);
    }
    let (all, examples) = (pairs.len(), first.cases.len());
    if let Some(planted) = planted {
        pairs.retain(|pair| {
            let case = &first.cases[pair.case];
            pair.phase == Phase::Main && !case.threads && concerns(planted, pair, case.expect)
        });
    }
    if !job.full() {
        pairs = spread(pairs, QUICK);
    }
    job.note(&format!(
        "{examples} examples make {calls} system calls that can fail, which are {all} pairs of a call and a fault"
    ));
    let (failures, drifted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |worker: usize, bench: Bench| -> Result<(), String> {
        let mut baselines: BTreeMap<usize, Baseline> = BTreeMap::new();
        for (done, pair) in pairs.iter().enumerate().skip(worker).step_by(WORKERS) {
            // A planted bug is to be found once.
            if planted.is_some() && failures.load(Ordering::Relaxed) > 4 {
                break;
            }
            if done % 1000 < WORKERS {
                eprintln!("faults: {done} of {} pairs", pairs.len());
            }
            let case = &bench.cases[pair.case];
            let baseline = match baselines.entry(pair.case) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(bench.baseline(case)?),
            };
            let (result, drift) = bench.pair(case, baseline, pair, planted);
            drifted.fetch_add(drift.into(), Ordering::Relaxed);
            failures.fetch_add(result.is_err().into(), Ordering::Relaxed);
            let (right, what) = (result.is_ok(), result.err().unwrap_or_default());
            let what = what.replace('\n', " | ");
            if !right {
                eprintln!("faults: {what}");
            }
            job.check(right, || what);
        }
        Ok(())
    };
    let (command, full, work) = (&command, job.full(), &work);
    thread::scope(|scope| {
        let other = scope.spawn(move || work(1, Bench::new(command, full)?));
        let own = work(0, first);
        other.join().expect("the worker does not panic").and(own)
    })?;
    let drifted = drifted.into_inner();
    if drifted > 0 {
        job.note(&format!("{drifted} faults were not met: threads make calls in any order"));
    }
    Ok(())
}

/// A fixed choice, spread evenly.
fn spread<T>(all: Vec<T>, count: usize) -> Vec<T> {
    let total = all.len().max(1);
    let mut last = usize::MAX;
    let keep = |(index, item): (usize, T)| {
        let place = index * count / total;
        let first = place != last;
        last = place;
        first.then_some(item)
    };
    all.into_iter().enumerate().filter_map(keep).collect()
}

/// The faults that a call can have.
fn pairs_of(case: usize, trace: &Trace) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for call in trace.counted() {
        // The loader does the same in each.
        if call.phase == Phase::Startup && case > 1 {
            continue;
        }
        let errors = [libc::EIO, libc::ENOSPC, libc::EINTR, libc::EACCES].map(Fault::Error);
        let mut faults = match call.nr {
            // Its answer has no number.
            libc::SYS_brk => vec![Fault::Error(libc::ENOMEM), Fault::Kill],
            _ => [&errors[..], &[Fault::Kill]].concat(),
        };
        let some = trace::count_argument(call.nr).is_some_and(|count| call.args[count] > 1);
        if some {
            faults.push(Fault::Short);
            if trace::writes(call.nr) {
                faults.push(Fault::Tear);
            }
        }
        let number = call.number.expect("it is counted");
        let (phase, nr) = (call.phase, call.nr);
        pairs.extend(faults.into_iter().map(|fault| Pair { case, phase, number, nr, fault }));
    }
    pairs
}

/// Whether a signal may interrupt this call, and the caller then has to make it again. Locks are not
/// among them: the command waits for none.
fn is_interruptible(nr: i64) -> bool {
    [
        libc::SYS_read,
        libc::SYS_pread64,
        libc::SYS_write,
        libc::SYS_pwrite64,
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_fsync,
        libc::SYS_fdatasync,
        libc::SYS_ftruncate,
        libc::SYS_getrandom,
        libc::SYS_wait4,
        libc::SYS_waitid,
        libc::SYS_futex,
        libc::SYS_close,
    ]
    .contains(&nr)
}

fn is_sync(nr: i64) -> bool {
    [libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs].contains(&nr)
}

fn is_of_the_runtime(nr: i64) -> bool {
    [
        libc::SYS_mmap,
        libc::SYS_brk,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        // What a new thread needs.
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_rt_sigprocmask,
        libc::SYS_sigaltstack,
    ]
    .contains(&nr)
}

/// Whether a planted bug can show at a pair.
fn concerns(planted: &str, pair: &Pair, expect: i32) -> bool {
    let fails = matches!(pair.fault, Fault::Error(libc::EIO));
    match planted {
        "write-error-ignored" => fails && trace::writes(pair.nr),
        "sync-error-ignored" => fails && is_sync(pair.nr),
        "short-write-taken-for-whole" => pair.fault == Fault::Short && trace::writes(pair.nr),
        "interrupted-call-given-up" => {
            pair.fault == Fault::Error(libc::EINTR) && pair.nr == libc::SYS_pread64
        }
        "mismatch-passes" => expect == 1,
        _ => fails && expect == 0,
    }
}

/// The fault that a pair has with a planted bug.
fn with_bug(planted: Option<&str>, fault: Fault) -> Fault {
    match planted {
        Some("write-error-ignored" | "sync-error-ignored") => Fault::Lie,
        Some("short-write-taken-for-whole") => Fault::ShortLie,
        Some("interrupted-call-given-up") => Fault::Error(libc::EIO),
        _ => fault,
    }
}

/// A line of shell around the command that has the planted bug.
fn wrapper(planted: Option<&str>) -> Option<&'static str> {
    match planted? {
        "all-errors-ignored" => Some("\"$0\" \"$@\" || :"),
        "half-a-file-left" => {
            Some("\"$0\" \"$@\"; code=$?; if [ $code != 0 ]; then echo half > new; fi; exit $code")
        }
        "no-message" => Some("\"$0\" \"$@\" 2> /dev/null"),
        "mismatch-passes" => {
            Some("\"$0\" \"$@\"; code=$?; if [ $code = 1 ]; then code=0; fi; exit $code")
        }
        _ => None,
    }
}

impl Bench {
    fn new(command: &Path, full: bool) -> Result<Bench, String> {
        let mut place = Place::new(command).map_err(|error| error.to_string())?;
        let mut random = Random::new(11);
        place.must(&["keygen", "-o", "k"])?;
        for (name, bytes) in [("f", 3000), ("g", 700), ("b", 1_100_000), ("patch", 1500)] {
            place.write(name, random.bytes(bytes));
        }
        std::fs::create_dir_all(place.file("t/sub")).map_err(|error| error.to_string())?;
        place.write("t/a", "another text");
        place.write("t/sub/c", random.bytes(300));
        std::os::unix::fs::symlink("a", place.file("t/link")).map_err(|error| error.to_string())?;
        place.must(&["seal", "-k", "k", "-o", "mbad", "t"])?;
        place.write("t/a", random.bytes(500));
        place.must(&["seal", "-k", "k", "-o", "m", "t"])?;
        let list = place.must(&["tag", "-k", "k", "f", "g"])?;
        place.write("list", &list);
        // The last digit but one of the last line.
        let mut bad = list.into_bytes();
        let digit = bad.len() - 3;
        bad[digit] = if bad[digit] == b'0' { b'1' } else { b'0' };
        place.write("listbad", bad);
        let part = ["part", "-k", "k", "--object", "o", "--start"];
        place.must(&[&part[..], &["0", "--length", "2048", "-o", "p1", "f"]].concat())?;
        place.must(&[&part[..], &["2048", "--last", "-o", "p2", "f"]].concat())?;
        let mut bad = place.read("p2").ok_or("no partial")?;
        *bad.last_mut().ok_or("an empty partial")? ^= 1;
        place.write("pbad", bad);
        place.must(&["bounds", "--plot", "plot.svg"])?;
        // Files with sidecars, each before an edit, and what they have after it.
        let old = random.bytes(8000);
        let patch = place.read("patch").ok_or("no patch")?;
        let mut patched = old.clone();
        patched[1000..2500].copy_from_slice(&patch);
        let grown = [&old[..], &random.bytes(900)].concat();
        let mut changed = old.clone();
        changed[300] ^= 1;
        for name in ["s", "sa", "sr", "sp"] {
            place.write(name, &old);
            place.must(&["update", "-k", "k", "--leaf", "64", name])?;
        }
        place.write("u", &old);
        place.write("sa", &grown);
        place.write("sr", &changed);
        let edit = ["update", "-k", "k", "--patch", "1000", "patch", "sp"];
        let kept = place.files();
        let traced = trace::run(&place.program(&edit, b""), None).map_err(|e| e.to_string())?;
        place.restore(&kept);
        // The write to the file itself: after it come the header's two copies.
        let writes = traced.counted().filter(|call| call.nr == libc::SYS_pwrite64);
        let number = writes.rev_nth(2).ok_or("no write to the file")?;
        let injection = Injection { phase: Phase::Main, number, nr: None, fault: Fault::Tear };
        trace::run(&place.program(&edit, b""), Some(injection)).map_err(|e| e.to_string())?;
        // An interrupted run's checkpoint, half-way.
        let tag = ["tag", "-k", "k", "--num-threads", "1", "--checkpoint", "half"];
        let tag = [&tag[..], &["--checkpoint-every", "1", "b"]].concat();
        let traced = trace::run(&place.program(&tag, b""), None).map_err(|e| e.to_string())?;
        let removal = traced.counted().filter(|call| call.nr == libc::SYS_unlink);
        let number = removal.rev_nth(0).ok_or("the checkpoint is not removed")?;
        let injection = Injection { phase: Phase::Main, number, nr: None, fault: Fault::Kill };
        trace::run(&place.program(&tag, b""), Some(injection)).map_err(|e| e.to_string())?;
        if place.read("half").is_none() {
            return Err("no checkpoint is left".into());
        }
        let line = place.must(&["combine", "-k", "k", "p1", "p2"])?;
        let mut lines = BTreeMap::new();
        let texts =
            [("s", &patched), ("sa", &grown), ("sr", &changed), ("sp", &patched), ("u", &old)];
        place.note_modes();
        let files = place.files();
        for (name, bytes) in texts {
            place.write(name, bytes);
            lines.insert(name, place.must(&["tag", "-k", "k", name])?);
        }
        place.write("sp", &old);
        lines.insert("sp undone", place.must(&["tag", "-k", "k", "sp"])?);
        place.write("s", &old[..4321]);
        lines.insert("s cut", place.must(&["tag", "-k", "k", "s"])?);
        place.restore(&files);
        let cut = old[..4321].to_vec();
        let mut cases = cases(&place, patched, cut, grown, changed, old);
        // They compute for long, and write no other way than the others do.
        let slow = ["selftest", "bounds --plot"];
        cases.retain(|case| full || !slow.contains(&case.name));
        Ok(Bench { place, files, cases, line, lines })
    }

    /// A run without faults, which has to be right, also if the power is cut after it.
    fn baseline(&self, case: &Case) -> Result<Baseline, String> {
        self.place.restore(&self.files);
        let program = self.place.program(&case.args, &case.stdin);
        let trace = trace::run(&program, None).map_err(|error| error.to_string())?;
        let out = String::from_utf8_lossy(&trace.out).into_owned();
        if trace.status.code() != Some(case.expect) {
            let err = String::from_utf8_lossy(&trace.err);
            return Err(format!("{}: without faults: {}: {out} {err}", case.name, trace.status));
        }
        let made = match case.proof {
            Proof::SameBytes(name) | Proof::Report(name) => {
                self.place.read(name).map(|bytes| (name.to_string(), bytes)).into_iter().collect()
            }
            _ => Files::new(),
        };
        let baseline = Baseline { trace, out, made };
        let history = History::new(self.place.path(), &self.files, &baseline.trace.calls)?;
        self.place.restore(&history.power_cut());
        self.is_right(case, &baseline, &baseline.out).map_err(|what| {
            format!("{}: without faults, after the power is cut: {what}", case.name)
        })?;
        Ok(baseline)
    }

    /// Whether the folder and the output are what the command is to make.
    fn is_right(&self, case: &Case, baseline: &Baseline, out: &str) -> Result<(), String> {
        let place = &self.place;
        let prints = |out: &str, expected: &str| match out == expected {
            true => Ok(()),
            false => Err(format!("expected the output {expected:?}, found {out:?}")),
        };
        match &case.proof {
            Proof::Output => {}
            Proof::Key => {
                if out.lines().count() != 1 {
                    return Err(format!("expected a line with the key's id, found {out:?}"));
                }
                place.must(&["tag", "-k", "new", "g"])?;
                return Ok(());
            }
            Proof::Manifest(name) => {
                place.must(&["audit", "-k", "k", name, "t"])?;
            }
            Proof::Partial => {
                prints(&place.must(&["combine", "-k", "k", "new", "p2"])?, &self.line)?
            }
            Proof::SameBytes(name) | Proof::Report(name) => {
                if place.read(name).as_ref() != baseline.made.get(*name) {
                    return Err(format!("{name} has other bytes than without a fault"));
                }
            }
            Proof::Updated(name, bytes) => {
                if place.read(name).as_ref() != Some(bytes) {
                    return Err(format!("{name} does not have the bytes that it is to have"));
                }
                let key = match case.name {
                    "update --truncate" => "s cut",
                    "update --undo" => "sp undone",
                    _ => name,
                };
                let line = self.lines.get(key).expect("each has one");
                prints(&place.must(&["update", "-k", "k", name])?, line)?;
                // A patch with the bytes that are there holds each leaf against its sum.
                let ran = place.run(&["update", "-k", "k", "--patch", "0", "-", name], bytes);
                if ran.code != Some(0) || ran.out != *line {
                    return Err(format!(
                        "expected the sums of {name} in its sidecar, found {ran:?}"
                    ));
                }
            }
        }
        prints(out, &baseline.out)
    }

    /// Runs a pair and holds it against the law; and whether it met another call than planned.
    fn pair(
        &self,
        case: &Case,
        baseline: &Baseline,
        pair: &Pair,
        planted: Option<&str>,
    ) -> (Result<(), String>, bool) {
        self.place.restore(&self.files);
        let mut program = self.place.program(&case.args, &case.stdin);
        if let Some(script) = wrapper(planted) {
            let command = program.path.into_os_string();
            let args = [["-c".into(), script.into(), command].as_slice(), &program.args].concat();
            (program.path, program.args) = ("/bin/sh".into(), args);
        }
        let (phase, number) = (pair.phase, pair.number);
        let nr = case.threads.then_some(pair.nr);
        let injection = Injection { phase, number, nr, fault: with_bug(planted, pair.fault) };
        let trace = match trace::run(&program, Some(injection)) {
            Ok(trace) => trace,
            Err(error) => return (Err(format!("{}: {error}", case.name)), false),
        };
        let faulty = trace.faulty().cloned();
        let drifted = faulty.as_ref().is_none_or(|call| call.nr != pair.nr);
        let result = self.law(case, baseline, pair, &trace, faulty.as_ref());
        let named = |what| {
            let fault = match pair.fault {
                Fault::Error(libc::EIO) => "EIO".into(),
                Fault::Error(libc::ENOSPC) => "ENOSPC".into(),
                Fault::Error(libc::EINTR) => "EINTR".into(),
                Fault::Error(libc::EACCES) => "EACCES".into(),
                Fault::Error(libc::ENOMEM) => "ENOMEM".into(),
                other => format!("{other:?}"),
            };
            let call = faulty.as_ref().map_or("no call".into(), |call| {
                let names: Vec<_> =
                    call.names.iter().map(|name| String::from_utf8_lossy(name)).collect();
                format!("{}{:x?}{names:?}", call.name(), &call.args[..3])
            });
            let (err, status) = (String::from_utf8_lossy(&trace.err), trace.status);
            let (name, args) = (case.name, case.args.join(" "));
            format!(
                "{name} ({args}), {phase:?} call {number}, {call}, {fault}: {what}; {status}, said \
                 {err:?}"
            )
        };
        (result.map_err(named), drifted)
    }

    fn law(
        &self,
        case: &Case,
        baseline: &Baseline,
        pair: &Pair,
        trace: &Trace,
        faulty: Option<&Call>,
    ) -> Result<(), String> {
        if trace.hung {
            return Err("expected an end, found none".into());
        }
        let Some(faulty) = faulty else {
            // With threads there may be fewer calls than before.
            return match case.threads {
                true => Ok(()),
                false => Err("expected the call with the fault, found fewer calls".into()),
            };
        };
        let out = String::from_utf8_lossy(&trace.out).into_owned();
        let code = trace.status.code();
        let killed = trace.status.signal() == Some(libc::SIGKILL) || code == Some(137);
        let is_main = pair.phase == Phase::Main;
        let mends = match pair.fault {
            Fault::Short => true,
            Fault::Error(libc::EINTR) => is_interruptible(faulty.nr),
            _ => false,
        };
        if mends && is_main && code != Some(case.expect) {
            return Err(format!("expected status {} all the same", case.expect));
        }
        if code == Some(case.expect) {
            if case.expect == 0 || mends {
                let history = History::new(self.place.path(), &self.files, &trace.calls)?;
                self.place.restore(&history.power_cut());
                return self.is_right(case, baseline, &out);
            }
            return Ok(());
        }
        // From here on it failed, and has to say so.
        if code == Some(0) {
            return Err(format!("expected status {} or an error, found success", case.expect));
        }
        match pair.fault {
            Fault::Kill | Fault::Tear if !killed => {
                return Err("expected a run that was killed".into());
            }
            Fault::Kill | Fault::Tear => {}
            _ if is_main => self.says(case, baseline, trace, faulty, &out)?,
            _ => {}
        }
        self.is_whole(case, baseline, killed, faulty)
    }

    /// What is said of an error.
    fn says(
        &self,
        case: &Case,
        baseline: &Baseline,
        trace: &Trace,
        faulty: &Call,
        out: &str,
    ) -> Result<(), String> {
        let err = String::from_utf8_lossy(&trace.err);
        let code = trace.status.code();
        let memory = is_of_the_runtime(faulty.nr);
        let allowed = match code {
            Some(3 | 4) => true,
            // A verdict that there is, beside what could not be read.
            Some(1) => case.expect == 1,
            // Without memory the runtime ends by this signal where its handler could not be set.
            None => trace.status.signal() == Some(libc::SIGABRT) && memory,
            _ => false,
        };
        if !allowed {
            return Err("expected status 3 or 4".into());
        }
        let told = faulty.nr == libc::SYS_write && faulty.args[0] == 2;
        let is_line = |line: &str| {
            let own = line.starts_with("tagmac: ") && !line.contains("internal error");
            own || memory && !line.is_empty()
        };
        if !told && (err.is_empty() || !err.lines().all(is_line)) {
            return Err("expected lines that begin with 'tagmac: ' and say what failed".into());
        }
        // What was told before is right. The last line may be cut off.
        if matches!(case.proof, Proof::Output) {
            let whole = out.rfind('\n').map_or("", |end| &out[..end]);
            let known = |line: &&str| {
                baseline.out.lines().any(|right| right == *line)
                    || line.contains("FAILED open or read")
                    || line.contains("unreadable")
            };
            if let Some(line) = whole.lines().find(|line| !known(line)) {
                return Err(format!("expected no line but right ones, found {line:?}"));
            }
        }
        Ok(())
    }

    /// After a failure the files are as before, or the new one is whole; and the next run succeeds.
    fn is_whole(
        &self,
        case: &Case,
        baseline: &Baseline,
        killed: bool,
        faulty: &Call,
    ) -> Result<(), String> {
        let place = &self.place;
        let now = place.files();
        let removal = [libc::SYS_unlink, libc::SYS_unlinkat].contains(&faulty.nr);
        for name in now.keys().chain(self.files.keys()) {
            if case.makes.contains(&&**name) {
                continue;
            }
            match (self.files.get(name), now.get(name)) {
                (before, after) if before == after => {}
                (None, Some(_)) if is_draft(name) && (killed || removal) => {}
                (None, Some(_)) => return Err(format!("expected no file {name}, found one")),
                (Some(_), None) => return Err(format!("expected the file {name}, found none")),
                _ => return Err(format!("expected {name} as it was, found it changed")),
            }
        }
        // In place of the old file there is the old one or a new one that is whole.
        let in_place = matches!(case.proof, Proof::Updated(..));
        let mut made = false;
        if !in_place {
            for name in &case.makes {
                made |= now.get(*name) != self.files.get(*name);
            }
        }
        if let (Proof::Report(name), true) = (&case.proof, made) {
            let lines = |bytes: Option<&Vec<u8>>| {
                let text = String::from_utf8_lossy(bytes.map_or(b"", |bytes| bytes)).into_owned();
                text.lines().map(String::from).collect::<Vec<_>>()
            };
            let (found, right) = (lines(now.get(*name)), lines(baseline.made.get(*name)));
            let fits = |line: &String| right.contains(line) || line.starts_with("! ");
            let has = |name: &String| found.iter().any(|line| line.get(2..) == name.get(2..));
            if !found.iter().all(fits) || !right.iter().all(has) {
                return Err(format!("half a result: {name} has {found:?}"));
            }
        } else if made && case.proof_is_of_files() {
            let out = match case.proof {
                Proof::Key => "id\n",
                _ => &baseline.out,
            };
            self.is_right(case, baseline, out).map_err(|what| format!("half a result: {what}"))?;
        }
        // The next run.
        if case.refuses && made {
            let ran = place.run(&case.args, &case.stdin);
            let refusals = ["found one that exists", "found something else"];
            let refused = refusals.iter().any(|text| ran.err.contains(text));
            if ran.code != Some(4) || !refused {
                let what = "expected the next run to find the new file";
                return Err(format!("{what}, found {:?}: {}", ran.code, ran.err));
            }
            for name in &case.makes {
                let _ = std::fs::remove_file(place.file(name));
            }
        }
        let args = case.again.as_ref().unwrap_or(&case.args);
        let ran = place.run(args, &case.stdin);
        let is_done =
            case.name == "update --undo" && ran.err.contains("interrupted edit, found none");
        if ran.code != Some(case.expect) && !is_done {
            let found = (ran.code, ran.err);
            return Err(format!("expected the next run to give {}, found {found:?}", case.expect));
        }
        if let Some(left) = place.files().keys().find(|name| is_draft(name)) {
            return Err(format!("expected the next run to remove {left}, found it"));
        }
        let out = if case.again.is_some() || is_done { &baseline.out } else { &ran.out };
        self.is_right(case, baseline, out).map_err(|what| format!("the next run: {what}"))
    }
}

impl Case {
    /// Whether a file alone shows if it is right.
    fn proof_is_of_files(&self) -> bool {
        !matches!(self.proof, Proof::Output)
    }
}

/// The number of the n-th call from the end.
trait FromTheEnd {
    fn rev_nth(self, n: usize) -> Option<usize>;
}

impl<'a, I: Iterator<Item = &'a Call>> FromTheEnd for I {
    fn rev_nth(self, n: usize) -> Option<usize> {
        let numbers: Vec<_> = self.filter_map(|call| call.number).collect();
        numbers.len().checked_sub(n + 1).map(|index| numbers[index])
    }
}

/// The commands and their examples.
fn cases(
    place: &Place,
    patched: Vec<u8>,
    cut: Vec<u8>,
    grown: Vec<u8>,
    changed: Vec<u8>,
    old: Vec<u8>,
) -> Vec<Case> {
    let read = |name| place.read(name).unwrap_or_default();
    let one = ["--num-threads", "1"];
    let with = |head: &[&'static str], tail: &[&'static str]| [head, &one, tail].concat();
    let tag = |tail: &[&'static str]| with(&["tag", "-k", "k"], tail);
    let check = |tail: &[&'static str]| with(&["check", "-k", "k"], tail);
    let update = |tail: &[&'static str]| with(&["update", "-k", "k"], tail);
    let part = |tail: &[&'static str]| with(&["part", "-k", "k", "--object", "o"], tail);
    let range = ["--start", "0", "--length", "2048", "-o", "new"];
    let undone = old.clone();
    vec![
        Case::new("tag", &tag(&["f", "g"])),
        Case::new("keygen", &["keygen", "-o", "new"]).proof(Proof::Key, &["new"]).refuses(),
        Case::new("tag -r", &tag(&["-r", "t"])),
        Case::new("tag --json", &tag(&["--json", "f"])),
        Case::new("tag --raw", &tag(&["--raw", "f"])),
        Case { stdin: read("f"), ..Case::new("tag -", &tag(&["-"])) },
        Case { stdin: read("k"), ..Case::new("tag --key-fd", &["tag", "--key-fd", "0", "f"]) },
        Case::new("tag --key-cmd", &["tag", "--key-cmd", "cat k", "f"]),
        Case::new(
            "tag --checkpoint",
            &tag(&["--checkpoint", "new", "--checkpoint-every", "1", "b"]),
        )
        .proof(Proof::Output, &["new"]),
        Case::new(
            "tag --checkpoint, resumed",
            &tag(&["--checkpoint", "half", "--checkpoint-every", "1", "b"]),
        )
        .proof(Proof::Output, &["half"]),
        Case::new("check", &check(&["list"])),
        Case { stdin: read("list"), ..Case::new("check -", &check(&["--json", "-"])) },
        Case::new("check, a wrong tag", &check(&["listbad"])).expect(1),
        Case::new("seal", &with(&["seal", "-k", "k", "-o", "new"], &["t"]))
            .proof(Proof::Manifest("new"), &["new"]),
        Case::new("seal, replacing", &with(&["seal", "-k", "k", "-o", "mbad"], &["--mtime", "t"]))
            .proof(Proof::Manifest("mbad"), &["mbad"]),
        Case::new("audit", &with(&["audit", "-k", "k"], &["m", "t"])),
        Case::new(
            "audit --combined",
            &with(&["audit", "-k", "k", "--combined", "new"], &["m", "t"]),
        )
        .proof(Proof::Report("new"), &["new"])
        .refuses(),
        Case::new("audit, a changed file", &with(&["audit", "-k", "k"], &["mbad", "t"])).expect(1),
        Case::new("part", &part(&[&range[..], &["f"]].concat()))
            .proof(Proof::Partial, &["new"])
            .refuses(),
        Case {
            stdin: read("f"),
            ..Case::new("part -", &part(&[&range[..], &["-"]].concat()))
                .proof(Proof::Partial, &["new"])
                .refuses()
        },
        Case::new("combine", &["combine", "-k", "k", "p1", "p2"]),
        Case::new("combine, a damaged partial", &["combine", "-k", "k", "p1", "pbad"]).expect(1),
        Case::new("update, the first", &update(&["--leaf", "64", "u"]))
            .proof(Proof::Updated("u", old), &["u.tagmac"])
            .again(&["update", "-k", "k", "u"]),
        Case::new("update --patch", &update(&["--patch", "1000", "patch", "s"]))
            .proof(Proof::Updated("s", patched.clone()), &["s", "s.tagmac"]),
        Case::new("update --truncate", &update(&["--truncate", "4321", "s"]))
            .proof(Proof::Updated("s", cut), &["s", "s.tagmac"]),
        Case::new("update --append", &update(&["--append", "sa"]))
            .proof(Proof::Updated("sa", grown), &["sa.tagmac"]),
        Case::new("update --range", &update(&["--range", "300:1", "sr"]))
            .proof(Proof::Updated("sr", changed), &["sr.tagmac"]),
        Case::new("update, after a kill", &update(&["sp"]))
            .proof(Proof::Updated("sp", patched.clone()), &["sp", "sp.tagmac"]),
        Case::new("update --finish", &update(&["--finish", "sp"]))
            .proof(Proof::Updated("sp", patched), &["sp", "sp.tagmac"])
            .again(&["update", "-k", "k", "sp"]),
        Case::new("update --undo", &update(&["--undo", "sp"]))
            .proof(Proof::Updated("sp", undone), &["sp", "sp.tagmac"])
            .again(&["update", "-k", "k", "--undo", "sp"]),
        Case::new("bounds --plot", &["bounds", "--plot", "new.svg"])
            .proof(Proof::SameBytes("new.svg"), &["new.svg"]),
        Case::new("bounds --plot, replacing", &["bounds", "--plot", "plot.svg"])
            .proof(Proof::SameBytes("plot.svg"), &["plot.svg"]),
        Case::new("bounds", &["bounds", "-a", "PMAC-AES128"]),
        Case::new("list", &["list"]),
        Case::new("selftest", &["selftest"]),
        Case::new("man", &["man", "tag"]),
        Case::new("completions", &["completions", "bash"]),
        Case {
            threads: true,
            ..Case::new("tag, three threads", &["tag", "-k", "k", "--num-threads", "3", "b"])
        },
        Case {
            threads: true,
            ..Case::new(
                "seal, three threads",
                &["seal", "-k", "k", "--num-threads", "3", "-o", "new", "t"],
            )
            .proof(Proof::Manifest("new"), &["new"])
        },
        Case {
            threads: true,
            ..Case::new("check, three threads", &["check", "-k", "k", "--num-threads", "3", "list"])
        },
    ]
}
