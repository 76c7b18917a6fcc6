//! Measures the limits of the machine: the cost of instructions, and of reading from each cache.

use std::hint::black_box;
use std::time::Duration;

use tagmac::isa::{Isa, Kernel, Level};

use crate::ceiling::Costs;
use crate::failure::Failure;
use crate::harness::{Harness, LONGEST};
use crate::measure::{Job, in_turns};
use crate::record::{Point, Record, Series};

pub const NAME: &str = "ceilings";
pub const ABOUT: &str = "reading memory, and what instructions cost for 16 bytes of vector";

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes", "cycles");
    let series = |name: &str, level: Option<&str>, case: &str| Series {
        name: name.into(),
        library: "the machine".into(),
        level: level.map(Into::into),
        case: Some(case.into()),
        ceiling: None,
        function: String::new(),
        call: String::new(),
        points: Vec::new(),
    };
    let level = Level::best();
    let lengths: Vec<usize> =
        (0..).map(|doubled| (4 << 10) << doubled).take_while(|bytes| *bytes <= LONGEST).collect();
    harness.begin(NAME, lengths.len(), budget);
    record.series.push(series("read", None, "memory"));
    for length in lengths {
        let message = harness.message(0, length);
        let job: Job =
            Box::new(move |calls| (0..calls).for_each(|_| read(level, black_box(message))));
        let figure = in_turns(harness.effort(), &mut [job])[0];
        record.series[0].add(Point::new(length, figure));
        harness.step(&record)?;
    }
    for (level, Costs { aes, aes_chained, mul32, mul52 }) in harness.costs() {
        let mut instruction = |name: &str, cycles: f64| {
            let mut series = series(name, Some(level.name()), "instruction");
            series.points.push(Point(16, cycles, cycles, cycles));
            record.series.push(series);
        };
        instruction("AES round", *aes);
        instruction("AES round, chained", *aes_chained);
        instruction("32-bit products", *mul32);
        if let Some(mul52) = mul52 {
            instruction("52-bit half products", *mul52);
        }
    }
    Ok(record)
}

/// Reads every byte with a level's widest loads.
pub fn read(level: Level, bytes: &[u8]) {
    level.run(Read(bytes));
}

struct Read<'a>(&'a [u8]);

impl Kernel for Read<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        const CHAINS: usize = 4;
        let vector = 16 * I::LANES;
        let mut sums = [isa.splat(&[0; 16]); CHAINS];
        for chunk in self.0.chunks_exact(CHAINS * vector) {
            for (sum, bytes) in sums.iter_mut().zip(chunk.chunks_exact(vector)) {
                *sum = isa.xor(*sum, isa.load(bytes));
            }
        }
        for sum in sums {
            black_box(isa.xor_lanes(sum));
        }
    }
}
