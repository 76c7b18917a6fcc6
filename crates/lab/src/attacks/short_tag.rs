//! A list of tags that determines the length of its tags.

use tagmac::{PmacAes128, Tag};

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::Trial;
use super::random::Random;

/// The row of the table.
pub const TRUNCATION: Attack = Attack {
    name: "short-tag-truncation",
    about: "a checker accepts tags of the list's length: 256 guesses at one byte, or the empty tag",
    source: "PMAC, section 4.2 (tags of t bits pass with 2^-t); the key determines the length",
    how: "The naive checker compares as many bytes as the list has. The attacker writes a list \
         with tags of one byte, or empty ones. The library only compares tags of the MAC's own \
         length, and rejects tags of any other.",
    run,
};

/// Returns true if a checker accepts this tag.
type Check = fn(&PmacAes128, &[u8], &[u8]) -> bool;

fn naive(mac: &PmacAes128, message: &[u8], tag: &[u8]) -> bool {
    mac.tag(message).expect("short").as_bytes().starts_with(tag)
}

fn real(mac: &PmacAes128, message: &[u8], tag: &[u8]) -> bool {
    Tag::try_from(tag).is_ok_and(|tag| mac.verify(message, &tag).is_ok())
}

/// Makes no queries; tries tags of a message one after the other.
fn guess(
    check: Check,
    guesses: impl Fn(&mut Random) -> Vec<Vec<u8>>,
) -> impl FnMut(&mut Random) -> (u64, bool) {
    move |random| {
        let mac = PmacAes128::new(&random.array());
        let message = random.bytes(40);
        (0, guesses(random).iter().any(|tag| check(&mac, &message, tag)))
    }
}

fn run(_: &AttackOptions) -> Vec<Finding> {
    let trial =
        |target, role, keys, expected, formula| Trial { target, role, keys, expected, formula };
    let one = |random: &mut Random| vec![random.bytes(1)];
    let all = |_: &mut Random| (0..=255).map(|byte| vec![byte]).collect::<Vec<_>>();
    let empty = |_: &mut Random| vec![vec![]];
    use Expected::{About, Always, Never};
    use Role::{Attack, Control};
    let any = "no tag of 128 bits";
    vec![
        trial("naive checker, one guess at one byte", Attack, 100_000, About(1.0 / 256.0), "2^-8")
            .count(guess(naive, one)),
        trial("naive checker, all tags of one byte", Attack, 1000, Always, "2^8 guesses of 2^-8")
            .count(guess(naive, all)),
        trial("naive checker, the empty tag", Attack, 1000, Always, "2^-0")
            .count(guess(naive, empty)),
        trial("PMAC-AES128, all tags of one byte", Control, 1000, Never, any)
            .count(guess(real, all)),
        trial("PMAC-AES128, the empty tag", Control, 1000, Never, any).count(guess(real, empty)),
    ]
}
