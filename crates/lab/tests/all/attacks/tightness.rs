//! The numbers of the other attacks that reach EliMAC's bounds.

use tagmac_lab::attacks::field::product16;
use tagmac_lab::attacks::tightness::{differences, equal_pairs, messages, normal};
use tagmac_lab::attacks::toy::N;

/// Each pair collides under another difference, which is one of the 2^8.
#[test]
fn each_pair_has_a_difference_of_its_own() {
    let (messages, all) = (messages(), differences().collect::<Vec<_>>());
    let mut found = Vec::new();
    for (i, [a, x]) in messages.iter().enumerate() {
        for [b, y] in &messages[..i] {
            assert_eq!(product16(a ^ b, a ^ b), 2 * (x ^ y));
            assert!(all.contains(&(a ^ b)));
            found.push(a ^ b);
        }
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 120);
}

/// Known values of the distribution, and the moments of a case that can be counted: all 2^16 values
/// of a permutation have exactly 2^8 (2^8 choose 2) equal pairs.
#[test]
fn numbers() {
    assert!((normal(1.0) - 0.841_344_746).abs() < 1e-8);
    assert!((normal(-1.959_963_985) - 0.025).abs() < 1e-8);
    let [_, (mean, _)] = equal_pairs(N as f64);
    assert!((mean / f64::from(256 * 256 * 255 / 2) - 1.0).abs() < 1e-9);
    let [(random, _), (mean, _)] = equal_pairs(2.0);
    assert!((random - 1.0 / 256.0).abs() < 1e-12 && (mean - 255.0 / 65535.0).abs() < 1e-12);
}
