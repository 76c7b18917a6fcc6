//! The toy cipher, and PMAC on it.

use tagmac::Pmac;
use tagmac::cipher::BlockCipher;
use tagmac_lab::attacks::field::product16;
use tagmac_lab::attacks::random::Random;
use tagmac_lab::attacks::toy::{N, Toy, over_x};

#[test]
fn a_permutation() {
    let toy = Toy::new(&[1; 8]);
    let values_of = |toy: &Toy| -> Vec<u16> { (0..N).map(|block| toy.at(block as u16)).collect() };
    let mut values = values_of(&toy);
    assert_ne!(values, values_of(&Toy::new(&[2; 8])));
    values.sort_unstable();
    assert!(values.iter().enumerate().all(|(i, value)| i == *value as usize));
    assert!((0..N).all(|a| product16(over_x(a as u16), 2) == a as u16));
}

/// Four toys side by side as a cipher of 64 bits, which the library's PMAC accepts.
#[derive(Clone)]
struct Four(Toy);

impl BlockCipher for Four {
    const NAME: &'static str = "FOUR-TOYS";
    const KEY_BYTES: usize = 8;
    type Block = [u8; 8];
    type Key = [u8; 8];

    fn new(key: &[u8; 8]) -> Self {
        Four(Toy::new(key))
    }

    fn encrypt(&self, blocks: &mut [[u8; 8]]) {
        blocks.iter_mut().for_each(|block| self.0.encrypt(block.as_chunks_mut().0));
    }
}

/// The same function with n = 64.
#[test]
fn pmac_is_the_librarys() {
    let (key, mut random) = ([9; 8], Random::new(5));
    let (four, pmac) = (Four::new(&key), Pmac::<Four>::new(&key));
    let e = |block: u64| {
        let mut block = [block.to_be_bytes()];
        four.encrypt(&mut block);
        u64::from_be_bytes(block[0])
    };
    for m in [1, 2, 3, 17, 64] {
        let message = random.bytes(8 * m);
        let blocks = message.as_chunks().0.iter().map(|block| u64::from_be_bytes(*block));
        let times_x = |a: u64| (a << 1) ^ (0x1b & (a >> 63).wrapping_neg());
        let l = e(0);
        let l_over_x = (l >> 1) ^ ((1 << 63 | 0x1b >> 1) & (l & 1).wrapping_neg());
        let tag = tagmac_lab::attacks::toy::pmac(blocks, e, l, times_x, l_over_x);
        assert_eq!(pmac.tag(&message[..]).expect("a tag").as_bytes(), tag.to_be_bytes());
    }
}
