//! Edits. After any script, the tag is that of the whole message, and a change from outside in an
//! edited leaf is detected.

use std::error::Error as _;

use tagmac::edit::{Edit, EditError, Tree};
use tagmac::hazmat::Hash;
use tagmac::{
    EliMac, Error, LightMac, LightMacAes128, Mac, Pmac, PmacAes128, Poly1305Aes, Umac32, Umac64,
    Umac96, Umac128, UmacNonce,
};

struct Random(u64);

impl Random {
    /// A number from 0 to `most`.
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 20) % (most + 1)
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(255) as u8).collect()
    }
}

fn slice(message: &[u8], range: std::ops::Range<u64>) -> &[u8] {
    &message[range.start as usize..range.end as usize]
}

/// Runs a random script with leaves of `blocks` blocks. Checks each tag, and first tries each edit
/// with an altered byte in its leaves.
fn script<M: Mac>(name: &str, mac: &M, nonce: &M::Nonce, blocks: usize, steps: usize) {
    let hash = mac.hash();
    let (block, movable) = (hash.block() as u64, M::Hash::POSITION_INDEPENDENT);
    let leaf = blocks as u64 * block;
    let longest = (40 * leaf).min(hash.limit_bits() / 8);
    let mut random = Random(steps as u64 + leaf);
    let (mut message, mut most) = (Vec::new(), 0);
    let mut tree = Tree::with_leaf(mac, leaf as usize).expect("whole blocks");
    for step in 0..steps {
        let length = message.len() as u64;
        // Often choose block boundaries and their neighbours.
        let near = |random: &mut Random, most: u64| match random.below(2) {
            0 => random.below(most),
            1 => (random.below(most / block) * block).min(most),
            _ => (random.below(most / leaf) * leaf + random.below(2)).saturating_sub(1).min(most),
        };
        let kinds = if movable { 6 } else { 3 };
        let at = format!("{name}, step {step}, {length} bytes");
        let changed = |old: &[u8], random: &mut Random| -> Vec<u8> {
            let mut old = old.to_vec();
            let place = random.below(old.len() as u64 - 1) as usize;
            old[place] ^= 1 << random.below(7);
            old
        };
        match random.below(kinds) {
            0 => {
                let new = random.bytes((longest - length).min(3 * leaf));
                tree.append(&new).expect("within the limit");
                message.extend(new);
            }
            1 => {
                // Rarely truncate to a short message.
                let most = if random.below(99) == 0 { u64::MAX } else { leaf };
                let to = length - (length - near(&mut random, length)).min(most);
                let need = tree.needs(&Edit::Truncate(to)).expect("not longer");
                let old = slice(&message, need.clone());
                if !old.is_empty() {
                    let wrong = changed(old, &mut random);
                    let (start, end) = (need.start, need.end);
                    let refused = tree.truncate(to, &wrong);
                    assert_eq!(refused, Err(EditError::LeafChanged { start, end }), "{at}");
                }
                tree.truncate(to, old).expect("the leaf");
                message.truncate(to as usize);
            }
            2 | 3 => {
                let start = near(&mut random, length);
                let end = start + near(&mut random, length - start).min(3 * leaf);
                let new: Vec<u8> = (start..end).map(|_| random.below(255) as u8).collect();
                let need = tree.needs(&Edit::Replace(start..end)).expect("within");
                let old = slice(&message, need.clone());
                if !old.is_empty() {
                    let wrong = changed(old, &mut random);
                    match tree.replace(start, &new, &wrong) {
                        Err(EditError::LeafChanged { start, end }) => {
                            let differs = |i: &u64| {
                                let i = (i - need.start) as usize;
                                old[i] != wrong[i]
                            };
                            assert!((start..end).any(|i| differs(&i)), "{at}");
                        }
                        other => panic!("{at}: {other:?}"),
                    }
                }
                tree.replace(start, &new, old).expect("the leaves");
                message[start as usize..end as usize].copy_from_slice(&new);
            }
            4 => {
                let offset = random.below(length / block) * block;
                let most = (longest - length).min(3 * leaf) / block;
                let new: Vec<u8> =
                    (0..random.below(most) * block).map(|_| random.below(255) as u8).collect();
                let need = tree.needs(&Edit::Insert(offset)).expect("within");
                let old = slice(&message, need);
                if !old.is_empty() {
                    let wrong = changed(old, &mut random);
                    let refused = tree.insert(offset, &new, &wrong);
                    assert!(matches!(refused, Err(EditError::LeafChanged { .. })), "{at}");
                }
                tree.insert(offset, &new, old).expect("the leaf");
                let offset = offset as usize;
                message.splice(offset..offset, new);
            }
            _ => {
                let start = random.below(length / block) * block;
                let end = start + random.below((length - start).min(2 * leaf) / block) * block;
                let old = slice(&message, tree.needs(&Edit::Remove(start..end)).expect("within"));
                if !old.is_empty() {
                    let wrong = changed(old, &mut random);
                    let refused = tree.remove(start..end, &wrong);
                    assert!(matches!(refused, Err(EditError::LeafChanged { .. })), "{at}");
                }
                tree.remove(start..end, old).expect("the leaves");
                message.drain(start as usize..end as usize);
            }
        }
        most = most.max(message.len() as u64);
        assert_eq!(tree.bytes(), message.len() as u64, "{at}");
        assert!(tree.tag(nonce) == mac.tag_with(nonce, &message), "{at}");
    }
    assert!(most > longest / 2, "{name}: {most} of {longest} bytes");
}

const STEPS: usize = 10_000;

#[test]
fn scripts_of_pmac() {
    let mac = PmacAes128::new(&[7; 16]);
    script("PMAC-AES128", &mac, &(), 4, STEPS);
    script("PMAC-AES128, a block a leaf", &mac, &(), 1, STEPS / 10);
    let mac = Pmac::<tagmac::cipher::Present80>::new(&[7; 10]);
    script("PMAC-PRESENT80", &mac, &(), 3, STEPS / 10);
}

#[test]
fn scripts_of_lightmac() {
    let mac = LightMacAes128::new(&[7; 16], &[8; 16], 32).expect("a counter");
    script("LIGHTMAC-AES128-S32", &mac, &(), 4, STEPS);
    // Up to the limit, and with blocks that end within bytes.
    for s in [8, 13] {
        let mac =
            LightMac::<tagmac::cipher::Aes128>::new(&[7; 16], &[8; 16], s).expect("a counter");
        script(&format!("LIGHTMAC-AES128, s = {s}"), &mac, &(), 2, STEPS / 10);
    }
}

#[test]
fn scripts_of_elimac() {
    let mac = EliMac::new(&[7; 16], &[8; 16]);
    script("ELIMAC-AES128", &mac, &(), 4, STEPS);
}

#[test]
fn scripts_of_poly1305() {
    let mac = Poly1305Aes::new(&[7; 32]);
    script("POLY1305-AES", &mac, &[9; 16], 4, STEPS);
    script("POLY1305-AES, a block a leaf", &mac, &[9; 16], 1, STEPS / 10);
}

#[test]
fn scripts_of_umac() {
    let nonce = UmacNonce::from(7);
    script("UMAC-64", &Umac64::new(&[7; 16]), &nonce, 2, STEPS);
    script("UMAC-32", &Umac32::new(&[7; 16]), &nonce, 1, STEPS / 10);
    script("UMAC-96", &Umac96::new(&[7; 16]), &nonce, 2, STEPS / 10);
    script("UMAC-128", &Umac128::new(&[7; 16]), &nonce, 3, STEPS / 10);
}

/// UMAC changes its second level at 2^24 bytes: within a leaf, if the leaf's length does not divide
/// that.
#[test]
fn umac_beyond_its_first_field() {
    let (mac, nonce) = (Umac64::new(&[7; 16]), UmacNonce::from(7));
    let message: Vec<u8> = (0..(1 << 24) - 100_000u32).map(|i| (i >> 3) as u8).collect();
    for leaf in [65_536, 3 * 2048, 50 * 2048] {
        let mut tree = Tree::with_leaf(&mac, leaf).expect("whole blocks");
        tree.append(&message).expect("no limit");
        let mut message = message.clone();
        let check = |tree: &Tree<&Umac64>, message: &[u8]| {
            assert!(tree.tag(&nonce) == mac.tag_with(&nonce, message), "leaves of {leaf}");
        };
        let new: Vec<u8> = (0..300_001u32).map(|i| i.wrapping_mul(i) as u8).collect();
        tree.append(&new).expect("no limit");
        message.extend(&new);
        check(&tree, &message);
        for (at, bytes) in
            [((1 << 24) - 10, 20), ((1 << 24) - 70_000, 140_000), (5, 1), (1 << 24, 9)]
        {
            let need = tree.needs(&Edit::Replace(at..at + bytes)).expect("within");
            let new = vec![0xa5; bytes as usize];
            tree.replace(at, &new, slice(&message, need)).expect("as it was");
            message[at as usize..][..new.len()].copy_from_slice(&new);
            check(&tree, &message);
        }
        for to in [(1 << 24) + 1, 1 << 24, (1 << 24) - 1] {
            let need = tree.needs(&Edit::Truncate(to)).expect("within");
            tree.truncate(to, slice(&message, need)).expect("as it was");
            message.truncate(to as usize);
            check(&tree, &message);
        }
    }
}

#[test]
fn blocks_that_are_bound_to_their_places_do_not_move() {
    fn refused<M: Mac>(mac: M) {
        let mut tree = Tree::from_message(&mac, &[1; 5000]).expect("short");
        assert_eq!(tree.insert(0, &[0; 16], &[]), Err(EditError::PositionDependent));
        assert_eq!(tree.remove(0..16, &[]), Err(EditError::PositionDependent));
        assert_eq!(tree.needs(&Edit::Insert(0)), Err(EditError::PositionDependent));
    }
    refused(PmacAes128::new(&[7; 16]));
    refused(LightMacAes128::new(&[7; 16], &[8; 16], 32).expect("a counter"));
    refused(EliMac::new(&[7; 16], &[8; 16]));
    refused(Umac64::new(&[7; 16]));
}

#[test]
fn edits_that_do_not_fit_are_refused_and_change_nothing() {
    let (mac, message) = (Poly1305Aes::new(&[7; 32]), vec![1; 100_000]);
    let mut tree = Tree::from_message(&mac, &message).expect("no limit");
    let past = |found| Err(EditError::PastEnd { length: 100_000, found });
    assert_eq!(tree.replace(99_999, b"ab", &[]), past(100_001));
    assert_eq!(tree.replace(u64::MAX, b"ab", &[]), past(u64::MAX));
    assert_eq!(tree.truncate(100_001, &[]), past(100_001));
    assert_eq!(tree.insert(100_016, &[], &[]), past(100_016));
    assert_eq!(tree.remove(99_984..100_016, &[]), past(100_016));
    let unaligned = |found| Err(EditError::Unaligned { block: 16, found });
    assert_eq!(tree.insert(8, &[0; 16], &[]), unaligned(8));
    assert_eq!(tree.insert(16, &[0; 15], &[]), unaligned(15));
    assert_eq!(tree.remove(16..40, &[]), unaligned(40));
    assert_eq!(
        tree.replace(70_000, b"ab", &message[..65_536]),
        Err(EditError::OldBytes { expected: 100_000 - 65_536, found: 65_536 })
    );
    assert!(tree.verify(&[9; 16], &mac.tag_with(&[9; 16], &message).expect("short")).is_ok());
    assert_eq!(Tree::with_leaf(&mac, 17).map(|_| ()), unaligned(17));
    assert_eq!(Tree::with_leaf(&mac, 0).map(|_| ()), unaligned(0));
    let light = LightMac::<tagmac::cipher::Aes128>::new(&[7; 16], &[8; 16], 8).expect("a counter");
    let mut tree = Tree::from_message(&light, &[1; 3840]).expect("just within");
    assert_eq!(tree.append(b"a"), Err(Error::TooLong { limit_bits: 8 * 3840 }));
    assert!(tree.tag(&()) == light.tag(&[1; 3840]));
    assert_eq!(format!("{tree:?}"), "Tree(3840 bytes)");
}

/// Checks each error and its message.
#[test]
fn what_is_wrong_with_an_edit_is_said() {
    let (mac, message) = (Poly1305Aes::new(&[7; 32]), [1; 100]);
    let mut tree = Tree::with_leaf(&mac, 32).expect("whole blocks");
    tree.append(&message).expect("no limit");
    let pmac = PmacAes128::new(&[7; 16]);
    let mut bound = Tree::from_message(&pmac, &message).expect("no limit");
    let cases = [
        (tree.replace(0, b"x", &[0; 32]), "bytes 0 to 32 have changed since they were hashed"),
        (tree.replace(0, b"x", &message[..16]), "expected 32 old bytes of the leaves, found 16"),
        (
            tree.truncate(101, &[]),
            "the edit ends at byte 101, past the end of the message of 100 bytes",
        ),
        (
            bound.insert(0, &[0; 16], &[]),
            "this MAC binds blocks to their positions, so bytes cannot be inserted or removed",
        ),
        (
            tree.insert(8, &[0; 16], &message[..32]),
            "expected a multiple of the block of 16 bytes, found 8",
        ),
    ];
    for (refused, expected) in cases {
        let error = refused.expect_err(expected);
        assert_eq!(error.to_string(), expected);
        assert!(error.source().is_none());
    }
    let light = LightMac::<tagmac::cipher::Aes128>::new(&[7; 16], &[8; 16], 8).expect("a counter");
    let long = Tree::from_message(&light, &[1; 3841]).map(|_| ()).expect_err("over the limit");
    let error = EditError::from(long);
    assert_eq!(error.to_string(), long.to_string());
    assert_eq!(error.source().map(ToString::to_string), Some(long.to_string()));
}

/// A change from outside in the edited leaf is detected. A change in another leaf is not, and the
/// tag is not that of the message with it.
#[test]
fn what_somebody_else_changed_is_never_vouched_for() {
    let (mac, message) = (PmacAes128::new(&[7; 16]), vec![1; 200_000]);
    let mut tree = Tree::from_message(&mac, &message).expect("no limit");
    let need = tree.needs(&Edit::Replace(70_000..70_001)).expect("within");
    assert_eq!(need, 65_536..131_072);
    for place in [65_536, 69_999, 70_001, 131_071] {
        let mut forged = message.clone();
        forged[place] ^= 1;
        let refused = tree.replace(70_000, b"x", slice(&forged, need.clone()));
        assert_eq!(refused, Err(EditError::LeafChanged { start: 65_536, end: 131_072 }));
    }
    let mut forged = message.clone();
    (forged[0], forged[70_000]) = (2, b'x');
    tree.replace(70_000, b"x", slice(&message, need)).expect("as it was");
    assert!(tree.tag(&()) != mac.tag(&forged));
    forged[0] = 1;
    assert!(tree.tag(&()) == mac.tag(&forged));
}
