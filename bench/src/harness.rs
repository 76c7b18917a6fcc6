//! The state that all experiments share: engines, effort, machine, and checks of tags.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use tagmac::isa::Level;

use crate::ceiling::{Costs, costs};
use crate::clock::cycles_per_ns;
use crate::engine::{Engine, Role};
use crate::failure::Failure;
#[cfg(feature = "lab")]
use crate::lab_engines;
use crate::machine::Machine;
use crate::measure::{Effort, Job, in_turns};
use crate::progress::Progress;
use crate::record::{Point, Record, Series};
use crate::{external_engines, tagmac_engines};

/// Bytes of the longest message.
pub const LONGEST: usize = 64 << 20;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Runs experiments.
pub struct Harness {
    pub machine: Machine,
    pub quick: bool,
    /// Rounds and nanoseconds of a sample.
    rounds: usize,
    sample_ns: f64,
    /// The steps of the current experiment.
    progress: Progress,
    /// The folder for growing records, and the number of points last written.
    out: Option<PathBuf>,
    written: usize,
    /// The beginnings of the engines' names to measure. Empty means all engines.
    wanted: Vec<String>,
    /// The levels to measure, lowest first, with the costs of their instructions.
    levels: Vec<(Level, Costs)>,
    /// The portable engines of all roles, which define the right tags, and a cache of their tags.
    witnesses: Vec<Engine>,
    right: HashMap<(usize, usize), Vec<u8>>,
    /// The message bytes.
    message: Vec<u8>,
}

impl Harness {
    /// Makes a harness for the named levels and MACs, or for all if `names` is empty. Checks every
    /// peer's tags.
    pub fn new(quick: bool, names: &[String]) -> Result<Harness, Failure> {
        let (levels, wanted): (Vec<_>, Vec<_>) =
            names.iter().cloned().partition(|name| Level::NAMES.contains(&name.as_str()));
        let machine = Machine::here();
        let clock = cycles_per_ns();
        let with_costs = |level: Level| (level, costs(level, clock));
        let levels: Vec<_> = match levels.is_empty() {
            true => Level::all().map(with_costs).collect(),
            false => levels
                .iter()
                .map(|name| Level::from_name(name).map(with_costs))
                .collect::<Result<_, _>>()
                .map_err(|error| format!("level {}: {error}", levels.join(" ")))?,
        };
        let portable = with_costs(Level::from_name("portable")?);
        let of_role = |role| tagmac_engines::engines(role, portable.0, &portable.1);
        let witnesses = [Role::Any, Role::Sender].into_iter().flat_map(of_role);
        #[cfg(feature = "lab")]
        let witnesses = witnesses.chain(lab_engines::witnesses(portable.0, &portable.1));
        let harness = Harness {
            machine,
            quick,
            rounds: if quick { 11 } else { 21 },
            sample_ns: if quick { 3e4 } else { 1e5 },
            progress: Progress::new("", 0, Duration::MAX),
            out: None,
            written: 0,
            wanted,
            witnesses: witnesses.collect(),
            levels,
            right: HashMap::new(),
            message: (0..LONGEST + 2 * LINE).map(|i| (i * 7 + i / 256) as u8).collect(),
        };
        let is_known = !harness.best(Role::Any)?.is_empty();
        #[cfg(feature = "lab")]
        let is_known = is_known || !harness.lab().is_empty();
        if !is_known {
            return Err(format!("no engine is called {}", harness.wanted.join(" or ")).into());
        }
        Ok(harness)
    }

    /// Writes growing records into `folder`, so that a killed run keeps its figures.
    pub fn write_into(&mut self, folder: PathBuf) {
        self.out = Some(folder);
    }

    /// Begins an experiment of `steps` steps, which share the time `budget`.
    pub fn begin(&mut self, name: &str, steps: usize, budget: Duration) {
        self.progress = Progress::new(name, steps, budget);
        self.written = 0;
    }

    /// Ends a step: shows it, and writes the record if that has grown by a sixteenth.
    pub fn step(&mut self, record: &Record) -> Result<(), Failure> {
        self.progress.step();
        let points: usize = record.series.iter().map(|series| series.points.len()).sum();
        let Some(folder) = &self.out else { return Ok(()) };
        if points > self.written + self.written / 16 {
            record.write(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            self.written = points;
        }
        Ok(())
    }

    /// Returns the effort for this step.
    pub fn effort(&self) -> Effort {
        let Harness { rounds, sample_ns, .. } = *self;
        Effort { rounds, sample_ns, limit: self.progress.step_budget() }
    }

    /// Returns true if the user named engines.
    pub fn has_names(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Returns true if the user wants the engine called `name`.
    pub fn wants(&self, name: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|begin| name.starts_with(begin))
    }

    /// Returns the levels to measure, lowest first.
    pub fn levels(&self) -> impl DoubleEndedIterator<Item = Level> {
        self.levels.iter().map(|(level, _)| *level)
    }

    /// Returns the costs of each level's instructions.
    pub fn costs(&self) -> &[(Level, Costs)] {
        &self.levels
    }

    /// Returns tagmac's engines of a role on a level.
    pub fn on(&self, level: Level, role: Role) -> Vec<Engine> {
        let costs = self.levels.iter().find(|(known, _)| *known == level);
        let mut engines =
            costs.map_or_else(Vec::new, |(_, costs)| tagmac_engines::engines(role, level, costs));
        engines.retain(|engine| self.wants(&engine.name));
        engines
    }

    /// Returns the engines of other libraries for a role.
    pub fn peers(&self, role: Role) -> Result<Vec<Engine>, Failure> {
        let mut peers = external_engines::engines(role)?;
        peers.retain(|engine| self.wants(&engine.name));
        Ok(peers)
    }

    /// Returns tagmac's engines on the best level, and the peers.
    pub fn best(&self, role: Role) -> Result<Vec<Engine>, Failure> {
        let best = self.levels().next_back();
        let mut engines = best.map_or_else(Vec::new, |level| self.on(level, role));
        engines.extend(self.peers(role)?);
        Ok(engines)
    }

    /// Returns tagmac's engines and the lab's, on the best level.
    #[cfg(feature = "lab")]
    pub fn lab(&self) -> Vec<Engine> {
        let Some((level, costs)) = self.levels.last() else { return Vec::new() };
        let mut engines = self.on(*level, Role::Any);
        engines.extend(lab_engines::engines(*level, costs));
        engines.retain(|engine| self.wants(&engine.name));
        engines
    }

    /// Returns a message of `length` bytes at `offset` bytes, at most 64, from a cache line.
    pub fn message(&self, offset: usize, length: usize) -> &[u8] {
        let start = self.message.as_ptr().align_offset(LINE) + offset;
        &self.message[start..start + length]
    }

    /// Checks an engine's tag of a message of `length` bytes. Returns false if the engine does not
    /// accept that length.
    pub fn check(&mut self, engine: &mut Engine, length: usize) -> Result<bool, Failure> {
        if length > engine.longest {
            return Ok(false);
        }
        let is_same =
            |witness: &Engine| witness.name == engine.function && witness.repeats == engine.repeats;
        let Some(witness) = self.witnesses.iter().position(is_same) else { return Ok(true) };
        let message = self.message(0, length).to_vec();
        let right = match self.right.get(&(witness, length)) {
            Some(right) => right.clone(),
            None => checked_tags(&mut self.witnesses[witness], &message),
        };
        let found = checked_tags(engine, &message);
        self.right.insert((witness, length), right.clone());
        if found != right {
            let level = engine.level.map(|level| format!(" on {level}")).unwrap_or_default();
            return Err(format!(
                "{}{level}: wrong tag of a message of {length} bytes: expected {right:02x?}, \
                 found {found:02x?}",
                engine.name
            )
            .into());
        }
        Ok(true)
    }

    /// Returns an empty record.
    pub fn record(&self, experiment: &str, about: &str, x: &str, y: &str) -> Record {
        Record {
            experiment: experiment.into(),
            about: about.into(),
            x: x.into(),
            y: y.into(),
            machine: self.machine.clone(),
            missing: external_engines::missing(),
            series: Vec::new(),
        }
    }

    /// Checks that an engine accepts its own tag of a message of `length` bytes and rejects an
    /// altered one, both with a ready key and from the raw key.
    pub fn check_verdicts(&self, engine: &mut Engine, length: usize) -> Result<(), Failure> {
        let message = self.message(0, length);
        let good = engine.timed.tag(message);
        let bad = altered(&good);
        let timed = &mut engine.timed;
        let verdicts = [
            timed.verify(message, &good, 1),
            timed.verify_raw(message, &good, 1),
            !timed.verify(message, &bad, 1),
            !timed.verify_raw(message, &bad, 1),
        ];
        match verdicts == [true; 4] {
            true => Ok(()),
            false => Err(format!(
                "{}: wrong verdict on a tag of a message of {length} bytes (good, good from the \
                 raw key, bad, bad from the raw key are right: {verdicts:?})",
                engine.name
            )
            .into()),
        }
    }

    /// Measures the engines in turns at every x and adds them to the record. Each x is a step.
    /// `length` returns the bytes of the message at x, `job` the job to time. The sweep may stop
    /// when the time is up, but not before the x numbered `needed`.
    pub fn sweep(
        &mut self,
        record: &mut Record,
        engines: &mut [Engine],
        case: Option<&str>,
        (xs, needed): (&[usize], usize),
        length: impl Fn(usize) -> usize,
        job: impl for<'a> Fn(&'a mut Engine, &'a Harness, usize) -> Job<'a>,
    ) -> Result<(), Failure> {
        let first = record.series.len();
        record.series.extend(engines.iter().map(|engine| Series::of(engine, case)));
        for (at, &x) in xs.iter().enumerate() {
            if at >= needed && self.ends(record, &xs[at..]) {
                break;
            }
            self.at(record, first, engines, (x, length(x)), &job)?;
        }
        Ok(())
    }

    /// Returns true if the experiment's time is up, and then notes in the record how many values of
    /// x are left out.
    pub fn ends(&self, record: &mut Record, left: &[usize]) -> bool {
        let is_over = self.progress.is_over();
        if is_over {
            let (experiment, count) = (&record.experiment, left.len());
            let what = format!("{experiment} at {count} more values, the time was up");
            record.missing.push(what);
        }
        is_over
    }

    /// Measures the engines in turns at one x, on messages of `length` bytes. Their series begin at
    /// `first`.
    pub fn at(
        &mut self,
        record: &mut Record,
        first: usize,
        engines: &mut [Engine],
        (x, length): (usize, usize),
        job: impl for<'a> Fn(&'a mut Engine, &'a Harness, usize) -> Job<'a>,
    ) -> Result<(), Failure> {
        let mut takes = Vec::new();
        for engine in engines.iter_mut() {
            takes.push(self.check(engine, length)?);
        }
        let takers = engines.iter_mut().zip(&takes).filter(|(_, takes)| **takes);
        let mut jobs: Vec<Job> = takers.map(|(engine, _)| job(engine, self, x)).collect();
        let figures = in_turns(self.effort(), &mut jobs);
        drop(jobs);
        let series = record.series[first..].iter_mut();
        let takers = series.zip(&takes).filter(|(_, takes)| **takes);
        for ((series, _), figure) in takers.zip(figures) {
            series.add(Point::new(x, figure));
        }
        self.step(record)
    }
}

/// Returns the tags in which a witness and an engine must agree: one, or the first three if the
/// engine counts nonces.
fn checked_tags(engine: &mut Engine, message: &[u8]) -> Vec<u8> {
    match engine.repeats {
        true => engine.timed.tag(message),
        false => engine.timed.first_tags(message, 3),
    }
}

/// Flips a bit in the last byte of a tag, so that a comparison has to read all of it.
pub fn altered(tag: &[u8]) -> Vec<u8> {
    let mut bad = tag.to_vec();
    *bad.last_mut().expect("tags have bytes") ^= 1;
    bad
}

impl Series {
    /// Makes an engine's series, without points yet.
    pub fn of(engine: &Engine, case: Option<&str>) -> Series {
        Series {
            name: engine.name.clone(),
            library: engine.library.clone(),
            level: engine.level.map(|level| level.name().into()),
            case: case.map(Into::into),
            ceiling: engine.ceiling.map(|ceiling| (ceiling * 1e4).round() / 1e4),
            function: engine.function.clone(),
            call: engine.call.clone(),
            points: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{timed, timed_verifying};
    use crate::experiments;

    fn harness(names: &[&str]) -> Result<Harness, Failure> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut harness = Harness::new(true, &names)?;
        (harness.rounds, harness.sample_ns) = (3, 1e3);
        Ok(harness)
    }

    fn best(harness: &Harness) -> Vec<Engine> {
        harness.best(Role::Any).expect("right tags")
    }

    #[test]
    fn names_choose_levels_and_engines() {
        let harness = harness(&["portable", "ELIMAC"]).expect("there are such");
        let names: Vec<String> = best(&harness).into_iter().map(|engine| engine.name).collect();
        assert_eq!(names, ["ELIMAC-AES128", "ELIMAC-AES128, cached"]);
        assert_eq!(harness.levels().count(), 1);
    }

    #[test]
    fn an_unknown_name_is_an_error() {
        let error = harness(&["NOMAC"]).err().expect("no such engine").to_string();
        assert_eq!(error, "no engine is called NOMAC");
    }

    #[test]
    fn a_wrong_tag_stops_the_run() {
        let mut harness = harness(&["portable", "PMAC-AES128"]).expect("there is one");
        let [engine] = &mut best(&harness)[..1] else { panic!("one engine") };
        assert!(harness.check(engine, 100).expect("a right tag"));
        engine.timed = timed(|_| |message: &[u8]| [message.len() as u8; 16]);
        let error = harness.check(engine, 100).expect_err("a wrong tag").to_string();
        let expected = "PMAC-AES128 on portable: wrong tag of a message of 100 bytes: expected [";
        assert!(error.starts_with(expected), "{error}");
        assert!(
            error.ends_with(
                "found [64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64]"
            )
        );
        // An experiment fails, too.
        let engines = std::slice::from_mut(engine);
        assert!(sweep(&mut harness, engines, &[100]).is_err());
    }

    fn sweep(
        harness: &mut Harness,
        engines: &mut [Engine],
        xs: &[usize],
    ) -> Result<Record, Failure> {
        let mut record = harness.record("test", "a test", "bytes", "cycles");
        harness.begin("test", xs.len(), Duration::MAX);
        let xs = (xs, xs.len());
        harness.sweep(
            &mut record,
            engines,
            None,
            xs,
            |x| x,
            |engine, harness, x| {
                Box::new(move |calls| engine.timed.repeat(harness.message(0, x), calls))
            },
        )?;
        Ok(record)
    }

    #[test]
    fn a_run_that_ends_early_leaves_what_it_measured() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut harness = harness(&["portable", "PMAC-AES128"]).expect("there is one");
        harness.write_into(folder.path().to_path_buf());
        let [engine] = &mut best(&harness)[..1] else { panic!("one engine") };
        // The tags are right up to 31 bytes. At the next length the sweep fails, and writes nothing
        // more.
        let right: Vec<Vec<u8>> =
            (0..32).map(|length| engine.timed.tag(harness.message(0, length))).collect();
        engine.timed = timed(move |_| {
            let right = right.clone();
            move |message: &[u8]| right.get(message.len()).cloned().unwrap_or_default()
        });
        let xs: Vec<usize> = (0..64).collect();
        assert!(sweep(&mut harness, std::slice::from_mut(engine), &xs).is_err());
        let left = Record::read(folder.path(), "test").expect("whole").expect("a record");
        let lengths: Vec<u64> = left.series[0].points.iter().map(|point| point.0).collect();
        assert!(lengths.len() >= 32 * 15 / 16, "{lengths:?}");
        assert!(lengths.iter().copied().eq(0..lengths.len() as u64), "{lengths:?}");
    }

    #[test]
    fn without_time_the_needed_values_are_measured() {
        let mut harness = harness(&["portable", "PMAC-AES128"]).expect("there is one");
        let mut engines = best(&harness);
        let mut record = harness.record("test", "a test", "bytes", "cycles");
        harness.begin("test", 4, Duration::ZERO);
        let xs: (&[usize], usize) = (&[64, 16, 48, 32], 2);
        harness
            .sweep(
                &mut record,
                &mut engines[..1],
                None,
                xs,
                |x| x,
                |engine, harness, x| {
                    Box::new(move |calls| engine.timed.repeat(harness.message(0, x), calls))
                },
            )
            .expect("right tags");
        let lengths: Vec<u64> = record.series[0].points.iter().map(|point| point.0).collect();
        assert_eq!(lengths, [16, 64]);
        let missing = record.missing.last().map(String::as_str);
        assert_eq!(missing, Some("test at 2 more values, the time was up"));
    }

    #[test]
    fn a_wrong_verdict_stops_the_run() {
        let harness = harness(&["portable", "PMAC-AES128"]).expect("there is one");
        let [engine] = &mut best(&harness)[..1] else { panic!("one engine") };
        harness.check_verdicts(engine, 100).expect("right verdicts");
        engine.timed = timed_verifying(|_| |_: &[u8]| [7; 16], |_| |_: &[u8], _: &[u8]| true);
        let error = harness.check_verdicts(engine, 100).expect_err("all is good to it").to_string();
        assert!(error.ends_with("[true, true, false, false])"), "{error}");
    }

    #[test]
    fn messages_over_the_limit_are_left_out() {
        let mut harness = harness(&["portable", "LIGHTMAC-AES128-S16"]).expect("there is one");
        let mut engines = best(&harness);
        assert_eq!(engines[0].longest, 14 << 16);
        assert!(!harness.check(&mut engines[0], (14 << 16) + 1).expect("nothing wrong"));
    }

    /// All experiments but those that run other programs; `scripts/demo` runs the command.
    #[test]
    fn every_experiment_gives_a_figure_at_every_x() {
        let mut harness = harness(&[Level::best().name(), "PMAC-AES128"]).expect("there is one");
        let command = [experiments::command::NAME, experiments::tree::NAME];
        let programs = [&command[..], &crate::record::NEEDS_BUILD].concat();
        for experiment in experiments::all().iter().filter(|one| !programs.contains(&one.name)) {
            let record = (experiment.run)(&mut harness, Duration::ZERO).expect("right tags");
            assert_eq!(record.experiment, experiment.name);
            let threads = experiment.name == experiments::threads::NAME;
            assert!(record.series.iter().any(|series| series.name == "PMAC-AES128") || !threads);
            for series in &record.series {
                assert!(!series.points.is_empty(), "{}: {}", experiment.name, series.name);
                for point in &series.points {
                    let figure = point.figure();
                    assert!(0.0 <= figure.low && figure.low <= figure.median);
                    assert!(figure.median <= figure.high && figure.high.is_finite());
                }
            }
        }
    }
}
