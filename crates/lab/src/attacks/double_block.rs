//! Breaks SUM-ECBC after 2^(3n/4) queries with quadruples of messages (Leurent, Nandi and
//! Sibleyras, "Generic Attacks against Beyond-Birthday-Bound MACs", CRYPTO 2018), on blocks of 16
//! bits.

use tagmac::cipher::{Aes128, Cipher, CipherKey};
use tagmac::isa::Level;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial};
use super::random::Random;
use super::toy::{N, Toy};
use crate::comparators::SumEcbc;

/// The row of the table.
pub const QUADRUPLES: Attack = Attack {
    name: "sum-ecbc-quadruples",
    about: "SUM-ECBC on blocks of 16 bits: four messages whose tags sum to zero, after 2^(3n/4) queries",
    source: "Leurent, Nandi and Sibleyras, CRYPTO 2018; the sum of CBCs of LightMAC, table 2",
    how: "Messages (0, x) and (1, y) collide in the first chain if x ^ y = a, and in the second if \
         x ^ y = b; a and b are secret constants. So (0, x), (1, x ^ a), (0, x ^ a ^ b), (1, x ^ \
         b) collide in both chains, in pairs, and their tags sum to zero. With the same suffix on \
         each, the tags sum to zero again. Among 2^12 messages of each kind, about every second \
         set contains such a quadruple. Three tags of each message, two of them with suffixes, \
         distinguish it from chance. That reveals a and b, and then three tags determine the \
         fourth. The work is more than 2^n; the queries are not.",
    run: quadruples,
};

/// Messages of each kind: 2^(3n/4).
const LIST: usize = 1 << 12;

/// The suffixes of a message.
pub const SUFFIXES: [Option<u16>; 3] = [None, Some(1), Some(2)];

/// Returns a block of `bytes` bytes with a number at its end.
fn block(number: u16, bytes: usize) -> Vec<u8> {
    let mut block = vec![0; bytes];
    block[bytes - 2..].copy_from_slice(&number.to_be_bytes());
    block
}

/// Returns the message of kind 0 or 1.
pub fn message(kind: u16, x: u16, suffix: Option<u16>, bytes: usize) -> Vec<u8> {
    let blocks = [Some(kind), Some(x), suffix];
    blocks.into_iter().flatten().flat_map(|number| block(number, bytes)).collect()
}

/// A set of numbers, as bits.
struct Bits(Vec<u64>);

impl Bits {
    fn new(numbers: impl Iterator<Item = u16>) -> Self {
        let mut words = vec![0; N / 64];
        numbers.for_each(|x| words[usize::from(x) / 64] |= 1 << (x % 64));
        Bits(words)
    }
}

/// Finds two pairs (x, x ^ a) of messages of both kinds with the same sum of tags. Returns x, the
/// other x, and a. `lists` has the messages of each kind, `tags` their tags by number.
pub fn find(lists: &[Vec<u16>; 2], tags: &[Vec<u64>; 2]) -> Option<[u16; 3]> {
    let first = Bits::new(lists[0].iter().copied());
    // A xor of numbers permutes words, and the bits within each word. There is a set for each xor
    // within a word.
    let second: Vec<Bits> =
        (0..64).map(|low| Bits::new(lists[1].iter().map(|y| y ^ low))).collect();
    let mut seen = vec![(0u16, 0u16); N];
    for a in 1..=u16::MAX {
        let (high, low) = (usize::from(a) / 64, usize::from(a) % 64);
        for (word, bits) in first.0.iter().enumerate() {
            let mut both = bits & second[low].0[word ^ high];
            while both != 0 {
                let x = (64 * word) as u16 + both.trailing_zeros() as u16;
                both &= both - 1;
                let sum = |x: u16| tags[0][usize::from(x)] ^ tags[1][usize::from(x ^ a)];
                let found = sum(x);
                let (when, other) = &mut seen[found as usize % N];
                if *when == a && sum(*other) == found {
                    return Some([x, *other, a]);
                }
                (*when, *other) = (a, x);
            }
        }
    }
    None
}

/// Makes six queries for each of 2^12 numbers and three more, and forges a tag. Blocks have `bytes`
/// bytes.
fn attack(bytes: usize) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, random| {
        let mut tags = [vec![0; N], vec![0; N]];
        let lists = [0, 1].map(|kind| {
            let mut list: Vec<u16> = Vec::new();
            let mut known = vec![false; N];
            while list.len() < LIST {
                let x = random.next_u64() as u16;
                if !core::mem::replace(&mut known[usize::from(x)], true) {
                    list.push(x);
                    let tag = |suffix| game.ask(&message(kind, x, suffix, bytes));
                    let sum = SUFFIXES.map(tag).iter().fold(0, |sum: u64, tag| {
                        sum << 16 | u64::from(u16::from_be_bytes([tag[0], tag[1]]))
                    });
                    tags[usize::from(kind)][usize::from(x)] = sum;
                }
            }
            list
        });
        let Some([x, other, a]) = find(&lists, &tags) else { return false };
        let (b, new) = (x ^ other ^ a, random.next_u64() as u16);
        // A suffix that no query had.
        let of = |kind, x| message(kind, x, Some(3), bytes);
        let mut tag = game.ask(&of(0, new));
        for other in [of(1, new ^ a), of(0, new ^ a ^ b)] {
            tag.iter_mut().zip(game.ask(&other)).for_each(|(sum, byte)| *sum ^= byte);
        }
        game.forges(&of(1, new ^ b), &tag)
    }
}

/// Returns SUM-ECBC under four keys.
pub fn sum_ecbc<C: Cipher<Key: CipherKey> + 'static>(keys: [C::Key; 4]) -> Tags {
    let mac = SumEcbc::<C>::with_level(keys.each_ref(), Level::best());
    Box::new(move |_, message| mac.tag(message).as_ref().to_vec())
}

fn quadruples(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, keys, expected| Trial {
        target,
        role,
        keys,
        expected,
        formula: "1 - exp(-q^4 / 2^(3n + 1)), q messages of each kind",
    };
    // A quadruple is x and x ^ a ^ b from one list and x ^ a and x ^ b from the other; there are
    // 2^(n - 1).
    let fours = (LIST as f64 / N as f64).powi(4) * N as f64 / 2.0;
    let expected = Expected::About(1.0 - (-fours).exp());
    vec![
        trial("SUM-ECBC, n = 16, 2^12 messages of each kind", Role::Attack, 60, expected)
            .play(|random| sum_ecbc::<Toy>(core::array::from_fn(|_| random.array())), attack(2)),
        trial("SUM-ECBC-AES128, the same messages", Role::Control, 2, Expected::Never).play(
            |random| sum_ecbc::<Aes128>(core::array::from_fn(|_| random.array())),
            attack(16),
        ),
    ]
}
