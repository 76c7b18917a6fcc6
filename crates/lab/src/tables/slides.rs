//! Bernstein's slides on Poly1305-AES. They print two tables of speeds; the other three tables here
//! are what they demand of honest figures.

use tagmac_any::bounds::{NonceKind, poly1305};

use super::{Cell, Grid, Unit};
use crate::speeds::{Call, Speeds};

const NAME: &str = "POLY1305-AES";
const CPUS: [&str; 4] = ["Athlon", "Pentium III", "PowerPC Sstar", "UltraSPARC III"];

fn printed(speeds: &Speeds, call: Call, lengths: [u64; 3], figures: [[&str; 3]; 4]) -> Grid {
    let names = lengths.map(|bytes| bytes.to_string());
    let mut grid = Grid::new(["cycles, l =", &names[0], &names[1], &names[2]]);
    for (cpu, figures) in CPUS.into_iter().zip(figures) {
        grid.printed(cpu, figures);
    }
    grid.measured("Poly1305-AES", speeds, (call, NAME), &lengths, Unit::PerMessage);
    grid.note(
        "Key set-up is included, in the paper and here; data in the first cache. Ours computes \
         more powers of r for messages of 128 bytes and more.",
    );
    grid.machine(speeds);
    grid
}

/// "CPU cycles for l-byte message with all data aligned in L1 cache".
pub fn aligned(speeds: &Speeds) -> Grid {
    let figures = [
        ["712", "1055", "3843"],
        ["746", "1247", "5361"],
        ["910", "1459", "5905"],
        ["854", "1383", "5601"],
    ];
    printed(speeds, Call::NewKey, [16, 128, 1024], figures)
}

/// "CPU cycles for l-byte message with all data unaligned".
pub fn unaligned(speeds: &Speeds) -> Grid {
    let figures = [
        ["890", "1152", "4060"],
        ["970", "1383", "5316"],
        ["1159", "1560", "6083"],
        ["1075", "1444", "5742"],
    ];
    printed(speeds, Call::NewKeyUnaligned, [43, 127, 1025], figures)
}

/// "Say L = 1536; delta <= 2^-40; see 2^64 authenticators; attempt 2^64 forgeries."
pub fn guarantee(_: &Speeds) -> Grid {
    let bound = 14.0 * (1536 / 16) as f64 * 2f64.powi(64 - 106);
    let exact = poly1305::mac(1 << 64, 1 << 64, 1536, NonceKind::Counted);
    let exact = exact.expect("2^64 messages").value();
    let delta = 2f64.powi(-40);
    let mut grid = Grid::new(["", "the slides", "ours, by the slides' formula"]);
    // A lower bound, so rounded down.
    let rejected = ((1.0 - delta - bound) * 1e12).floor() / 1e12;
    let rejected = Cell::Ours(format!("{rejected:.12}"));
    let printed = Cell::Printed("0.999999999999998".into());
    grid.row("Pr[all 2^64 forgeries rejected], L = 1536", vec![printed, rejected]);
    // An upper bound on the factor, so rounded up.
    let factor = (exact / 96.0 * 2f64.powi(106 - 64) * 1e4).ceil() / 1e4;
    grid.row(
        "the 14 of the formula: 8 (1 - C/2^128)^(-(C + 1)/2) at C = 2^64",
        vec![Cell::Printed("14".into()), Cell::Ours(format!("{factor:.4}"))],
    );
    let eight = 8.0 * 1536f64 / 16.0 * 2f64.powi(64) * 2f64.powi(64) / 2f64.powi(128);
    grid.row(
        "8 L C^2 / 2^128 of other MACs, L in blocks as we read it",
        vec![Cell::Printed("is not small".into()), Cell::Ours(format!("{eight:.0}, above 1"))],
    );
    grid.note("The slides print more nines than their formula gives (errata.md).");
    grid
}

/// "Report times for n-byte messages for each n in {0, 1, .. 8192}."
pub fn lengths(speeds: &Speeds) -> Grid {
    let lengths = [0, 1, 16, 17, 64, 256, 1024, 4096, 8192];
    let names = lengths.map(|bytes: u64| bytes.to_string());
    let heads = ["cycles, n ="].into_iter().chain(names.iter().map(String::as_str));
    let mut grid = Grid::new(heads);
    let mut row =
        |name| grid.measured(name, speeds, (Call::EachLength, name), &lengths, Unit::PerMessage);
    row(NAME);
    row("PMAC-AES128");
    row("UMAC-64");
    grid.note(
        "The key is ready. This is the experiment with each of the 8193 lengths, one length after \
         the other. A message of a block is slower here than among the few lengths of the tables \
         by cycles per byte.",
    );
    grid.machine(speeds);
    grid
}

/// "Measure exactly the function call verify(a,kr,n,m,mlen)", "Measure precomputation time; measure
/// time to load inputs that weren't already in cache."
pub fn costs(speeds: &Speeds) -> Grid {
    let lengths = [16, 64, 1536];
    let mut grid = Grid::new(["cycles, n =", "16", "64", "1536"]);
    let calls = [
        ("verify(a, kr, n, m), raw key", Call::Verify),
        ("new key and tag", Call::NewKey),
        ("message, key and code from memory", Call::Cold),
    ];
    for (label, call) in calls {
        grid.measured(label, speeds, (call, NAME), &lengths, Unit::PerMessage);
    }
    grid.note(
        "The slides demand the first two, and inputs that were not in cache; here the code was not \
         in cache either. They only print figures of the second, in the tables of aligned and of \
         unaligned messages.",
    );
    grid.machine(speeds);
    grid
}
