//! Attacks on leaf tags (`docs/design/theory.md`, "Leaf tags"): a reader of one leaf of a content
//! accepts other bytes.

use tagmac::cipher::BlockCipher;
use tagmac::save::Writer;
use tagmac::{EliMac, LightMac, Tag};
use tagmac_any::bounds::{Theorem, Workload, elimac};
use tagmac_any::{Algorithm, AnyMac};

use super::attack::{Attack, AttackOptions};
use super::field::product16;
use super::finding::{Expected, Finding, Role};
use super::game::Trial;
use super::pmac::{birthday_of, coset, coset_birthday, different};
use super::random::Random;
use super::tight::Product;
use super::toy::{N, Toy, ToyPmac};
use crate::comparators::hmac_sha256;

/// The row of the table.
pub const COLLISION: Attack = Attack {
    name: "leaf-collision",
    about: "two contents with equal tags on blocks of 16 bits: a leaf of one passes in place of \
         the other's, even in a third content",
    source: "docs/design/theory.md, Leaf tags",
    how: "q contents have different first leaves and the same last bytes. If two have the same \
         tag, the sums of their first leaves are equal. A third content begins with one of these \
         leaves and ends differently. Its reader accepts the other leaf with the third content's \
         own leaf tag. PMAC's leaves are those of pmac-birthday, others are random.",
    run: collision,
};

/// The row of the table.
pub const READS: Attack = Attack {
    name: "leaf-reads",
    about: "reads of wrong leaves on blocks of 16 bits: under PMAC they pass more often for long \
         leaves, under LightMAC and EliMAC with 2^-16",
    source: "docs/design/theory.md, Leaf tags",
    how: "The attacker has one content and its leaf tags, and presents other first leaves with the \
         right leaf tag. Under PMAC the leaf is l blocks of zeros, and the attempts repeat another \
         block in an aligned half. The masks of these positions are a coset of l/2 elements. If \
         the block is a difference of two of them, both leaves encrypt the same points, and their \
         sums are equal. The whole content with the accepted leaf then has the content's tag.",
    run: reads,
};

/// Returns the tag of a content, without a nonce.
pub type ContentTag = Box<dyn Fn(&[u8]) -> Vec<u8>>;
/// Returns the sum of whole blocks that begin at this byte of a content.
pub type BlocksSum = Box<dyn Fn(usize, &[u8]) -> Vec<u8>>;
/// HMAC-SHA256 under a key.
type Prf = Box<dyn Fn(&[u8]) -> Tag>;

/// A MAC with parts, under a key.
pub struct LeafMac {
    /// The tag of a content.
    pub tag: ContentTag,
    /// The sum of a range.
    pub sum: BlocksSum,
    /// The length of a block in bytes.
    pub block: usize,
}

/// A content with its tag and leaf tags.
struct Sealed {
    content: Vec<u8>,
    tag: Vec<u8>,
    leaf_tags: Vec<[u8; 16]>,
}

/// A sealer and reader with one key. It makes leaf tags and verifies leaves.
pub struct LeafGame {
    mac: LeafMac,
    hmac: Prf,
    leaf_bytes: usize,
    sealed: Vec<Sealed>,
}

impl LeafGame {
    /// Starts a game without contents. Leaves have `leaf_bytes` bytes, which are whole blocks.
    pub fn new(mac: LeafMac, leaf_bytes: usize, random: &mut Random) -> Self {
        let hmac = Box::new(hmac_sha256(&random.array::<32>()));
        LeafGame { mac, hmac, leaf_bytes, sealed: Vec::new() }
    }

    /// Requests the tag and all leaf tags of a content. Returns its number.
    pub fn seal(&mut self, content: &[u8]) -> usize {
        let tag = (self.mac.tag)(content);
        let leaves = content.chunks(self.leaf_bytes).enumerate();
        let leaf_tags =
            leaves.map(|(i, leaf)| self.leaf_tag(&tag, content.len(), i, leaf)).collect();
        self.sealed.push(Sealed { content: content.into(), tag, leaf_tags });
        self.sealed.len() - 1
    }

    /// Returns the leaf tag of leaf `i` of a content.
    pub fn known(&self, content: usize, i: usize) -> [u8; 16] {
        self.sealed[content].leaf_tags[i]
    }

    /// Returns true if the reader of leaf `i` of a content accepts these bytes and they are wrong.
    pub fn releases(&self, content: usize, i: usize, leaf: &[u8], leaf_tag: [u8; 16]) -> bool {
        self.accepts(content, i, leaf, leaf_tag) && leaf != self.leaf(content, i)
    }

    /// Returns true if the reader of leaf `i` of a content accepts these bytes.
    pub fn accepts(&self, content: usize, i: usize, leaf: &[u8], leaf_tag: [u8; 16]) -> bool {
        let Sealed { content: right, tag, .. } = &self.sealed[content];
        leaf.len() == self.leaf(content, i).len()
            && self.leaf_tag(tag, right.len(), i, leaf) == leaf_tag
    }

    /// Returns true if a content keeps its tag with these bytes in place of its first leaf.
    fn keeps_tag(&self, content: usize, leaf: &[u8]) -> bool {
        let Sealed { content, tag, .. } = &self.sealed[content];
        (self.mac.tag)(&[leaf, &content[leaf.len()..]].concat()) == *tag
    }

    fn leaf(&self, content: usize, i: usize) -> &[u8] {
        self.sealed[content].content.chunks(self.leaf_bytes).nth(i).expect("a leaf")
    }

    /// The first 16 bytes of HMAC-SHA256 of the tag, the lengths, the number and range, the sum and
    /// the rest.
    fn leaf_tag(&self, tag: &[u8], length: usize, i: usize, leaf: &[u8]) -> [u8; 16] {
        let start = i * self.leaf_bytes;
        // Whole blocks of the content without its last bytes, 1 to a whole block.
        let blocks = match length - start - leaf.len() {
            0 => (leaf.len() - 1) / self.mac.block * self.mac.block,
            _ => leaf.len(),
        };
        let (blocks, rest) = leaf.split_at(blocks);
        let number = |number: usize| (number as u64).to_le_bytes();
        let mut input =
            [&number(tag.len()), tag, &number(length), &number(self.leaf_bytes)].concat();
        input.resize(64, 0);
        input.extend([i, start, start + blocks.len()].map(number).as_flattened());
        input.extend((self.mac.sum)(start, blocks));
        input.extend(number(rest.len()));
        input.extend(rest);
        (self.hmac)(&input).as_bytes()[..16].try_into().expect("32 bytes")
    }
}

/// Returns PMAC over the toy cipher.
pub fn toy_pmac(random: &mut Random) -> LeafMac {
    let cipher = Toy::new(&random.array());
    let mac = ToyPmac::new(cipher.clone());
    let blocks = |bytes: &[u8]| -> Vec<u16> {
        bytes.as_chunks().0.iter().map(|block| u16::from_be_bytes(*block)).collect()
    };
    LeafMac {
        tag: Box::new(move |content| mac.tag(blocks(content).into_iter()).to_be_bytes().into()),
        sum: Box::new(move |start, bytes| {
            let l = cipher.at(0);
            let sum = blocks(bytes).iter().zip(start / 2 + 1..).fold(0u16, |sum, (block, i)| {
                sum ^ cipher.at(block ^ product16(i as u16 ^ (i as u16 >> 1), l))
            });
            sum.to_be_bytes().into()
        }),
        block: 2,
    }
}

/// Returns LightMAC over the toy cipher, with a counter of 8 bits.
pub fn toy_lightmac(random: &mut Random) -> LeafMac {
    let [k1, k2] = [random.array(), random.array()];
    let (mac, cipher) = (LightMac::<Toy>::new(&k1, &k2, 8).expect("s = 8"), Toy::new(&k1));
    LeafMac {
        tag: Box::new(move |content| mac.tag(content).expect("short").as_bytes().to_vec()),
        sum: Box::new(move |start, bytes| {
            let sum = bytes
                .iter()
                .zip(start + 1..)
                .fold(0u16, |sum, (byte, i)| sum ^ cipher.at(u16::from_be_bytes([i as u8, *byte])));
            sum.to_be_bytes().into()
        }),
        block: 1,
    }
}

/// Returns EliMAC over the toy cipher with I(S, M) = S M, for contents of up to two full blocks.
pub fn toy_elimac(random: &mut Random) -> LeafMac {
    let subkeys = [(); 2].map(|()| random.next_u64() as u16);
    let mac = EliMac::<Product, Toy>::from_families(Product(subkeys), &random.array());
    LeafMac {
        tag: Box::new(move |content| mac.tag(content).expect("short").as_bytes().to_vec()),
        sum: Box::new(move |start, bytes| {
            let blocks = bytes.as_chunks().0.iter().map(|block| u16::from_be_bytes(*block));
            let terms = blocks.zip(&subkeys[start / 2..]);
            let sum = terms.fold(0u16, |sum, (block, subkey)| sum ^ product16(*subkey, block));
            sum.to_be_bytes().into()
        }),
        block: 2,
    }
}

/// Returns the library's MAC of this name, with blocks of `block` bytes, under random keys.
pub fn library(name: &str, block: usize) -> impl Fn(&mut Random) -> LeafMac {
    let algorithm = Algorithm::from_name(name).unwrap_or_else(|error| panic!("{error}"));
    move |random| {
        let key = random.bytes(algorithm.new_key_bytes());
        let mac = AnyMac::new(algorithm, &key).expect("the key's size");
        let parts = mac.clone();
        LeafMac {
            tag: Box::new(move |content| {
                mac.tag(&[], content).expect("within the limits").as_bytes().to_vec()
            }),
            sum: Box::new(move |start, blocks| {
                let parts = parts.parts().expect("parts");
                let part = parts.new_part(start as u64, blocks).expect("whole blocks");
                let mut out = Writer::default();
                parts.save(&part, &mut out).expect("this key's part");
                // The sum is at the end, as a whole block of AES.
                out.as_bytes()[out.as_bytes().len() - 16..].to_vec()
            }),
            block,
        }
    }
}

/// A target of the attacks.
struct Target<'a> {
    name: &'a str,
    role: Role,
    keys: u64,
    leaf_bytes: usize,
    /// Bytes after the first leaf.
    last_bytes: usize,
    expected: Expected,
    formula: &'a str,
    bound: Option<f64>,
}

impl Target<'_> {
    /// Plays the game under each key.
    fn play(
        self,
        mac: impl Fn(&mut Random) -> LeafMac,
        attack: impl Fn(&mut LeafGame, &mut Random, usize) -> bool,
    ) -> Finding {
        let Target { name: target, role, keys, expected, formula, bound, .. } = self;
        let finding = Trial { target, role, keys, expected, formula }.count(|random| {
            let mut game = LeafGame::new(mac(random), self.leaf_bytes, random);
            let won = attack(&mut game, random, self.last_bytes);
            (game.sealed.len() as u64, won)
        });
        Finding { bound, ..finding }
    }
}

/// Seals the contents that consist of one of these leaves and `last` bytes. If two have equal tags,
/// seals a third one and reads its first leaf.
fn collide(game: &mut LeafGame, leaves: &[Vec<u8>], last: usize) -> bool {
    let content = |leaf: &[u8], byte: u8| [leaf, &vec![byte; last]].concat();
    let mut seen: Vec<_> = leaves.iter().map(|leaf| game.seal(&content(leaf, 0))).collect();
    seen.sort_by(|a, b| game.sealed[*a].tag.cmp(&game.sealed[*b].tag));
    let equal = |pair: &&[usize]| game.sealed[pair[0]].tag == game.sealed[pair[1]].tag;
    let Some(pair) = seen.windows(2).find(equal) else { return false };
    let [one, other] = [pair[0], pair[1]];
    let third = game.seal(&content(&leaves[one], 1));
    let accepts = |content| game.releases(content, 0, &leaves[other], game.known(content, 0));
    accepts(one) && accepts(third)
}

/// Returns PMAC's leaves of l blocks of `width` bytes, whose upper half repeats a block.
fn cosets(blocks: impl IntoIterator<Item = usize>, l: u64, width: usize) -> Vec<Vec<u8>> {
    let wide =
        |leaf: Vec<u8>| leaf.as_chunks::<2>().0.iter().flat_map(|b| b.repeat(width / 2)).collect();
    blocks.into_iter().map(|block| wide(coset(l, block))).collect()
}

fn collision(_: &AttackOptions) -> Vec<Finding> {
    let (q, l) = (32, 16);
    let load = |messages: u64, length| Workload { messages: messages.into(), length, attempts: 2 };
    let bound = |theorem: Theorem, load| Some(theorem.leaves(&load).expect("16 bits").value());
    let mut findings = vec![
        Target {
            name: "PMAC, n = 16, 32 leaves of 16 blocks",
            role: Role::Attack,
            keys: 2000,
            leaf_bytes: 2 * l as usize,
            last_bytes: 2,
            expected: Expected::About(coset_birthday(q, l)),
            formula: "two of q in a coset of l / 2, or a birthday",
            bound: bound(Theorem::Pmac { n: 16, t: 16 }, load(q + 1, 2 * l + 2)),
        }
        .play(toy_pmac, |game, random, last| {
            collide(game, &cosets(different(random, q, N), l, 2), last)
        }),
    ];
    let q = 128;
    let random = |name, leaf_bytes, bound| Target {
        name,
        role: Role::Attack,
        keys: 2000,
        leaf_bytes,
        last_bytes: 1,
        expected: Expected::About(birthday_of(q, 1.0 / N as f64)),
        formula: "birthday of q sums in 2^16",
        bound,
    };
    let any = |game: &mut LeafGame, random: &mut Random, last| {
        let leaves: Vec<_> = (0..q).map(|_| random.bytes(game.leaf_bytes)).collect();
        collide(game, &leaves, last)
    };
    let light = bound(Theorem::LightMac { n: 16, s: 8, t: 16 }, load(q + 1, 17));
    let target = random("LightMAC, n = 16, 128 leaves of 16 blocks", 16, light);
    findings.push(target.play(toy_lightmac, any));
    let eli = elimac::mac(16, 16, 1.0 / N as f64, (q + 1).into(), 2).expect("16 bits").value();
    let target = random("EliMAC, n = 16, I(S, M) = S M, 128 leaves of 2 blocks", 4, Some(eli));
    findings.push(target.play(toy_elimac, any));
    let control = |name| Target {
        name,
        role: Role::Control,
        keys: 50,
        expected: Expected::Never,
        formula: "birthday of q sums in 2^128",
        ..random(name, 16 * 12, None)
    };
    let pmac = |game: &mut LeafGame, random: &mut Random, last| {
        collide(game, &cosets(different(random, q, N), 16, 16), last)
    };
    findings.extend(controls(control, pmac, any));
    findings
}

/// Plays against the library's MACs with blocks of 128 bits.
fn controls<'a>(
    control: impl Fn(&'static str) -> Target<'a>,
    pmac: impl Fn(&mut LeafGame, &mut Random, usize) -> bool,
    others: impl Fn(&mut LeafGame, &mut Random, usize) -> bool,
) -> Vec<Finding> {
    let mut findings = vec![control("PMAC-AES128").play(library("PMAC-AES128", 16), pmac)];
    for (name, block) in [("LIGHTMAC-AES128-S32", 12), ("ELIMAC-AES128", 16)] {
        findings.push(control(name).play(library(name, block), &others));
    }
    findings
}

/// Seals a content that begins with the first of these leaves. Returns true if its reader accepts
/// another one, and the whole content with that leaf has the content's tag.
fn read(game: &mut LeafGame, leaves: &[Vec<u8>], last: usize) -> bool {
    let content = game.seal(&[&leaves[0][..], &vec![0; last]].concat());
    let leaf_tag = game.known(content, 0);
    let wrong = leaves[1..].iter().find(|leaf| game.releases(content, 0, leaf, leaf_tag));
    wrong.is_some_and(|leaf| game.keeps_tag(content, leaf))
}

/// Returns the probability that one of v reads of PMAC's leaves of l blocks passes: the block is one
/// of the differences in the coset, or the sums are equal by chance.
pub fn coset_reads(v: u64, l: u64) -> f64 {
    let (n, differences) = (N as f64, l as f64 / 2.0 - 1.0);
    let apart = |i| (1.0 - differences / (n - 1.0 - i as f64)) * (1.0 - 1.0 / n);
    1.0 - (0..v).map(apart).product::<f64>()
}

/// Reads of PMAC's leaves under one key.
const PMAC_READS: u64 = 8;

/// Reads of the other MACs' leaves under one key.
const READS_AT_RANDOM: u64 = 512;

fn reads(_: &AttackOptions) -> Vec<Finding> {
    let n = N as f64;
    let one = |length, reads: u64| Workload { messages: 1, length, attempts: reads.into() };
    let bound = |theorem: Theorem, load| Some(theorem.leaves(&load).expect("16 bits").value());
    // Block 0 first, then others.
    let zeros = |random: &mut Random, l, width| {
        let blocks = different(random, PMAC_READS, N - 1).into_iter().map(|block| block + 1);
        cosets([0].into_iter().chain(blocks), l, width)
    };
    let mut findings = Vec::new();
    for l in [64, 256] {
        let target = Target {
            name: &format!("PMAC, n = 16, 8 reads of a leaf of {l} blocks"),
            role: Role::Attack,
            keys: 4000,
            leaf_bytes: 2 * l as usize,
            last_bytes: 2,
            expected: Expected::About(coset_reads(PMAC_READS, l)),
            formula: "a difference in a coset of l / 2, or chance",
            bound: bound(Theorem::Pmac { n: 16, t: 16 }, one(2 * l + 2, PMAC_READS)),
        };
        let attack =
            |game: &mut LeafGame, random: &mut Random, last| read(game, &zeros(random, l, 2), last);
        findings.push(target.play(toy_pmac, attack));
    }
    let random = |name, leaf_bytes, bound| Target {
        name,
        role: Role::Attack,
        keys: 2000,
        leaf_bytes,
        last_bytes: 1,
        expected: Expected::About(1.0 - (1.0 - 1.0 / n).powi(READS_AT_RANDOM as i32)),
        formula: "equal sums by chance, 2^-16 for each read",
        bound,
    };
    let any = |game: &mut LeafGame, random: &mut Random, last| {
        let leaf = |_| random.bytes(game.leaf_bytes);
        let leaves: Vec<_> = (0..=READS_AT_RANDOM).map(leaf).collect();
        read(game, &leaves, last)
    };
    let light = bound(Theorem::LightMac { n: 16, s: 8, t: 16 }, one(249, READS_AT_RANDOM));
    let target = random("LightMAC, n = 16, 512 reads of a leaf of 248 blocks", 248, light);
    findings.push(target.play(toy_lightmac, any));
    let eli = elimac::mac(16, 16, 1.0 / n, 1, READS_AT_RANDOM.into()).expect("16 bits").value();
    let target = random("EliMAC, n = 16, I(S, M) = S M, 512 reads of 2 blocks", 4, Some(eli));
    findings.push(target.play(toy_elimac, any));
    let control = |name| Target {
        name,
        role: Role::Control,
        keys: 20,
        expected: Expected::Never,
        formula: "l / 2^128 for each read",
        ..random(name, 16 * 12, None)
    };
    let pmac =
        |game: &mut LeafGame, random: &mut Random, last| read(game, &zeros(random, 16, 16), last);
    findings.extend(controls(control, pmac, any));
    findings
}
