//! Products and powers of x in GF(2^n).

use tagmac::cipher::Field;
use tagmac_lab::field::{number, power_of_x, times};

#[test]
fn products_and_powers() {
    let mut doubled: [u8; 16] = number(1);
    for exponent in 0..300 {
        assert_eq!(power_of_x::<[u8; 16]>(exponent), doubled);
        assert_eq!(times(&power_of_x(exponent), &number::<[u8; 16]>(3)), {
            let mut sum = doubled.times_x();
            sum.iter_mut().zip(doubled).for_each(|(a, b)| *a ^= b);
            sum
        });
        doubled = doubled.times_x();
    }
    let (a, b) = (number::<[u8; 8]>(0x0123_4567_89ab_cdef), number(0xfedc_ba98_7654_3210));
    assert_eq!(times(&a, &b), times(&b, &a));
}
