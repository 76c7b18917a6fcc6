//! Experiments that time calls in a loop. A table lists them.

use std::hint::black_box;
use std::time::Duration;

use tagmac::isa::Level;

use crate::engine::{Engine, Role};
use crate::failure::Failure;
use crate::harness::{Harness, LONGEST, altered};
use crate::measure::Job;
use crate::record::{Record, Series};

/// The relation between the calls of a loop.
#[derive(Clone, Copy)]
enum How {
    /// Independent messages of x bytes under one key.
    BackToBack,
    /// Each message of x bytes begins with the previous tag, so the whole latency shows.
    Chained,
    /// A key is set up for each message of x bytes. The message is at this offset from a cache
    /// line.
    Rekeyed(usize),
    /// The tag of each message of x bytes is verified.
    Verified(From, Tags),
    /// Messages of this length at an offset of x bytes from a cache line.
    Offset(usize),
    /// Messages of this length under x keys in turn, all ready.
    Keys(usize),
}

/// The start of a timed verification, which ends with the verdict.
#[derive(Clone, Copy)]
enum From {
    ReadyKey,
    RawKey,
}

/// The tags that are verified.
#[derive(Clone, Copy)]
enum Tags {
    Good,
    Bad,
}

/// An experiment.
pub struct Calls {
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    x: &'static str,
    /// The way to use each MAC.
    role: Role,
    cases: &'static [(Option<&'static str>, How)],
    /// Returns the values of x; fewer for a quick run.
    xs: fn(quick: bool) -> Vec<usize>,
    /// True to measure all levels, false for the best one.
    levels: bool,
    /// The engines to measure if the user names none. Empty means all.
    engines: &'static [&'static str],
    /// The time in seconds; see [`Experiment`](super::Experiment).
    pub seconds: u64,
}

/// The engines of `lengths`: a few of each kind, because there are thousands of lengths.
const AT_EVERY_LENGTH: [&str; 15] = [
    "PMAC-AES128",
    "LIGHTMAC-AES128-S32",
    "ELIMAC-AES128",
    "ELIMAC-AES128, cached",
    "CMAC-AES128",
    "UMAC-64",
    "UMAC-128",
    "POLY1305-AES",
    "OpenSSL HMAC-SHA256",
    "OpenSSL CMAC-AES128",
    "OpenSSL GMAC-AES128",
    "OpenSSL Poly1305-AES",
    "nettle UMAC-64",
    "BLAKE3, keyed",
    "AEGIS-128X4 MAC",
];

/// The unaligned lengths of the Poly1305-AES slides.
const SLIDES_UNALIGNED: [usize; 3] = [43, 127, 1025];

/// The maximum bytes of all keys' tables together.
const MAX_KEY_TABLES: usize = 1 << 30;

/// All experiments of this kind.
pub const ALL: [Calls; 8] = [
    Calls {
        name: "lengths",
        about: "lengths from 0 to 8192 bytes, key ready, back to back",
        x: "bytes",
        role: Role::Any,
        cases: &[(None, How::BackToBack)],
        xs: lengths,
        levels: false,
        engines: &AT_EVERY_LENGTH,
        seconds: 420,
    },
    Calls {
        name: "sizes",
        about: "16 bytes to 64 MiB on every level, key ready, back to back",
        x: "bytes",
        role: Role::Any,
        cases: &[(None, How::BackToBack)],
        xs: sizes,
        levels: true,
        engines: &[],
        seconds: 270,
    },
    Calls {
        name: "short",
        about: "short messages, key ready: chained, each beginning with the previous tag, and back \
             to back, independent",
        x: "bytes",
        role: Role::Any,
        cases: &[(Some("chained"), How::Chained), (Some("back to back"), How::BackToBack)],
        xs: |_| vec![16, 32, 64, 128, 256],
        levels: true,
        engines: &[],
        seconds: 150,
    },
    Calls {
        name: "keys",
        about: "a key made ready and one message under it, and the message alone",
        x: "bytes",
        role: Role::Any,
        cases: &[
            (Some("new key"), How::Rekeyed(0)),
            (Some("new key, message off a line of cache"), How::Rekeyed(1)),
            (Some("key ready"), How::BackToBack),
        ],
        xs: |_| vec![16, 43, 64, 127, 128, 256, 1024, 1025, 1536, 8192],
        levels: false,
        engines: &[],
        seconds: 150,
    },
    Calls {
        name: "verify",
        about: "from message and tag to the verdict, with the key ready and from the raw key, of \
             good tags and of bad tags",
        x: "bytes",
        role: Role::Any,
        cases: &[
            (Some("key ready, good tag"), How::Verified(From::ReadyKey, Tags::Good)),
            (Some("key ready, bad tag"), How::Verified(From::ReadyKey, Tags::Bad)),
            (Some("raw key, good tag"), How::Verified(From::RawKey, Tags::Good)),
            (Some("raw key, bad tag"), How::Verified(From::RawKey, Tags::Bad)),
        ],
        xs: |_| vec![16, 64, 256, 1536, 8192],
        levels: false,
        engines: &[],
        seconds: 150,
    },
    Calls {
        name: "session",
        about: "a packet's sender under one key: the next nonce, where the MAC needs one, and the \
             tag, in one call; ours count a budget as well",
        x: "bytes",
        role: Role::Sender,
        cases: &[(Some("nonce and tag"), How::BackToBack)],
        xs: |_| vec![16, 64, 256, 1024, 1536],
        levels: false,
        engines: &[],
        seconds: 60,
    },
    Calls {
        name: "unaligned",
        about: "1536 bytes at offsets from a line of cache, key ready, back to back",
        x: "offset",
        role: Role::Any,
        cases: &[(None, How::Offset(1536))],
        xs: |quick| (0..64).step_by(if quick { 3 } else { 1 }).collect(),
        levels: false,
        engines: &[],
        seconds: 120,
    },
    Calls {
        name: "agility",
        about: "64 bytes under many keys in turn, all ready",
        x: "keys",
        role: Role::Any,
        cases: &[(None, How::Keys(64))],
        xs: |quick| [1, 16, 256, 4096, 65536][..if quick { 4 } else { 5 }].to_vec(),
        levels: false,
        engines: &[],
        seconds: 120,
    },
];

fn lengths(quick: bool) -> Vec<usize> {
    // The lengths of the papers' tables, and their neighbours.
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
    /// Runs the experiment.
    pub fn run(&self, harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
        let mut record = harness.record(self.name, self.about, self.x, "cycles");
        let (xs, needed) = self.values(harness.quick);
        let mut levels: Vec<Option<Level>> = vec![None];
        if self.levels {
            levels = harness.levels().map(Some).collect();
            // The best level runs together with the peers.
            *levels.last_mut().expect("a level") = None;
        }
        let is_by_engine = matches!(self.cases[0].1, How::Keys(_));
        let sweeps = match is_by_engine {
            true => harness.best(self.role)?.len(),
            false => levels.len() * self.cases.len(),
        };
        harness.begin(self.name, sweeps * xs.len(), budget);
        for level in levels.into_iter().rev() {
            let mut engines = match level {
                Some(level) => harness.on(level, self.role),
                None => harness.best(self.role)?,
            };
            if !harness.has_names() && !self.engines.is_empty() {
                engines.retain(|engine| self.engines.contains(&&*engine.name));
            }
            // Long messages on the lower levels take long and show nothing new.
            let longest = if level.is_some() { 1 << 20 } else { usize::MAX };
            for &(case, how) in self.cases {
                let is_taken = |x: &usize| how.takes(*x) && how.length(*x) <= longest;
                let xs: Vec<usize> = xs.iter().copied().filter(is_taken).collect();
                if let How::Verified(..) = how {
                    for engine in &mut engines {
                        for &x in &xs {
                            harness.check_verdicts(engine, x)?;
                        }
                    }
                }
                if !is_by_engine {
                    let (length, job) = (|x| how.length(x), how.job());
                    harness.sweep(&mut record, &mut engines, case, (&xs, needed), length, job)?;
                    continue;
                }
                // One engine at a time: the keys of one would evict those of the others.
                let first = record.series.len();
                record.series.extend(engines.iter().map(|engine| Series::of(engine, case)));
                for (at, &x) in xs.iter().enumerate() {
                    if at >= needed && harness.ends(&mut record, &xs[at..]) {
                        break;
                    }
                    for (number, engine) in engines.chunks_mut(1).enumerate() {
                        let bytes = x.saturating_mul(engine[0].key_table);
                        if bytes > MAX_KEY_TABLES {
                            let (name, mib) = (&engine[0].name, bytes >> 20);
                            record.missing.push(format!("{name} with {x} keys of {mib} MiB"));
                            continue;
                        }
                        let place = (x, how.length(x));
                        harness.at(&mut record, first + number, engine, place, how.job())?;
                    }
                }
            }
        }
        Ok(record)
    }

    /// Returns the values of x and how many of them are required. The required ones, those of a
    /// quick run, come first. The others follow in an order that keeps them spread out wherever the
    /// time ends.
    fn values(&self, quick: bool) -> (Vec<usize>, usize) {
        let mut xs = (self.xs)(true);
        let needed = xs.len();
        if !quick {
            let mut others = (self.xs)(false);
            others.retain(|x| xs.binary_search(x).is_err());
            let bits = usize::BITS - others.len().leading_zeros();
            let mut order: Vec<usize> = (0..others.len()).collect();
            order.sort_by_key(|at| at.reverse_bits() >> (usize::BITS - bits.max(1)));
            xs.extend(order.into_iter().map(|at| others[at]));
        }
        (xs, needed)
    }
}

impl How {
    fn length(self, x: usize) -> usize {
        match self {
            How::Offset(length) | How::Keys(length) => length,
            _ => x,
        }
    }

    /// Returns true if an engine can be measured at x.
    fn takes(self, x: usize) -> bool {
        match self {
            How::Rekeyed(1..) => SLIDES_UNALIGNED.contains(&x),
            _ => true,
        }
    }

    fn job(self) -> impl for<'a> Fn(&'a mut Engine, &'a Harness, usize) -> Job<'a> {
        move |engine, harness, x| {
            let timed = &mut engine.timed;
            let message = |offset| harness.message(offset, self.length(x));
            match self {
                How::BackToBack => {
                    let message = message(0);
                    Box::new(move |calls| timed.repeat(message, calls))
                }
                How::Chained => {
                    let mut message = message(0).to_vec();
                    Box::new(move |calls| timed.chain(black_box(&mut message), calls))
                }
                How::Rekeyed(offset) => {
                    let message = message(offset);
                    Box::new(move |calls| timed.rekey(message, calls))
                }
                How::Verified(from, tags) => {
                    let message = message(0);
                    let good = timed.tag(message);
                    let tag = if let Tags::Bad = tags { altered(&good) } else { good };
                    Box::new(move |calls| {
                        black_box(match from {
                            From::ReadyKey => timed.verify(message, &tag, calls),
                            From::RawKey => timed.verify_raw(message, &tag, calls),
                        });
                    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_has_every_value_once() {
        for calls in &ALL {
            let (mut quick, needed) = calls.values(true);
            assert_eq!(needed, quick.len(), "{}", calls.name);
            let (full, needed) = calls.values(false);
            assert_eq!(full[..needed], quick[..], "{}", calls.name);
            let mut sorted = full.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), full.len(), "{}", calls.name);
            quick.sort_unstable();
            let mut all = (calls.xs)(false);
            all.sort_unstable();
            assert_eq!(sorted, all, "{}", calls.name);
        }
    }

    #[test]
    fn lengths_are_spread_out_wherever_the_time_is_up() {
        let (xs, needed) = ALL[0].values(false);
        assert_eq!(xs.len(), 8193);
        // A quarter of the lengths: no gap of more than eight.
        let mut some = xs[..needed + (xs.len() - needed) / 4].to_vec();
        some.sort_unstable();
        assert!(some.windows(2).all(|pair| pair[1] - pair[0] <= 8));
    }

    #[test]
    fn engines_of_every_length_exist() {
        let harness = Harness::new(true, &[]).expect("right tags");
        let engines = harness.best(Role::Any).expect("right tags");
        let names: Vec<String> = engines.into_iter().map(|engine| engine.name).collect();
        let ours = AT_EVERY_LENGTH.iter().filter(|name| !name.contains(' ') || name.contains(','));
        for name in ours.filter(|name| !name.starts_with("BLAKE3")) {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }

    #[test]
    fn the_tables_of_keys_stay_within_their_memory() {
        let names: Vec<String> = ["portable", "ELIMAC-AES128, cached"].map(Into::into).into();
        let mut harness = Harness::new(false, &names).expect("there is one");
        let agility = ALL.iter().find(|calls| calls.name == "agility").expect("it is there");
        let record = agility.run(&mut harness, Duration::ZERO).expect("right tags");
        let xs: Vec<u64> = record.series[0].points.iter().map(|point| point.0).collect();
        assert_eq!(xs, [1, 16, 256]);
        let expected = "ELIMAC-AES128, cached with 4096 keys of 4096 MiB";
        assert!(record.missing.iter().any(|left| left == expected), "{:?}", record.missing);
    }
}
