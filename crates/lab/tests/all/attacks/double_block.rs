//! Quadruples of messages against SUM-ECBC.

use tagmac::cipher::Cipher;
use tagmac::isa::Level;
use tagmac_lab::attacks::double_block::{SUFFIXES, find, message, sum_ecbc};
use tagmac_lab::attacks::toy::{N, Toy};
use tagmac_lab::blocks::encrypt;

/// The constants' four messages have tags that sum to zero, and are found among few others.
#[test]
fn a_quadruple_is_found() {
    let keys: [[u8; 8]; 4] = core::array::from_fn(|i| [i as u8; 8]);
    let constant = |key| {
        let cipher = <Toy as Cipher>::new(key, Level::best());
        let e = |kind| u16::from_be_bytes(encrypt(&cipher, &[0, kind], Level::best()));
        e(0) ^ e(1)
    };
    let (a, b, x) = (constant(&keys[0]), constant(&keys[2]), 0x1234);
    let mac = sum_ecbc::<Toy>(keys);
    let tag = |kind, x| {
        let tags = SUFFIXES.map(|suffix| mac(&[], &message(kind, x, suffix, 2)));
        tags.iter().fold(0, |sum: u64, tag| sum << 16 | u64::from(tag[0]) << 8 | u64::from(tag[1]))
    };
    assert_eq!(tag(0, x) ^ tag(1, x ^ a) ^ tag(0, x ^ a ^ b) ^ tag(1, x ^ b), 0);
    let lists = [
        [x, x ^ a ^ b].into_iter().chain(1..200).collect(),
        [x ^ a, x ^ b].into_iter().chain(1..200).collect::<Vec<u16>>(),
    ];
    let tags = [0, 1].map(|kind| {
        let mut tags = vec![0; N];
        lists[usize::from(kind)].iter().for_each(|x| tags[usize::from(*x)] = tag(kind, *x));
        tags
    });
    let [one, other, found] = find(&lists, &tags).expect("the four");
    let mut ends = [one, other];
    ends.sort_unstable();
    let mut expected = [x, x ^ a ^ b];
    expected.sort_unstable();
    assert!(ends == expected && [a, b].contains(&found));
}
