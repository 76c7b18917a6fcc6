//! The tables of the five papers, each with our figures.
//!
//! To add a table, add a function that makes a [`Grid`], and a line in [`TABLES`].

mod comparators;
pub mod elimac;
mod grid;
mod lightmac;
mod pmac;
mod slides;
mod umac;

pub use grid::{Cell, Grid, Row, Unit};

use crate::speeds::Speeds;

/// A table that can be shown.
pub struct Table {
    /// Its name on the command line.
    pub name: &'static str,
    /// The subject.
    pub title: &'static str,
    /// The paper and the place in it.
    pub source: &'static str,
    /// Fills the table from a record.
    make: fn(&Speeds) -> Grid,
}

const fn table(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    make: fn(&Speeds) -> Grid,
) -> Table {
    Table { name, title, source, make }
}

/// All tables.
pub const TABLES: &[Table] = &[
    table("pmac-3", "Properties of PMAC", "PMAC, figure 3", pmac::properties),
    table("pmac-5", "PMAC and the CBC MAC", "PMAC, figure 5", pmac::speed),
    table("pmac-calls", "Calls of the cipher", "PMAC, performance", pmac::calls),
    table("umac-3", "Peak speed of UMAC", "UMAC, figure 3 and sections 1 and 3", umac::peak),
    table("umac-text", "Experiments with UMAC", "UMAC, section 3", umac::experiments),
    table("lightmac-1", "Sizes of blocks", "LightMAC, table 1", lightmac::ciphers),
    table("lightmac-2", "Bounds by length", "LightMAC, table 2", lightmac::bounds),
    table("lightmac-3", "Speed of the ciphers", "LightMAC, table 3", lightmac::baseline),
    table("lightmac-4", "LightMAC, EMAC and PMAC/P", "LightMAC, table 4", lightmac::speed),
    table("elimac-1", "Rounds of AES", "EliMAC, table 1", elimac::rounds),
    table("elimac-2", "EliMAC and other parallel MACs", "EliMAC, table 2", elimac::speed),
    table("elimac-3", "Ports of instructions", "EliMAC, table 3", elimac::ports),
    table(
        "elimac-footnote-1",
        "LightMAC's bound, improved",
        "EliMAC, section 4.2, footnote 1",
        elimac::footnote_1,
    ),
    table("slides-aligned", "Aligned messages", "slides, Poly1305-AES speed", slides::aligned),
    table(
        "slides-unaligned",
        "Unaligned messages",
        "slides, Unaligned messages",
        slides::unaligned,
    ),
    table("slides-guarantee", "The guarantee", "slides, security guarantee", slides::guarantee),
    table(
        "slides-lengths",
        "No long-message timings",
        "slides, Long-message timings",
        slides::lengths,
    ),
    table(
        "slides-all-costs",
        "Verifying, new keys, cold caches",
        "slides, Guesses; Timings after precomputation",
        slides::costs,
    ),
    table(
        "comparators",
        "The comparators, and the least that their ciphers need",
        "no paper: how well each is implemented here",
        comparators::speed,
    ),
];

impl Table {
    /// Returns the table, made from the record with most of its figures.
    pub fn fill(&self, all: &[Speeds]) -> Grid {
        Grid::fullest(all, self.make)
    }
}

/// Returns the table called `name`.
pub fn find(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}
