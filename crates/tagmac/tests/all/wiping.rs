//! What is left of a secret where a value was. The tests of two crates share this.

#![allow(dead_code, reason = "one of them needs less")]

use std::mem::MaybeUninit;

/// Bytes of what counts as a secret here: none is zero, unlike in numbers, lengths and pointers.
const SECRET: usize = 8;
/// Different bytes of a secret, at least: masks and padding have fewer.
const DIFFERENT: usize = 6;

/// The bytes of a value where it is, before it is dropped and after.
pub fn before_and_after<T>(value: T) -> [Vec<u8>; 2] {
    let bytes = |place: &MaybeUninit<T>| -> Vec<u8> {
        let start = (&raw const *place).cast::<u8>();
        // SAFETY: within the value, whose memory is the box's. Padding is read as it is: nothing depends on
        // it, because no secret is there.
        (0..size_of::<T>()).map(|i| unsafe { start.add(i).read_volatile() }).collect()
    };
    let mut place = Box::new(MaybeUninit::new(value));
    let before = bytes(&place);
    // SAFETY: the value is there, and is dropped once.
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
    // Between fields the compiler may leave what was there before, which no drop knows of.
    let all = secrets.len();
    assert!(
        4 * left < all,
        "{what}: {left} of {all} places of {SECRET} secret bytes are still there"
    );
}

/// Bytes of a key, none of which is in it twice.
pub fn key<const N: usize>() -> [u8; N] {
    std::array::from_fn(|i| (i as u8).wrapping_mul(37).wrapping_add(41))
}
