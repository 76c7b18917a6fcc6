//! The table of `bench quick`.

use std::hint::black_box;

use tagmac::cipher::{Aes128, Cipher};
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, Pmac, Tag};

use crate::ceiling::round_ns;
use crate::clock::{best_ns, cycles_per_ns};

/// Lengths whose cost is given per message as well.
const SHORT: [usize; 2] = [16, 64];
const LENGTHS: [usize; 9] = [16, 64, 256, 1024, 1536, 4096, 16384, 65536, 1 << 20];

/// Tags a message.
type Tags = Box<dyn Fn(&[u8]) -> Tag>;
/// Makes that many calls on one message.
type Repeats = Box<dyn Fn(&[u8], usize)>;
/// Makes that many calls, each of which writes its tag to the front of the message.
type Chains = Box<dyn Fn(&mut [u8], usize)>;

/// A MAC on a rung, with the AES rounds that a byte costs at least.
struct Contender {
    name: &'static str,
    level: Level,
    rounds_per_byte: f64,
    longest: usize,
    tag: Tags,
    back_to_back: Repeats,
    chained: Chains,
}

/// The MAC's own calls, in loops compiled with them: no indirection inside what is timed.
fn contender<M>(name: &'static str, mac: M, level: Level, rounds_per_byte: f64) -> Contender
where
    M: Mac<Nonce = ()> + Clone + 'static,
{
    let [again, once_more] = [mac.clone(), mac.clone()];
    Contender {
        name,
        level,
        rounds_per_byte,
        longest: usize::try_from(mac.hash().limit_bits() / 8).unwrap_or(usize::MAX),
        tag: Box::new(move |message| mac.tag_with(&(), message).expect("within the limit")),
        back_to_back: Box::new(move |message, calls| {
            for _ in 0..calls {
                black_box(again.tag_with(&(), black_box(message)).expect("within the limit"));
            }
        }),
        chained: Box::new(move |message, calls| {
            for _ in 0..calls {
                let tag = once_more.tag_with(&(), &*message).expect("within the limit");
                message[..16].copy_from_slice(tag.as_bytes());
            }
        }),
    }
}

fn contenders(level: Level) -> Vec<Contender> {
    let (k1, k2) = ([1; 16], [2; 16]);
    let aes = |rounds: f64, bytes: f64| rounds / bytes;
    let elimac = EliMac::new(&k1, &k2, level);
    let light = |s| LightMac::<Aes128>::new(&k1, &k2, s, level).expect("a counter length");
    vec![
        contender("PMAC-AES128", Pmac::<Aes128>::new(&k1, level), level, aes(10.0, 16.0)),
        contender("PMAC-AES256", pmac256(level), level, aes(14.0, 16.0)),
        contender("LIGHTMAC-AES128-S16", light(16), level, aes(10.0, 14.0)),
        contender("LIGHTMAC-AES128-S32", light(32), level, aes(10.0, 12.0)),
        contender("LIGHTMAC-AES128-S64", light(64), level, aes(10.0, 8.0)),
        contender("ELIMAC-AES128", elimac.clone(), level, aes(11.0, 16.0)),
        contender("ELIMAC, cached", elimac.with_cache(1 << 20), level, aes(4.0, 16.0)),
    ]
}

fn pmac256(level: Level) -> Pmac<tagmac::cipher::Aes256> {
    Pmac::new(&[3; <tagmac::cipher::Aes256 as Cipher>::KEY_BYTES], level)
}

/// Calls in a timed loop on messages of `length` bytes.
fn calls(length: usize) -> usize {
    (1 << 17) / (length + 64) + 1
}

/// Core cycles of one call, back to back.
fn back_to_back(contender: &Contender, message: &[u8], clock: f64) -> f64 {
    let calls = calls(message.len());
    let ns = best_ns(25, 1e5, || (contender.back_to_back)(black_box(message), calls));
    clock * ns / calls as f64
}

/// Core cycles of one call in a chain.
fn chained(contender: &Contender, message: &[u8], clock: f64) -> f64 {
    let calls = calls(message.len());
    let mut message = message.to_vec();
    let ns = best_ns(25, 1e5, || (contender.chained)(black_box(&mut message), calls));
    clock * ns / calls as f64
}

/// Prints the table for the named rungs, or for all.
pub fn run(names: &[String]) {
    let longest = LENGTHS[LENGTHS.len() - 1];
    let message: Vec<u8> = (0..longest).map(|i| (i * 7 + i / 256) as u8).collect();
    let portable = contenders(Level::all().next().expect("a lowest rung"));
    let wanted = |level: &Level| names.is_empty() || names.iter().any(|n| n == level.name());
    for level in Level::all().filter(wanted) {
        let clock = cycles_per_ns();
        let round = clock * round_ns(level);
        println!("\n{level}: clock {clock:.2} GHz, an AES round of a block {round:.3} cycles");
        print!("{:20}", "cycles per byte at");
        LENGTHS.iter().for_each(|n| print!("{n:>8}"));
        print!("{:>9}{:>7}", "ceiling", "share");
        println!("{:>20}{:>20}", "chained 16/64", "back to back 16/64");
        for (contender, witness) in contenders(level).iter().zip(&portable) {
            row(contender, witness, &message, round);
        }
    }
}

fn row(contender: &Contender, witness: &Contender, message: &[u8], round: f64) {
    let Contender { name, level, .. } = contender;
    let ceiling = contender.rounds_per_byte * round;
    print!("{name:20}");
    let mut share = 0.0;
    let mut short = String::new();
    for length in LENGTHS {
        let message = &message[..length];
        if length > contender.longest {
            print!("{:>8}", "-");
            continue;
        }
        let right = (contender.tag)(message) == (witness.tag)(message);
        assert!(right, "{name} on {level}: wrong tag at {length} bytes");
        // The clock is taken again beside each figure, because it drifts.
        let cycles = back_to_back(contender, message, cycles_per_ns());
        print!("{:8.3}", cycles / length as f64);
        if length == 16384 {
            share = ceiling / (cycles / length as f64);
        }
        if SHORT.contains(&length) {
            short += &format!("{cycles:10.0}");
        }
    }
    print!("{ceiling:9.3}{share:7.2}");
    SHORT
        .iter()
        .for_each(|n| print!("{:10.0}", chained(contender, &message[..*n], cycles_per_ns())));
    println!("{short}");
}
