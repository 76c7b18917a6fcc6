//! How much one key may authenticate.

use serde::Serialize;
use tagmac_any::bounds::{Bound, BoundError, Theorem};

/// The probability of a forgery that is accepted where nothing else is asked.
pub const PROBABILITY: f64 = 1.0 / (1u64 << 32) as f64;
/// The length of messages where nothing else is asked.
pub const USUAL_LENGTH: u64 = 1 << 20;

/// What a key may do while a forgery has at most a given probability.
#[derive(Serialize)]
pub struct Allowance {
    /// Bytes of a message.
    pub length: u64,
    /// Messages of that length.
    pub messages: u128,
    /// Their bytes.
    pub bytes: u128,
    /// Wrong tags that may be tried.
    pub guesses: u128,
}

impl Allowance {
    /// What a key may do with messages of 1 MiB, or as long as its MAC takes them, while a forgery
    /// has a probability of at most 2^-32. Nonces are drawn at random, as `tag` draws them.
    pub fn usual(theorem: Theorem) -> Allowance {
        let length = USUAL_LENGTH.min(theorem.limit());
        Allowance::new(theorem, length, PROBABILITY).expect("a valid length and probability")
    }

    /// What a key may do with messages of `length` bytes while a forgery has at most this probability.
    pub fn new(theorem: Theorem, length: u64, probability: f64) -> Result<Allowance, BoundError> {
        Ok(Allowance {
            length,
            messages: theorem.messages(length, probability)?,
            bytes: theorem.bytes(length, probability)?,
            guesses: theorem.guesses(length, probability)?,
        })
    }
}

/// A bound without its terms: a power of 2, rounded up, or 1 if it says nothing.
pub fn show_bound(bound: &Bound) -> String {
    match bound.log2() {
        0.0.. => "1".into(),
        _ => bound.to_string().split(' ').next().unwrap_or_default().into(),
    }
}
