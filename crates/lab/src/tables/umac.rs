//! UMAC 1999, figure 3 and the experiments in the text of section 3.

use super::{Cell, Grid};
use crate::speeds::{Call, Speeds, digits};

/// Returns figure 3, right: peak speed. Our copy lacks the picture; the text has some of it.
pub fn peak(speeds: &Speeds) -> Grid {
    use Cell::{Lost, Printed};
    const LONG: u64 = 16384;
    let text = |cell: &str| Printed(cell.into());
    let rows = [
        ("UMAC-MMX-15", [Lost, Lost, Lost], Cell::Empty, "UMAC99-MMX-15"),
        ("UMAC-MMX-30", [text("5.6 (0.51)"), Lost, Lost], Cell::Empty, "UMAC99-MMX-30"),
        ("UMAC-MMX-60", [text("2.9 (0.98)"), Lost, text("(10)")], Cell::Empty, "UMAC99-MMX-60"),
        ("UMAC-STD-30", [Lost, Lost, Lost], text("(2.2)"), "UMAC99-STD-30"),
        ("UMAC-STD-60", [Lost, Lost, text("(2.8)")], text("(4.3)"), "UMAC99-STD-60"),
        ("HMAC-SHA1", [text("SHA-1: (12.6)"), Lost, Lost], Cell::Empty, "HMAC-SHA1"),
        ("CBC-MAC-RC6", [Lost, Lost, Lost], Cell::Empty, "CBC-MAC-RC6"),
    ];
    let ours = format!("ours, {}", speeds.cpu());
    let heads = ["Gbit/s (cycles per byte)", "Pentium II", "PowerPC 604e", "Alpha 21164"];
    let heads = heads.into_iter().chain(["Pentium without MMX", &ours]);
    let mut grid = Grid::new(heads);
    for (label, [pentium, power, alpha], without_mmx, name) in rows {
        let ours = match speeds.cycles(Call::Ready, name, LONG) {
            Some(cycles) => {
                let per_byte = cycles / LONG as f64;
                let gbits = 8.0 * 0.35 / per_byte;
                Cell::Ours(format!("{} ({})", digits(gbits), digits(per_byte)))
            }
            None => Cell::Unmeasured(Call::Ready.command()),
        };
        grid.row(label, vec![pentium, power, alpha, without_mmx, ours]);
    }
    grid.note(
        "All Gbit/s are normalized to 350 MHz, as in the paper. Ours are of messages of 16 KiB, \
         which is not our peak (figure 3 has it). Our copy lost the table; the remaining cells are \
         from the text of sections 1 and 3. Section 1 does not name the two versions that it \
         times, with 2^-30 and 2^-60; by the caption's order they are the MMX ones. 5.6 and 0.51 \
         do not agree (errata.md). We found no other copy of the paper with the figure: the public \
         pages on UMAC's speed are of its versions of 2000 and 2004, on other machines.",
    );
    grid.machine(speeds);
    grid
}

/// Returns the experiments of section 3 that have numbers.
pub fn experiments(speeds: &Speeds) -> Grid {
    let setup = |name: &str| {
        let [new, ready] = [Call::NewKey, Call::Ready].map(|call| speeds.cycles(call, name, 16));
        match new.zip(ready) {
            Some((new, ready)) => Cell::Ours(format!("{:.0} cycles", new - ready)),
            None => Cell::Unmeasured("bench keys"),
        }
    };
    // The difference in time between a call of the second and one of the first.
    let ratio = |[one, other]: [&str; 2], bytes: u64| {
        let of = |name| speeds.cycles(Call::Ready, name, bytes);
        match of(one).zip(of(other)) {
            Some((one, other)) => {
                Cell::Ours(format!("{:+.0} % cycles at {bytes} B", 100.0 * (other / one - 1.0)))
            }
            None => Cell::Unmeasured("bench lab"),
        }
    };
    // In the first cache, as in the paper.
    let long = 16384;
    let per_byte = |name: &str| match speeds.cycles(Call::Ready, name, long) {
        Some(cycles) => Cell::Ours(format!("{} cycles per byte", digits(cycles / long as f64))),
        None => Cell::Unmeasured("bench lab"),
    };
    let as_fast = |name: &str| {
        let of = |name| speeds.cycles(Call::Ready, name, long);
        match of("UMAC99-MMX-60").zip(of(name)) {
            Some((whole, other)) => Cell::Ours(format!("{:.0} % as fast", 100.0 * whole / other)),
            None => Cell::Unmeasured("bench lab"),
        }
    };
    let rows = [
        (
            "MMH in place of NH, UMAC-STD-30 (ours: the hash alone)",
            "peak speed drops by 24 %",
            ratio(["NH", "MMH"], long),
        ),
        ("16-bit MMH in place of NH, UMAC-MMX-30", "peak speed drops by 5 %", Cell::Empty),
        (
            "MH in place of NH, UMAC-STD-30 (ours: the hash alone)",
            "about 26 % slower",
            ratio(["NH", "MH"], long),
        ),
        ("MH in place of NH, UMAC-MMX-30", "about 5 % slower", Cell::Empty),
        ("w = 16, UMAC-MMX-60, Alpha", "10 cycles per byte", per_byte("UMAC99-MMX-60")),
        ("w = 32, UMAC-STD-60, Alpha", "2.8 cycles per byte", per_byte("UMAC99-STD-60")),
        ("w = 64, a test version, Alpha", "1.7 cycles per byte", per_byte("UMAC99-W64")),
        ("a hash key of 2 KB for 4 KB, UMAC-MMX-60", "85 % as fast", as_fast("UMAC99-MMX-60-2K")),
        ("1 KB", "66 % as fast", as_fast("UMAC99-MMX-60-1K")),
        ("512 bytes", "47 % as fast", as_fast("UMAC99-MMX-60-512")),
        (
            "two levels (a tenth of the hash key)",
            "8 % slower on small messages to 15 % on long ones",
            ratio(["UMAC99-STD-60-1L", "UMAC99-STD-60"], long),
        ),
        ("key set-up, UMAC-MMX-60", "158,000 cycles (450 us)", setup("UMAC99-MMX-60")),
        ("key set-up, UMAC-STD-60", "46,000 cycles (130 us)", setup("UMAC99-STD-60")),
        (
            "share of the PRF, UMAC-MMX-60",
            "about half for short messages, around 7 % for longer ones",
            prf_share(speeds),
        ),
        (
            "a PRF of RC6 for one of SHA-1",
            "50 % faster at 32 B, 10 to 20 % at 4 KB, nearly none at 64 KB",
            Cell::Empty,
        ),
    ];
    let mut grid = Grid::new(["experiment", "the paper", &format!("ours, {}", speeds.cpu())]);
    for (label, paper, ours) in rows {
        let ours = match ours {
            Cell::Empty => Cell::Ours("not timed: no named set of parameters".into()),
            other => other,
        };
        grid.row(label, vec![Cell::Printed(paper.into()), ours]);
    }
    grid.note(
        "The rows with MMH and MH in place of NH are the lab's loops, hash alone and no PRF. Their \
         reductions are at the end, so the cost is one product for each word, where NH has one for \
         two. A drop of 24 % in speed is 32 % more cycles. Ours hash with vectors of up to 64 \
         bytes, so the PRF's share is larger than in 1999. For w = 64 there is no tuned code here, \
         so its figure reveals nothing about the size of words. Cells without a length are for 16 \
         KiB, which the first cache holds.",
    );
    grid.machine(speeds);
    grid
}

/// Returns the PRF's share of a call: the time that NH does not need.
fn prf_share(speeds: &Speeds) -> Cell {
    let share = |bytes| {
        let of = |name| speeds.cycles(Call::Ready, name, bytes);
        let (nh, whole) = (of("NH of UMAC99-MMX-60")?, of("UMAC99-MMX-60")?);
        Some(100.0 * (1.0 - nh / whole))
    };
    match (share(64), share(16384)) {
        (Some(short), Some(long)) => {
            Cell::Ours(format!("{short:.0} % at 64 B, {long:.0} % at 16 KiB"))
        }
        _ => Cell::Unmeasured("bench lab"),
    }
}
