//! A repeated nonce: the pad cancels out and reveals the hash.

use tagmac::{Mac, Poly1305};

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Trial, real};
use super::random::Random;

/// The row of the table.
pub const POLY1305: Attack = Attack {
    name: "poly1305-reuse",
    about: "Poly1305-AES with one nonce for two messages: recovers r and forges every message",
    source: "Poly1305-AES slides ('never use the same nonce for two different messages')",
    how: "Take two one-block messages that differ by 1 as numbers. Their hashes differ by r mod \
         2^130 - 5. The pad is the same, so the tags differ by r, or by r + 5 if the hash wrapped \
         around. r reveals the pad, and then any message's tag: two attempts are enough.",
    run: poly1305,
};

/// The row of the table.
pub const UMAC: Attack = Attack {
    name: "umac-reuse",
    about: "UMAC with one nonce for two messages: the difference of their tags is the same under \
         every nonce",
    source: "RFC 4418, section 6; UMAC 1999, section 8.3 (Carter and Wegman's pad)",
    how: "tag = hash xor pad. Two tags under one nonce reveal the xor of two hashes. The tag of \
         one message under another nonce, xored with that, is the other message's tag.",
    run: umac,
};

/// Makes two queries and at most two attempts. The nonces of the queries are `nonces(n)`.
fn recover_r(
    nonces: impl Fn([u8; 16]) -> [[u8; 16]; 2],
) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, random| {
        let nonces = nonces(random.array());
        // The lowest byte is not 0, so subtracting one borrows nothing.
        let mut greater: [u8; 16] = random.array();
        greater[0] |= 1;
        let mut less = greater;
        less[0] -= 1;
        let [t1, t2] = [(0, greater), (1, less)].map(|(i, message)| {
            let tag = game.ask_with(&nonces[i], &message);
            u128::from_le_bytes(tag.try_into().expect("16 bytes"))
        });
        let difference = t1.wrapping_sub(t2);
        [difference, difference.wrapping_sub(5)].into_iter().any(|r| {
            let hash = u128::from_le_bytes(one_time(r, 0, &greater));
            let forged = one_time(r, t1.wrapping_sub(hash), b"pay 900 to Mallory");
            game.forges_with(&nonces[0], b"pay 900 to Mallory", &forged)
        })
    }
}

/// Returns the tag of Poly1305 under r and a pad.
fn one_time(r: u128, pad: u128, message: &[u8]) -> [u8; 16] {
    let mut key = [0; 32];
    key[..16].copy_from_slice(&r.to_le_bytes());
    key[16..].copy_from_slice(&pad.to_le_bytes());
    let tag = Poly1305::new(&key).tag_with(&(), message).expect("whole bytes");
    tag.as_bytes().try_into().expect("16 bytes")
}

fn poly1305(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, expected| Trial {
        target,
        role,
        keys: 2000,
        expected,
        formula: "t1 - t2 = r or r + 5 mod 2^128",
    };
    let other = |nonce: [u8; 16]| {
        let mut other = nonce;
        other[15] ^= 1;
        [nonce, other]
    };
    vec![
        trial("Poly1305-AES, a nonce twice", Role::Attack, Expected::Always)
            .play(real("POLY1305-AES"), recover_r(|nonce| [nonce, nonce])),
        trial("Poly1305-AES, two nonces", Role::Control, Expected::Never)
            .play(real("POLY1305-AES"), recover_r(other)),
    ]
}

/// Makes three queries: two messages, under one nonce or two, and one of them again under another.
fn carry_over(twice: bool) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, random| {
        let nonce = |last| [0, 0, 0, 0, 0, 0, 1, last];
        let [one, other] = [random.bytes(40), random.bytes(50)];
        let t1 = game.ask_with(&nonce(0), &one);
        let t2 = game.ask_with(&nonce(if twice { 0 } else { 8 }), &other);
        let mut tag = game.ask_with(&nonce(16), &one);
        for ((tag, t1), t2) in tag.iter_mut().zip(&t1).zip(&t2) {
            *tag ^= t1 ^ t2;
        }
        game.forges_with(&nonce(16), &other, &tag)
    }
}

fn umac(_: &AttackOptions) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (twice, nonces, role, expected) in [
        (true, "a nonce twice", Role::Attack, Expected::Always),
        (false, "a nonce once", Role::Control, Expected::Never),
    ] {
        for name in ["UMAC-32", "UMAC-64", "UMAC-96", "UMAC-128"] {
            let trial = Trial {
                target: &format!("{name}, {nonces}"),
                role,
                keys: 500,
                expected,
                formula: "hash ^ hash' from two tags",
            };
            findings.push(trial.play(real(name), carry_over(twice)));
        }
    }
    findings
}
