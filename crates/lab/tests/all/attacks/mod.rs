//! The parts of the attacks; `pages` runs whole attacks.

use tagmac_lab::attacks::ATTACKS;

mod double_block;
mod field;
mod finding;
mod game;
mod jedisct1;
mod leaves;
mod lightmac_go;
mod marvin;
mod nh;
mod pmac;
mod random;
mod small_aes;
mod tight;
mod tightness;
mod toy;
mod two_rounds;
mod zero_sum;

#[test]
fn names_are_different() {
    let mut names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ATTACKS.len());
}
