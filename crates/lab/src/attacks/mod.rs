//! The attacks of the papers. Each also attacks the real MAC, which must resist.
//!
//! An attack plays a [`Game`](game::Game) against a MAC under a random key: it requests tags, then
//! presents a message that it did not request, with a tag. It wins if the tag is right. Its
//! [`Finding`]s compare the frequency of success over many keys with the paper's probability.
//!
//! The parts of the attacks are public for the tests in `tests/all/attacks`.
//!
//! To add an attack, add a file with a function and a line in [`ATTACKS`].

mod attack;
mod cbc_mac;
pub mod double_block;
mod elihash;
pub mod field;
mod finding;
pub mod game;
pub mod jedisct1;
pub mod leaves;
pub mod lightmac_go;
pub mod marvin;
pub mod nh;
mod nonce_reuse;
mod part_sums;
pub mod pmac;
pub mod random;
mod short_tag;
pub mod small_aes;
pub mod tight;
pub mod tightness;
pub mod toy;
pub mod two_rounds;
mod xor_mac;
pub mod zero_sum;

pub use attack::{Attack, AttackOptions};
pub use finding::{Expected, Finding, Role, bound, interval};
pub use pmac::{Point, lightmac_curve, pmac_curve};

/// All attacks.
pub const ATTACKS: &[Attack] = &[
    elihash::MIXED_LENGTHS,
    elihash::REMARK_1,
    cbc_mac::EXTENSION,
    part_sums::XOR_SUM_MIX,
    pmac::ONE_FORGERY_MANY,
    nonce_reuse::POLY1305,
    nonce_reuse::UMAC,
    nh::WITHOUT_NONCE,
    nh::XOR_UNIVERSAL_ONLY,
    short_tag::TRUNCATION,
    lightmac_go::PADDING,
    jedisct1::CHUNKS,
    marvin::A1,
    marvin::A2,
    zero_sum::THREE_ROUNDS,
    zero_sum::FOUR_ROUNDS,
    two_rounds::TWO_ROUNDS,
    tight::ELIMAC,
    tightness::TRUNCATION,
    tightness::SUBKEYS,
    tightness::GUESS,
    pmac::BIRTHDAY,
    pmac::LIGHTMAC_NONE,
    leaves::COLLISION,
    leaves::READS,
    double_block::QUADRUPLES,
    xor_mac::RANDOM_IV,
];
