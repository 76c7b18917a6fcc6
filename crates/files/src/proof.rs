//! The probability that a partial reading misses a change.
//!
//! If n of N entries are read, each set of n equally likely, and an attacker has changed k entries
//! without knowing which are read, then all k are missed with probability
//! `C(N - k, n) / C(N, n) = (N - n)/N * (N - n - 1)/(N - 1) * ... * (N - n - k + 1)/(N - k + 1)`.
//! `docs/design/theory.md` derives it and names the conditions.

/// Number of changed entries for which a report states the probability, unless another is asked for.
pub const CHANGED: u64 = 10;

/// Returns the probability that none of `changed` entries among `all` is one of the `read` ones. It
/// is computed in floating point; its relative error is below min(read, changed) * 2^-51.
///
/// ```
/// use tagmac_files::proof::missed;
///
/// assert_eq!(missed(100, 0, 1), 1.0);
/// assert_eq!(missed(100, 25, 1), 0.75);
/// assert_eq!(missed(100, 100, 1), 0.0);
/// ```
pub fn missed(all: u64, read: u64, changed: u64) -> f64 {
    let (read, changed) = (read.min(all), changed.min(all));
    // The formula is symmetric in the two; the product is over the smaller one.
    let (factors, other) = (read.min(changed), read.max(changed));
    let mut product = 1.0;
    for factor in 0..factors {
        product *= (all - other).saturating_sub(factor) as f64 / (all - factor) as f64;
        if product == 0.0 {
            break;
        }
    }
    product
}
