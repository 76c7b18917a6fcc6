//! Few rounds of AES sum to zero over cosets, which breaks a MAC that xors them.
//!
//! Let one byte of the input take all its values. After two rounds of AES each byte of the block
//! takes all values. After the MixColumns of the third round their sums are zero ("Square", Daemen,
//! Knudsen and Rijmen 1997). Four bytes on a diagonal, 2^32 blocks, give one round more.

use aes::hazmat::{Block8, cipher_round_par};
use tagmac::EliMac;
use tagmac::cipher::{Aes128, Present128};
use tagmac::hashes::PlainFamilies;

use super::attack::{Attack, AttackOptions};
use super::finding::{Expected, Finding, Role};
use super::game::{Game, Tags, Trial, real};
use super::random::Random;
use super::small_aes::{Rounds, SmallAes, cells, packed};

/// The row of the table.
pub const THREE_ROUNDS: Attack = Attack {
    name: "zero-sum-3",
    about: "three rounds of AES over 2^8 blocks sum to zero, which breaks EliMAC with so few rounds",
    source: "EliMAC, sections 1.1 and 5",
    how: "One byte takes all values: the xor of the 256 results is zero, under every key. If H has \
         0 or 1 rounds, subkeys differ by the number i only. So 256 equal blocks of a message put \
         such a coset into I, and their content does not matter: change all 256, and the tag stays.",
    run: three_rounds,
};

/// The row of the table.
pub const FOUR_ROUNDS: Attack = Attack {
    name: "zero-sum-4",
    about: "four rounds over a diagonal sum to zero: small-scale AES in full, AES with --long",
    source: "EliMAC, section 1.1 (Daemen and Rijmen 2002, section 10.2.5) and section 5",
    how: "As zero-sum-3, with the four cells of a diagonal: 2^16 blocks of AES with cells of 4 \
         bits, 2^32 of AES. This breaks EliMAC with four rounds for I if its subkeys are the key \
         xor a number that is written along the diagonal, so H needs rounds too.",
    run: four_rounds,
};

/// The cells of a diagonal, which one round moves to one column.
pub const DIAGONAL: [usize; 4] = [0, 5, 10, 15];

/// Returns the xor of two blocks.
pub fn xor(a: &[u8; 16], b: &[u8; 16]) -> [u8; 16] {
    core::array::from_fn(|i| a[i] ^ b[i])
}

/// Returns rounds under random keys.
fn random_rounds(aes: &SmallAes, rounds: usize, random: &mut Random) -> Rounds {
    aes.rounds((0..=rounds).map(|_| random.array()).collect())
}

/// Returns the number of blocks, and whether their results sum to zero when `active` cells of
/// `bits` bits take all values and the others keep random ones.
fn sums_to_zero(rounds: &Rounds, bits: u32, active: &[usize], random: &mut Random) -> (u64, bool) {
    let mask = ((1u16 << bits) - 1) as u8;
    let constant = random.array::<16>().map(|cell| cell & mask);
    let blocks = 1u64 << (bits * active.len() as u32);
    let sum = (0..blocks).fold([0; 16], |sum, number| {
        let mut block = constant;
        for (i, cell) in active.iter().enumerate() {
            block[*cell] = (number >> (bits * i as u32)) as u8 & mask;
        }
        xor(&sum, &rounds.encrypt(&block))
    });
    (blocks, sum == [0; 16])
}

/// Families H and I of AES with `H` and `I` rounds, and an encoding of numbers.
#[derive(Clone)]
struct Reduced {
    h: Rounds,
    i: Rounds,
    write: fn(u32) -> [u8; 16],
}

impl Reduced {
    fn new(k1: &[u8; 16], [h, i]: [usize; 2], write: fn(u32) -> [u8; 16]) -> Self {
        let aes = SmallAes::aes();
        Reduced { h: aes.expand(k1, h), i: aes.expand(&[0; 16], i), write }
    }
}

impl PlainFamilies for Reduced {
    type Block = [u8; 16];
    const MU: u64 = u32::MAX as u64;

    fn h(&self, i: u64) -> [u8; 16] {
        self.h.encrypt(&(self.write)(i as u32))
    }

    fn i(&self, s: &[u8; 16], m: &[u8; 16]) -> [u8; 16] {
        self.i.encrypt(&xor(s, m))
    }
}

/// Writes the number in the last four bytes, as in the paper's first encoding (section 5).
fn plain(i: u32) -> [u8; 16] {
    (i as u128).to_be_bytes()
}

/// Writes the number four times, as in EliMAC-AES (section 5.1).
fn four_times(i: u32) -> [u8; 16] {
    let mut block = [0; 16];
    block.as_chunks_mut().0.fill(i.to_be_bytes());
    block
}

fn reduced(k1: &[u8; 16], k2: &[u8; 16], rounds: [usize; 2], write: fn(u32) -> [u8; 16]) -> Tags {
    let mac = EliMac::<_, Aes128>::from_families(Reduced::new(k1, rounds, write), k2);
    Box::new(move |_, message| mac.tag(message).expect("short").as_bytes().to_vec())
}

/// Makes one query, then replaces `BLOCKS` equal blocks of a message, from number `BLOCKS` on.
fn replace<const BLOCKS: usize, const BYTES: usize>(game: &mut Game, random: &mut Random) -> bool {
    let mut message = random.bytes((2 * BLOCKS - 1) * BYTES);
    let [old, new] = [random.array::<BYTES>(), random.array::<BYTES>()];
    let equal = |message: &mut [u8], block: [u8; BYTES]| {
        message[(BLOCKS - 1) * BYTES..].as_chunks_mut().0.fill(block);
    };
    equal(&mut message, old);
    let tag = game.ask(&message);
    equal(&mut message, new);
    game.forges(&message, &tag)
}

fn three_rounds(_: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, keys, expected| Trial {
        target,
        role,
        keys,
        expected,
        formula: "every byte takes all values",
    };
    let sum = |target, rounds, role, expected| {
        trial(target, role, 200, expected).count(|random| {
            let rounds = random_rounds(&SmallAes::aes(), rounds, random);
            let cell = random.below(16);
            sums_to_zero(&rounds, 8, &[cell], random)
        })
    };
    let mac = |target, rounds, write, role, expected| {
        trial(target, role, 20, expected).play(
            |random| reduced(&random.array(), &random.array(), rounds, write),
            replace::<256, 16>,
        )
    };
    use Expected::{Always, Never};
    vec![
        sum("xor of 3 rounds of AES, 2^8 blocks", 3, Role::Attack, Always),
        mac("EliMAC, 0 rounds for H and 3 for I", [0, 3], plain, Role::Attack, Always),
        mac("EliMAC, 1 round for H and 3 for I", [1, 3], plain, Role::Attack, Always),
        mac("EliMAC, 1 and 2, numbers four times", [1, 2], four_times, Role::Attack, Always),
        sum("xor of 4 rounds of AES, 2^8 blocks", 4, Role::Control, Never),
        mac("EliMAC, 2 rounds for H and 3 for I", [2, 3], plain, Role::Control, Never),
        mac("EliMAC, 1 and 3, numbers four times", [1, 3], four_times, Role::Control, Never),
        trial("EliMAC-AES128 (7 and 4 rounds)", Role::Control, 200, Never)
            .play(real("ELIMAC-AES128"), replace::<256, 16>),
    ]
}

/// Families of small-scale AES: blocks of 64 bits, and the low 16 bits of a number on the diagonal.
#[derive(Clone)]
struct Small {
    h: Rounds,
    i: Rounds,
}

impl PlainFamilies for Small {
    type Block = [u8; 8];
    const MU: u64 = u32::MAX as u64;

    fn h(&self, i: u64) -> [u8; 8] {
        let mut block = [0; 16];
        for (at, cell) in DIAGONAL.into_iter().enumerate() {
            block[cell] = (i >> (4 * at)) as u8 & 15;
        }
        for (at, cell) in [1, 2, 3, 4].into_iter().enumerate() {
            block[cell] = (i >> (16 + 4 * at)) as u8 & 15;
        }
        packed(&self.h.encrypt(&block))
    }

    fn i(&self, s: &[u8; 8], m: &[u8; 8]) -> [u8; 8] {
        let [s, m] = [cells(s), cells(m)];
        packed(&self.i.encrypt(&xor(&s, &m)))
    }
}

/// Returns small-scale EliMAC with `h` and `i` rounds; those of H have independent keys.
pub fn small(random: &mut Random, [h, i]: [usize; 2]) -> Tags {
    let aes = SmallAes::small();
    let families = Small { h: random_rounds(&aes, h, random), i: aes.rounds(vec![[0; 16]; i + 1]) };
    let mac = EliMac::<_, Present128>::from_families(families, &random.array());
    Box::new(move |_, message| mac.tag(message).expect("short").as_bytes().to_vec())
}

fn four_rounds(options: &AttackOptions) -> Vec<Finding> {
    let trial = |target, role, keys, expected| Trial {
        target,
        role,
        keys,
        expected,
        formula: "a diagonal takes all values",
    };
    let sum = |target, rounds, role, expected| {
        trial(target, role, 20, expected).count(|random| {
            let rounds = random_rounds(&SmallAes::small(), rounds, random);
            sums_to_zero(&rounds, 4, &DIAGONAL, random)
        })
    };
    let mac = |target, rounds, role, expected| {
        trial(target, role, 5, expected).play(|random| small(random, rounds), replace::<65536, 8>)
    };
    use Expected::{Always, Never};
    let mut findings = vec![
        sum("xor of 4 rounds of small-scale AES, 2^16 blocks", 4, Role::Attack, Always),
        mac("small-scale EliMAC, 0 rounds for H, 4 for I", [0, 4], Role::Attack, Always),
        sum("xor of 5 rounds of small-scale AES, 2^16 blocks", 5, Role::Control, Never),
        mac("small-scale EliMAC, 7 rounds for H, 4 for I", [7, 4], Role::Control, Never),
        trial("EliMAC-AES128 (7 and 4 rounds)", Role::Control, 20, Never)
            .play(real("ELIMAC-AES128"), replace::<65536, 16>),
    ];
    if options.long {
        let mut random = Random::new(4);
        let keys = core::array::from_fn(|_| random.array());
        let sums = aes_sums(&keys, random.array(), &DIAGONAL, options.progress);
        for (target, role, expected, sum) in [
            ("xor of 4 rounds of AES, 2^32 blocks", Role::Attack, Always, sums[0]),
            ("xor of 5 rounds of AES, 2^32 blocks", Role::Control, Never, sums[1]),
        ] {
            findings.push(trial(target, role, 1, expected).count(|_| (1 << 32, sum == [0; 16])));
        }
    }
    findings
}

/// Returns the sums of four and of five rounds of AES when the `active` cells take all values, the
/// last of these cells fastest. All rounds have MixColumns, which keeps zero sums.
pub fn aes_sums(
    keys: &[[u8; 16]; 6],
    constant: [u8; 16],
    active: &[usize],
    progress: fn(u32),
) -> [[u8; 16]; 2] {
    let (fast, slow) = active.split_last().expect("a cell");
    let keys = keys.map(|key| Block8::from([key.into(); 8]));
    let add = |sum: &mut [u8; 16], blocks: &Block8| {
        blocks.iter().for_each(|block| *sum = xor(sum, &(*block).into()));
    };
    let (mut sums, count) = ([[0; 16]; 2], 1u64 << (8 * slow.len()));
    for number in 0..count {
        if number.is_multiple_of(count.div_ceil(100)) {
            progress((100 * number / count) as u32);
        }
        let mut base = xor(&constant, &keys[0][0].into());
        for (i, cell) in slow.iter().enumerate() {
            base[*cell] = (number >> (8 * i)) as u8;
        }
        for eight in 0..32 {
            let mut blocks = Block8::from(core::array::from_fn(|i| {
                base[*fast] = 8 * eight + i as u8;
                base.into()
            }));
            for key in &keys[1..5] {
                cipher_round_par(&mut blocks, key);
            }
            add(&mut sums[0], &blocks);
            cipher_round_par(&mut blocks, &keys[5]);
            add(&mut sums[1], &blocks);
        }
    }
    progress(100);
    sums
}
