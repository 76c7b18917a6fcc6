//! Experiments that time calls in a loop: one table says which.

use std::hint::black_box;

use tagmac::isa::Level;

use crate::engine::Engine;
use crate::lab::{Failure, LONGEST, Lab};
use crate::measure::Job;
use crate::record::Record;

/// How the calls of a loop hang together.
#[derive(Clone, Copy)]
enum How {
    /// Independent messages of x bytes under one key.
    BackToBack,
    /// Each message of x bytes begins with the tag before it, so that the whole latency shows.
    Chained,
    /// A key made ready for each message of x bytes.
    Rekeyed,
    /// Messages of that many bytes, x bytes off a line of cache.
    Offset(usize),
    /// Messages of that many bytes under x keys in turn, all ready.
    Keys(usize),
}

/// An experiment.
pub struct Calls {
    pub name: &'static str,
    /// In one sentence.
    pub about: &'static str,
    x: &'static str,
    cases: &'static [(Option<&'static str>, How)],
    /// The values of x, fewer for a quick run.
    xs: fn(quick: bool) -> Vec<usize>,
    /// Whether every level is measured, not the best one only.
    levels: bool,
}

/// All of them.
pub const ALL: [Calls; 6] = [
    Calls {
        name: "lengths",
        about: "every length from 0 to 8192 bytes, key ready, back to back",
        x: "bytes",
        cases: &[(None, How::BackToBack)],
        xs: lengths,
        levels: false,
    },
    Calls {
        name: "sizes",
        about: "16 bytes to 64 MiB on every level, key ready, back to back",
        x: "bytes",
        cases: &[(None, How::BackToBack)],
        xs: sizes,
        levels: true,
    },
    Calls {
        name: "short",
        about: "short messages, key ready: chained, each beginning with the tag before it, and \
                back to back, independent",
        x: "bytes",
        cases: &[(Some("chained"), How::Chained), (Some("back to back"), How::BackToBack)],
        xs: |_| vec![16, 32, 64, 128, 256],
        levels: true,
    },
    Calls {
        name: "keys",
        about: "a key made ready and one message under it, and the message alone",
        x: "bytes",
        cases: &[(Some("new key"), How::Rekeyed), (Some("key ready"), How::BackToBack)],
        xs: |_| vec![16, 43, 64, 127, 128, 256, 1024, 1025, 1536, 8192],
        levels: false,
    },
    Calls {
        name: "unaligned",
        about: "1536 bytes at each offset from a line of cache, key ready, back to back",
        x: "offset",
        cases: &[(None, How::Offset(1536))],
        xs: |quick| (0..64).step_by(if quick { 3 } else { 1 }).collect(),
        levels: false,
    },
    Calls {
        name: "agility",
        about: "64 bytes under many keys in turn, all ready",
        x: "keys",
        cases: &[(None, How::Keys(64))],
        xs: |quick| [1, 16, 256, 4096, 65536][..if quick { 4 } else { 5 }].to_vec(),
        levels: false,
    },
];

fn lengths(quick: bool) -> Vec<usize> {
    // Those of the papers' tables and one more or less.
    const PAPERS: [usize; 12] = [43, 127, 128, 129, 1023, 1024, 1025, 1535, 1536, 1537, 2048, 4096];
    let mut all: Vec<usize> = match quick {
        true => (0..128).chain((128..1024).step_by(16)).chain((1024..=8192).step_by(128)).collect(),
        false => (0..=8192).collect(),
    };
    all.extend(PAPERS);
    all.sort_unstable();
    all.dedup();
    all
}

fn sizes(_quick: bool) -> Vec<usize> {
    [16, 64, 256, 1024, 1536, 4096, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20, LONGEST].into()
}

impl Calls {
    /// Makes the experiment.
    pub fn run(&self, lab: &mut Lab) -> Result<Record, Failure> {
        let mut record = lab.record(self.name, self.about, self.x, "cycles");
        let xs = (self.xs)(lab.quick);
        let mut levels: Vec<Option<Level>> = vec![None];
        if self.levels {
            levels = lab.levels().map(Some).collect();
            // The best one comes with the peers.
            *levels.last_mut().expect("a level") = None;
        }
        for level in levels.into_iter().rev() {
            let mut engines = match level {
                Some(level) => lab.on(level),
                None => lab.best()?,
            };
            // The lower levels' long messages take much time and tell nothing new.
            let longest = if lab.quick && level.is_some() { 1 << 20 } else { usize::MAX };
            let xs: Vec<usize> = xs.iter().copied().filter(|x| *x <= longest).collect();
            for &(case, how) in self.cases {
                if let How::Keys(_) = how {
                    // One by one: thousands of keys of one would drive the others' from the cache.
                    for engine in engines.chunks_mut(1) {
                        let length = |x| how.length(x);
                        record.series.extend(lab.sweep(engine, case, &xs, length, how.job())?);
                    }
                    continue;
                }
                let series = lab.sweep(&mut engines, case, &xs, |x| how.length(x), how.job())?;
                record.series.extend(series);
            }
        }
        Ok(record)
    }
}

impl How {
    fn length(self, x: usize) -> usize {
        match self {
            How::BackToBack | How::Chained | How::Rekeyed => x,
            How::Offset(length) | How::Keys(length) => length,
        }
    }

    fn job(self) -> impl for<'a> Fn(&'a mut Engine, &'a Lab, usize) -> Job<'a> {
        move |engine, lab, x| {
            let timed = &mut engine.timed;
            let message = |offset| lab.message(offset, self.length(x));
            match self {
                How::BackToBack => {
                    let message = message(0);
                    Box::new(move |calls| timed.repeat(message, calls))
                }
                How::Chained => {
                    let mut message = message(0).to_vec();
                    Box::new(move |calls| timed.chain(black_box(&mut message), calls))
                }
                How::Rekeyed => {
                    let message = message(0);
                    Box::new(move |calls| timed.rekey(message, calls))
                }
                How::Offset(_) => {
                    let message = message(x);
                    Box::new(move |calls| timed.repeat(message, calls))
                }
                How::Keys(_) => {
                    let message = message(0);
                    let mut round = timed.with_keys(x);
                    Box::new(move |calls| round(message, calls))
                }
            }
        }
    }
}
