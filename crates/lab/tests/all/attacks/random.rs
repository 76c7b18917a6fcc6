//! Random numbers that are the same in every run.

use tagmac_lab::attacks::random::Random;

/// The numbers of Vigna's splitmix64.c from 1234567 on, as other implementations have them.
#[test]
fn splitmix64() {
    let mut random = Random::new(1_234_567);
    let first = [random.next_u64(), random.next_u64(), random.next_u64()];
    assert_eq!(
        first,
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
    );
}
