//! The engines of the lab: the papers' comparators, the hashes that they name, and our MACs with
//! the papers' parameters. They are not choices for users; `tagmac-lab` makes its tables from these
//! figures.

use std::hint::black_box;

use tagmac::cipher::{Aes128, Present80};
use tagmac::hashes::{HashValue, Uhash64, Uhash128, Universal};
use tagmac::hazmat::Hash;
use tagmac::isa::{Isa, Kernel, Level};
use tagmac::{Cmac, LightMac, Mac, Tag};
use tagmac_lab::comparators::{
    COMPARATORS, CbcMac, CbcMacEde, Chaskey, Comparator, CounterSum, Emac, Keys, LeMac, Marvin,
    PcsHmacSha256, Pelican, PetitMac, Pmac1, Pmac2, PmacParity, PmacPlus, SumEcbc, ThreeKf9, Xcbc,
    XecbMac, XorMac, Zmac, hmac_md5, hmac_sha1, hmac_sha256,
};
use tagmac_lab::hashes::{self, Inner, Outer};
use tagmac_papers::{Cbc3, Nh, NhShape, Rc6, Umac99Parameters, Umac99Set};

use crate::ceiling::Costs;
use crate::engine::{Engine, KEY, Key, Timed, timed};
use crate::tagmac_engines::NONCE;

/// Bytes of key material for hashes with keys as long as the message.
const LONGEST_HASHED: usize = 64 << 10;

/// The library's name in records.
const LAB: &str = concat!("tagmac-lab ", env!("CARGO_PKG_VERSION"));
const OURS: &str = concat!("tagmac ", env!("CARGO_PKG_VERSION"));

/// Returns key number `i` of N bytes.
fn key<const N: usize>(key: &Key, i: usize) -> &[u8; N] {
    key[N * i..].first_chunk().expect("keys have 64 bytes at most")
}

/// Returns K1 to KN.
fn keys<const N: usize, const B: usize>(k: &Key) -> [&[u8; B]; N] {
    let mut keys = [key(k, 0); N];
    for (i, one) in keys.iter_mut().enumerate() {
        *one = key(k, i);
    }
    keys
}

fn hash_key() -> Vec<u8> {
    KEY.iter().copied().cycle().take(LONGEST_HASHED).collect()
}

/// Returns the engines that define the right tags, all on the portable level: each comparator of
/// the registry, under keys as `tagmac-lab tag` accepts them, and the other engines.
pub fn witnesses(portable: Level, costs: &Costs) -> Vec<Engine> {
    let mut witnesses: Vec<Engine> = COMPARATORS
        .iter()
        .filter(|one| one.has_definition())
        .map(|one| {
            let timed = timed(move |k: &Key| {
                let k = *k;
                move |message: &[u8]| by_name(one, &k, message, portable)
            });
            engine(portable, one.name, LAB, None, timed)
        })
        .collect();
    let mut others = engines(portable, costs);
    others.retain(|other| witnesses.iter().all(|one| one.name != other.name));
    witnesses.extend(others);
    witnesses
}

/// Returns a comparator's tag of a message.
fn by_name(one: &'static Comparator, k: &Key, message: &[u8], level: Level) -> Tag {
    let hash_key = hash_key();
    let keys: Vec<&[u8]> = match one.keys {
        Keys::AsMessage => vec![&hash_key[..message.len()]],
        Keys::Any => vec![&k[..32]],
        Keys::Sizes(sizes) => {
            sizes.iter().enumerate().map(|(i, bytes)| &k[i * bytes..][..*bytes]).collect()
        }
    };
    let nonce = u128::from(NONCE).to_be_bytes();
    let keyed = one.with_keys(&keys, level).expect("the row's keys");
    keyed.tag(&nonce[16 - one.nonce..], message).expect("whole blocks")
}

fn engine(
    level: Level,
    name: &str,
    library: &str,
    ceiling: Option<f64>,
    timed: Box<dyn Timed>,
) -> Engine {
    Engine {
        name: name.into(),
        library: library.into(),
        level: Some(level),
        ceiling,
        longest: usize::MAX,
        function: name.into(),
        call: "one call, the key ready".into(),
        repeats: true,
        key_table: 0,
        timed,
    }
}

/// Returns the engines on a level. Their ceilings follow from its costs.
pub fn engines(level: Level, costs: &Costs) -> Vec<Engine> {
    let mut all = sequential(level, costs);
    all.extend(parallel(level, costs));
    all.extend(of_hash_functions(level));
    all.extend(universal_hashes(level));
    all.extend(papers_parameters(level, costs));
    all
}

/// Returns MACs whose blocks wait for each other.
fn sequential(level: Level, costs: &Costs) -> Vec<Engine> {
    let aes = Some(10.0 * costs.aes_chained / 16.0);
    let lab = |name: &str, ceiling, timed| engine(level, name, LAB, ceiling, timed);
    let cbc_mac = timed(move |k: &Key| {
        let mac = CbcMac::<Aes128>::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(message).expect("whole blocks")
    });
    let cbc_mac_rc6 = timed(move |k: &Key| {
        let mac = CbcMac::<Rc6>::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(message).expect("whole blocks")
    });
    let emac = timed(move |k: &Key| {
        let mac = Emac::<Aes128>::with_level(key(k, 0), key(k, 1), level);
        move |message: &[u8]| mac.tag(message)
    });
    let emac_present = timed(move |k: &Key| {
        let mac = Emac::<Present80>::with_level(key(k, 0), key(k, 1), level);
        move |message: &[u8]| mac.tag(message)
    });
    let cbc3 = timed(move |k: &Key| {
        let mac = Cbc3::<Aes128>::with_level(key(k, 0), key(k, 1), key(k, 2), level);
        move |message: &[u8]| mac.tag(message)
    });
    let cmac = timed(move |k: &Key| {
        let mac = Cmac::<Aes128>::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(message)
    });
    let derived = timed(move |k: &Key| {
        let mac = Xcbc::<Aes128>::derived(key(k, 0), level);
        move |message: &[u8]| mac.tag(message)
    });
    let xcbc = timed(move |k: &Key| {
        let mac = Xcbc::<Aes128>::with_level(key(k, 0), key(k, 1), key(k, 2), level);
        move |message: &[u8]| mac.tag(message)
    });
    let sum_ecbc = timed(move |k: &Key| {
        let mac = SumEcbc::<Aes128>::with_level(keys(k), level);
        move |message: &[u8]| mac.tag(message)
    });
    let three_kf9 = timed(move |k: &Key| {
        let mac = ThreeKf9::<Aes128>::with_level(keys(k), level);
        move |message: &[u8]| mac.tag(message)
    });
    let ede = timed(move |k: &Key| {
        let mac = CbcMacEde::<Aes128>::with_level(key(k, 0), key(k, 1), level);
        move |message: &[u8]| mac.tag(message)
    });
    let pelican = timed(move |k: &Key| {
        let mac = Pelican::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(message)
    });
    let marvin = timed(move |k: &Key| {
        let mac = Marvin::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(message)
    });
    let chaskey = timed(|k: &Key| {
        let mac = Chaskey::<8>::new(key(k, 0));
        move |message: &[u8]| mac.tag(message)
    });
    let chaskey_12 = timed(|k: &Key| {
        let mac = Chaskey::<12>::new(key(k, 0));
        move |message: &[u8]| mac.tag(message)
    });
    let nonce = u128::from(NONCE).to_be_bytes();
    let lemac = timed(move |k: &Key| {
        let mac = LeMac::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(black_box(&nonce), message)
    });
    let petitmac = timed(move |k: &Key| {
        let mac = PetitMac::with_level(key(k, 0), level);
        move |message: &[u8]| mac.tag(black_box(&nonce), message)
    });
    vec![
        lab("CBC-MAC", aes, cbc_mac),
        lab("CBC-MAC-EDE", aes, ede),
        lab("PELICAN", aes.map(|ten| 0.4 * ten), pelican),
        lab("MARVIN", Some(4.0 * costs.aes / 16.0), marvin),
        lab("LEMAC", Some(2.0 * costs.aes / 16.0), lemac),
        lab("PETITMAC", aes.map(|ten| 0.2 * ten), petitmac),
        lab("CHASKEY", None, chaskey),
        lab("CHASKEY-12", None, chaskey_12),
        lab("CBC-MAC-RC6", None, cbc_mac_rc6),
        lab("EMAC", aes, emac),
        lab("EMAC-PRESENT80", None, emac_present),
        lab("CBC3", aes, cbc3),
        lab("CMAC", aes, cmac),
        lab("AES-XCBC-MAC", aes, derived),
        lab("XCBC", aes, xcbc),
        lab("SUM-ECBC", aes, sum_ecbc),
        lab("3kf9", aes, three_kf9),
    ]
}

/// Returns MACs with independent blocks.
fn parallel(level: Level, costs: &Costs) -> Vec<Engine> {
    let aes = |rounds: f64, bytes: f64| Some(rounds * costs.aes / bytes);
    let of = Parallel { level };
    vec![
        of.mac("PMAC1", aes(10.0, 16.0), (), move |k| {
            Pmac1::<Aes128>::with_level(key(k, 0), level)
        }),
        of.mac("PMAC2", aes(10.0, 16.0), (), move |k| {
            Pmac2::<Aes128>::with_level(key(k, 0), key(k, 1), level)
        }),
        of.mac("PMAC/P", aes(30.0, 32.0), (), move |k| {
            PmacParity::<Aes128>::with_level(keys(k), level)
        }),
        of.mac("PMAC/P-PRESENT80", None, (), move |k| {
            PmacParity::<Present80>::with_level(keys(k), level)
        }),
        of.mac("PMAC_Plus", aes(10.0, 16.0), (), move |k| {
            PmacPlus::<Aes128>::with_level(keys(k), level)
        }),
        of.mac("ZMAC", aes(14.0, 31.0), (), move |k| Zmac::with_level(key(k, 0), level)),
        of.mac("XOR-MAC", aes(10.0, 8.0), NONCE.to_be_bytes(), move |k| {
            XorMac::<Aes128, 8>::with_level(key(k, 0), level)
        }),
        of.mac("PCS-HMAC-SHA256", None, (), move |k| PcsHmacSha256::with_level(key(k, 0), level)),
        of.mac("COUNTER-SUM", aes(10.0, 8.0), (), move |k| {
            CounterSum::<Aes128, 8>::with_level(key(k, 0), key(k, 1), level)
        }),
        engine(level, "XECB-MAC", LAB, aes(10.0, 16.0), {
            let nonce = u128::from(NONCE).to_be_bytes();
            timed(move |k: &Key| {
                let mac = XecbMac::<Aes128>::with_level(key(k, 0), level);
                move |message: &[u8]| {
                    mac.under(black_box(&nonce)).tag_with(&(), message).expect("within the limit")
                }
            })
        }),
        of.mac("1K-LIGHTMAC-S32", aes(10.0, 12.0), (), move |k| {
            LightMac::<Aes128>::with_level(key(k, 0), key(k, 0), 32, level).expect("s = 32")
        }),
    ]
}

struct Parallel {
    level: Level,
}

impl Parallel {
    /// Wraps a MAC of the library's traits, always under one nonce.
    fn mac<M: Mac<Nonce: 'static> + 'static>(
        &self,
        name: &str,
        ceiling: Option<f64>,
        nonce: M::Nonce,
        make: impl Fn(&Key) -> M + 'static,
    ) -> Engine {
        let longest = usize::try_from(make(&KEY).hash().limit_bits() / 8).unwrap_or(usize::MAX);
        let timed = timed(move |k: &Key| {
            let mac = make(k);
            move |message: &[u8]| {
                mac.tag_with(black_box(&nonce), message).expect("within the limit")
            }
        });
        Engine { longest, ..engine(self.level, name, LAB, ceiling, timed) }
    }
}

fn of_hash_functions(level: Level) -> Vec<Engine> {
    vec![
        engine(level, "HMAC-MD5", LAB, None, timed(|k: &Key| hmac_md5(&k[..32]))),
        engine(level, "HMAC-SHA1", LAB, None, timed(|k: &Key| hmac_sha1(&k[..32]))),
        engine(level, "HMAC-SHA256", LAB, None, timed(|k: &Key| hmac_sha256(&k[..32]))),
    ]
}

/// A message or a key in words.
type WordsOf<'a> = &'a [[u8; 4]];

/// Returns the universal hashes, compiled for the level. Their keys do not change.
fn universal_hashes(level: Level) -> Vec<Engine> {
    let nh = |inner, outer| {
        #[inline(always)]
        move |k: WordsOf, m: WordsOf| hashes::nh_variant(k, m, inner, outer).to_le_bytes()
    };
    vec![
        universal(level, "MH", |k, m| hashes::mh(k, m).to_le_bytes()),
        universal(level, "MMH", |k, m| hashes::mmh(k, m).to_le_bytes()),
        universal(level, "NMH", |k, m| hashes::nmh(k, m).to_le_bytes()),
        universal(level, "NMH*", |k, m| hashes::nmh_star(k, m).to_le_bytes()),
        universal(level, "SQUARE-HASH", |k, m| hashes::square_hash(k, m).to_le_bytes()),
        universal(level, "NH", |k, m| hashes::nh(k, m).to_le_bytes()),
        universal(level, "NH-INNER-XOR", nh(Inner::Xor, Outer::Add)),
        universal(level, "NH-OUTER-XOR", nh(Inner::AddMod, Outer::Xor)),
        universal(level, "NH-NO-INNER-MODULI", nh(Inner::Add, Outer::Add)),
        universal(level, "MULTILINEAR", |k, m| {
            hashes::multilinear(k.as_flattened(), m.as_flattened())
        }),
        universal(level, "BUCKET-HASH", |k, m| {
            hashes::bucket_hash(k.as_flattened(), m.as_flattened())
        }),
        engine(
            level,
            "HASH127",
            LAB,
            None,
            timed(|k: &Key| {
                let key = *key(k, 0);
                move |message: &[u8]| hashes::hash127(&key, message)
            }),
        ),
        engine(
            level,
            "CRYPTOGRAPHIC-CRC",
            LAB,
            None,
            timed(|k: &Key| {
                let key = *key(k, 0);
                move |message: &[u8]| hashes::cryptographic_crc(&key, message)
            }),
        ),
    ]
}

fn universal<T: AsRef<[u8]> + 'static>(
    level: Level,
    name: &str,
    hash: impl Fn(WordsOf, WordsOf) -> T + Copy + 'static,
) -> Engine {
    let key = hash_key();
    let timed = timed(move |_: &Key| {
        let key = key.clone();
        move |message: &[u8]| level.run(OnLevel { hash, key: &key[..message.len()], message })
    });
    Engine { longest: LONGEST_HASHED, ..engine(level, name, LAB, None, timed) }
}

struct OnLevel<'a, F> {
    hash: F,
    key: &'a [u8],
    message: &'a [u8],
}

impl<F: Fn(WordsOf, WordsOf) -> T, T> Kernel for OnLevel<'_, F> {
    type Out = T;

    #[inline(always)]
    fn run<I: Isa>(self, _: I) -> T {
        (self.hash)(self.key.as_chunks().0, self.message.as_chunks().0)
    }
}

/// Returns our MACs with the papers' parameters, and the hashes inside them.
fn papers_parameters(level: Level, costs: &Costs) -> Vec<Engine> {
    let of = Parallel { level };
    let mut all = Vec::new();
    // LightMAC, section 5.2: s is n/2, n/3 and 8.
    for s in [8, 40] {
        let ceiling = Some(10.0 * costs.aes / (16 - s / 8) as f64);
        all.push(of.mac(&format!("LIGHTMAC-AES128-S{s}"), ceiling, (), move |k| {
            LightMac::<Aes128>::with_level(key(k, 0), key(k, 1), s, level).expect("an s")
        }));
    }
    for s in [8, 24, 32] {
        all.push(of.mac(&format!("LIGHTMAC-PRESENT80-S{s}"), None, (), move |k| {
            LightMac::<Present80>::with_level(key(k, 0), key(k, 1), s, level).expect("an s")
        }));
    }
    // UMAC, experiments in the text: words of 64 bits, shorter hash keys, one level.
    let words64 = || NhShape::new(512, 64);
    let shorter = |words| NhShape::new(words, 16)?.signed().strided()?.toeplitz(4, 8);
    let one_level = || NhShape::new(1024, 32)?.signed().toeplitz(2, 2);
    for (name, shape, set) in [
        ("UMAC99-W64", words64(), Umac99Set::Std60),
        ("UMAC99-MMX-60-2K", shorter(1024), Umac99Set::Mmx60),
        ("UMAC99-MMX-60-1K", shorter(512), Umac99Set::Mmx60),
        ("UMAC99-MMX-60-512", shorter(256), Umac99Set::Mmx60),
        ("UMAC99-STD-60-1L", one_level(), Umac99Set::Std60),
    ] {
        let parameters = Umac99Parameters::new(shape.expect("a shape"), set.prf());
        all.push(of.mac(name, None, NONCE.to_be_bytes(), move |k| {
            parameters.key_with_level(key(k, 0), level)
        }));
    }
    for engine in &mut all {
        engine.library = OURS.into();
    }
    all.push(engine(level, "UHASH-64", OURS, None, {
        timed(move |k: &Key| {
            let hash = Uhash64::with_level(key(k, 0), level);
            move |message: &[u8]| Value(hash.value(message).expect("within the limit"))
        })
    }));
    all.push(engine(level, "UHASH-128", OURS, None, {
        timed(move |k: &Key| {
            let hash = Uhash128::with_level(key(k, 0), level);
            move |message: &[u8]| Value(hash.value(message).expect("within the limit"))
        })
    }));
    for (name, set) in [
        ("NH of UMAC99-STD-30", Umac99Set::Std30),
        ("NH of UMAC99-STD-60", Umac99Set::Std60),
        ("NH of UMAC99-MMX-30", Umac99Set::Mmx30),
        ("NH of UMAC99-MMX-60", Umac99Set::Mmx60),
    ] {
        let timed = timed(move |_: &Key| {
            let key = hash_key();
            let hash = Nh::with_level(set.shape(), &key, &key, level).expect("enough key");
            move |message: &[u8]| hash.hash(message)
        });
        all.push(engine(level, name, OURS, None, timed));
    }
    all
}

/// The bytes of a hash value.
struct Value(HashValue);

impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { aes: 1.0, aes_chained: 4.0, mul32: 1.0, mul52: None };

    #[test]
    fn every_comparator_has_an_engine_that_agrees_with_it() {
        let mut engines = engines(Level::best(), &COSTS);
        for one in COMPARATORS.iter().filter(|one| one.has_definition()) {
            let engine = engines.iter_mut().find(|engine| engine.name == one.name);
            let engine = engine.unwrap_or_else(|| panic!("no engine for {}", one.name));
            for length in [16, 64, 1536] {
                let message = vec![7; length];
                let expected = by_name(one, &KEY, &message, Level::best());
                assert_eq!(engine.timed.tag(&message), expected.as_bytes(), "{}", one.name);
            }
        }
    }
}
