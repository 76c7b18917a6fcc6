//! The number of messages and bytes that one key may authenticate.

use serde::Serialize;
use tagmac_any::bounds::{Bound, BoundError, Theorem};

/// The default limit on the probability of a forgery.
pub const PROBABILITY: f64 = 1.0 / (1u64 << 32) as f64;
/// The default length of messages in bytes.
pub const USUAL_LENGTH: u64 = 1 << 20;

/// The limits of a key for a given probability of a forgery.
#[derive(Serialize)]
pub struct Allowance {
    /// Length of each message in bytes.
    pub length: u64,
    /// Number of messages of that length.
    pub messages: u128,
    /// Number of bytes in those messages.
    pub bytes: u128,
    /// Number of wrong tags that a verifier may reject.
    pub guesses: u128,
}

impl Allowance {
    /// Returns the limits for messages of 1 MiB, or of the MAC's limit if that is shorter, and a
    /// probability of at most 2^-32. Nonces are random, as `tag` draws them.
    pub fn usual(theorem: Theorem) -> Allowance {
        let length = USUAL_LENGTH.min(theorem.limit());
        Allowance::new(theorem, length, PROBABILITY).expect("a valid length and probability")
    }

    /// Returns the limits for messages of `length` bytes and a probability of at most
    /// `probability`.
    pub fn new(theorem: Theorem, length: u64, probability: f64) -> Result<Allowance, BoundError> {
        Ok(Allowance {
            length,
            messages: theorem.messages(length, probability)?,
            bytes: theorem.bytes(length, probability)?,
            guesses: theorem.guesses(length, probability)?,
        })
    }
}

/// Formats a bound without its terms: a power of 2, rounded up, or 1 if the bound is trivial.
pub fn show_bound(bound: &Bound) -> String {
    match bound.log2() {
        0.0.. => "1".into(),
        _ => bound.to_string().split(' ').next().unwrap_or_default().into(),
    }
}
