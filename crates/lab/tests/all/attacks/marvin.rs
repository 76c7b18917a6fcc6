//! The places where MARVIN's forgery works.

use tagmac_lab::attacks::game::Game;
use tagmac_lab::attacks::marvin::{Masks, marvin, power};
use tagmac_lab::attacks::random::Random;

/// For first blocks up to 40: the forgery works exactly where eight Gray codewords in a row are a
/// coset of a subgroup.
#[test]
fn the_pair_works_on_cosets_alone() {
    let coset = |first: u128, later: u128, blocks: u128| {
        let gray = |i: u128| (i + later) ^ (i + later) >> 1;
        let words: Vec<u128> = (first..first + blocks).map(gray).collect();
        words.iter().all(|a| words.iter().all(|b| words.contains(&(a ^ b ^ words[0]))))
    };
    let starts = |later, blocks| -> Vec<u128> {
        (1..=40).filter(|first| coset(*first, later, blocks)).collect()
    };
    assert_eq!(starts(0, 8), [4, 8, 12, 16, 20, 24, 28, 32, 36, 40]);
    assert_eq!(starts(0, 4), (1..=20).map(|i| 2 * i).collect::<Vec<_>>());
    assert_eq!(starts(1, 8)[..2], [3, 7]);
    let mut random = Random::new(2);
    let mut works = |first: usize| {
        let mut game = Game::new(marvin(&random.array(), Masks::Gray(0), |x| power(x, 7)));
        let [alpha, beta]: [[u8; 16]; 2] = [random.array(), random.array()];
        let message = |block| [vec![alpha; first - 1], vec![block; 8]].concat();
        let tag = game.ask(message(alpha).as_flattened());
        game.forges(message(beta).as_flattened(), &tag)
    };
    let found: Vec<usize> = (1..=12).filter(|first| works(*first)).collect();
    assert_eq!(found, [4, 8, 12]);
}
