//! Powers of x and weighted sums are the same in batches and one by one.

use tagmac::cipher::{CipherBlock, Field};
use tagmac_lab::batch::{BATCH, Batch, Weighted};
use tagmac_lab::field::{number, power_of_x, times};

fn of_blocks<B: Field + PartialEq + std::fmt::Debug>() {
    let first: B = number(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef);
    for step in [1, 2] {
        let mut batch = Batch::powers(&first, step);
        for turn in 0..9 {
            let mut sum = B::ZERO;
            for j in 0..BATCH {
                let power = power_of_x(32 * turn + u64::from(step) * j as u64);
                assert_eq!(batch.block(j), times(&power, &first));
                sum = sum.times_x().xor(&batch.block(j));
            }
            assert_eq!(batch.horner(), sum);
            batch.times_x32();
        }
    }
}

#[test]
fn weights() {
    let terms: Vec<[u8; 16]> = (0..200).map(|i| number(i * i + 1)).collect();
    for lengths in [&[][..], &[1], &[31], &[32], &[32, 32, 5], &[32, 31, 32, 1], &[7, 9]] {
        let mut sum: [u8; 16] = number(5);
        let mut weighted = Weighted::new(sum);
        let mut left = &terms[..];
        for length in lengths {
            let (now, after) = left.split_at(*length);
            weighted.add(now);
            left = after;
            for term in now {
                sum = sum.times_x().xor(term);
            }
        }
        assert_eq!(weighted.sum(), sum, "{lengths:?}");
    }
}

#[test]
fn powers_and_sums() {
    of_blocks::<[u8; 16]>();
    of_blocks::<[u8; 12]>();
    of_blocks::<[u8; 8]>();
}
