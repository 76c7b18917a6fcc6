//! EliMAC 2023, tables 1 and 2.

use super::{Cell, Grid, Unit};
use crate::speeds::{Call, Speeds};

/// Rounds of AES for a message of l blocks: those that are made before, and the others. By the
/// definitions, block by block.
pub struct Rounds {
    pub bits: u64,
    pub before: u64,
    pub online: u64,
}

/// LightMAC with s = 32: all blocks but the last have 96 bits and take a call, the last one has at
/// most 95.
pub fn lightmac(l: u64) -> Rounds {
    let blocks = || (1..=l).map(|block| block == l);
    Rounds {
        bits: blocks().map(|is_last| if is_last { 95 } else { 96 }).sum(),
        before: 0,
        online: blocks().map(|_| 10).sum(),
    }
}

/// EliMAC: seven rounds for a subkey, four for a block, ten to close.
pub fn elimac(l: u64) -> Rounds {
    let blocks = || (1..=l).map(|block| block == l);
    Rounds {
        bits: blocks().map(|is_last| if is_last { 127 } else { 128 }).sum(),
        before: blocks().map(|is_last| if is_last { 0 } else { 7 }).sum(),
        online: blocks().map(|is_last| if is_last { 10 } else { 4 }).sum(),
    }
}

/// Table 1 (page 4).
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
        "Bits are those of the longest message. With l calls LightMAC takes 96 l - 1 of them, and \
         96 l + 95 take one call more; EliMAC's 128 l counts one bit of padding (errata.md).",
    );
    grid
}

/// Table 2 (page 15): cycles per byte.
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
        "The paper's ZMAC is ZMAC1, Naito's variant; ours is ZMAC, and its PMAC2 and ours fill the \
         gaps of PMAC2's definition each in their own way. p.c.: the subkeys are made before. Our \
         LightMAC and EliMAC are tuned and our PMAC2 and ZMAC are not (see comparators): the \
         paper's rows compare the modes, ours do not.",
    );
    grid.machine(speeds);
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printed formulas, but for the bits of errata.md.
    #[test]
    fn counting_gives_the_formulas() {
        for l in 1..200 {
            let (light, eli) = (lightmac(l), elimac(l));
            assert_eq!([light.before, light.online], [0, 10 * l]);
            assert_eq!([eli.before, eli.online], [7 * (l - 1), 4 * (l - 1) + 10]);
            assert_eq!(eli.before + eli.online, 11 * l - 1);
            assert_eq!([light.bits, eli.bits], [96 * l - 1, 128 * l - 1]);
        }
    }
}
