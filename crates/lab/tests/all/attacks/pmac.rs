//! Collisions of PMAC on the toy cipher.

use tagmac_lab::attacks::field::product16;
use tagmac_lab::attacks::pmac::{birthday_of, cipher, coset};
use tagmac_lab::attacks::random::Random;
use tagmac_lab::attacks::toy::ToyPmac;

/// Messages collide if their blocks differ by one of the coset's differences; others do not.
#[test]
fn cosets_collide() {
    let mut random = Random::new(3);
    let toy = cipher(&mut random);
    let (l, mac) = (toy.at(0), ToyPmac::new(toy));
    let tag = |block: u16| {
        let message = coset(16, block as usize);
        mac.tag(message.as_chunks().0.iter().map(|block| u16::from_be_bytes(*block)))
    };
    let base = 0x1234;
    let differences: Vec<u16> = (0..8).map(|a| product16(a, l)).collect();
    assert!(differences.iter().all(|d| tag(base ^ d) == tag(base)));
    let equal = (0..=u16::MAX).filter(|block| tag(*block) == tag(base)).count();
    // 8 of the coset, and one in 2^16 of all others, in groups of 8.
    assert!((8..=48).contains(&equal), "{equal}");
}

/// Two of 365 values.
#[test]
fn birthdays() {
    assert!((birthday_of(23, 1.0 / 365.0) - 0.5073).abs() < 1e-4);
}
