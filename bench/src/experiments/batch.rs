//! Many short messages in one call, and one by one.

use std::hint::black_box;
use std::time::Duration;

use tagmac::cipher::{Aes128, Present80};
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, Nonce, Pmac, Poly1305Aes, Tag, Umac};

use crate::failure::Failure;
use crate::harness::Harness;
use crate::measure::{Figure, Job, in_turns};
use crate::record::{Point, Record, Series};

pub const NAME: &str = "batch";
pub const ABOUT: &str = "1024 short messages in one call and one by one: of one length, and of all \
                         lengths up to twice that";

/// Messages of a batch.
const MESSAGES: usize = 1024;

/// Bytes of a message, or half the most of it.
const LENGTHS: [usize; 5] = [16, 64, 128, 256, 512];
/// The MACs.
const MACS: usize = 6;

/// Makes the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes", "cycles");
    let levels: Vec<Level> = harness.levels().rev().collect();
    harness.begin(NAME, levels.len() * MACS * LENGTHS.len(), budget);
    for level in levels {
        let (k1, k2) = ([1; 16], [2; 16]);
        let r = &mut record;
        series(harness, r, "PMAC-AES128", || Pmac::<Aes128>::with_level(&k1, level))?;
        series(harness, r, "LIGHTMAC-AES128-S32", || {
            LightMac::<Aes128>::with_level(&k1, &k2, 32, level).expect("a counter's length")
        })?;
        series(harness, r, "ELIMAC-AES128", || EliMac::with_level(&k1, &k2, level))?;
        series(harness, r, "UMAC-64", || Umac::<Aes128, 2>::with_level(&k1, level))?;
        series(harness, r, "POLY1305-AES", || Poly1305Aes::with_level(&[3; 32], level))?;
        series(harness, r, "LIGHTMAC-PRESENT80-S16", || {
            LightMac::<Present80>::with_level(&[1; 10], &[2; 10], 16, level)
                .expect("a counter's length")
        })?;
    }
    Ok(record)
}

/// One MAC's ways to tag the same messages.
fn series<M: Mac>(
    harness: &mut Harness,
    record: &mut Record,
    name: &str,
    make: impl Fn() -> M,
) -> Result<(), Failure> {
    if !harness.wants(name) {
        return Ok(());
    }
    let first = record.series.len();
    let mac = &make();
    record.series.extend(
        ["in one call", "one by one", "mixed lengths, in one call", "mixed lengths, one by one"]
            .map(|case| Series {
                name: name.into(),
                library: concat!("tagmac ", env!("CARGO_PKG_VERSION")).into(),
                level: Some(mac.hash().level().name().into()),
                case: Some(case.into()),
                ceiling: None,
                function: String::new(),
                call: String::new(),
                points: Vec::new(),
            }),
    );
    let bytes = *M::Nonce::BYTES.end();
    let nonces: Vec<M::Nonce> =
        (0..MESSAGES as u128).map(|i| M::Nonce::from_number(i, bytes)).collect::<Result<_, _>>()?;
    for length in LENGTHS {
        let place = |i: usize| harness.message(i * 640 % 65536, length);
        let same: Vec<&[u8]> = (0..MESSAGES).map(place).collect();
        let mixed = |i: usize| harness.message(i * 640 % 65536, i * 7919 % (2 * length + 1));
        let mixed: Vec<&[u8]> = (0..MESSAGES).map(mixed).collect();
        let many = |messages: &[&[u8]], tags: &mut [Tag]| {
            mac.tag_many_with(&nonces, black_box(messages), tags).map_err(|e| e.to_string())
        };
        let each = |messages: &[&[u8]], tags: &mut [Tag]| {
            for ((tag, message), nonce) in tags.iter_mut().zip(messages).zip(&nonces) {
                *tag = mac.tag_with(nonce, black_box(*message)).map_err(|e| e.to_string())?;
            }
            Ok(())
        };
        type Way<'a> = &'a dyn Fn(&[&[u8]], &mut [Tag]) -> Result<(), String>;
        let ways: [(Way<'_>, &[&[u8]]); 4] =
            [(&many, &same), (&each, &same), (&many, &mixed), (&each, &mixed)];
        let mut tags = vec![vec![Tag::default(); MESSAGES]; ways.len()];
        for ((way, messages), tags) in ways.iter().zip(&mut tags) {
            way(messages, tags)?;
        }
        if tags.chunks(2).any(|pair| pair[0] != pair[1]) {
            return Err(format!("{name}: other tags in one call, {length} bytes").into());
        }
        let mut jobs: Vec<Job> = Vec::new();
        for ((way, messages), tags) in ways.iter().zip(&mut tags) {
            jobs.push(Box::new(move |calls| {
                for _ in 0..calls {
                    way(messages, tags).expect("as before");
                    black_box(&*tags);
                }
            }));
        }
        let figures = in_turns(harness.effort(), &mut jobs);
        for (series, figure) in record.series[first..].iter_mut().zip(figures) {
            let of_one = |cycles: f64| cycles / MESSAGES as f64;
            let Figure { median, low, high } = figure;
            let figure = Figure { median: of_one(median), low: of_one(low), high: of_one(high) };
            series.add(Point::new(length, figure));
        }
        drop(jobs);
        harness.step(record)?;
    }
    Ok(())
}
