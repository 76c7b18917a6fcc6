//! PMAC 2001, figures 3 and 5.

use tagmac::bounds::pmac;
use tagmac::dynamic::Algorithm;

use super::{Cell, Grid, Unit};
use crate::speeds::{Call, Speeds};

/// Figure 3 (page 9). The paper's words, each row cut short.
pub fn properties(_: &Speeds) -> Grid {
    let mac = Algorithm::from_name("PMAC-AES128").expect("a name");
    let key = mac.new_key_bytes();
    let (nonce, tags) = (mac.takes_nonce(), mac.tag_bits());
    let bound = pmac::prf(128, 1 << 20, (1 << 40) - 1).expect("in range");
    let rows = [
        (
            "Security function",
            "Message Authentication Code; more generally a pseudorandom function with variable \
             input-length and fixed output-length",
            format!(
                "2^20 messages, 2^40 - 1 blocks in all: told from a random function with {bound}"
            ),
        ),
        (
            "Error propagation",
            "Not applicable. (However, any accidental modification to (M, Tag) will be detected \
             during MAC verification with probability about 1/2^tau.)",
            format!(
                "detected but for about 1/2^tau (errata.md), tau = {} unless asked otherwise",
                mac.default_tag_bits()
            ),
        ),
        ("Synchronization", "Not applicable.", "the same".into()),
        (
            "Parallelizability",
            "Fully parallelizable. All block-cipher invocations (except the last one) may be \
             computed at the same time.",
            "vectors, threads, and parts in other processes (partials.md)".into(),
        ),
        ("Keying material", "One block-cipher key.", format!("{key} bytes with AES-128")),
        (
            "Ctr/IV/nonce",
            "None. No counter/IV/nonce is used.",
            if nonce { "one" } else { "none" }.into(),
        ),
        (
            "Memory",
            "Very modest. About 6n bits beyond the key",
            "more than these 96 bytes: round keys and multiples of L, for speed".into(),
        ),
        (
            "Pre-processing",
            "Limited. L would typically be pre-computed, as would a few L(i)-values.",
            "L and a few multiples with the key; the rest with the first long message".into(),
        ),
        (
            "Message length",
            "Any bit string allowed. The length need not be known in advance.",
            "the same: bit strings, and streams".into(),
        ),
        (
            "Ciphertext expansion",
            "Not applicable. (tau bits give a forging probability of approximately 1/2^tau.)",
            format!("tags of {} to {} bits", tags.start(), tags.end()),
        ),
        (
            "Other",
            "Ceil(|M|/n) block-cipher calls (one for the empty message); endian neutral; no \
             decryption; incremental; parsimonious; provable security",
            "the same: edit::Tree, WideBlock, and a bound with a proof (theory.md)".into(),
        ),
    ];
    let mut grid = Grid::new(["property", "the paper", "ours"]);
    for (label, paper, ours) in rows {
        grid.row(label, vec![Cell::Printed(paper.into()), Cell::Ours(ours)]);
    }
    grid
}

/// Figure 5: cycles per byte on a Pentium 3, in assembly, AES-128.
pub fn speed(speeds: &Speeds) -> Grid {
    let lengths = [16, 128, 2048];
    let mut grid = Grid::new(["cycles per byte", "16 B", "128 B", "2 KB"]);
    let mut row = |label, figures, name| {
        grid.printed(&format!("{label}, Pentium 3"), figures);
        grid.measured(label, speeds, (Call::Ready, name), &lengths, Unit::PerByte);
    };
    row("PMAC", ["22.1", "18.7", "18.4"], "PMAC-AES128");
    row("CBC MAC", ["18.9", "17.4", "17.1"], "CBC-MAC");
    grid.measured("CMAC", speeds, (Call::Ready, "CMAC-AES128"), &lengths, Unit::PerByte);
    grid.note(
        "The CBC MAC neither pads nor protects messages of several lengths; CMAC, which is not in \
         the paper, does both. One block at a time, PMAC costs about 8 % more, \
         17 % for one block; where blocks overlap it is many times as fast. Ours are calls back to \
         back: a short chain overlaps with that of the next call, and seems faster than its rounds.",
    );
    grid.machine(speeds);
    grid
}
