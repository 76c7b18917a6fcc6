//! The messages that reach EliMAC's bound.

use tagmac::cipher::BlockCipher;
use tagmac_lab::attacks::field::product16;
use tagmac_lab::attacks::tight::{ADDED, Fixed, MESSAGES, bits, messages, toy};

#[test]
fn each_pair_has_a_subkey_of_its_own() {
    let messages = messages();
    let mut subkeys = Vec::new();
    for (i, [a, x]) in messages.iter().enumerate() {
        for [b, y] in &messages[..i] {
            assert_eq!(product16(a ^ b, a ^ b), 2 * (x ^ y));
            subkeys.push(a ^ b);
        }
    }
    subkeys.sort_unstable();
    subkeys.dedup();
    assert_eq!(subkeys.len(), MESSAGES * (MESSAGES - 1) / 2);
    assert!(messages.iter().all(|[_, z]| z & ADDED == 0));
}

/// E(S M1 ^ pad(z)).
#[test]
fn the_toy_is_elimac() {
    let ([m, z], subkey) = ([0x1234, 0x2bcd], 0x9876);
    let mut block = [(product16(subkey, m) ^ (2 * z + 1)).to_be_bytes()];
    Fixed.encrypt(&mut block);
    assert_eq!(toy([subkey, 0])(&[], &bits([m, z])), block[0]);
    // A second block has the second subkey.
    let mut block = [(product16(3, m) ^ product16(5, m) ^ (2 * z + 1)).to_be_bytes()];
    Fixed.encrypt(&mut block);
    let message = [&m.to_be_bytes()[..], &bits([m, z])].concat();
    assert_eq!(toy([3, 5])(&[], &message), block[0]);
}
