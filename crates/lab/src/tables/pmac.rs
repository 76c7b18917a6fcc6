//! PMAC 2001, figures 3 and 5.

use tagmac_any::Algorithm;
use tagmac_any::bounds::pmac;

use std::cell::Cell as StdCell;

use tagmac::Pmac;
use tagmac::cipher::{BlockCipher, Decrypt};
use tagmac::isa::{Isa, Level};

use super::{Cell, Grid, Unit};
use crate::comparators::{CbcMac, CbcMacEde, Emac, Xcbc};
use crate::speeds::{Call, Speeds};

/// Returns figure 3 (page 9). The words are the paper's, each row shortened.
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
                "2^20 messages, 2^40 - 1 blocks in all: distinguishable from a random function \
                 with {bound}"
            ),
        ),
        (
            "Error propagation",
            "Not applicable. (However, any accidental modification to (M, Tag) will be detected \
             during MAC verification with probability about 1/2^tau.)",
            format!(
                "detected except for about 1/2^tau (errata.md), tau = {} by default",
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

/// Returns figure 5: cycles per byte on a Pentium 3, in assembly, AES-128.
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
         the paper, does both. One block at a time, PMAC costs about 8 % more, 17 % for one block; \
         where blocks overlap it is many times as fast. Our calls are back to back: a short chain \
         overlaps with that of the next call, and seems faster than its rounds.",
    );
    grid.machine(speeds);
    grid
}

/// Returns the counts of the performance section, and of calls in the lab's and the library's code.
pub fn calls(_: &Speeds) -> Grid {
    const LENGTHS: [usize; 6] = [0, 1, 16, 17, 32, 33];
    let heads = ["calls of the cipher", "the paper", "0 B", "1 B", "16 B", "17 B", "32 B", "33 B"];
    let mut grid = Grid::new(heads);
    let level = Level::best();
    let pmac = Pmac::<Counting>::new(&[]);
    let basic = CbcMac::<Counting>::with_level(&[], level);
    let xcbc = Xcbc::<Counting>::with_level(&[], &[1; 16], &[2; 16], level);
    let emac = Emac::<Counting>::with_level(&[], &[], level);
    let ede = CbcMacEde::<Counting>::with_level(&[], &[], level);
    type Tagging<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;
    let rows: [(&str, &str, Tagging); 5] = [
        ("PMAC", "ceil(|M|/n), 1 for the empty one", Box::new(|m| pmac.tag(m).is_ok())),
        ("CBC MAC, basic", "|M|/n", Box::new(|m| basic.tag(m).is_ok())),
        ("CBC MAC of [10], our XCBC", "ceil(|M|/n)", Box::new(|m| !xcbc.tag(m).is_empty())),
        (
            "padded always, double: EMAC",
            "ceil(|M + 1|/n) + 1",
            Box::new(|m| !emac.tag(m).is_empty()),
        ),
        (
            "padded always, triple: CBC-MAC-EDE",
            "ceil(|M + 1|/n) + 2",
            Box::new(|m| !ede.tag(m).is_empty()),
        ),
    ];
    for (label, paper, tags) in rows {
        let mut cells = vec![Cell::Printed(paper.into())];
        cells.extend(LENGTHS.map(|bytes| match counted(|| tags(&vec![0; bytes])) {
            (true, calls) => Cell::Ours(calls.to_string()),
            (false, _) => Cell::Empty,
        }));
        grid.row(label, cells);
    }
    let offsets = 1u32 << 16;
    let doublings = |kept: u32| -> f64 {
        let each = (1..=offsets).map(|i| i.trailing_zeros().saturating_sub(kept));
        f64::from(each.sum::<u32>()) / f64::from(offsets)
    };
    grid.note(format!(
        "Counted with a counting cipher, with the key ready. An empty cell is a message that the \
         mode does not accept. PMAC saves 0 to 3 calls, as the paper says (|M + 1| is |M| + 1 \
         there). Offsets: the paper expects at most 1 multiplication by x for each, and 0.125 if \
         L(0) to L(3) are kept; counted over 2^16 offsets: {:.3} and {:.3}.",
        doublings(0),
        doublings(3)
    ));
    grid
}

thread_local! {
    /// Calls of [`Counting`] on this thread.
    static CALLS: StdCell<u64> = const { StdCell::new(0) };
}

/// Returns the result of a function, and its number of calls of [`Counting`].
fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    CALLS.set(0);
    (run(), CALLS.get())
}

/// A cipher that is the identity and counts its blocks.
#[derive(Clone)]
struct Counting;

impl BlockCipher for Counting {
    const NAME: &'static str = "COUNTING";
    const KEY_BYTES: usize = 0;
    type Block = [u8; 16];
    type Key = [u8; 0];

    fn new(_: &[u8; 0]) -> Self {
        Counting
    }

    fn encrypt(&self, blocks: &mut [[u8; 16]]) {
        CALLS.set(CALLS.get() + blocks.len() as u64);
    }
}

impl Decrypt for Counting {
    fn decrypt_one<I: Isa>(&self, _: I, block: &[u8; 16]) -> [u8; 16] {
        CALLS.set(CALLS.get() + 1);
        *block
    }
}
