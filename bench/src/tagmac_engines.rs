//! The engines of tagmac: every MAC on a level.

use std::hint::black_box;
use std::rc::Rc;

use tagmac::cipher::{Aes128, Aes256, Present80, Rc6};
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{EliMac, LightMac, Mac, NonceSequence, Pmac, Poly1305, Poly1305Aes};
use tagmac::{Tag, Umac, Umac99, Umac99Set, UmacNonce};

use crate::ceiling::Costs;
use crate::engine::{Engine, KEY, Key, Timed, timed, timed_verifying};

/// The nonce of every call: that of the peers too, so that tags can be compared.
pub const NONCE: u64 = 7;

/// Bytes of messages for which EliMAC keeps subkeys: as many bytes of subkeys.
const ELIMAC_CACHE: usize = 1 << 20;

/// The first bytes of key material.
fn key<const N: usize>(key: &Key) -> &[u8; N] {
    key.first_chunk().expect("keys have 64 bytes at most")
}

/// The next bytes.
fn second<const N: usize>(key: &Key) -> &[u8; N] {
    key[N..].first_chunk().expect("two keys have 64 bytes at most")
}

/// The engines on a level, their ceilings by what its instructions cost.
pub fn engines(level: Level, costs: &Costs) -> Vec<Engine> {
    let aes = |rounds: f64, bytes: f64| Some(rounds * costs.aes / bytes);
    // Nine products of two instructions, or 25 of one, for two blocks in 16 bytes of vector. The
    // portable level multiplies words of 64 bits.
    let poly = match costs.mul52 {
        Some(mul52) => Some(18.0 * mul52 / 32.0),
        None => (level.name() != "portable").then_some(25.0 * costs.mul32 / 32.0),
    };
    let mut all = vec![
        mac("PMAC-AES128", level, aes(10.0, 16.0), (), move |k| {
            Pmac::<Aes128>::with_level(key(k), level)
        }),
        mac("PMAC-AES256", level, aes(14.0, 16.0), (), move |k| {
            Pmac::<Aes256>::with_level(key(k), level)
        }),
        lightmac(level, 16, costs),
        lightmac(level, 32, costs),
        lightmac(level, 64, costs),
        mac("ELIMAC-AES128", level, aes(11.0, 16.0), (), move |k| {
            EliMac::with_level(key(k), second(k), level)
        }),
        Engine {
            key_table: ELIMAC_CACHE,
            ..mac("ELIMAC-AES128, cached", level, aes(4.0, 16.0), (), move |k| {
                EliMac::with_level(key(k), second(k), level).with_cache(ELIMAC_CACHE)
            })
        },
        mac("POLY1305-AES", level, poly, poly_nonce(), move |k| {
            Poly1305Aes::with_level(key(k), level)
        }),
        engine(
            "POLY1305, a key each",
            level,
            poly,
            timed_verifying(
                move |k: &Key| {
                    let key = *key(k);
                    move |message: &[u8]| {
                        Poly1305::with_level(black_box(&key), level)
                            .tag(message)
                            .expect("within the limit")
                    }
                },
                move |k: &Key| {
                    let key = *key(k);
                    move |message: &[u8], tag: &[u8]| {
                        let mac = Poly1305::with_level(black_box(&key), level);
                        Tag::try_from(tag).is_ok_and(|tag| mac.verify(message, &tag).is_ok())
                    }
                },
            ),
        ),
    ];
    all.extend(umac::<1>(level, costs));
    all.extend(umac::<2>(level, costs));
    all.extend(umac::<4>(level, costs));
    all.extend([
        mac("PMAC-PRESENT80", level, None, (), move |k| {
            Pmac::<Present80>::with_level(key(k), level)
        }),
        mac("LIGHTMAC-PRESENT80-S16", level, None, (), move |k| {
            LightMac::<Present80>::with_level(key(k), second(k), 16, level)
                .expect("a counter's length")
        }),
        mac("PMAC-RC6", level, None, (), move |k| Pmac::<Rc6>::with_level(key(k), level)),
    ]);
    // In 16 bytes of vector, two products of 32 bits for 16 bytes of message, or eight of 16 bits,
    // at the same cost, for 32 bytes.
    for (name, set, products) in [
        ("UMAC99-STD-30", Umac99Set::Std30, 1.0 / 16.0),
        ("UMAC99-STD-60", Umac99Set::Std60, 2.0 / 16.0),
        ("UMAC99-MMX-15", Umac99Set::Mmx15, 1.0 / 32.0),
        ("UMAC99-MMX-30", Umac99Set::Mmx30, 2.0 / 32.0),
        ("UMAC99-MMX-60", Umac99Set::Mmx60, 4.0 / 32.0),
    ] {
        let nonce = NONCE.to_be_bytes();
        let ceiling = Some(products * costs.mul32);
        all.push(mac(name, level, ceiling, nonce, move |k| Umac99::with_level(set, key(k), level)));
    }
    all
}

fn poly_nonce() -> [u8; 16] {
    u128::from(NONCE).to_be_bytes()
}

/// An engine that can tag messages of any length. What follows a comma in its name tells how.
fn engine(name: &str, level: Level, ceiling: Option<f64>, timed: Box<dyn Timed>) -> Engine {
    Engine {
        name: name.into(),
        library: concat!("tagmac ", env!("CARGO_PKG_VERSION")).into(),
        level: Some(level),
        ceiling,
        longest: usize::MAX,
        function: name.split(',').next().unwrap_or(name).into(),
        call: "one call, the key ready".into(),
        repeats: true,
        key_table: 0,
        timed,
    }
}

/// A MAC's one-shot call, always under one nonce.
fn mac<M>(
    name: &str,
    level: Level,
    ceiling: Option<f64>,
    nonce: M::Nonce,
    make: impl Fn(&Key) -> M + 'static,
) -> Engine
where
    M: Mac<Nonce: Copy + 'static> + 'static,
{
    let longest = make(&KEY).hash().limit_bits() / 8;
    let make = Rc::new(make);
    let same = Rc::clone(&make);
    let timed = timed_verifying(
        move |key: &Key| {
            let mac = make(key);
            move |message: &[u8]| {
                mac.tag_with(black_box(&nonce), message).expect("within the limit")
            }
        },
        move |key: &Key| {
            let mac = same(key);
            move |message: &[u8], tag: &[u8]| {
                let tag = Tag::try_from(tag);
                tag.is_ok_and(|tag| mac.verify_with(black_box(&nonce), message, &tag).is_ok())
            }
        },
    );
    let longest = usize::try_from(longest).unwrap_or(usize::MAX);
    Engine { longest, ..engine(name, level, ceiling, timed) }
}

fn lightmac(level: Level, s: usize, costs: &Costs) -> Engine {
    let ceiling = Some(10.0 * costs.aes / (16 - s / 8) as f64);
    mac(&format!("LIGHTMAC-AES128-S{s}"), level, ceiling, (), move |k| {
        LightMac::<Aes128>::with_level(key(k), second(k), s, level).expect("a counter's length")
    })
}

/// UMAC under a nonce that is given, and under nonces that count up.
fn umac<const T: usize>(level: Level, costs: &Costs) -> [Engine; 2] {
    let ceiling = Some(2.0 * T as f64 * costs.mul32 / 32.0);
    let name = format!("UMAC-{}", 32 * T);
    let make = move |k: &Key| Umac::<Aes128, T>::with_level(key(k), level);
    let counting = timed(move |k: &Key| {
        let mut sequence = NonceSequence::new(Box::new(make(k)), 8).expect("UMAC takes 8 bytes");
        move |message: &[u8]| sequence.tag(message).expect("nonces are left").1
    });
    let counting = engine(&format!("{name}, counting"), level, ceiling, counting);
    [
        mac(&name, level, ceiling, UmacNonce::from(NONCE), make),
        Engine { repeats: false, ..counting },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tagmac::dynamic::Algorithm;

    #[test]
    fn every_mac_with_parts_has_an_engine() {
        let family = |name: &str| name.split(['-', ',']).next().unwrap_or_default().to_string();
        let costs = Costs { aes: 1.0, mul32: 1.0, mul52: None };
        let engines = engines(Level::best(), &costs);
        let known: Vec<String> = engines.iter().map(|engine| family(&engine.name)).collect();
        for algorithm in Algorithm::all().filter(|one| one.capabilities().parts) {
            let has_engine = known.contains(&family(algorithm.name()));
            assert!(has_engine, "{algorithm}: expected a line in `engines`, found none");
        }
    }
}
