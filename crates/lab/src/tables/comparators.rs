//! Compares the comparators with the least that their ciphers need.

use super::{Cell, Grid};
use crate::comparators::{COMPARATORS, ComparatorKind};
use crate::speeds::{Call, Speeds, digits};

/// Returns cycles per byte of ours and of each comparator, and of AES rounds without a mode.
pub fn speed(speeds: &Speeds) -> Grid {
    const LENGTHS: [u64; 3] = [64, 1536, 16384];
    const OURS: [&str; 3] = ["PMAC-AES128", "LIGHTMAC-AES128-S32", "ELIMAC-AES128"];
    let macs =
        COMPARATORS.iter().filter(|one| one.kind == ComparatorKind::Mac && one.has_definition());
    let mut grid =
        Grid::new(["cycles per byte", "64", "1536", "16384", "bare rounds", "times that"]);
    for name in OURS.into_iter().chain(macs.map(|one| one.name)) {
        let per_byte = |bytes| Some(speeds.cycles(Call::Ready, name, bytes)? / bytes as f64);
        let mut cells: Vec<_> = LENGTHS
            .into_iter()
            .map(|bytes| match per_byte(bytes) {
                Some(figure) => Cell::Ours(digits(figure)),
                None => Cell::Unmeasured(Call::Ready.command()),
            })
            .collect();
        let ceiling = speeds.ceiling(name);
        let times = per_byte(16384).zip(ceiling).map(|(figure, ceiling)| figure / ceiling);
        for figure in [ceiling, times] {
            cells.push(figure.map_or(Cell::Empty, |figure| Cell::Ours(digits(figure))));
        }
        grid.row(name, cells);
    }
    // Ten rounds of 4 cycles for 16 bytes.
    let below =
        speeds.ceiling("3kf9").map(|chained| (1.0 - (chained * 100.0).round() / 250.0) * 100.0);
    let below = below.map_or(String::new(), |percent| {
        format!(", some {percent:.0} % below the time for a latency of 4 cycles per round")
    });
    let other = speeds.at("ceilings", "instruction", "AES round, chained", 16);
    let other = other.map_or(String::new(), |cycles| {
        format!(" (the table of ciphers has {} from another run)", digits(10.0 * cycles / 16.0))
    });
    grid.note(format!(
        "The column of bare rounds has AES rounds without a mode, one after the other if the mode \
         chains them. It is our loop's figure{below}{other}. A figure far above that is not a verdict on \
         the mode. PMAC1 spends a third of its time here on masks. PMAC2, PMAC/P, PMAC_Plus and \
         ZMAC spend most of theirs on masks, weights or the tweak's schedule, which a tuned \
         program would make faster."
    ));
    grid.note(
        "LEMAC and PETITMAC need a new nonce for each message. Their last step is EWCDM (Cogliati and \
         Seurin 2016), which has a proof if the hash is almost xor-universal. That rests on a \
         count: a difference of two messages must pass at least 26 S-boxes before LeMac's state absorbs \
         it, each with a probability of at most 2^-6. The count rules out likely differential \
         trails. Unlike PMAC's and LightMAC's theorems, it does not follow from AES.",
    );
    grid.note(
        "Measured in a separate experiment; its figures differ by a percent or two from \
         those of other tables.",
    );
    grid.machine(speeds);
    grid
}
