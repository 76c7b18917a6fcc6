//! The limits of `tagmac-bounds` for the documentation's calculator, as WebAssembly.
//!
//! A page calls [`messages`] or [`failed_attempts`] and, if the result is 0, reads the number with
//! [`low`] and [`high`]. `scripts/site` builds the module. `scripts/test-calculator` compares it
//! with `tagmac bounds`.
//!
//! `unsafe` is only in `no_mangle`, which gives the exports their names. Numbers go in and out; the
//! module never reads an address that the page passes.

use std::cell::Cell;

use tagmac_bounds::{BoundError, NonceKind, Theorem, per_key};

/// The MACs of the calculator and their theorems, with random nonces.
const MACS: [(&str, Theorem); 8] = [
    ("PMAC-AES128", Theorem::Pmac { n: 128, t: 128 }),
    ("LIGHTMAC-AES128-S32", Theorem::LightMac { n: 128, s: 32, t: 128 }),
    ("ELIMAC-AES128", Theorem::EliMacAes { t: 128 }),
    ("POLY1305-AES", Theorem::Poly1305Aes { nonces: RANDOM }),
    ("UMAC-64", Theorem::Umac { t: 64, nonces: RANDOM }),
    ("UMAC-128", Theorem::Umac { t: 128, nonces: RANDOM }),
    ("PMAC-PRESENT80", Theorem::Pmac { n: 64, t: 64 }),
    ("LIGHTMAC-PRESENT80-S16", Theorem::LightMac { n: 64, s: 16, t: 64 }),
];
const RANDOM: NonceKind = NonceKind::Random { bits: 128 };

/// The number was computed.
const OK: u32 = 0;
/// The MAC has no messages of that length.
const TOO_LONG: u32 = 1;
/// The MAC, the probability or the number of keys is out of range.
const INVALID: u32 = 2;

thread_local! {
    static RESULT: Cell<u128> = const { Cell::new(0) };
}

/// Returns the number of MACs.
#[unsafe(no_mangle)]
pub extern "C" fn macs() -> u32 {
    MACS.len() as u32
}

/// Returns the address of a MAC's name in ASCII, or null.
#[unsafe(no_mangle)]
pub extern "C" fn name(mac: u32) -> *const u8 {
    MACS.get(mac as usize).map_or(std::ptr::null(), |(name, _)| name.as_ptr())
}

/// Returns the length of a MAC's name, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn name_len(mac: u32) -> usize {
    MACS.get(mac as usize).map_or(0, |(name, _)| name.len())
}

/// Returns the length of the longest message, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn max_length(mac: u32) -> u64 {
    MACS.get(mac as usize).map_or(0, |(_, theorem)| theorem.limit())
}

/// Computes how many messages of `length` bytes each of `keys` keys may tag while a forgery under
/// any of them has at most this probability. `counter` is 0 for random nonces and 1 for a counter.
#[unsafe(no_mangle)]
pub extern "C" fn messages(
    mac: u32,
    counter: u32,
    length: u64,
    probability: f64,
    keys: u64,
) -> u32 {
    compute(mac, counter, probability, keys, |theorem, each| theorem.messages(length, each))
}

/// Computes how many failed attempts each key may see, like [`messages`].
#[unsafe(no_mangle)]
pub extern "C" fn failed_attempts(
    mac: u32,
    counter: u32,
    length: u64,
    probability: f64,
    keys: u64,
) -> u32 {
    compute(mac, counter, probability, keys, |theorem, each| theorem.guesses(length, each))
}

/// Returns the low 64 bits of the number computed last.
#[unsafe(no_mangle)]
pub extern "C" fn low() -> u64 {
    RESULT.get() as u64
}

/// Returns the high 64 bits of the number computed last.
#[unsafe(no_mangle)]
pub extern "C" fn high() -> u64 {
    (RESULT.get() >> 64) as u64
}

fn compute(
    mac: u32,
    counter: u32,
    probability: f64,
    keys: u64,
    number: impl Fn(Theorem, f64) -> Result<u128, BoundError>,
) -> u32 {
    let Some(&(_, theorem)) = MACS.get(mac as usize) else {
        return INVALID;
    };
    let theorem = if counter == 0 { theorem } else { theorem.with_nonces(NonceKind::Counted) };
    match per_key(probability, keys.into()).and_then(|each| number(theorem, each)) {
        Ok(number) => {
            RESULT.set(number);
            OK
        }
        Err(BoundError::TooLong { .. }) => TOO_LONG,
        Err(_) => INVALID,
    }
}

#[cfg(test)]
mod tests {
    use tagmac_any::Algorithm;

    use super::*;

    #[test]
    fn theorems_are_those_of_the_registry() {
        for (name, theorem) in MACS {
            let algorithm = Algorithm::from_name(name).expect("a name of the registry");
            assert_eq!(algorithm.theorem(), Some(theorem), "{name}");
        }
    }

    #[test]
    fn numbers_are_split_in_two() {
        let lightmac = 1;
        assert_eq!(failed_attempts(lightmac, 0, 1500, 2f64.powi(-32), 1), OK);
        let expected = MACS[1].1.guesses(1500, 2f64.powi(-32)).expect("a limit");
        assert!(expected > u64::MAX.into());
        assert_eq!((low() as u128) | (high() as u128) << 64, expected);
        assert_eq!(messages(lightmac, 0, max_length(lightmac) + 1, 0.5, 1), TOO_LONG);
        assert_eq!(messages(macs(), 0, 1500, 0.5, 1), INVALID);
        assert_eq!(messages(lightmac, 0, 1500, 0.5, 0), INVALID);
        assert_eq!(messages(lightmac, 0, 1500, f64::NAN, 1), INVALID);
    }
}
