//! Sums over cosets, against the plain rounds.

use tagmac_lab::attacks::random::Random;
use tagmac_lab::attacks::small_aes::SmallAes;
use tagmac_lab::attacks::zero_sum::{DIAGONAL, aes_sums, xor};

/// The long run on one and on two bytes, against the plain rounds. Their last round lacks
/// MixColumns; its inverse is linear, so the sums agree up to that.
#[test]
fn the_long_run_in_small() {
    let mut random = Random::new(7);
    let keys: [[u8; 16]; 6] = core::array::from_fn(|_| random.array());
    for active in [&DIAGONAL[..1], &DIAGONAL[1..3]] {
        let constant = random.array();
        let sums = aes_sums(&keys, constant, active, |_| ());
        for (rounds, sum) in [(4, sums[0]), (5, sums[1])] {
            let mut mixed = sum.into();
            aes::hazmat::inv_mix_columns(&mut mixed);
            let plain = SmallAes::aes().rounds(keys[..=rounds].to_vec());
            let expected = (0..1u32 << (8 * active.len())).fold([0; 16], |sum, number| {
                let mut block = xor(&constant, &keys[0]);
                for (cell, byte) in active.iter().zip(number.to_le_bytes()) {
                    block[*cell] = byte;
                }
                xor(&sum, &plain.encrypt(&xor(&block, &keys[0])))
            });
            assert_eq!(<[u8; 16]>::from(mixed), expected, "{rounds} rounds");
            assert_ne!(expected, [0; 16]);
        }
    }
}
