//! The UMAC of 1999 with the features of every MAC: edits and counted nonces.

use tagmac::edit::{Edit, Tree};
use tagmac::isa::Level;
use tagmac::{Error, Mac, Mismatch, NonceSequence};
use tagmac_papers::{Cbc3, Umac99, Umac99Set};

const SETS: [Umac99Set; 2] = [Umac99Set::Std60, Umac99Set::Mmx30];

/// Pseudorandom bytes.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let numbers = (seed << 32..).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbers.map(|number| (number >> 56) as u8).take(length).collect()
}

/// After each edit the tag is that of the current message.
#[test]
fn a_tree_has_the_tag_of_its_message() {
    let nonce = b"8 bytes.";
    for set in SETS {
        let mac = Umac99::new(set, &[7; 16]);
        let mut message = bytes(61_234, 1);
        let mut tree = Tree::with_leaf(&mac, 8192).expect("whole blocks");
        tree.append(&message).expect("no limit");
        let places =
            [(0, 0), (0, 1), (4095, 2), (8192, 8192), (20_000, 20_000), (61_000, 234), (61_234, 0)];
        for (seed, (start, length)) in (2..).zip(places) {
            let end = start + length;
            let new = bytes(length, seed);
            let need = tree.needs(&Edit::Replace(start as u64..end as u64)).expect("within");
            let old = &message[need.start as usize..need.end as usize];
            tree.replace(start as u64, &new, old).expect("the old bytes");
            message[start..end].copy_from_slice(&new);
            assert!(tree.tag(nonce) == mac.tag_with(nonce, &message), "{set:?}: {start}..{end}");
        }
        for to in [61_233, 57_344, 8193, 0] {
            let need = tree.needs(&Edit::Truncate(to)).expect("not longer");
            let old = &message[need.start as usize..need.end as usize];
            tree.truncate(to, old).expect("the old bytes");
            message.truncate(to as usize);
            assert!(tree.tag(nonce) == mac.tag_with(nonce, &message), "{set:?}: up to {to}");
        }
    }
}

/// A sequence has the tags of its nonces, up to the last one.
#[test]
fn a_sequence_counts_to_its_end() {
    for level in Level::all() {
        for set in SETS {
            let mac = Umac99::with_level(set, &[7; 16], level);
            for first in [0, 255, u64::from(u32::MAX), u64::MAX - 1] {
                let nonce = first.to_be_bytes();
                let mut sequence = NonceSequence::resume(&mac, &nonce).expect("its own nonce");
                for number in [first, first + 1] {
                    let (used, tag) = sequence.tag(b"message").expect("an unused nonce");
                    assert_eq!(used, number.to_be_bytes());
                    assert!(mac.tag_with(&used, b"message") == Ok(tag), "{set:?}, {number}");
                }
                let more = sequence.tag(b"message").map(|_| ());
                let none = Err(Error::NoncesUsedUp { bytes: 8 });
                assert_eq!(more, if first == u64::MAX - 1 { none } else { Ok(()) });
            }
        }
    }
}

#[test]
fn cbc3_refuses_wrong_tags() {
    for level in Level::all() {
        let mac = Cbc3::<tagmac::cipher::Aes128>::with_level(&[1; 16], &[2; 16], &[3; 16], level);
        let tag = mac.tag(b"a message");
        assert_eq!(mac.verify(b"a message", &tag), Ok(()));
        let short = tagmac::Tag::try_from(&tag.as_bytes()[..4]).expect("4 bytes");
        for wrong in [mac.tag(b"a massage"), short, tagmac::Tag::default()] {
            assert_eq!(mac.verify(b"a message", &wrong), Err(Mismatch));
        }
        for bit in 0..128 {
            let mut bytes = tag.as_bytes().to_vec();
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
            let wrong = tagmac::Tag::try_from(&bytes[..]).expect("16 bytes");
            assert_eq!(mac.verify(b"a message", &wrong), Err(Mismatch), "bit {bit}");
        }
    }
}
