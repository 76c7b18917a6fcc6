//! The table of `bench quick`.

use std::hint::black_box;

use tagmac::cipher::{Aes128, Aes256, Present80, Rc6};
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, NonceSequence, Pmac, Poly1305, Poly1305Aes};
use tagmac::{Umac, Umac99, Umac99Set, UmacNonce};

use crate::ceiling::{Costs, costs};
use crate::clock::{best_ns, cycles_per_ns};

/// Lengths whose cost is given per message as well.
const SHORT: [usize; 2] = [16, 64];
const LENGTHS: [usize; 9] = [16, 64, 256, 1024, 1536, 4096, 16384, 65536, 1 << 20];

/// Whole calls as applications make them, key ready, in loops compiled with them: no indirection
/// inside what is timed.
pub trait Timed {
    /// The tag of a message.
    fn tag(&mut self, message: &[u8]) -> Vec<u8>;
    /// That many calls on one message.
    fn repeat(&mut self, message: &[u8], calls: usize);
    /// That many calls, each of which writes its tag to the front of the message.
    fn chain(&mut self, message: &mut [u8], calls: usize);
}

impl<T: AsRef<[u8]>, F: FnMut(&[u8]) -> T> Timed for F {
    fn tag(&mut self, message: &[u8]) -> Vec<u8> {
        self(message).as_ref().to_vec()
    }

    fn repeat(&mut self, message: &[u8], calls: usize) {
        for _ in 0..calls {
            black_box(self(black_box(message)));
        }
    }

    fn chain(&mut self, message: &mut [u8], calls: usize) {
        for _ in 0..calls {
            let tag = self(message);
            // A tag of 20 bytes is longer than the shortest message.
            let fits = tag.as_ref().len().min(message.len());
            message[..fits].copy_from_slice(&tag.as_ref()[..fits]);
        }
    }
}

/// A MAC on a rung.
struct Contender {
    name: String,
    /// Cycles per byte that its multiplications or AES rounds cost at least, where it has such.
    ceiling: Option<f64>,
    longest: usize,
    timed: Box<dyn Timed>,
    /// Whether the tags of one message are the same in each call.
    repeats: bool,
    /// The same function of other libraries.
    peers: Vec<(&'static str, Box<dyn Timed>)>,
}

/// The MAC's one-shot call.
fn contender<M>(name: &str, mac: M, nonce: M::Nonce, ceiling: impl Into<Option<f64>>) -> Contender
where
    M: Mac<Nonce: 'static> + 'static,
{
    Contender {
        name: name.into(),
        ceiling: ceiling.into(),
        longest: usize::try_from(mac.hash().limit_bits() / 8).unwrap_or(usize::MAX),
        timed: Box::new(move |message: &[u8]| {
            mac.tag_with(black_box(&nonce), message).expect("within the limit")
        }),
        repeats: true,
        peers: Vec::new(),
    }
}

/// UMAC under a new nonce for each message, and under nonces that count up.
fn umac<const T: usize>(level: Level, costs: &Costs) -> [Contender; 2] {
    let key = [1; 16];
    let mac = Umac::<Aes128, T>::on(&key, level);
    let name = format!("UMAC-{}", 32 * T);
    let ceiling = 2.0 * T as f64 * costs.mul32 / 32.0;
    let mut one_shot = contender(&name, mac.clone(), UmacNonce::from(7), ceiling);
    let mut sequence = NonceSequence::new(Box::new(mac), 8).expect("UMAC takes 8 bytes");
    let mut counting = Contender {
        name: format!("{name}, counting"),
        timed: Box::new(move |message: &[u8]| sequence.tag(message).expect("nonces are left").1),
        repeats: false,
        peers: Vec::new(),
        ..one_shot
    };
    one_shot.peers = crate::peers::umac(&key, 4 * T);
    counting.peers = crate::peers::umac_counting(&key, 4 * T);
    [one_shot, counting]
}

fn contenders(level: Level, costs: &Costs) -> Vec<Contender> {
    let (k1, k2) = ([1; 16], [2; 16]);
    let aes = |rounds: f64, bytes: f64| rounds * costs.aes / bytes;
    let elimac = EliMac::on(&k1, &k2, level);
    let light = |s| LightMac::<Aes128>::on(&k1, &k2, s, level).expect("a counter length");
    let present = LightMac::<Present80>::on(&[1; 10], &[2; 10], 16, level).expect("a counter");
    let key = [3; 32];
    // Nine products of two instructions, or 25 of one, for two blocks in 16 bytes of vector.
    let poly = match costs.mul52 {
        Some(mul52) => 18.0 * mul52 / 32.0,
        None => 25.0 * costs.mul32 / 32.0,
    };
    let mut poly1305 = contender("POLY1305-AES", Poly1305Aes::on(&key, level), [7; 16], poly);
    poly1305.peers = crate::peers::poly1305_aes(&key);
    let one_time = Contender {
        name: "POLY1305, key each".into(),
        timed: Box::new(move |message: &[u8]| {
            Poly1305::on(black_box(&key), level).tag(message).expect("within the limit")
        }),
        peers: crate::peers::poly1305(&key),
        ..contender("", Poly1305Aes::on(&key, level), [7; 16], poly)
    };
    let mut all = vec![
        contender("PMAC-AES128", Pmac::<Aes128>::on(&k1, level), (), aes(10.0, 16.0)),
        contender("PMAC-AES256", Pmac::<Aes256>::on(&key, level), (), aes(14.0, 16.0)),
        contender("LIGHTMAC-AES128-S16", light(16), (), aes(10.0, 14.0)),
        contender("LIGHTMAC-AES128-S32", light(32), (), aes(10.0, 12.0)),
        contender("LIGHTMAC-AES128-S64", light(64), (), aes(10.0, 8.0)),
        contender("PMAC-PRESENT80", Pmac::<Present80>::on(&[1; 10], level), (), None),
        contender("LIGHTMAC-PRESENT80-S16", present, (), None),
        contender("PMAC-RC6", Pmac::<Rc6>::on(&k1, level), (), None),
        contender("ELIMAC-AES128", elimac.clone(), (), aes(11.0, 16.0)),
        contender("ELIMAC, cached", elimac.with_cache(1 << 20), (), aes(4.0, 16.0)),
        poly1305,
        one_time,
    ];
    all.extend(umac::<1>(level, costs));
    all.extend(umac::<2>(level, costs));
    all.extend(umac::<4>(level, costs));
    // In 16 bytes of vector, two products of 32 bits for 16 bytes of message, or eight of 16 bits,
    // at the same cost, for 32 bytes.
    for (name, set, products) in [
        ("UMAC99-STD-30", Umac99Set::Std30, 1.0 / 16.0),
        ("UMAC99-STD-60", Umac99Set::Std60, 2.0 / 16.0),
        ("UMAC99-MMX-15", Umac99Set::Mmx15, 1.0 / 32.0),
        ("UMAC99-MMX-30", Umac99Set::Mmx30, 2.0 / 32.0),
        ("UMAC99-MMX-60", Umac99Set::Mmx60, 4.0 / 32.0),
    ] {
        let mac = Umac99::on(set, &k1, level);
        all.push(contender(name, mac, [7; 8], products * costs.mul32));
    }
    all
}

/// Calls in a timed loop on messages of `length` bytes.
fn calls(length: usize) -> usize {
    (1 << 17) / (length + 64) + 1
}

/// Core cycles of one call, back to back.
fn back_to_back(timed: &mut dyn Timed, message: &[u8], clock: f64) -> f64 {
    let calls = calls(message.len());
    let ns = best_ns(25, 1e5, || timed.repeat(black_box(message), calls));
    clock * ns / calls as f64
}

/// Core cycles of one call in a chain.
fn chained(timed: &mut dyn Timed, message: &[u8], clock: f64) -> f64 {
    let calls = calls(message.len());
    let mut message = message.to_vec();
    let ns = best_ns(25, 1e5, || timed.chain(black_box(&mut message), calls));
    clock * ns / calls as f64
}

/// Prints the table for the named rungs and MACs, or for all.
pub fn run(names: &[String]) {
    let longest = LENGTHS[LENGTHS.len() - 1];
    let message: Vec<u8> = (0..longest).map(|i| (i * 7 + i / 256) as u8).collect();
    let (levels, macs): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| Level::NAMES.contains(&name.as_str()));
    let wanted_level =
        |level: &Level| levels.is_empty() || levels.iter().any(|n| *n == level.name());
    let wanted = |name: &str| macs.is_empty() || macs.iter().any(|mac| name.starts_with(*mac));
    for level in Level::all().filter(wanted_level) {
        let clock = cycles_per_ns();
        let costs = costs(level, clock);
        println!("\n{level}: clock {clock:.2} GHz, {costs}");
        print!("{:20}", "cycles per byte at");
        LENGTHS.iter().for_each(|n| print!("{n:>8}"));
        print!("{:>9}{:>7}", "ceiling", "share");
        println!("{:>20}{:>20}", "chained 16/64", "back to back 16/64");
        let portable = Level::all().next().expect("a lowest rung");
        let witnesses = contenders(portable, &costs);
        for (mut contender, mut witness) in contenders(level, &costs).into_iter().zip(witnesses) {
            if wanted(&contender.name) {
                row(&mut contender, &mut witness, &message);
            }
        }
    }
}

/// The figures of one contender, and under them those of its peers, timed in turns.
fn row(contender: &mut Contender, witness: &mut Contender, message: &[u8]) {
    let name = &contender.name;
    let mut all: Vec<(&str, &mut dyn Timed)> = vec![(name, &mut *contender.timed)];
    for (name, timed) in &mut contender.peers {
        all.push((name, &mut **timed));
    }
    let mut cycles = vec![[f64::NAN; LENGTHS.len()]; all.len()];
    for (at, length) in LENGTHS.into_iter().enumerate() {
        let message = &message[..length];
        if length > contender.longest {
            continue;
        }
        let expected = witness.timed.tag(message);
        for ((peer, timed), cycles) in all.iter_mut().zip(&mut cycles) {
            if contender.repeats {
                let right = timed.tag(message) == expected;
                assert!(right, "{name}, {peer}: wrong tag at {length} bytes");
            }
            // The clock is taken again beside each figure, because it drifts.
            cycles[at] = back_to_back(*timed, message, cycles_per_ns());
        }
    }
    let ours = cycles[0];
    for ((peer, timed), cycles) in all.iter_mut().zip(&cycles) {
        print!("{peer:20}");
        for (cycles, length) in cycles.iter().zip(LENGTHS) {
            match cycles.is_nan() {
                true => print!("{:>8}", "-"),
                false => print!("{:8.3}", cycles / length as f64),
            }
        }
        match *peer == name.as_str() {
            true => {
                let at = LENGTHS.iter().position(|n| *n == 16384).expect("a length");
                match contender.ceiling {
                    Some(ceiling) => {
                        let share = ceiling / (cycles[at] / 16384.0);
                        print!("{ceiling:9.3}{share:7.2}");
                    }
                    None => print!("{:>9}{:>7}", "-", "-"),
                }
            }
            false => print!("{:16}", ""),
        }
        for n in SHORT {
            print!("{:10.0}", chained(*timed, &message[..n], cycles_per_ns()));
        }
        for n in SHORT {
            let at = LENGTHS.iter().position(|length| *length == n).expect("a length");
            print!("{:10.0}", cycles[at]);
        }
        println!();
        if *peer != name.as_str() {
            print!("{:20}", "  times as fast");
            cycles.iter().zip(ours).for_each(|(peer, ours)| print!("{:8.2}", peer / ours));
            println!();
        }
    }
}
