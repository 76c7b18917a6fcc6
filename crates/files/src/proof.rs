//! The probability that a partial reading misses a change.
//!
//! If n of N entries are read, each set of n equally likely, and an attacker has changed k entries
//! without knowing which are read, then all k are missed with probability
//! `C(N - k, n) / C(N, n) = (N - n)/N * (N - n - 1)/(N - 1) * ... * (N - n - k + 1)/(N - k + 1)`.
//! `docs/design/theory.md` derives it and names the conditions.

/// Number of changed entries for which a report states the probability, unless another is asked for.
pub const CHANGED: u64 = 10;

/// Returns the probability that none of `changed` entries among `all` is one of the `read` ones. It
/// is rounded up: never too small, and too large by a factor of less than 1 + min(read, changed) /
/// 2^50.
///
/// ```
/// use tagmac_files::proof::missed;
///
/// assert_eq!(missed(100, 0, 1), 1.0);
/// assert_eq!(missed(100, 100, 1), 0.0);
/// assert!((0.75..0.750_000_001).contains(&missed(100, 25, 1)));
/// ```
pub fn missed(all: u64, read: u64, changed: u64) -> f64 {
    let (read, changed) = (read.min(all), changed.min(all));
    if read > all - changed {
        return 0.0;
    }
    // The formula is symmetric in the two; the product is over the smaller one.
    let (factors, other) = (read.min(changed), read.max(changed));
    let mut product = 1.0_f64;
    for factor in 0..factors {
        let (above, below) = ((all - other - factor) as f64, (all - factor) as f64);
        // Numbers from 2^53 on may be rounded, in either direction.
        let ratio = (above.next_up() / below.next_down()).next_up().min(1.0);
        product = (product * ratio).next_up().min(1.0);
        // Still an upper bound, as no factor is above 1.
        if product < 1e-300 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use tagmac_any::{Algorithm, AnyMac};

    use super::*;
    use crate::position::{Arcs, Positions};

    fn near(found: f64, expected: f64) {
        assert!(found >= expected && found - expected <= expected * 1e-12, "{found} {expected}");
    }

    #[test]
    fn small_cases_are_exact() {
        for (all, read, changed, expected) in [
            (0, 0, 0, 1.0),
            (10, 0, 10, 1.0),
            (10, 10, 0, 1.0),
            (10, 10, 1, 0.0),
            (10, 6, 5, 0.0),
            (5, 2, 1, 3.0 / 5.0),
            (5, 2, 2, 3.0 / 10.0),
            (52, 5, 4, 1_712_304.0 / 2_598_960.0),
            // More than there are counts as all.
            (3, 9, 1, 0.0),
            (3, 1, 9, 0.0),
        ] {
            near(missed(all, read, changed), expected);
            near(missed(all, changed, read), expected);
        }
        near(missed(1_000_000_000, 10_000_000, 10), 0.904_382_074_597_721_7);
        assert!(missed(1_000_000_000, 400_000_000, 500_000_000) < 1e-300);
        near(missed(u64::MAX, 1 << 63, 1), 0.5);
    }

    /// Counts the sets of `read` entries that contain none of the first `changed`.
    #[test]
    fn the_formula_counts_sets() {
        for all in 0..=10u64 {
            for read in 0..=all {
                let sets = (0..1u32 << all).filter(|set| u64::from(set.count_ones()) == read);
                let sets: Vec<u32> = sets.collect();
                for changed in 0..=all {
                    let first = (1u32 << changed) - 1;
                    let without = sets.iter().filter(|set| **set & first == 0).count();
                    near(missed(all, read, changed), without as f64 / sets.len() as f64);
                }
            }
        }
    }

    /// For each of 4000 keys, 5 of 60 names change, and a reader takes one fifth of the circle. The
    /// number of keys that miss all changes is near the sum of the probabilities. Each probability
    /// follows from the number of names that the reader took.
    #[test]
    fn keyed_positions_miss_as_often_as_the_formula_says() {
        let hmac = Algorithm::from_name("HMAC-SHA256").unwrap();
        for arcs in [Arcs::part(2, 5).unwrap(), Arcs::from_start(u64::MAX - 9, 0.2)] {
            let (mut found, mut expected, mut variance) = (0.0, 0.0, 0.0);
            for key in 0..4000u32 {
                let mac = AnyMac::new(hmac, &key.to_be_bytes().repeat(8)).unwrap();
                let positions = Positions::with_mac(&mac);
                let taken: Vec<bool> =
                    (0..60u8).map(|name| arcs.contains(positions.of(&[b'n', name]))).collect();
                let read = taken.iter().filter(|taken| **taken).count() as u64;
                let probability = missed(60, read, 5);
                expected += probability;
                variance += probability * (1.0 - probability);
                found += f64::from(!taken[..5].contains(&true));
            }
            let deviations = (found - expected) / f64::sqrt(variance);
            assert!(deviations.abs() < 3.0, "found {found}, expected {expected}");
        }
    }
}
