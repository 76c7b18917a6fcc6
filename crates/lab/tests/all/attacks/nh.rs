//! NH with few bits, by exhaustive counts.

use tagmac_lab::attacks::nh::{Add, likeliness, most_collisions, product};
use tagmac_papers::{Nh, NhShape};

/// The product equals NH[2, 4] of `crates/papers`. The maximum of collisions equals what its
/// `collisions.rs` finds over all messages.
#[test]
fn products_are_the_librarys() {
    let shape = NhShape::with_nibbles(2).expect("even");
    for keys in (0..256u32).step_by(7) {
        let nh = Nh::new(shape, &[(keys >> 4) as u8, (keys & 15) as u8], &[]).expect("key");
        for words in 0..256u32 {
            let mut out = [0; 2];
            nh.block(&[(words >> 4) as u8, (words & 15) as u8], &mut out).expect("a block");
            let ours = product(4, Add::Plus, keys, words);
            assert_eq!(ours, (out[0] | out[1] << 4) as u32);
        }
    }
    assert_eq!(most_collisions(4, Add::Plus, Add::Plus), 16 * 256);
}

/// t = 1: a = b, 2^-16. t = 2: 2/3 of it. Large t: a normal density, 1 / sqrt(2 pi 2t / 12).
#[test]
fn densities() {
    assert!((likeliness(1) * 65536.0 - 1.0).abs() < 1e-12);
    assert!((likeliness(2) * 65536.0 - 2.0 / 3.0).abs() < 1e-12);
    assert!((likeliness(3) * 65536.0 - 66.0 / 120.0).abs() < 1e-12);
    let normal = (core::f64::consts::PI * 15.0 / 3.0).sqrt().recip();
    assert!((likeliness(15) * 65536.0 / normal - 1.0).abs() < 0.01);
}
