//! A key's first message, which is in short periods.

use super::*;
use crate::cipher::{Aes128, Aes256, Present80};

/// The first message has no tables, or some on the stack; the second one makes the key's.
fn first_and_second<C: Cipher<Block: Field>>() {
    let message = vec![0x5c; (ONCE_MAX_BLOCKS + 40) * C::Block::BYTES];
    let Ok(key) = C::Key::try_from(&[0x3a; 32][..C::KEY_BYTES]) else { panic!("a key") };
    let near = |limit: usize| limit - 3..limit + 3;
    let blocks = (0..3 * PERIOD).chain(near(4 * PERIOD)).chain(near(8 * PERIOD));
    for blocks in blocks.chain(near(ONCE_MAX_BLOCKS)) {
        for level in Level::all() {
            let mac = Pmac::<C>::with_level(&key, level);
            let message = &message[..blocks * C::Block::BYTES + blocks % C::Block::BYTES];
            let [first, second] = [(); 2].map(|()| mac.tag(message).expect("short"));
            assert_eq!(first, second, "{level}, {blocks} blocks");
        }
    }
}

#[test]
fn the_first_message_of_a_key_has_the_tag_of_later_ones() {
    first_and_second::<Aes128>();
    first_and_second::<Aes256>();
    first_and_second::<Present80>();
}
