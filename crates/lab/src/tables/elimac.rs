//! EliMAC 2023, tables 1 to 3, and its first footnote.

use tagmac_any::bounds;

use super::{Cell, Grid, Unit};
use crate::speeds::{Call, Speeds, digits};

/// Rounds of AES for a message of l blocks, in advance and online. Counted block by block, by the
/// definitions.
pub struct Rounds {
    /// Bits of the message.
    pub bits: u64,
    /// Rounds before the message is known.
    pub before: u64,
    /// All other rounds.
    pub online: u64,
}

/// Counts LightMAC with s = 32: each block except the last has 96 bits and needs a call; the last
/// one has at most 95.
pub fn lightmac(l: u64) -> Rounds {
    let blocks = || (1..=l).map(|block| block == l);
    Rounds {
        bits: blocks().map(|is_last| if is_last { 95 } else { 96 }).sum(),
        before: 0,
        online: blocks().map(|_| 10).sum(),
    }
}

/// Counts EliMAC: seven rounds for a subkey, four for a block, ten for the last call.
pub fn elimac(l: u64) -> Rounds {
    let blocks = || (1..=l).map(|block| block == l);
    Rounds {
        bits: blocks().map(|is_last| if is_last { 127 } else { 128 }).sum(),
        before: blocks().map(|is_last| if is_last { 0 } else { 7 }).sum(),
        online: blocks().map(|is_last| if is_last { 10 } else { 4 }).sum(),
    }
}

/// Returns table 1 (page 4).
pub fn rounds(_: &Speeds) -> Grid {
    let heads = ["rounds of AES for l blocks", "bits of the message", "before", "online", "total"];
    let mut grid = Grid::new(heads);
    grid.printed("LightMAC", ["96l + 95", "0", "10l", "10l"]);
    grid.printed("EliMAC", ["128l", "7(l - 1)", "4(l - 1) + 10", "11l - 1"]);
    for (name, count) in [("LightMAC", lightmac as fn(u64) -> Rounds), ("EliMAC", elimac)] {
        for l in [1, 2, 128] {
            let Rounds { bits, before, online } = count(l);
            let cells = [bits, before, online, before + online];
            let cells = cells.map(|count| Cell::Ours(count.to_string())).to_vec();
            grid.row(&format!("{name}, counted, l = {l}"), cells);
        }
    }
    grid.note(
        "Bits are those of the longest message. With l calls LightMAC processes 96 l - 1 bits; 96 \
         l + 95 bits need one call more. EliMAC's 128 l counts one bit of padding (errata.md).",
    );
    grid
}

/// Returns table 2 (page 15): cycles per byte.
pub fn speed(speeds: &Speeds) -> Grid {
    const CPUS: [&str; 4] = ["Ivy Bridge", "Broadwell", "Skylake", "Zen 2"];
    let rows: [(&str, &str, [[&str; 3]; 4]); 5] = [
        (
            "LightMAC",
            "LIGHTMAC-AES128-S32",
            [
                ["3.43", "1.13", "1.11"],
                ["8.75", "0.98", "1.08"],
                ["2.53", "0.86", "0.85"],
                ["2.18", "0.58", "0.58"],
            ],
        ),
        (
            "EliMAC",
            "ELIMAC-AES128",
            [
                ["2.18", "1.02", "0.98"],
                ["1.94", "0.76", "0.74"],
                ["1.56", "0.70", "0.69"],
                ["1.31", "0.45", "0.42"],
            ],
        ),
        (
            "EliMAC p.c.",
            "ELIMAC-AES128, cached",
            [
                ["2.00", "0.46", "0.43"],
                ["1.75", "0.30", "0.27"],
                ["1.31", "0.27", "0.26"],
                ["0.87", "0.14", "0.13"],
            ],
        ),
        (
            "PMAC2",
            "PMAC2",
            [
                ["4.50", "1.28", "1.22"],
                ["3.25", "1.13", "1.09"],
                ["1.71", "0.67", "0.64"],
                ["1.31", "0.58", "0.56"],
            ],
        ),
        (
            "ZMAC",
            "ZMAC",
            [
                ["5.70", "1.49", "1.26"],
                ["6.97", "1.34", "1.23"],
                ["4.64", "0.91", "0.84"],
                ["4.34", "0.88", "0.81"],
            ],
        ),
    ];
    let lengths = [64, 1536, 4096];
    let mut grid = Grid::new(["cycles per byte", "64", "1536", "4096"]);
    for (label, name, figures) in rows {
        for (cpu, figures) in CPUS.into_iter().zip(figures) {
            grid.printed(&format!("{label}, {cpu}"), figures);
        }
        grid.measured(label, speeds, (Call::Ready, name), &lengths, Unit::PerByte);
    }
    grid.note(
        "The paper's ZMAC is ZMAC1, Naito's variant, for which we found no definition; ours is \
         ZMAC. The paper's PMAC2 and ours fill the gaps of PMAC2's definition in different ways. \
         p.c.: the subkeys are precomputed. Our LightMAC and EliMAC are tuned; our PMAC2 and ZMAC \
         are not (see comparators). So the paper's rows compare the modes, but ours do not.",
    );
    grid.machine(speeds);
    grid
}

/// Returns table 3 (page 17): the ports on which 128-bit instructions run.
pub fn ports(speeds: &Speeds) -> Grid {
    let cycles = speeds.at("ceilings", "instruction", "AES round", 16);
    let ours = match cycles {
        Some(cycles) => Cell::Ours(format!("{} rounds a cycle", digits(1.0 / cycles))),
        None => Cell::Unmeasured("bench ceilings"),
    };
    let heads = ["instruction", "Ivy Bridge", "Broadwell", "Skylake", "Zen 2"];
    let own = format!("ours, {}", speeds.cpu());
    let mut grid = Grid::new(heads.into_iter().chain([&*own]));
    let rows = [
        ("aesenc, aesenclast", ["p0+p015", "p5", "p0", "p01"]),
        ("paddd", ["p15", "p15", "p015", "p013"]),
        ("pxor, pand, por", ["p015", "p015", "p015", "p0123"]),
        ("psrld, pslld", ["p0", "p0", "p01", "p2"]),
        ("psrldq, pslldq", ["p15", "p5", "p5", "p12"]),
        ("pclmulqdq", ["complex", "p0", "p5", "4*p12"]),
        ("blendps, blendd", ["p05", "p015", "p015", "p013"]),
        ("pshufb", ["p15", "p5", "p5", "p12"]),
    ];
    for (label, cells) in rows {
        let mut cells = cells.map(|cell| Cell::Printed(cell.into())).to_vec();
        cells.push(if label.starts_with("aesenc") { ours.clone() } else { Cell::Empty });
        grid.row(label, cells);
    }
    grid.note(
        "p015: an instruction may go to port 0, 1 or 5 in a cycle; p0+p015: it needs two. A \
         program cannot see ports, so our cells show their effect: rounds on 16 bytes, with the \
         widest vectors.",
    );
    grid.machine(speeds);
    grid
}

/// Returns footnote 1 (page 10): theorem 2 with LightMAC's eps, 1/(2^(n/2) - 1)^2, for n = 128.
pub fn footnote(q: f64, v: f64, t: i32) -> f64 {
    let eps = (2f64.powi(64) - 1.0).powi(-2);
    let guess = eps.max(1.0 / (2f64.powi(128) - q));
    q * (q - 1.0) / 2.0 * eps + v * 2f64.powi(128 - t) * guess
}

/// Returns the footnote next to LightMAC's own theorem 2.
pub fn footnote_1(_: &Speeds) -> Grid {
    let heads = ["log2 of q, v; t", "LightMAC, theorem 2", "EliMAC, footnote 1", "times less"];
    let mut grid = Grid::new(heads);
    for (q, v, t) in [(0, 0, 64), (32, 0, 64), (32, 32, 64), (48, 32, 128), (60, 32, 128)] {
        let [count, tries] = [1u128 << q, 1 << v];
        let theorem = bounds::lightmac::mac(128, 32, t, (count, u128::MAX), (tries, u128::MAX));
        let theorem = theorem.expect("parameters within range").value();
        let footnote = footnote(count as f64, tries as f64, t as i32);
        let power = |value: f64| format!("2^{:.2}", value.log2());
        let cells = [power(theorem), power(footnote), format!("{:.2}", theorem / footnote)];
        grid.row(&format!("{q}, {v}; {t}"), cells.map(Cell::Ours).to_vec());
    }
    grid.note(
        "n = 128, s = 32, q messages and v attempts at tags of t bits, without the terms for E. \
         The footnote counts pairs of messages, q (q - 1) / 2, where LightMAC's theorem has q^2. \
         So it is half of it where collisions dominate. Attempts cost the same. The paper prints \
         no number here.",
    );
    grid
}
