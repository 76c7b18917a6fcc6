//! The engines of tagmac: every MAC on a level.

use std::hint::black_box;
use std::rc::Rc;

use tagmac::cipher::{Aes128, Aes256, Present80};
use tagmac::hazmat::Hash;
use tagmac::isa::Level;
use tagmac::{Cmac, EliMac, LightMac, Mac, Nonce, NonceSequence, Pmac, Poly1305, Poly1305Aes};
use tagmac::{Tag, Umac, UmacNonce};
use tagmac_any::bounds::umac::{Prf1999, Umac1999};
use tagmac_any::bounds::{NonceKind, Theorem};
use tagmac_any::meter::{Budget, Metered, Usage};
use tagmac_papers::{Rc6, Umac99, Umac99Set};

use crate::ceiling::Costs;
use crate::engine::{Engine, KEY, Key, Role, Timed, timed, timed_verifying};

/// The nonce of every call, and a sender's first one. The peers use it too, so that tags can be
/// compared.
pub const NONCE: u64 = 7;

/// Bytes of messages for which EliMAC caches subkeys.
const ELIMAC_CACHE: usize = 1 << 20;

/// Returns the first bytes of key material.
fn key<const N: usize>(key: &Key) -> &[u8; N] {
    key.first_chunk().expect("keys have 64 bytes at most")
}

/// Returns the bytes after those of [`key`].
fn second<const N: usize>(key: &Key) -> &[u8; N] {
    key[N..].first_chunk().expect("two keys have 64 bytes at most")
}

/// Returns the engines on a level. Their ceilings follow from `costs`.
pub fn engines(role: Role, level: Level, costs: &Costs) -> Vec<Engine> {
    let of = Maker { role, level };
    let aes = |rounds: f64, bytes: f64| Some(rounds * costs.aes / bytes);
    // Two blocks in 16 bytes of vector need nine products of two instructions, or 25 of one. The
    // portable level multiplies 64-bit words.
    let poly = match costs.mul52 {
        Some(mul52) => Some(18.0 * mul52 / 32.0),
        None => (level.name() != "portable").then_some(25.0 * costs.mul32 / 32.0),
    };
    let mut all = vec![
        of.deterministic("PMAC-AES128", aes(10.0, 16.0), move |k| {
            Pmac::<Aes128>::with_level(key(k), level)
        }),
        of.deterministic("PMAC-AES256", aes(14.0, 16.0), move |k| {
            Pmac::<Aes256>::with_level(key(k), level)
        }),
        of.lightmac(16, costs),
        of.lightmac(32, costs),
        of.lightmac(64, costs),
        of.deterministic("ELIMAC-AES128", aes(11.0, 16.0), move |k| {
            EliMac::with_level(key(k), second(k), level)
        }),
        of.cached_elimac(aes(4.0, 16.0)),
        of.cmac(Some(10.0 * costs.aes_chained / 16.0)),
        of.with_nonces("POLY1305-AES", poly, POLY_NONCE, move |k| {
            Poly1305Aes::with_level(key(k), level)
        }),
        of.umac::<1>(costs),
        of.umac::<2>(costs),
        of.umac::<4>(costs),
        of.deterministic("PMAC-PRESENT80", None, move |k| {
            Pmac::<Present80>::with_level(key(k), level)
        }),
        of.deterministic("LIGHTMAC-PRESENT80-S16", None, move |k| {
            LightMac::<Present80>::with_level(key(k), second(k), 16, level)
                .expect("a counter's length")
        }),
        of.deterministic("PMAC-RC6", None, move |k| Pmac::<Rc6>::with_level(key(k), level)),
    ];
    // In 16 bytes of vector: two 32-bit products for 16 bytes of message, or eight 16-bit products
    // at the same cost for 32 bytes.
    for (name, set, products) in [
        ("UMAC99-STD-30", Umac99Set::Std30, 1.0 / 16.0),
        ("UMAC99-STD-60", Umac99Set::Std60, 2.0 / 16.0),
        ("UMAC99-MMX-15", Umac99Set::Mmx15, 1.0 / 32.0),
        ("UMAC99-MMX-30", Umac99Set::Mmx30, 2.0 / 32.0),
        ("UMAC99-MMX-60", Umac99Set::Mmx60, 4.0 / 32.0),
    ] {
        let (nonce, ceiling) = (NONCE.to_be_bytes(), Some(products * costs.mul32));
        let make = move |k: &Key| Umac99::with_level(set, key(k), level);
        all.push(of.with_nonces(name, ceiling, nonce, make));
    }
    // A one-time key has no session.
    if role == Role::Any {
        all.push(of.one_time_poly1305(poly));
    }
    all
}

/// The first nonce of Poly1305-AES.
pub const POLY_NONCE: [u8; 16] = (NONCE as u128).to_be_bytes();

/// Makes the engines of a role on a level.
#[derive(Clone, Copy)]
struct Maker {
    role: Role,
    level: Level,
}

impl Maker {
    /// Makes an engine that can tag messages of any length. The name may end with a comma and the
    /// way to call.
    fn engine(self, name: &str, ceiling: Option<f64>, call: &str, timed: Box<dyn Timed>) -> Engine {
        Engine {
            name: name.into(),
            library: concat!("tagmac ", env!("CARGO_PKG_VERSION")).into(),
            level: Some(self.level),
            ceiling,
            longest: usize::MAX,
            function: function(name).into(),
            call: call.into(),
            repeats: true,
            key_table: 0,
            timed,
        }
    }

    /// Adds a MAC without nonces. As a sender it counts a budget if there is a theorem for it.
    fn deterministic<M>(
        self,
        name: &str,
        ceiling: Option<f64>,
        make: impl Fn(&Key) -> M + 'static,
    ) -> Engine
    where
        M: Mac<Nonce = ()> + 'static,
    {
        let Some(budget) = endless(name).filter(|_| self.role == Role::Sender) else {
            return self.any(name, ceiling, (), make);
        };
        let longest = longest(&make(&KEY));
        let timed = timed(move |key: &Key| {
            let meter = Metered::new(make(key), budget, Usage::default());
            let mut meter = meter.expect("none is used");
            move |message: &[u8]| meter.tag_mut(message).expect("within limit and budget")
        });
        Engine { longest, ..self.engine(name, ceiling, "Metered::tag_mut", timed) }
    }

    /// Adds a MAC with nonces. As a sender it counts nonces and a budget.
    fn with_nonces<M>(
        self,
        name: &str,
        ceiling: Option<f64>,
        nonce: M::Nonce,
        make: impl Fn(&Key) -> M + 'static,
    ) -> Engine
    where
        M: Mac<Nonce: 'static> + 'static,
    {
        if self.role == Role::Any {
            return self.any(name, ceiling, nonce, make);
        }
        let longest = longest(&make(&KEY));
        let budget = endless(name).expect("a MAC with a theorem");
        let timed = timed(move |key: &Key| {
            let nonces = NonceSequence::resume(Box::new(make(key)), &nonce).expect("its nonce");
            let meter = Metered::new(nonces, budget, Usage::default());
            let mut meter = meter.expect("none is used");
            move |message: &[u8]| Packet(meter.tag_next(message).expect("within limit and budget"))
        });
        let call = "Metered<NonceSequence>::tag_next, the next nonce and the tag";
        Engine { longest, repeats: false, ..self.engine(name, ceiling, call, timed) }
    }

    /// Adds a MAC's one-shot call, always under one nonce.
    fn any<M>(
        self,
        name: &str,
        ceiling: Option<f64>,
        nonce: M::Nonce,
        make: impl Fn(&Key) -> M + 'static,
    ) -> Engine
    where
        M: Mac<Nonce: 'static> + 'static,
    {
        let longest = longest(&make(&KEY));
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
        Engine { longest, ..self.engine(name, ceiling, ONE_CALL, timed) }
    }

    fn lightmac(self, s: usize, costs: &Costs) -> Engine {
        let (level, ceiling) = (self.level, Some(10.0 * costs.aes / (16 - s / 8) as f64));
        self.deterministic(&format!("LIGHTMAC-AES128-S{s}"), ceiling, move |k| {
            LightMac::<Aes128>::with_level(key(k), second(k), s, level).expect("a counter's length")
        })
    }

    fn cached_elimac(self, ceiling: Option<f64>) -> Engine {
        let level = self.level;
        let make =
            move |k: &Key| EliMac::with_level(key(k), second(k), level).with_cache(ELIMAC_CACHE);
        let key_table = make(&KEY).cached_bytes();
        Engine { key_table, ..self.deterministic("ELIMAC-AES128, cached", ceiling, make) }
    }

    /// Adds CMAC, which has no budget: our theorems do not cover it.
    fn cmac(self, ceiling: Option<f64>) -> Engine {
        let level = self.level;
        let make = move |k: &Key| Cmac::<Aes128>::with_level(key(k), level);
        let timed = timed_verifying(
            move |k: &Key| {
                let mac = make(k);
                move |message: &[u8]| mac.tag(message)
            },
            move |k: &Key| {
                let mac = make(k);
                move |message: &[u8], tag: &[u8]| {
                    Tag::try_from(tag).is_ok_and(|tag| mac.verify(message, &tag).is_ok())
                }
            },
        );
        self.engine("CMAC-AES128", ceiling, ONE_CALL, timed)
    }

    fn umac<const T: usize>(self, costs: &Costs) -> Engine {
        let (level, ceiling) = (self.level, Some(2.0 * T as f64 * costs.mul32 / 32.0));
        let nonce = UmacNonce::from(NONCE);
        self.with_nonces(&format!("UMAC-{}", 32 * T), ceiling, nonce, move |k| {
            Umac::<Aes128, T>::with_level(key(k), level)
        })
    }

    fn one_time_poly1305(self, ceiling: Option<f64>) -> Engine {
        let level = self.level;
        let timed = timed_verifying(
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
        );
        self.engine("POLY1305, a key each", ceiling, ONE_CALL, timed)
    }
}

const ONE_CALL: &str = "one call, the key ready";

/// Returns the function of an engine called `name`.
fn function(name: &str) -> &str {
    name.split(',').next().unwrap_or(name)
}

fn longest(mac: &impl Mac) -> usize {
    usize::try_from(mac.hash().limit_bits() / 8).unwrap_or(usize::MAX)
}

/// Returns a budget that counts like any other but never ends, because a run makes more tags than a
/// key may.
pub fn endless(name: &str) -> Option<Budget> {
    let theorem = Some(theorem(function(name))?);
    let (length, messages, blocks, failures) = (u64::MAX, u64::MAX, u64::MAX, u64::MAX);
    Some(Budget { theorem, length, messages, blocks, failures, graded: [0; 3] })
}

/// Returns the bound of a MAC under counted nonces, as far as a meter needs it. Asking the registry
/// would link every MAC with all its functions.
fn theorem(name: &str) -> Option<Theorem> {
    let n = if name.contains("PRESENT") { 64 } else { 128 };
    let (family, rest) = name.split_once('-')?;
    let last = || rest.rsplit(['-', 'S']).next()?.parse().ok();
    let nonces = NonceKind::Counted;
    Some(match family {
        "PMAC" => Theorem::Pmac { n, t: n },
        "LIGHTMAC" => Theorem::LightMac { n, s: last()?, t: n },
        "ELIMAC" => Theorem::EliMacAes { t: n },
        "POLY1305" => Theorem::Poly1305Aes { nonces },
        "UMAC" => Theorem::Umac { t: last()?, nonces },
        // A meter counts the same for each PRF.
        "UMAC99" => Theorem::Umac1999(Umac1999 { b: last()?, t: 128, prf: Prf1999::Named, nonces }),
        _ => return None,
    })
}

/// The output of a sender, the nonce and the tag. Keeping both forces the compiler to compute both.
struct Packet<N>((N, Tag));

impl<N: Nonce> AsRef<[u8]> for Packet<N> {
    fn as_ref(&self) -> &[u8] {
        self.0.1.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tagmac_any::Algorithm;

    const COSTS: Costs = Costs { aes: 1.0, aes_chained: 4.0, mul32: 1.0, mul52: None };

    #[test]
    fn every_mac_of_the_papers_has_an_engine() {
        let family = |name: &str| name.split(['-', ',']).next().unwrap_or_default().to_string();
        let engines = engines(Role::Any, Level::best(), &COSTS);
        let known: Vec<String> = engines.iter().map(|engine| family(&engine.name)).collect();
        for algorithm in Algorithm::all().filter(|one| one.theorem().is_some()) {
            let has_engine = known.contains(&family(algorithm.name()));
            assert!(has_engine, "{algorithm}: no line in `engines` for it");
        }
    }

    #[test]
    fn theorems_are_those_of_the_registry() {
        for engine in engines(Role::Sender, Level::best(), &COSTS) {
            let algorithm = Algorithm::from_name(&engine.function).expect("in the registry");
            let registered = algorithm.theorem().map(|it| it.with_nonces(NonceKind::Counted));
            match (theorem(&engine.function), registered) {
                (Some(Theorem::Umac1999(found)), Some(Theorem::Umac1999(registered))) => {
                    assert_eq!(found.b, registered.b, "{}", engine.name);
                }
                (found, registered) => assert_eq!(found, registered, "{}", engine.name),
            }
        }
    }

    #[test]
    fn a_sender_has_every_mac_and_counts_from_the_nonce() {
        let mut any = engines(Role::Any, Level::best(), &COSTS);
        any.retain(|engine| !engine.name.ends_with("a key each"));
        let senders = engines(Role::Sender, Level::best(), &COSTS);
        assert_eq!(any.len(), senders.len());
        for (engine, sender) in any.iter_mut().zip(&senders) {
            assert_eq!(engine.name, sender.name);
            let tag = engine.timed.tag(b"packet");
            let tags = sender.timed.first_tags(b"packet", 2);
            let (first, next) = tags.split_at(tag.len());
            assert_eq!(first, tag, "{}", sender.name);
            assert_eq!(next == tag, sender.repeats, "{}", sender.name);
        }
        let mac = Umac::<Aes128, 2>::new(key(&KEY));
        let next = mac.tag_with(&UmacNonce::from(NONCE + 1), b"packet").expect("no limit");
        let umac = senders.iter().find(|sender| sender.name == "UMAC-64").expect("it is there");
        assert_eq!(umac.timed.first_tags(b"packet", 2)[8..], *next.as_bytes());
    }
}
