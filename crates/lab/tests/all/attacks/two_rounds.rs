//! The likeliest difference of two rounds.

use tagmac_lab::attacks::random::Random;
use tagmac_lab::attacks::small_aes::SmallAes;
use tagmac_lab::attacks::two_rounds::likeliest;

/// The computed probability is found on the rounds, and is at least that of five S-boxes.
#[test]
fn the_likeliest_difference_is_found() {
    let (aes, mut random) = (SmallAes::small(), Random::new(9));
    let (difference, probability) = likeliest(&aes, 3);
    assert!((2f64.powi(-10)..2f64.powi(-7)).contains(&probability), "{probability}");
    let tries = 200_000;
    let found = (0..tries).filter(|_| {
        let rounds = aes.rounds((0..3).map(|_| random.array()).collect());
        let [mut one, mut other] = [[0; 16]; 2];
        (one[0], other[0]) = (1, 2);
        let [one, other] = [rounds.encrypt(&one), rounds.encrypt(&other)];
        (0..16).all(|i| one[i] ^ other[i] == difference[i])
    });
    let found = found.count() as f64;
    let expected = probability * f64::from(tries);
    assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{found} {expected}");
}
