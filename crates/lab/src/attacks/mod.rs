//! The attacks of the papers, each with the real MAC beside it, which must resist.
//!
//! An attack plays a [`Game`](game::Game) against a MAC under a random key: it asks for tags and then
//! names a message that it did not ask for, with a tag. It wins if the tag is right. Its
//! [`Finding`]s say how often it won, over many keys, beside the probability that the paper gives.
//!
//! A new attack is a file with a function, and a line in [`ATTACKS`].

mod attack;
mod cbc_mac;
mod elihash;
mod field;
mod finding;
mod game;
mod jedisct1;
mod lightmac_go;
mod marvin;
mod nh;
mod nonce_reuse;
mod part_sums;
mod pmac;
mod random;
mod short_tag;
mod small_aes;
mod tight;
mod toy;
mod zero_sum;

pub use attack::{Attack, Options};
pub use finding::{Expected, Finding, Role, bound, interval};
pub use pmac::{Point, lightmac_curve, pmac_curve};

/// All attacks.
pub const ATTACKS: &[Attack] = &[
    elihash::MIXED_LENGTHS,
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
    tight::ELIMAC,
    pmac::BIRTHDAY,
    pmac::LIGHTMAC_NONE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different() {
        let mut names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ATTACKS.len());
    }
}
