//! The limits of NH's collision bound: a MAC without nonces, and hashes with xor in place of
//! addition.

use tagmac::Mac;
use tagmac_papers::{NhShape, Umac99, Umac99Parameters, Umac99Prf};

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial};
use super::random::Random;

/// The row of the table.
pub const WITHOUT_NONCE: Attack = Attack {
    name: "nh-without-nonce",
    about: "the UMAC of 1999 without its nonce: tags show collisions of NH after 2^(w/2) messages",
    source: "UMAC 1999, section 8.3 (comparison with PRF(HASH))",
    how: "512 messages with words of 16 bits; every second word of each is 0 or 1, the others are \
         0. Two of them collide if a signed sum of some key words is 0; each of the 2^17 pairs is \
         another chance. Equal tags reveal the collision. Then equal changes in both messages, \
         where they are equal, keep the tags equal. A nonce hides collisions.",
    run: without_nonce,
};

/// The row of the table.
pub const XOR_UNIVERSAL_ONLY: Attack = Attack {
    name: "xor-universal-only",
    about: "NH with xor for its inner addition, or under a pad that is xored, loses its 2^-w",
    source: "UMAC 1999, section 4.3 (remarks) and section 8.3 (comparison with Carter and Wegman)",
    how: "Every key, and every two messages, for words of 4 to 7 bits. NH collides under 2^-w of \
         the keys, as theorem 4.2 says. With xor for the inner addition it collides more often. \
         With xor only for the outer addition it does not, contrary to the paper. Instead the \
         probability of the likeliest xor of two hashes grows, which is the chance of a forgery if \
         a xored pad hides the hash. UMAC of 1999 encrypts the hash instead.",
    run: xor_universal_only,
};

/// Words of a block, of 16 bits each.
const WORDS: usize = 64;
/// Pairs of words in which messages differ; half of them are 1 in each message.
const PAIRS: usize = 30;
/// Messages.
const MESSAGES: usize = 512;

fn umac99(random: &mut Random) -> Umac99 {
    let shape = NhShape::new(WORDS, 16).expect("an even number of words");
    Umac99Parameters::new(shape, Umac99Prf::Cbc3Aes128).key(&random.array())
}

/// Returns UMAC 1999 with the nonces that it is called with, or with the same nonce for all.
fn tags(random: &mut Random, heeds_nonce: bool) -> Tags {
    let mac = umac99(random);
    Box::new(move |nonce, message| {
        let nonce = if heeds_nonce { nonce.try_into().expect("8 bytes") } else { &[0; 8] };
        mac.tag_with(nonce, message).expect("whole bytes").as_bytes().to_vec()
    })
}

/// Returns different sets of half of the pairs.
fn choices() -> Vec<u32> {
    let mut random = Random::new(16);
    let mut choices: Vec<u32> = Vec::new();
    while choices.len() < MESSAGES {
        let choice = random.next_u64() as u32 >> (32 - PAIRS);
        if choice.count_ones() as usize == PAIRS / 2 && !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

/// Returns the message with pairs of words (1, 0) where chosen, (0, 0) elsewhere, and (0, `free`)
/// after those.
fn message(choice: u32, free: u16) -> Vec<u8> {
    let mut words = [0u16; WORDS];
    for pair in 0..PAIRS {
        words[2 * pair] = (choice >> pair & 1) as u16;
    }
    words[2 * PAIRS + 1] = free;
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Makes 513 queries, each under another nonce, which the MAC may ignore.
fn collide(choices: &[u32]) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, _| {
        let ask = |game: &mut Game, message: &[u8]| {
            let nonce = game.queries().to_be_bytes();
            game.ask_with(&nonce, message)
        };
        let mut seen: Vec<(Vec<u8>, u32)> =
            choices.iter().map(|choice| (ask(game, &message(*choice, 0)), *choice)).collect();
        seen.sort_unstable();
        let Some(pair) = seen.windows(2).find(|pair| pair[0].0 == pair[1].0) else {
            return false;
        };
        let tag = ask(game, &message(pair[0].1, 7));
        game.forges_with(&game.queries().to_be_bytes(), &message(pair[1].1, 7), &tag)
    }
}

/// Returns the probability that a sum of t key words equals that of t others. It is 2^-16 times the
/// density of a sum of 2t uniform numbers at its middle. That density is A(2t - 1, t - 1) / (2t -
/// 1)! with the Eulerian numbers A.
pub fn likeliness(t: usize) -> f64 {
    let mut row = vec![1.0];
    for n in 2..2 * t {
        let at = |row: &[f64], k: usize| row.get(k).copied().unwrap_or(0.0);
        let below = |k: usize| if k == 0 { 0.0 } else { at(&row, k - 1) };
        row = (0..n)
            .map(|k| ((k + 1) as f64 * at(&row, k) + (n - k) as f64 * below(k)) / n as f64)
            .collect();
    }
    row[t - 1] / 65536.0
}

fn without_nonce(_: &AttackOptions) -> Vec<Finding> {
    let choices = choices();
    let pairs = (0..MESSAGES).flat_map(|i| (0..i).map(move |j| (i, j)));
    let differences = pairs.map(|(i, j)| (choices[i] ^ choices[j]).count_ones() as usize / 2);
    let collisions: f64 = differences.map(likeliness).sum();
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 1000,
        expected,
        formula: "1 - exp(-sum over pairs of Pr[collide])",
    };
    let expected = Expected::About(1.0 - (-collisions).exp());
    let q = MESSAGES as f64;
    vec![
        Finding {
            bound: Some(q * q / 65536.0),
            ..trial("UMAC99 with NH[64, 16], one nonce for all", Role::Attack, expected)
                .play(|random| tags(random, false), collide(&choices))
        },
        trial("UMAC99 with NH[64, 16], a nonce each", Role::Control, Expected::Never)
            .play(|random| tags(random, true), collide(&choices)),
    ]
}

/// The two additions of NH: of words and keys, and of products.
#[derive(Clone, Copy, PartialEq)]
pub enum Add {
    /// Modulo a power of two.
    Plus,
    /// Without carries.
    Xor,
}

/// Returns the product of a pair of words under a pair of keys.
pub fn product(w: u32, inner: Add, keys: u32, words: u32) -> u32 {
    let mask = (1 << w) - 1;
    let add = |a: u32, b: u32| if inner == Add::Plus { (a + b) & mask } else { a ^ b };
    add(keys >> w, words >> w) * add(keys & mask, words & mask)
}

/// For each difference of two messages of a pair of words, counts the keys of a pair by the
/// difference of the products, and passes the counts to `each`. One message may be 0, because only
/// m + k (or m ^ k) matters.
fn differences(w: u32, inner: Add, outer: Add, mut each: impl FnMut(&[u64])) {
    let size = 1usize << (2 * w);
    let base: Vec<u32> = (0..size as u32).map(|keys| product(w, inner, keys, 0)).collect();
    let mut counts = vec![0; size];
    for words in 1..size as u32 {
        counts.fill(0);
        for (keys, base) in base.iter().enumerate() {
            let other = product(w, inner, keys as u32, words);
            let difference = match outer {
                Add::Plus => base.wrapping_sub(other),
                Add::Xor => base ^ other,
            };
            counts[difference as usize & (size - 1)] += 1;
        }
        each(&counts);
    }
}

/// Returns how many keys of two pairs of words make the two worst messages collide.
///
/// Messages that differ in one pair only collide under 2^2w D_0 of them, where D is the counts of
/// its differences. If they differ in both, it is the sum of D_i D'_i, by Cauchy and Schwarz at
/// most the greater sum of squares. (The order of messages reverses the signs of `+`.) More pairs
/// only spread D'.
pub fn most_collisions(w: u32, inner: Add, outer: Add) -> u64 {
    let mut most = 0;
    differences(w, inner, outer, |counts| {
        let squares: u64 = counts.iter().map(|count| count * count).sum();
        most = most.max(squares).max(counts[0] << (2 * w));
    });
    most
}

/// Returns how many keys of a pair of words give two messages the likeliest xor of hashes.
fn most_xors(w: u32) -> u64 {
    let mut most = 0;
    differences(w, Add::Plus, Add::Xor, |counts| {
        most = most.max(counts.iter().copied().max().unwrap_or(0));
    });
    most
}

fn xor_universal_only(_: &AttackOptions) -> Vec<Finding> {
    use Add::{Plus, Xor};
    let mut findings = Vec::new();
    for w in 4..=7 {
        let mut row = |what, role, words: u32, found| {
            let keys = 1u64 << (words * w);
            let attack = role == Role::Attack;
            findings.push(Finding {
                target: format!("NH[{words}, {w}], {what}"),
                role,
                queries: 0,
                keys,
                found,
                expected: if attack { Expected::MoreThan } else { Expected::Exactly }(keys >> w),
                formula: if attack { "more than 2^-w" } else { "2^-w, theorem 4.2" }.into(),
                bound: None,
            });
        };
        row("inner xor: collisions", Role::Attack, 4, most_collisions(w, Xor, Plus));
        row("both xor: collisions", Role::Attack, 4, most_collisions(w, Xor, Xor));
        row("the likeliest xor of two hashes", Role::Attack, 2, most_xors(w));
        row("itself: collisions", Role::Control, 4, most_collisions(w, Plus, Plus));
        row("outer xor only: collisions", Role::Control, 4, most_collisions(w, Plus, Xor));
    }
    findings
}
