//! EliMAC with one subkey for many blocks.

use tagmac::EliMac;
use tagmac_lab::attacks::jedisct1::elimac;
use tagmac_lab::attacks::random::Random;

/// With a subkey for each block these families are the library's.
#[test]
fn chunks_of_one_block_are_elimac() {
    let (k1, k2) = ([3; 16], [5; 16]);
    let (ours, theirs) = (elimac::<1>(&k1, &k2), EliMac::new(&k1, &k2));
    let mut random = Random::new(1);
    for length in [0, 15, 16, 17, 160, 333] {
        let message = random.bytes(length);
        let tag = theirs.tag(&message[..]).expect("short");
        assert_eq!(ours(&[], &message), tag.as_bytes());
    }
}
