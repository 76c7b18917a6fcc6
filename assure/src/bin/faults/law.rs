//! Checks a run with a fault against the law, see the top of this program.

use std::os::unix::process::ExitStatusExt;

use assure::process::calls::{is_interruptible, is_of_the_runtime};
use assure::process::history::History;
use assure::process::place::is_draft;
use assure::process::trace::{self, Call, Fault, Injection, Phase, Trace};

use super::case::{Case, Proof};
use super::examples::Bench;
use super::pairs::Pair;
use super::planted::{kept, with_bug, wrapper};
use super::right::Baseline;

impl Bench {
    /// Runs a pair and checks it against the law. Returns also whether the fault hit another call
    /// than planned.
    pub fn pair(
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
        let faulty = trace.faulty();
        let drifted = faulty.is_none_or(|call| call.nr != pair.nr);
        let out = String::from_utf8_lossy(&trace.out).into_owned();
        let kept = kept(planted);
        let attempt = Attempt { bench: self, case, baseline, pair, kept, trace: &trace, out };
        let result = match faulty {
            Some(faulty) => attempt.law(faulty),
            // With threads there may be fewer calls than before.
            None if case.threads || trace.hung => attempt.ends(),
            None => Err("the run ended before the call with the fault".into()),
        };
        (result.map_err(|what| attempt.named(faulty, &what)), drifted)
    }
}

/// A run with a fault.
struct Attempt<'a> {
    bench: &'a Bench,
    case: &'a Case,
    baseline: &'a Baseline,
    pair: &'a Pair,
    /// The file that the planted bug does not save.
    kept: Option<&'static str>,
    trace: &'a Trace,
    out: String,
}

impl Attempt<'_> {
    fn named(&self, faulty: Option<&Call>, what: &str) -> String {
        let (case, trace) = (self.case, self.trace);
        let Pair { phase, number, fault, .. } = self.pair;
        let fault = match fault {
            Fault::Error(libc::EIO) => "EIO".into(),
            Fault::Error(libc::ENOSPC) => "ENOSPC".into(),
            Fault::Error(libc::EINTR) => "EINTR".into(),
            Fault::Error(libc::EACCES) => "EACCES".into(),
            Fault::Error(libc::ENOMEM) => "ENOMEM".into(),
            other => format!("{other:?}"),
        };
        let call = faulty.map_or("no call".into(), |call| {
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
    }

    fn ends(&self) -> Result<(), String> {
        if self.trace.hung { Err("it did not end".into()) } else { Ok(()) }
    }

    fn law(&self, faulty: &Call) -> Result<(), String> {
        self.ends()?;
        let (case, status) = (self.case, self.trace.status);
        let code = status.code();
        let killed = status.signal() == Some(libc::SIGKILL) || code == Some(137);
        let is_main = self.pair.phase == Phase::Main;
        let mends = match self.pair.fault {
            Fault::Short => true,
            Fault::Error(libc::EINTR) => is_interruptible(faulty.nr),
            _ => false,
        };
        if mends && is_main && code != Some(case.expect) {
            return Err(format!("expected status {} despite the fault", case.expect));
        }
        if code == Some(case.expect) {
            if case.expect == 0 || mends {
                let (bench, calls) = (self.bench, &self.trace.calls);
                let history = History::new(bench.place.path(), &bench.files, calls)?;
                let mut left = history.power_cut();
                if let Some((name, old)) =
                    self.kept.and_then(|kept| bench.files.get_key_value(kept))
                {
                    left.insert(name.clone(), old.clone());
                }
                bench.place.restore(&left);
                return bench.is_right(case, self.baseline, &self.out);
            }
            return Ok(());
        }
        // From here on the command failed, and must report it.
        if code == Some(0) {
            return Err(format!("expected status {} or an error, found success", case.expect));
        }
        match self.pair.fault {
            Fault::Kill | Fault::Tear if !killed => {
                return Err("the run was not killed".into());
            }
            Fault::Kill | Fault::Tear => {}
            _ if is_main => self.says(faulty)?,
            _ => {}
        }
        let removal = [libc::SYS_unlink, libc::SYS_unlinkat].contains(&faulty.nr);
        self.others_stay(killed || removal)?;
        let made = self.makes_all_or_nothing()?;
        self.next_run(made)
    }

    /// Checks the report of an error.
    fn says(&self, faulty: &Call) -> Result<(), String> {
        let (case, status) = (self.case, self.trace.status);
        let err = String::from_utf8_lossy(&self.trace.err);
        let memory = is_of_the_runtime(faulty.nr);
        let allowed = match status.code() {
            Some(3 | 4) => true,
            // A verdict, with a report of what could not be read.
            Some(1) => case.expect == 1,
            // Without memory, the runtime aborts if its handler could not be set.
            None => status.signal() == Some(libc::SIGABRT) && memory,
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
            return Err("error lines must begin with 'tagmac: ' and name the failure".into());
        }
        // Lines printed before the failure must be correct; the last one may be cut off.
        if matches!(case.proof, Proof::Output) {
            let whole = self.out.rfind('\n').map_or("", |end| &self.out[..end]);
            let known = |line: &&str| {
                self.baseline.out.lines().any(|right| right == *line)
                    || line.contains("FAILED open or read")
                    || line.contains("unreadable")
            };
            if let Some(line) = whole.lines().find(|line| !known(line)) {
                return Err(format!("a line is wrong: {line:?}"));
            }
        }
        Ok(())
    }

    /// Checks that only allowed files were changed or left over after a failure.
    fn others_stay(&self, may_leave: bool) -> Result<(), String> {
        let (before, now) = (&self.bench.files, self.bench.place.files());
        for name in now.keys().chain(before.keys()) {
            if self.case.may_make(name) {
                continue;
            }
            match (before.get(name), now.get(name)) {
                (before, after) if before == after => {}
                (None, Some(_)) if is_draft(name) && may_leave => {}
                (None, Some(_)) => return Err(format!("file {name} was created")),
                (Some(_), None) => return Err(format!("file {name} is missing")),
                _ => return Err(format!("file {name} was changed")),
            }
        }
        Ok(())
    }

    /// Checks that a failure leaves the old file or a complete new one. Returns whether it is new.
    fn makes_all_or_nothing(&self) -> Result<bool, String> {
        let (case, baseline, bench) = (self.case, self.baseline, self.bench);
        if matches!(case.proof, Proof::Updated(..)) {
            // It is changed in place, and the next run must recover it.
            return Ok(false);
        }
        let now = bench.place.files();
        if matches!(case.proof, Proof::Pages(_)) {
            // Each page is written independently.
            for (name, bytes) in now.iter().filter(|(name, _)| case.may_make(name)) {
                if bench.files.get(name) != Some(bytes) && baseline.made.get(name) != Some(bytes) {
                    return Err(format!("half a result: {name} is neither old nor new"));
                }
            }
            return Ok(false);
        }
        let made = case.makes.iter().any(|name| now.get(*name) != bench.files.get(*name));
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
        } else if let (Proof::Records(records), true) = (&case.proof, made) {
            let held = bench.records_hold(records, false);
            held.map_err(|what| format!("half a result: {what}"))?;
        } else if made && case.proof_is_of_files() {
            let out = match case.proof {
                Proof::Key => "id\n",
                _ => &baseline.out,
            };
            bench.is_right(case, baseline, out).map_err(|what| format!("half a result: {what}"))?;
        }
        Ok(made)
    }

    /// Checks that the next run succeeds and removes leftovers. It must refuse to replace a
    /// complete result.
    fn next_run(&self, made: bool) -> Result<(), String> {
        let (case, baseline, bench) = (self.case, self.baseline, self.bench);
        let place = &bench.place;
        if case.refuses && made {
            let ran = place.run(&case.args, &case.stdin);
            if ran.code != Some(4) || !ran.err.contains("the file exists") {
                let what = "the next run should refuse to replace the new file";
                return Err(format!("{what}, found {:?}: {}", ran.code, ran.err));
            }
            for name in &case.makes {
                let _ = std::fs::remove_file(place.file(name));
            }
        }
        let ran = place.run(case.again.as_ref().unwrap_or(&case.args), &case.stdin);
        let is_done = case.name == "update --undo" && ran.err.contains("no edit was interrupted");
        if ran.code != Some(case.expect) && !is_done {
            let found = (ran.code, ran.err);
            return Err(format!(
                "expected status {} from the next run, found {found:?}",
                case.expect
            ));
        }
        if let Some(left) = place.files().keys().find(|name| is_draft(name)) {
            return Err(format!("the next run did not remove {left}"));
        }
        let out = if case.again.is_some() || is_done { &baseline.out } else { &ran.out };
        bench.is_right(case, baseline, out).map_err(|what| format!("the next run: {what}"))
    }
}
