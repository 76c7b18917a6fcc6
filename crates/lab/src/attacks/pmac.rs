//! The growth of collisions with the number and length of messages. PMAC and LightMAC run on a toy
//! cipher with blocks of 16 bits, so that collisions are likely.

use std::sync::LazyLock;

use tagmac::LightMac;
use tagmac::cipher::BlockCipher;
use tagmac_any::bounds;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::toy::{N, Toy, ToyPmac};

/// The row of the table.
pub const ONE_FORGERY_MANY: Attack = Attack {
    name: "pmac-one-forgery-many",
    about: "one collision of PMAC forges all messages that extend it; one lucky short tag does not",
    source: "Preneel and van Oorschot, CRYPTO 1995 (a collision of an iterated MAC extends); PMAC, \
         section 4.2 (not fixing the tag length)",
    how: "If two messages of the same number of blocks have the same tag of n bits, their sums are \
         equal. Then the tags of both with the same suffix are equal too, whatever it is. A forged \
         tag of 8 bits reveals much less: the sums are equal once in 256 times, so the next \
         forgery is another guess.",
    run: one_forgery_many,
};

/// The row of the table.
pub const BIRTHDAY: Attack = Attack {
    name: "pmac-birthday",
    about: "PMAC on blocks of 16 bits: collisions grow with q^2 l, below the theorem's q^2 l^2",
    source: "PMAC, theorem 1; Luykx, Preneel, Szepieniec and Yasuda 2016; docs/design/theory.md, PMAC's \
             bound",
    how: "q messages of l = 2^k blocks. Blocks l/2 to l - 1 of a message are equal, and differ \
         from message to message. Their masks are a coset of l/2 elements. If the blocks of two \
         messages differ by one of these, both encrypt the same points, and their sums are equal. \
         The probability is q^2 l / 2^(n+2) for small q. The attack turns collisions into \
         forgeries.",
    run: birthday,
};

/// The row of the table.
pub const LIGHTMAC_NONE: Attack = Attack {
    name: "lightmac-none",
    about: "LightMAC on blocks of 16 bits: these messages collide as often as random ones, \
         whatever their length",
    source: "LightMAC, theorem 1 and proposition 1",
    how: "As pmac-birthday, with the library's LightMAC over the toy cipher, s = 8. Each block \
         contains its number, so the points of a message differ: q^2 / 2^(n+1) collisions, for \
         messages of 4 blocks and of 256.",
    run: lightmac_none,
};

/// Draws a permutation.
pub fn cipher(random: &mut Random) -> Toy {
    Toy::new(&random.array())
}

/// Returns PMAC over the toy cipher, with tags truncated to their first `bytes` bytes.
fn toy_pmac(random: &mut Random, bytes: usize) -> Tags {
    let mac = ToyPmac::new(cipher(random));
    Box::new(move |_, message| {
        let blocks = message.as_chunks().0.iter().map(|block| u16::from_be_bytes(*block));
        mac.tag(blocks).to_be_bytes()[..bytes].to_vec()
    })
}

/// Returns the first two messages with the same tag.
fn equal_tags(game: &mut Game, messages: &[Vec<u8>]) -> Option<[Vec<u8>; 2]> {
    let mut seen: Vec<(Vec<u8>, usize)> =
        messages.iter().enumerate().map(|(i, message)| (game.ask(message), i)).collect();
    seen.sort_unstable();
    let pair = seen.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some([0, 1].map(|i| messages[pair[i].1].clone()))
}

/// Requests tags with `forgeries` suffixes of one to four blocks on one message of a pair. Returns
/// true if all are right for the other one.
fn suffixes(game: &mut Game, random: &mut Random, pair: &[Vec<u8>; 2], forgeries: usize) -> bool {
    (0..forgeries).all(|_| {
        let blocks = 1 + random.below(4);
        let suffix = random.bytes(2 * blocks);
        let [one, other] = [0, 1].map(|i| [&pair[i][..], &suffix].concat());
        let tag = game.ask(&one);
        game.forges(&other, &tag)
    })
}

/// Returns messages of `bytes` bytes, all different and with the same last block.
fn random_messages(random: &mut Random, count: usize, bytes: usize) -> Vec<Vec<u8>> {
    let message = |_| [random.bytes(bytes), vec![0; 2]].concat();
    let mut messages: Vec<_> = (0..count).map(message).collect();
    messages.sort_unstable();
    messages.dedup();
    messages
}

/// Returns the collision probability of q independent values with pair probability p: 1 - the
/// product of 1 - i p for i below q.
pub fn birthday_of(q: u64, p: f64) -> f64 {
    1.0 - (0..q).map(|i| (1.0 - i as f64 * p).max(0.0)).product::<f64>()
}

fn one_forgery_many(_: &AttackOptions) -> Vec<Finding> {
    let full = |game: &mut Game, random: &mut Random| {
        let messages = random_messages(random, 512, 8);
        equal_tags(game, &messages).is_some_and(|pair| suffixes(game, random, &pair, 16))
    };
    let short = |game: &mut Game, random: &mut Random| {
        // Queries messages until two have the same tag of 8 bits; 257 are enough.
        let messages = random_messages(random, 300, 8);
        let pair = equal_tags(game, &messages).expect("more messages than tags");
        suffixes(game, random, &pair, 2)
    };
    let n = N as f64;
    // Either the sums are equal, or two guesses at 8 bits are right.
    let [same, guess] = [1.0 / 256.0, 1.0 / 65536.0];
    let trial =
        |target, role, keys, expected, formula| Trial { target, role, keys, expected, formula };
    vec![
        trial(
            "PMAC, n = 16: a collision, then 16 suffixes",
            Role::Attack,
            1000,
            Expected::About(birthday_of(512, 1.0 / n)),
            "birthday of 512 sums in 2^16",
        )
        .play(|random| toy_pmac(random, 2), full),
        trial(
            "PMAC, n = 16, tags of 8 bits: equal tags, then 2 suffixes",
            Role::Attack,
            4000,
            Expected::About(same + (1.0 - same) * guess),
            "2^-8, the sums are equal",
        )
        .play(|random| toy_pmac(random, 1), short),
        trial(
            "PMAC-AES128: a collision, then 16 suffixes",
            Role::Control,
            50,
            Expected::Never,
            "birthday of 512 sums in 2^128",
        )
        .play(real("PMAC-AES128"), full),
    ]
}

/// A point of a curve: the result for q messages of l blocks.
#[derive(Clone, Debug)]
pub struct Point {
    /// Messages under a key.
    pub q: u64,
    /// Blocks of a message.
    pub l: u64,
    /// The frequency of collisions that gave a forgery, with the library's bound.
    pub finding: Finding,
    /// The bound of the paper's theorem.
    pub theorem: f64,
}

/// Returns different random numbers.
pub fn different(random: &mut Random, count: u64, below: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = Vec::new();
    while numbers.len() < count as usize {
        let number = random.below(below);
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

/// Makes q queries of messages that `of` makes from different numbers, and one more for the
/// forgery, with the suffix `suffix`.
fn forge(
    game: &mut Game,
    random: &mut Random,
    q: u64,
    below: usize,
    of: impl Fn(usize) -> Vec<u8>,
) -> bool {
    let messages: Vec<_> = different(random, q, below).into_iter().map(of).collect();
    equal_tags(game, &messages).is_some_and(|pair| suffixes(game, random, &pair, 1))
}

/// Returns PMAC's message of l = 2^k blocks, whose upper half repeats `block` except for the last
/// block.
pub fn coset(l: u64, block: usize) -> Vec<u8> {
    let mut message = vec![[0; 2]; l as usize];
    message[l as usize / 2 - 1..l as usize - 1].fill((block as u16).to_be_bytes());
    message.as_flattened().to_vec()
}

/// Returns LightMAC's message for s = 8: l - 1 full blocks equal to `block`, and an empty one.
fn constant(l: u64, block: usize) -> Vec<u8> {
    vec![block as u8; l as usize - 1]
}

/// The number of keys for each point.
const KEYS: u64 = 2000;

/// Returns the probability that two of q messages of [`coset`] collide.
pub fn coset_birthday(q: u64, l: u64) -> f64 {
    let n = N as f64;
    // No two messages are in a coset of l/2 of the 2^16 points, and no others collide, which behave
    // as random.
    let c = l as f64 / 2.0;
    let apart: f64 = (0..q).map(|i| ((n - i as f64 * c) / (n - i as f64)).max(0.0)).product();
    1.0 - apart * (1.0 - birthday_of(q, 1.0 / n))
}

/// Measures PMAC's curve at q messages of l blocks; l is a power of two, at least 4.
pub fn pmac_point(q: u64, l: u64) -> Point {
    let trial = Trial {
        target: &format!("PMAC, n = 16, {q} messages of {l} blocks"),
        role: Role::Attack,
        keys: KEYS,
        expected: Expected::About(coset_birthday(q, l)),
        formula: "two of q in a coset of l / 2, or a birthday",
    };
    let finding = trial.play(
        |random| toy_pmac(random, 2),
        |game, random| forge(game, random, q, N, |block| coset(l, block)),
    );
    let bound = bounds::pmac::prf(16, q.into(), (q * l).into()).expect("16 bits").value();
    let sigma_bar = (q * l + q + 1) as f64;
    let theorem = 1.5 * sigma_bar * sigma_bar / N as f64;
    Point { q, l, finding: Finding { bound: Some(bound), ..finding }, theorem }
}

/// Measures LightMAC's curve at q messages of l blocks.
pub fn lightmac_point(q: u64, l: u64) -> Point {
    let trial = Trial {
        target: &format!("LightMAC, n = 16, {q} messages of {l} blocks"),
        role: Role::Attack,
        keys: KEYS,
        expected: Expected::About(birthday_of(q, 1.0 / N as f64)),
        formula: "birthday of q sums in 2^16",
    };
    let finding = trial.play(
        |random| {
            let [k1, k2] = [random.array(), random.array()];
            let mac = LightMac::<Toy>::new(&k1, &k2, 8).expect("s = 8");
            Box::new(move |_, message| mac.tag(message).expect("short").as_bytes().to_vec())
        },
        |game, random| forge(game, random, q, 256, |block| constant(l, block)),
    );
    let theorem = bounds::lightmac::prf(16, 8, q.into(), (q * l).into()).expect("16 bits").value();
    Point { q, l, finding: Finding { bound: Some(theorem), ..finding }, theorem }
}

/// Returns PMAC's points: for longer messages, then for more. The first call measures them.
pub fn pmac_curve() -> &'static [Point] {
    static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
        let longer = [4, 16, 64, 256].map(|l| pmac_point(32, l));
        let more = [16, 64, 128].map(|q| pmac_point(q, 16));
        longer.into_iter().chain(more).collect()
    });
    &POINTS
}

/// Returns LightMAC's points in the same way.
pub fn lightmac_curve() -> &'static [Point] {
    static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
        let longer = [4, 16, 64, 248].map(|l| lightmac_point(128, l));
        let more = [32, 64].map(|q| lightmac_point(q, 16));
        longer.into_iter().chain(more).collect()
    });
    &POINTS
}

/// Attacks a MAC of 128 bits with the same messages.
fn control(name: &str, of: impl Fn(usize) -> Vec<u8>) -> Finding {
    let trial = Trial {
        target: &format!("{name}, 128 messages of 64 blocks"),
        role: Role::Control,
        keys: 100,
        expected: Expected::Never,
        formula: "q^2 l / 2^128",
    };
    trial.play(real(name), |game, random| forge(game, random, 128, 256, &of))
}

/// Widens each 2 bytes to 16.
fn wide(message: &[u8]) -> Vec<u8> {
    message.as_chunks().0.iter().flat_map(|block: &[u8; 2]| block.repeat(8)).collect()
}

fn birthday(_: &AttackOptions) -> Vec<Finding> {
    let mut findings: Vec<_> = pmac_curve().iter().map(|point| point.finding.clone()).collect();
    findings.push(control("PMAC-AES128", |block| wide(&coset(64, block))));
    findings
}

fn lightmac_none(_: &AttackOptions) -> Vec<Finding> {
    let mut findings: Vec<_> = lightmac_curve().iter().map(|point| point.finding.clone()).collect();
    findings.push(control("LIGHTMAC-AES128-S32", |block| vec![block as u8; 12 * 63]));
    findings
}
