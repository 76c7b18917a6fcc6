//! The other attacks that reach EliMAC's bounds (section 4.3): on the truncated permutation, on
//! subkeys that are not uniform, and by guesses.

use tagmac::{Bits, EliMac};

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::tight::{Product, aes, bits, collide, root, toy};
use super::toy::{N, Toy};

/// The row of the table.
pub const TRUNCATION: Attack = Attack {
    name: "elimac-tight-truncation",
    about: "messages of one block distinguish a truncated permutation: too few of its tags are \
         equal",
    source: "EliMAC, section 4.3, first term (Gilboa and Gueron); theorem 1",
    how: "A message of one block goes straight to E, so tags are a permutation's values, truncated \
         to t bits. Each value of t bits occurs at most 2^(n - t) times, so fewer pairs of tags \
         are equal than for random values. n = 16, t = 8: a coin chooses one of the two, and the \
         number of equal pairs reveals which. The attack needs about 2^(n - t/2) = 2^12 messages.",
    run: truncation,
};

/// The row of the table.
pub const SUBKEYS: Attack = Attack {
    name: "elimac-tight-subkeys",
    about: "subkeys with few values: messages of two and three blocks collide as often as theorem \
         1 allows",
    source: "EliMAC, section 4.3, second term with I(S, M) = S M; theorem 1",
    how: "Blocks of 16 bits and I(S, M) = S M. With one block, subkey 1 has 2^8 possible values, \
         so delta is 2^-8 and the bound q^2 / 2^9. With two, subkey 1 is subkey 2 xor one of 2^8 \
         values: delta^2 is 2^-24, and 2^16 delta^2 is 2^-8 again. Messages (M, M, z) collide if \
         S_1 ^ S_2 = (z ^ z') / (M ^ M'), which has a different value for each pair. Forgeries \
         follow as in elimac-tight.",
    run: subkeys,
};

/// The row of the table.
pub const GUESS: Attack = Attack {
    name: "elimac-tight-guess",
    about: "one guess: an unseen tag, or a seen one; truncation helps only the first",
    source: "EliMAC, section 4.3, second term of theorem 2",
    how: "An unseen tag of n bits is right with probability 1/(2^n - q); here all but 16 of 2^16 \
         points are queried. A seen tag is right if the messages collide, eps' = 2^-8 with the \
         subkeys of elimac-tight-subkeys. Truncated to 8 bits, the first probability grows by 2^8. \
         The second stays eps', and gains 2^-8 from unseen points. Theorem 2 multiplies the \
         greater of the two by 2^8, which gives 1 here, 128 times the measured probability.",
    run: guess,
};

fn trial<'a>(
    target: &'a str,
    role: Role,
    keys: u64,
    expected: Expected,
    formula: &'a str,
) -> Trial<'a> {
    Trial { target, role, keys, expected, formula }
}

/// Bits of a truncated tag.
const TAG_BITS: u32 = 8;

/// Returns the library's EliMAC over a random permutation of 16 bits. The first byte of a message
/// has the number of bits that count in the others.
fn random_cipher(random: &mut Random, subkeys: [u16; 2], bytes: usize) -> Tags {
    let mac = EliMac::<Product, Toy>::from_families(Product(subkeys), &random.array());
    Box::new(move |_, message| {
        let (bits, message) = message.split_first().expect("a length");
        let message = Bits::new(message, (*bits).into()).expect("so many bits");
        mac.tag(message).expect("short").as_bytes()[..bytes].to_vec()
    })
}

/// Returns the message of `count` bits, at most 16.
fn short(count: u32, bits: u32) -> Vec<u8> {
    let bits = if count == 0 { 0 } else { bits << (16 - count) } as u16;
    let bytes = count.div_ceil(8) as usize;
    [&[count as u8], &bits.to_be_bytes()[..bytes]].concat()
}

/// Returns the expected number of equal pairs among q tags and its deviation: for random values,
/// and for a permutation's values, each truncated to `TAG_BITS` of 16 bits.
pub fn equal_pairs(q: f64) -> [(f64, f64); 2] {
    let (n, values) = (N as f64, f64::from(1 << TAG_BITS));
    let (pairs, m) = (q * (q - 1.0) / 2.0, n / values);
    // Random pairs are pairwise independent.
    let random = (pairs / values, (pairs / values * (1.0 - 1.0 / values)).sqrt());
    // A value that occurs m times in all occurs X times in q draws of n: E[X (X - 1) .. (X - r +
    // 1)] by falling powers.
    let falling = |x: f64, r: u32| (0..r).map(|i| x - f64::from(i)).product::<f64>();
    let moment = |r| falling(q, r) * falling(m, r) / falling(n, r);
    let mean = values * moment(2) / 2.0;
    let same = moment(4) + 4.0 * moment(3) + 2.0 * moment(2);
    let other = falling(q, 4) * falling(m, 2).powi(2) / falling(n, 4);
    let square = values * (same + (values - 1.0) * other) / 4.0;
    [random, (mean, (square - mean * mean).sqrt())]
}

/// Returns the normal distribution, the probability of less than x deviations, by Simpson's rule.
pub fn normal(x: f64) -> f64 {
    const STEPS: usize = 1000;
    let density = |t: f64| (-t * t / 2.0).exp() / core::f64::consts::TAU.sqrt();
    let step = x / STEPS as f64;
    let weight = |i| if i == 0 || i == STEPS { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
    let sum: f64 = (0..=STEPS).map(|i| weight(i) * density(i as f64 * step)).sum();
    0.5 + sum * step / 3.0
}

/// Queries a MAC or random tags, by a coin, with q messages of 15 bits, and guesses which it was.
/// Returns true if the guess is right.
fn tell(
    q: u32,
    mut mac: impl FnMut(&mut Random) -> Tags,
) -> impl FnMut(&mut Random) -> (u64, bool) {
    let [(random_mean, _), (mean, _)] = equal_pairs(q.into());
    let limit = (random_mean + mean) / 2.0;
    move |random| {
        let (is_mac, mut counts) = (random.below(2) == 1, [0u64; 1 << TAG_BITS]);
        if is_mac {
            let mut game = Game::new(mac(random));
            (0..q).for_each(|z| counts[usize::from(game.ask(&short(15, z))[0])] += 1);
        } else {
            (0..q).for_each(|_| counts[random.below(1 << TAG_BITS)] += 1);
        }
        let pairs: u64 = counts.iter().map(|count| count * count.saturating_sub(1) / 2).sum();
        (q.into(), is_mac == ((pairs as f64) < limit))
    }
}

fn truncation(_: &AttackOptions) -> Vec<Finding> {
    const FORMULA: &str = "1/2 + the advantage / 2, by the number of equal pairs";
    let mut findings = Vec::new();
    for (q, keys) in [(1 << 12, 2000), (1 << 14, 500)] {
        let [(random_mean, random_dev), (mean, dev)] = equal_pairs(f64::from(q));
        let half = (random_mean - mean) / 2.0;
        let right = (normal(half / random_dev) + normal(half / dev)) / 2.0;
        // Theorem 1: the root of (q (q - 1) / 2) / 2^(2n - t).
        let pairs = f64::from(q) * f64::from(q - 1) / 2.0;
        let advantage = (pairs / 2f64.powi(32 - TAG_BITS as i32)).sqrt();
        let target = format!("EliMAC, n = 16, t = 8, or random tags: {q} messages");
        findings.push(Finding {
            bound: Some(0.5 + advantage.min(1.0) / 2.0),
            ..trial(&target, Role::Attack, keys, Expected::About(right), FORMULA)
                .count(tell(q, |random| random_cipher(random, [0; 2], 1)))
        });
    }
    let mut of_aes = real("ELIMAC-AES128");
    findings.push(
        trial(
            "EliMAC-AES128, t = 8, or random tags: 4096 messages",
            Role::Control,
            1000,
            Expected::About(0.5),
            FORMULA,
        )
        .count(tell(1 << 12, move |random| of_aes(random))),
    );
    findings
}

/// Returns the messages of the attack on subkeys: a first block and a number for the last one, as
/// in elimac-tight. The z are pairs (a, a^3) over GF(2^4), so no two have the xor of two others.
pub fn messages() -> Vec<[u16; 2]> {
    // x^4 + x + 1.
    let product4 = |a: u16, b: u16| {
        (0..4).rev().fold(0u16, |sum, bit| {
            let doubled = (sum << 1 & 0xf) ^ ((sum >> 3) * 0x3);
            doubled ^ ((b >> bit & 1) * a)
        })
    };
    let z = |a: u16| a << 4 | product4(a, product4(a, a));
    (0..16).map(|a| [root(2 * z(a)), z(a)]).collect()
}

/// Returns the message of three blocks, the first two equal.
fn doubled([block, z]: [u16; 2]) -> Vec<u8> {
    [&block.to_be_bytes()[..], &bits([block, z])].concat()
}

/// Returns all possible values of (z ^ z') / (M ^ M'): the roots of the even numbers below 2^9.
pub fn differences() -> impl Iterator<Item = u16> {
    (0..256).map(|y| root(2 * y))
}

fn subkeys(_: &AttackOptions) -> Vec<Finding> {
    let messages = messages();
    let pairs = (messages.len() * (messages.len() - 1) / 2) as u64;
    let bounded = |finding| Finding { bound: Some(pairs as f64 / 256.0), ..finding };
    let mut of_two = differences();
    let mut of_three = differences();
    vec![
        bounded(
            trial(
                "EliMAC, n = 16, subkey 1 of 2^8 values, q = 16",
                Role::Attack,
                256,
                Expected::Exactly(pairs),
                "q (q - 1) / 2 delta",
            )
            .play(|_| toy([of_two.next().expect("2^8 values"); 2]), collide(&messages, bits)),
        ),
        bounded(
            trial(
                "EliMAC, n = 16, subkey 1 is subkey 2 ^ one of 2^8 values, q = 16",
                Role::Attack,
                256,
                Expected::Exactly(pairs),
                "q (q - 1) / 2 2^k delta^2",
            )
            .play(
                |random| {
                    let (second, d) =
                        (random.next_u64() as u16, of_three.next().expect("2^8 values"));
                    toy([second ^ d, second])
                },
                collide(&messages, doubled),
            ),
        ),
        trial("EliMAC-AES128, q = 16", Role::Control, 100, Expected::Never, "2^-114")
            .play(aes, collide(&messages, bits)),
    ]
}

/// Queries all messages of 4 to 15 bits, then guesses an unseen tag for the empty message.
fn fresh(game: &mut Game, _: &mut Random) -> bool {
    let mut seen = vec![false; N];
    for count in 4..16 {
        for bits in 0..1 << count {
            let tag = game.ask(&short(count, bits));
            seen[usize::from(u16::from_be_bytes([tag[0], tag[1]]))] = true;
        }
    }
    let tag = seen.iter().position(|seen| !seen).expect("16 are left") as u16;
    game.forges(&short(0, 0), &tag.to_be_bytes())
}

/// Makes one query and presents its tag for a message that collides under one of 2^8 subkeys.
fn repeated(of: impl Fn([u16; 2]) -> Vec<u8>) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, _| {
        let [one, other] = [messages()[3], messages()[7]].map(&of);
        let tag = game.ask(&one);
        game.forges(&other, &tag)
    }
}

/// Returns a message of two blocks for a random cipher.
fn sized(message: [u16; 2]) -> Vec<u8> {
    [&[31], &bits(message)[..]].concat()
}

fn guess(_: &AttackOptions) -> Vec<Finding> {
    let bounded = |bound, finding| Finding { bound: Some(bound), ..finding };
    use Expected::{About, Exactly, Never};
    use Role::{Attack, Control};
    let eps = 1.0 / 256.0;
    // The probability that two values of a permutation have the same 8 bits.
    let same = 255.0 / 65535.0;
    let mut whole = differences();
    let mut cut = differences().collect::<Vec<_>>().into_iter().cycle();
    vec![
        bounded(
            1.0 / 16.0,
            trial(
                "EliMAC, n = t = 16, an unseen tag",
                Attack,
                250,
                About(1.0 / 16.0),
                "1/(2^n - q)",
            )
            .play(|random| random_cipher(random, [0; 2], 2), fresh),
        ),
        bounded(
            eps,
            trial("EliMAC, n = t = 16, a seen tag", Attack, 256, Exactly(1), "eps'")
                .play(|_| toy([whole.next().expect("2^8 values"); 2]), repeated(bits)),
        ),
        bounded(
            eps,
            trial(
                "EliMAC, n = 16, t = 8, an unseen tag",
                Attack,
                4000,
                About(eps),
                "2^(n - t)/2^n",
            )
            .play(
                |random| random_cipher(random, [0; 2], 1),
                |game, _| game.forges(&short(15, 0), &[0]),
            ),
        ),
        bounded(
            256.0 / 65535.0 + eps,
            trial(
                "EliMAC, n = 16, t = 8, a seen tag",
                Attack,
                4096,
                About(eps + (1.0 - eps) * same),
                "eps' + 2^(n - t)/2^n, not 2^(n - t) eps'",
            )
            .play(
                |random| random_cipher(random, [cut.next().expect("endless"); 2], 1),
                repeated(sized),
            ),
        ),
        trial("EliMAC-AES128, a seen tag", Control, 1000, Never, "2^-114")
            .play(aes, repeated(bits)),
    ]
}
