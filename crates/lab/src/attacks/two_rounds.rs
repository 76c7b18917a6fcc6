//! EliMAC with two rounds with independent keys for H, as proposed in the paper's outlook (section
//! 5).

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Trial, real};
use super::random::Random;
use super::small_aes::{SmallAes, packed};
use super::zero_sum::small;

/// The row of the table.
pub const TWO_ROUNDS: Attack = Attack {
    name: "elimac-two-rounds",
    about: "EliMAC with two rounds for H: the likeliest difference of two subkeys forges at once",
    source: "EliMAC, section 5 (a = 2 may suffice, with a small counter and a larger key)",
    how: "Numbers 1 and 2 differ in one cell, so subkeys 1 and 2 differ in one column. If their \
         difference is D, equal changes of blocks 1 and 2 of (M, M ^ D) keep the tag: I(S_1, M) = \
         I(S_2, M ^ D). The best D has five active S-boxes: 2^-10 or more with cells of 4 bits, \
         2^-30 or more with AES, compared with 2^-114 for four rounds. With two rounds one attempt \
         succeeds far more often than EliMAC's bound allows; for seven rounds no such difference \
         is known.",
    run: two_rounds,
};

/// Returns the position of a cell of the first column after ShiftRows.
fn shifted(row: usize) -> usize {
    row + 4 * ((4 - row) % 4)
}

/// Returns the likeliest difference after two rounds under independent keys, and its probability,
/// for two blocks that differ only in cell 0, by `input`.
pub fn likeliest(aes: &SmallAes, input: u8) -> ([u8; 16], f64) {
    const CELLS: usize = 16;
    // 16 Pr[S(x) ^ S(x ^ a) = b].
    let differences: [[u8; CELLS]; CELLS] = core::array::from_fn(|a| {
        let mut counts = [0; CELLS];
        for x in 0..CELLS as u8 {
            counts[usize::from(aes.substituted(x) ^ aes.substituted(x ^ a as u8))] += 1;
        }
        counts
    });
    let (mut best, mut most) = ([0; 16], 0);
    for column in 0..1u32 << 16 {
        let cells: [usize; 4] = core::array::from_fn(|row| (column >> (4 * row)) as usize & 15);
        let through = |middle: usize| -> u64 {
            // MixColumns of a column with one nonzero cell.
            let factors = [2, 1, 1, 3].into_iter().zip(cells);
            let after = factors.map(|(factor, cell)| {
                u64::from(differences[usize::from(aes.times(middle as u8, factor))][cell])
            });
            u64::from(differences[usize::from(input)][middle]) * after.product::<u64>()
        };
        let count: u64 = (1..CELLS).map(through).sum();
        if count > most {
            (best, most) = ([0; 16], count);
            for (row, cell) in cells.into_iter().enumerate() {
                best[shifted(row)] = cell as u8;
            }
        }
    }
    (best, most as f64 / f64::from(1 << 20))
}

/// Makes one query, then replaces two blocks that differ by `difference` by two others that do.
fn replace<const BYTES: usize>(difference: Vec<u8>) -> impl FnMut(&mut Game, &mut Random) -> bool {
    move |game, random| {
        let mut pair = || {
            let block = random.array::<BYTES>();
            let other: Vec<u8> = block.iter().zip(&difference).map(|(a, b)| a ^ b).collect();
            [&block[..], &other].concat()
        };
        let [one, other] = [pair(), pair()];
        let tag = game.ask(&one);
        game.forges(&other, &tag)
    }
}

fn two_rounds(_: &AttackOptions) -> Vec<Finding> {
    // Numbers 1 and 2 differ by 3 in the first cell.
    let (difference, probability) = likeliest(&SmallAes::small(), 1 ^ 2);
    let trial = |target, role, keys, expected| Trial {
        target,
        role,
        keys,
        expected,
        formula: "the likeliest difference of subkeys 1 and 2",
    };
    vec![
        trial(
            "small-scale EliMAC, 2 rounds for H, 4 for I",
            Role::Attack,
            40_000,
            Expected::About(probability),
        )
        .play(|random| small(random, [2, 4]), replace::<8>(packed(&difference).to_vec())),
        trial("small-scale EliMAC, 7 rounds for H, 4 for I", Role::Control, 2000, Expected::Never)
            .play(|random| small(random, [7, 4]), replace::<8>(packed(&difference).to_vec())),
        trial("EliMAC-AES128 (7 and 4 rounds)", Role::Control, 1000, Expected::Never)
            .play(real("ELIMAC-AES128"), replace::<16>(difference.to_vec())),
    ]
}
