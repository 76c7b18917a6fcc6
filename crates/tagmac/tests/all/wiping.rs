//! Looks for remains of secrets in the memory of dropped values. The tests of two crates share this
//! file.

#![allow(dead_code, reason = "one of them needs less")]

use std::mem::MaybeUninit;

/// The length in bytes of a run that counts as a secret. It contains no zero byte, unlike numbers,
/// lengths and pointers.
const SECRET: usize = 8;
/// The minimum number of different bytes in a secret: masks and padding have fewer.
const DIFFERENT: usize = 6;

/// Returns the bytes of a value's memory before and after it is dropped.
pub fn before_and_after<T>(value: T) -> [Vec<u8>; 2] {
    let bytes = |place: &MaybeUninit<T>| -> Vec<u8> {
        let start = (&raw const *place).cast::<u8>();
        // SAFETY: within the value, whose memory belongs to the box. Padding is read too; it holds
        // no secret, so no result depends on it.
        (0..size_of::<T>()).map(|i| unsafe { start.add(i).read_volatile() }).collect()
    };
    let mut place = Box::new(MaybeUninit::new(value));
    let before = bytes(&place);
    // SAFETY: the value is initialised, and is dropped once.
    unsafe { place.assume_init_drop() };
    [before, bytes(&place)]
}

pub fn is_secret(bytes: &[u8]) -> bool {
    if bytes.contains(&0) {
        return false;
    }
    let mut seen = bytes.to_vec();
    seen.sort();
    seen.dedup();
    seen.len() >= DIFFERENT
}

#[track_caller]
pub fn is_wiped<T>(what: &str, value: T) {
    let [before, after] = before_and_after(value);
    let secrets = before.windows(SECRET).zip(after.windows(SECRET));
    let secrets: Vec<_> = secrets.filter(|(before, _)| is_secret(before)).collect();
    assert!(!secrets.is_empty(), "{what}: expected a secret, found none");
    let left = secrets.iter().filter(|(before, after)| before == after).count();
    // The compiler may leave old bytes between fields, which no drop wipes.
    let all = secrets.len();
    assert!(
        4 * left < all,
        "{what}: {left} of {all} places of {SECRET} secret bytes are still there"
    );
}

/// Returns the bytes of a key, all different.
pub fn key<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(41))
}
