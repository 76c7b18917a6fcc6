//! Leaf tags over the toy cipher.

use tagmac_lab::attacks::leaves::{LeafGame, LeafMac, coset_reads};
use tagmac_lab::attacks::leaves::{library, toy_elimac, toy_lightmac, toy_pmac};
use tagmac_lab::attacks::pmac::coset;
use tagmac_lab::attacks::random::Random;

/// The MACs over blocks of 16 bits, with the lengths of a content of two blocks and of its end.
fn toys(random: &mut Random) -> [(LeafMac, usize, usize); 3] {
    [(toy_pmac(random), 4, 2), (toy_lightmac(random), 2, 1), (toy_elimac(random), 4, 1)]
}

/// Contents with the same end have equal tags if and only if the blocks before have equal sums.
#[test]
fn sums_are_those_of_the_tags() {
    let mut random = Random::new(7);
    for (mac, whole, end) in toys(&mut random) {
        let mut equal = 0;
        let mut seen: Vec<_> = (0..1000)
            .map(|_| {
                let blocks = random.bytes(whole);
                let tag = (mac.tag)(&[&blocks[..], &vec![0; end]].concat());
                let (left, right) = blocks.split_at(whole / 2);
                let [a, b] = [(mac.sum)(0, left), (mac.sum)(whole / 2, right)];
                let sum = (mac.sum)(0, &blocks);
                assert_eq!(sum, [a[0] ^ b[0], a[1] ^ b[1]]);
                (tag, sum)
            })
            .collect();
        seen.sort_unstable();
        for pair in seen.windows(2) {
            assert_eq!(pair[0].0 == pair[1].0, pair[0].1 == pair[1].1);
            equal += (pair[0].0 == pair[1].0) as u32;
        }
        // About 1000^2 / 2^17.
        assert!((1..=30).contains(&equal), "{equal}");
    }
}

/// A reader accepts each leaf with its own leaf tag, and with no other.
#[test]
fn readers_accept_leaves_in_their_places() {
    let mut random = Random::new(8);
    for (name, block) in [("PMAC-AES128", 16), ("LIGHTMAC-AES128-S32", 12), ("ELIMAC-AES128", 16)] {
        let mac = library(name, block)(&mut random);
        let mut game = LeafGame::new(mac, 4 * block, &mut random);
        // The last leaf is whole, or partial, or shorter than a block.
        for bytes in [8 * block, 10 * block, 10 * block + 3, 8 * block + 1] {
            let content = random.bytes(bytes);
            let [one, other] = [game.seal(&content), game.seal(&random.bytes(bytes))];
            for (i, leaf) in content.chunks(4 * block).enumerate() {
                assert!(game.accepts(one, i, leaf, game.known(one, i)), "{name}: {bytes}, {i}");
                assert!(!game.releases(one, i, leaf, game.known(one, i)));
                assert!(!game.accepts(other, i, leaf, game.known(one, i)));
                assert!(!game.accepts(one, i, leaf, game.known(other, i)));
                let next = (i + 1) % content.len().div_ceil(4 * block);
                assert!(!game.accepts(one, i, leaf, game.known(one, next)));
                assert!(!game.accepts(one, i, &leaf[1..], game.known(one, i)));
                for byte in [0, leaf.len() - 1] {
                    let mut wrong = leaf.to_vec();
                    wrong[byte] ^= 1;
                    assert!(!game.accepts(one, i, &wrong, game.known(one, i)));
                }
            }
        }
    }
}

/// The leaves that pass in place of zeros are the other 31 of the coset, and a few by chance.
#[test]
fn wrong_reads_pass_within_a_coset() {
    let mut random = Random::new(9);
    let mut game = LeafGame::new(toy_pmac(&mut random), 128, &mut random);
    let content = game.seal(&[0; 130]);
    let leaf_tag = game.known(content, 0);
    let passes = |block: &usize| game.releases(content, 0, &coset(64, *block), leaf_tag);
    let passed = (1..1 << 16).filter(passes).count();
    // Others come in groups of 32.
    assert!([31, 63, 95, 127, 159].contains(&passed), "{passed}");
    assert!((coset_reads(1, 64) * 65536.0 - 32.0).abs() < 0.1);
    assert!((coset_reads(8, 256) * 65536.0 / 8.0 - 128.0).abs() < 2.0);
}
