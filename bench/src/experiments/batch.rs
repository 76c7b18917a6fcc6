//! Times many short messages in one call, and in single calls.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use tagmac::batch::RawKeys;
use tagmac::cipher::{Aes128, Present80};
use tagmac::isa::Level;
use tagmac::{Cmac, EliMac, LightMac, LightMacAes128, Mac, Mismatch, Nonce, Pmac, PmacAes128};
use tagmac::{Poly1305Aes, Tag, Umac, Umac64, Umac128, UmacNonce};

use crate::engine::{Engine, Key, Role, numbered};
use crate::external_engines;
use crate::failure::Failure;
use crate::harness::{Harness, altered};
use crate::measure::{Figure, Job, in_turns};
use crate::record::{Point, Record, Series};
use crate::tagmac_engines::{NONCE, POLY_NONCE};

pub const NAME: &str = "batch";
pub const ABOUT: &str = "1024 short messages tagged or checked in one call, and one by one: of one \
     length, and ours of all lengths up to twice that; and each under its own raw key";

/// Messages of a batch.
const MESSAGES: usize = 1024;

/// Bytes of a message, or half the maximum.
const LENGTHS: [usize; 5] = [16, 64, 128, 256, 512];
/// The number of MACs.
const MACS: usize = 9;

/// Runs the experiment.
pub fn run(harness: &mut Harness, budget: Duration) -> Result<Record, Failure> {
    let mut record = harness.record(NAME, ABOUT, "bytes", "cycles");
    let levels: Vec<Level> = harness.levels().rev().collect();
    let peers = harness.peers(Role::Any)?;
    let mut keyed = harness.best(Role::Any)?;
    // Nobody would fill a cache for one message, and UMAC 1999's keys would use most of the time.
    keyed.retain(|engine| engine.key_table == 0 && !engine.name.starts_with("UMAC99"));
    let mut bursts = external_engines::many();
    bursts.retain(|burst| harness.wants(&burst.engine.name));
    let series = levels.len() * MACS + peers.len() + keyed.len() + bursts.len();
    harness.begin(NAME, series * LENGTHS.len(), budget);
    for level in levels {
        ours(harness, &mut record, level)?;
    }
    for mut peer in peers {
        for length in LENGTHS {
            assert!(harness.check(&mut peer, length)?, "no limit is that short");
        }
        let series = Series::of(&peer, None);
        add(harness, &mut record, series, &OneByOne(RefCell::new(peer)), &[SAME])?;
    }
    let keys: Vec<Key> = (0..MESSAGES).map(numbered).collect();
    for engine in keyed {
        let series = Series::of(&engine, None);
        let many = many_keys(&engine, &keys);
        add(harness, &mut record, series, &KeyEach { engine, keys: &keys, many }, &[SAME])?;
    }
    for mut burst in bursts {
        for length in LENGTHS {
            assert!(harness.check(&mut burst.engine, length)?, "no limit is that short");
        }
        let series = Series::of(&burst.engine, None);
        let many: ManyKeys = Box::new(burst.with_keys(&keys));
        let each = KeyEach { engine: burst.engine, keys: &keys, many: Some(many) };
        add(harness, &mut record, series, &each, &[SAME])?;
    }
    Ok(record)
}

/// Tags messages, each under its own raw key.
type ManyKeys<'a> = Box<dyn Fn(&[&[u8]], &mut [Tag]) + 'a>;

/// Returns the call on messages and raw keys, for engines that have one.
fn many_keys<'a>(engine: &Engine, keys: &'a [Key]) -> Option<ManyKeys<'a>> {
    let (level, light) = (engine.level?, RawKeys::<LightMacAes128>::with_level);
    /// The call, with the keys as it takes them.
    macro_rules! call {
        ($set:expr, $keys:expr) => {{
            let (set, keys) = ($set, $keys);
            Box::new(move |messages, tags| set.tag_many(&keys, messages, tags).expect("no limit"))
        }};
    }
    Some(match &*engine.name {
        "PMAC-AES128" => call!(RawKeys::<PmacAes128>::with_level(level), first_of_each(keys)),
        "CMAC-AES128" => call!(RawKeys::<Cmac<Aes128>>::with_level(level), first_of_each(keys)),
        "ELIMAC-AES128" => call!(RawKeys::<EliMac>::with_level(level), two_of_each(keys)),
        "LIGHTMAC-AES128-S32" => {
            call!(light(32, level).expect("a counter's length"), two_of_each(keys))
        }
        "POLY1305-AES" => {
            let keys = first_of_each(keys).into_iter().map(|key| (key, &POLY_NONCE));
            call!(RawKeys::<Poly1305Aes>::with_level(level), keys.collect::<Vec<_>>())
        }
        "UMAC-64" => call!(RawKeys::<Umac64>::with_level(level), with_nonces(keys)),
        "UMAC-128" => call!(RawKeys::<Umac128>::with_level(level), with_nonces(keys)),
        _ => return None,
    })
}

/// Returns the first bytes of each key.
fn first_of_each<const N: usize>(keys: &[Key]) -> Vec<&[u8; N]> {
    keys.iter().map(|key| key.first_chunk().expect("keys have 64 bytes at most")).collect()
}

/// Returns the first bytes of each key, with one nonce.
fn with_nonces(keys: &[Key]) -> Vec<(&[u8; 16], UmacNonce)> {
    first_of_each(keys).into_iter().map(|key| (key, UmacNonce::from(NONCE))).collect()
}

/// Returns the two keys at the beginning of each key.
fn two_of_each(keys: &[Key]) -> Vec<&[[u8; 16]; 2]> {
    keys.iter().map(|key| key.as_chunks().0.first_chunk().expect("four of 16 bytes")).collect()
}

/// Measures tagmac's MACs on a level.
fn ours(harness: &mut Harness, record: &mut Record, level: Level) -> Result<(), Failure> {
    for (name, mac) in macs(level)? {
        if harness.wants(name) {
            add(harness, record, own_series(name, level), &*mac, &[SAME, MIXED])?;
        }
    }
    Ok(())
}

/// A MAC of tagmac and its name.
type Named = (&'static str, Box<dyn Ours>);

/// Returns tagmac's MACs on a level.
pub fn macs(level: Level) -> Result<[Named; MACS], Failure> {
    let (k1, k2) = ([1; 16], [2; 16]);
    let light = LightMac::<Aes128>::with_level(&k1, &k2, 32, level)?;
    let small = LightMac::<Present80>::with_level(&[1; 10], &[2; 10], 16, level)?;
    Ok([
        ("PMAC-AES128", many(Pmac::<Aes128>::with_level(&k1, level))?),
        ("LIGHTMAC-AES128-S32", many(light)?),
        ("ELIMAC-AES128", many(EliMac::with_level(&k1, &k2, level))?),
        ("CMAC-AES128", Box::new(Cmac::<Aes128>::with_level(&k1, level))),
        ("UMAC-64", many(Umac::<Aes128, 2>::with_level(&k1, level))?),
        ("UMAC-128", many(Umac::<Aes128, 4>::with_level(&k1, level))?),
        ("POLY1305-AES", many(Poly1305Aes::with_level(&[3; 32], level))?),
        ("PMAC-PRESENT80", many(Pmac::<Present80>::with_level(&[1; 10], level))?),
        ("LIGHTMAC-PRESENT80-S16", many(small)?),
    ])
}

fn own_series(name: &str, level: Level) -> Series {
    Series {
        name: name.into(),
        library: concat!("tagmac ", env!("CARGO_PKG_VERSION")).into(),
        level: Some(level.name().into()),
        case: None,
        ceiling: None,
        function: name.into(),
        call: String::new(),
        points: Vec::new(),
    }
}

/// The messages of a batch, and their tags.
#[derive(Clone, Copy)]
pub struct Messages<'a> {
    messages: &'a [&'a [u8]],
    tags: &'a [Vec<u8>],
}

/// The operations on the messages of a batch.
pub trait Batch {
    /// Returns the tags, one call per message.
    fn tags(&self, messages: &[&[u8]]) -> Vec<Vec<u8>>;
    /// Returns the ways to tag and to verify them, each with its case, after checking each way.
    fn ways<'a>(&'a self, batch: Messages<'a>) -> Result<Vec<(&'static str, Job<'a>)>, Failure>;
}

/// Measures the ways to tag and to verify messages.
fn add(
    harness: &mut Harness,
    record: &mut Record,
    series: Series,
    mac: &(impl Batch + ?Sized),
    mixes: &[&'static str],
) -> Result<(), Failure> {
    let first = record.series.len();
    for length in LENGTHS {
        let batch = |mix: &&'static str| {
            let messages = messages(harness, length, *mix == MIXED);
            let tags = mac.tags(&messages);
            (*mix, messages, tags)
        };
        let batches: Vec<_> = mixes.iter().map(batch).collect();
        let mut ways: Vec<(String, Job)> = Vec::new();
        for (mix, messages, tags) in &batches {
            let of_batch = mac.ways(Messages { messages, tags });
            let of_batch =
                of_batch.map_err(|wrong| format!("{}, {length} bytes: {wrong}", series.name))?;
            ways.extend(of_batch.into_iter().map(|(case, job)| (format!("{mix}{case}"), job)));
        }
        let (cases, mut jobs): (Vec<String>, Vec<Job>) = ways.into_iter().unzip();
        if record.series.len() == first {
            let of_case = |case| Series { case: Some(case), ..series.clone() };
            record.series.extend(cases.into_iter().map(of_case));
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

/// Returns the messages of a batch: of `length` bytes, or of 0 to 2 `length` bytes.
pub fn messages(harness: &Harness, length: usize, mixed: bool) -> Vec<&[u8]> {
    let bytes = |i: usize| if mixed { i * 7919 % (2 * length + 1) } else { length };
    (0..MESSAGES).map(|i| harness.message(i * 640 % 65536, bytes(i))).collect()
}

/// The beginnings of the cases' names: for one length, for mixed lengths.
const SAME: &str = "";
const MIXED: &str = "mixed lengths, ";

pub type Verdict = Result<(), Mismatch>;

/// The calls of a MAC of tagmac.
pub trait Calls {
    fn tag(&self, at: usize, message: &[u8]) -> Tag;
    fn verify(&self, at: usize, message: &[u8], tag: &Tag) -> Verdict;
    /// Tags at most as many messages as [`messages`] returns.
    fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]);
    fn verify_many(&self, messages: &[&[u8]], tags: &[Tag], verdicts: &mut [Verdict]) -> Verdict;
}

/// A MAC of tagmac, with both kinds of calls.
pub trait Ours: Calls + Batch {}

impl<C: Calls> Ours for C {}

/// A MAC, and a nonce for each message.
struct Many<M: Mac> {
    mac: M,
    nonces: Vec<M::Nonce>,
}

fn many<M: Mac + 'static>(mac: M) -> Result<Box<dyn Ours>, Failure> {
    let bytes = *M::Nonce::BYTES.end();
    let nonces = (0..MESSAGES as u128).map(|i| M::Nonce::from_number(i, bytes));
    Ok(Box::new(Many { mac, nonces: nonces.collect::<Result<_, _>>()? }))
}

impl<M: Mac> Calls for Many<M> {
    fn tag(&self, at: usize, message: &[u8]) -> Tag {
        self.mac.tag_with(&self.nonces[at], message).expect("within the limit")
    }

    fn verify(&self, at: usize, message: &[u8], tag: &Tag) -> Verdict {
        self.mac.verify_with(&self.nonces[at], message, tag)
    }

    fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        let nonces = &self.nonces[..messages.len()];
        self.mac.tag_many_with(nonces, messages, tags).expect("within the limit");
    }

    fn verify_many(&self, messages: &[&[u8]], tags: &[Tag], verdicts: &mut [Verdict]) -> Verdict {
        self.mac.verify_many_with(&self.nonces, messages, tags, verdicts)
    }
}

impl Calls for Cmac<Aes128> {
    fn tag(&self, _at: usize, message: &[u8]) -> Tag {
        Cmac::tag(self, message)
    }

    fn verify(&self, _at: usize, message: &[u8], tag: &Tag) -> Verdict {
        Cmac::verify(self, message, tag)
    }

    fn tag_many(&self, messages: &[&[u8]], tags: &mut [Tag]) {
        Cmac::tag_many(self, messages, tags);
    }

    fn verify_many(&self, messages: &[&[u8]], tags: &[Tag], verdicts: &mut [Verdict]) -> Verdict {
        Cmac::verify_many(self, messages, tags, verdicts)
    }
}

impl<C: Calls> Batch for C {
    fn tags(&self, messages: &[&[u8]]) -> Vec<Vec<u8>> {
        let tag = |(at, message): (usize, &&[u8])| self.tag(at, message).as_bytes().to_vec();
        messages.iter().enumerate().map(tag).collect()
    }

    fn ways<'a>(&'a self, batch: Messages<'a>) -> Result<Vec<(&'static str, Job<'a>)>, Failure> {
        let Messages { messages, tags } = batch;
        let right: Vec<Tag> =
            tags.iter().map(|tag| Tag::try_from(&tag[..])).collect::<Result<_, _>>()?;
        check(self, messages, &right)?;
        let (same, one_wrong) = (right.clone(), with_one_wrong(&right)?);
        let (mut many, mut each) = (vec![Tag::default(); right.len()], right.clone());
        let (mut verdicts, mut others) = (vec![Ok(()); right.len()], vec![Ok(()); right.len()]);
        Ok(vec![
            (
                "in one call",
                job(move || {
                    self.tag_many(black_box(messages), &mut many);
                    black_box(&many);
                }),
            ),
            (
                "one by one",
                job(move || {
                    for (at, (message, tag)) in messages.iter().zip(&mut each).enumerate() {
                        *tag = self.tag(at, black_box(*message));
                    }
                    black_box(&each);
                }),
            ),
            (
                "checked in one call",
                job(move || {
                    let all = self.verify_many(black_box(messages), &same, &mut verdicts);
                    black_box((all.is_ok(), &verdicts));
                }),
            ),
            (
                "checked in one call, one tag wrong",
                job(move || {
                    let all = self.verify_many(black_box(messages), &one_wrong, &mut others);
                    black_box((all.is_ok(), &others));
                }),
            ),
            (
                "checked one by one",
                job(move || {
                    for (at, (message, tag)) in messages.iter().zip(&right).enumerate() {
                        black_box(self.verify(at, black_box(*message), tag).is_ok());
                    }
                }),
            ),
        ])
    }
}

fn job<'a>(mut batch: impl FnMut() + 'a) -> Job<'a> {
    Box::new(move |calls| (0..calls).for_each(|_| batch()))
}

/// Returns the tags with a wrong one in the middle.
fn with_one_wrong(right: &[Tag]) -> Result<Vec<Tag>, Failure> {
    let (mut tags, wrong) = (right.to_vec(), right.len() / 2);
    tags[wrong] = Tag::try_from(&altered(tags[wrong].as_bytes())[..])?;
    Ok(tags)
}

/// Checks that one call returns the same tags as single calls, and that it finds a wrong tag.
fn check<C: Calls>(mac: &C, messages: &[&[u8]], right: &[Tag]) -> Result<(), Failure> {
    let mut tags = vec![Tag::default(); right.len()];
    mac.tag_many(messages, &mut tags);
    if tags != right {
        return Err("other tags in one call".into());
    }
    let tags = with_one_wrong(right)?;
    let mut verdicts = vec![Ok(()); right.len()];
    let all = mac.verify_many(messages, &tags, &mut verdicts);
    let alone = |(at, tag): (usize, &Tag)| mac.verify(at, messages[at], tag);
    let is_right = verdicts.iter().copied().eq(tags.iter().enumerate().map(alone));
    match is_right && all.is_err() && verdicts.iter().filter(|one| one.is_err()).count() == 1 {
        true => Ok(()),
        false => Err("other verdicts in one call".into()),
    }
}

/// A library without a batch call. The `RefCell` lets each way borrow it in turn.
struct OneByOne(RefCell<Engine>);

impl Batch for OneByOne {
    fn tags(&self, messages: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut engine = self.0.borrow_mut();
        messages.iter().map(|message| engine.timed.tag(message)).collect()
    }

    fn ways<'a>(&'a self, batch: Messages<'a>) -> Result<Vec<(&'static str, Job<'a>)>, Failure> {
        let Messages { messages, tags } = batch;
        if !self.0.borrow_mut().timed.verify_each(messages, tags) {
            return Err("a wrong verdict".into());
        }
        let each = job(move || self.0.borrow_mut().timed.each(black_box(messages)));
        let checked = job(move || {
            black_box(self.0.borrow_mut().timed.verify_each(black_box(messages), tags));
        });
        Ok(vec![("one by one", each), ("checked one by one", checked)])
    }
}

/// An engine that uses another key for each message.
struct KeyEach<'k> {
    engine: Engine,
    keys: &'k [Key],
    many: Option<ManyKeys<'k>>,
}

impl Batch for KeyEach<'_> {
    fn tags(&self, messages: &[&[u8]]) -> Vec<Vec<u8>> {
        let tag = |(key, message): (&Key, &&[u8])| self.engine.timed.tag_under(key, message);
        self.keys.iter().zip(messages).map(tag).collect()
    }

    fn ways<'a>(&'a self, batch: Messages<'a>) -> Result<Vec<(&'static str, Job<'a>)>, Failure> {
        let Messages { messages, tags: right } = batch;
        let each = job(|| self.engine.timed.each_under(self.keys, black_box(messages)));
        let mut ways = vec![("a key each, one by one", each)];
        if let Some(many) = &self.many {
            let mut tags = vec![Tag::default(); messages.len()];
            many(messages, &mut tags);
            if !tags.iter().map(Tag::as_bytes).eq(right.iter().map(|tag| &tag[..])) {
                return Err("other tags in one call under many keys".into());
            }
            let many = job(move || {
                many(black_box(messages), &mut tags);
                black_box(&tags);
            });
            ways.insert(0, ("a key each, in one call", many));
        }
        Ok(ways)
    }
}
