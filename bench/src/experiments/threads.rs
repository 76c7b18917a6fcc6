//! Times one message on several threads.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use tagmac::cipher::Aes128;
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, Pmac, Poly1305Aes, Umac, UmacNonce, threads};

use crate::experiments::ceilings::read;
use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::{Job, in_turns};
use crate::record::{Point, Record, Series};

pub const NAME: &str = "threads";
pub const ABOUT: &str = "one message on one thread and on one thread per core, next to threads \
     that only read it";

/// The number of MACs, and of lengths from 64 KiB up.
const MACS: usize = 5;
const LENGTHS: usize = 11;

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes", "cycles");
    let Some(level) = harness.levels().next_back() else { return Ok(record) };
    harness.begin(NAME, MACS * LENGTHS, budget);
    let (k1, k2, key) = ([1; 16], [2; 16], [3; 32]);
    let r = &mut record;
    series(harness, r, "PMAC-AES128", &Pmac::<Aes128>::with_level(&k1, level), ())?;
    let light = LightMac::<Aes128>::with_level(&k1, &k2, 32, level)?;
    series(harness, r, "LIGHTMAC-AES128-S32", &light, ())?;
    series(harness, r, "ELIMAC-AES128", &EliMac::with_level(&k1, &k2, level), ())?;
    let nonce = UmacNonce::from(7);
    series(harness, r, "UMAC-64", &Umac::<Aes128, 2>::with_level(&k1, level), nonce)?;
    series(harness, r, "POLY1305-AES", &Poly1305Aes::with_level(&key, level), [7; 16])?;
    Ok(record)
}

/// Measures a MAC on one thread and on all cores, and threads that only read.
fn series<M: Mac>(
    harness: &mut Harness,
    record: &mut Record,
    name: &str,
    mac: &M,
    nonce: M::Nonce,
) -> Result<(), Failure> {
    if !harness.wants(name) {
        return Ok(());
    }
    let first = record.series.len();
    let cores = harness.machine.cores;
    let series = |name: &str, case: String| Series {
        name: name.into(),
        library: concat!("tagmac ", env!("CARGO_PKG_VERSION")).into(),
        level: Some(mac.hash().level().name().into()),
        case: Some(case),
        ceiling: None,
        function: String::new(),
        call: String::new(),
        points: Vec::new(),
    };
    record.series.extend([
        series(name, "1 thread".into()),
        series(name, format!("{cores} threads")),
        series(name, format!("{cores} threads that only read")),
    ]);
    for length in (0..LENGTHS).map(|doubled| (64 << 10) << doubled) {
        let message = harness.message(0, length);
        let (one, many) = (mac.tag_with(&nonce, message)?, threads::tag(mac, &nonce, message, 0)?);
        if one.as_bytes() != many.as_bytes() {
            return Err(format!("{name}: another tag on {cores} threads, {length} bytes").into());
        }
        let on = |threads: usize| -> Job {
            Box::new(move |calls| {
                for _ in 0..calls {
                    let _ = black_box(threads::tag(mac, &nonce, black_box(message), threads));
                }
            })
        };
        let mut jobs = [on(1), on(cores), read_together(message, cores)];
        let figures = in_turns(harness.effort(), &mut jobs);
        for (series, figure) in record.series[first..].iter_mut().zip(figures) {
            series.add(Point::new(length, figure));
        }
        drop(jobs);
        harness.step(record)?;
    }
    Ok(())
}

/// The bound that memory sets: each thread reads a share.
fn read_together(message: &[u8], threads: usize) -> Job<'_> {
    Box::new(move |calls| {
        for _ in 0..calls {
            thread::scope(|scope| {
                for share in message.chunks(message.len().div_ceil(threads)) {
                    scope.spawn(move || read(Level::best(), share));
                }
            });
        }
    })
}
