//! LightMAC 2016, tables 1 to 4. Our copy lacks all of tables 3 and 4 except some rows' names.

use tagmac_any::bounds::Theorem;

use super::{Cell, Grid, Unit};
use crate::figures::MODES;
use crate::speeds::{Call, Speeds, digits};

/// Table 1 (page 2): the names and the number of sizes that our copy marks. Its columns are lost,
/// and so are the names of rows that only had a reference.
const CIPHERS: [(&str, u32); 25] = [
    ("AES", 1),
    ("DESLX", 1),
    ("Fantomas", 1),
    ("HIGHT", 1),
    ("ITUbee", 1),
    ("KLEIN", 1),
    ("KATAN", 3),
    ("LBlock", 1),
    ("LED", 1),
    ("LEA", 1),
    ("mCrypton", 1),
    ("Mysterion", 2),
    ("Noekeon", 1),
    ("Piccolo", 1),
    ("RC5", 3),
    ("Rectangle", 1),
    ("RoadRunneR", 1),
    ("Robin", 1),
    ("SEA", 1),
    ("Simon", 5),
    ("Speck", 5),
    ("TWINE", 1),
    ("XTEA", 1),
    ("Zorro", 1),
    ("PRESENT", 0),
];

/// Returns table 1.
pub fn ciphers(_: &Speeds) -> Grid {
    let mut grid = Grid::new(["cipher", "sizes marked", "which (bits)", "bits of ours"]);
    for (name, marks) in CIPHERS {
        let marked = match marks {
            0 => Cell::Lost,
            marks => Cell::Printed(marks.to_string()),
        };
        let ours = match name {
            "AES" => Cell::Ours("128".into()),
            "PRESENT" => Cell::Ours("64".into()),
            _ => Cell::Empty,
        };
        grid.row(name, vec![marked, Cell::Lost, ours]);
    }
    grid.note(
        "The table marks sizes from 32 to 128 bits. Our copy lost the columns and some rows' \
         names: between AES and DESLX, and after Piccolo and SEA. The rows are nearly \
         alphabetical. The references that nothing else in the text cites are those of CLEFIA, \
         PRIDE, PRINCE and Simeck; with PRESENT, which the text has, these are likely the lost \
         names. RC6, which the library also has, is not in the text; its blocks have 128 bits.",
    );
    grid
}

/// Returns table 2 (page 3): the coefficients of the bounds.
pub fn bounds(_: &Speeds) -> Grid {
    let mut grid = Grid::new(["mode", "the paper's cells", "drawn in figure 1", "source of that"]);
    for mode in MODES {
        let cell = match mode.printed {
            "" => Cell::Lost,
            "none" => Cell::Empty,
            text => Cell::Printed(text.into()),
        };
        let ours = [mode.formula, mode.source].map(|text| Cell::Ours(text.into()));
        let [formula, source] = ours;
        grid.row(mode.name, vec![cell, formula, source]);
    }
    grid.row(
        "Sum of CBCs",
        vec![
            Cell::Printed("text of section 1.2: 40 l^3 q^3 / 2^2n for l <= 2^(2n/5)".into()),
            Cell::Empty,
            Cell::Empty,
        ],
    );
    grid.note(
        "q messages of l blocks of n bits each. EMAC also has 16 q^2 / 2^n + 128 q^2 l^8 / 2^2n \
         for l <= 2^(n/8) and q >= l^2 (section 1.2). Both bounds of EMAC are from proofs that use \
         a lemma which Jha and Nandi (Journal of Mathematical Cryptology, 2016) refuted; by their \
         own proof it has about q^2 / 2^n for l < 2^(n/4). The paper orders cells in columns by \
         the power of l, and our copy lost the columns. 3kf9's cell would be in a single column; \
         it is drawn with the powers from the cited paper. Later proofs and attacks on the sum of \
         CBCs, PMAC_Plus and 3kf9 are in errata.md.",
    );
    grid
}

/// Returns table 3 (page 12): the ciphers without a mode, on Skylake.
pub fn baseline(speeds: &Speeds) -> Grid {
    let rounds = |name: &str, case: &str| match speeds.at("ceilings", case, name, 16) {
        Some(cycles) => Cell::Ours(digits(10.0 * cycles / 16.0)),
        None => Cell::Unmeasured("bench ceilings"),
    };
    let setup = |name: &str| {
        let of = |call| speeds.cycles(call, name, 16);
        match of(Call::NewKey).zip(of(Call::Ready)) {
            Some((new, ready)) => Cell::Ours(format!("{:.0} ({name})", new - ready)),
            None => Cell::Unmeasured("bench keys"),
        }
    };
    let present = match speeds.cycles(Call::Ready, "PMAC-PRESENT80", 16384) {
        Some(cycles) => Cell::Ours(digits(cycles / 16384.0)),
        None => Cell::Unmeasured("bench sizes"),
    };
    let rows = [
        ("PRESENT (table-based)", Cell::Ours("not built: tables leak".into()), Cell::Empty),
        ("PRESENT (8 blocks bitsliced)", present, setup("PMAC-PRESENT80")),
        ("AES (AES-NI, serial)", rounds("AES round, chained", "instruction"), Cell::Empty),
        ("AES (AES-NI, pipelined)", rounds("AES round", "instruction"), setup("PMAC-AES128")),
    ];
    let ours = format!("ours, {}", speeds.cpu());
    let mut grid =
        Grid::new(["cipher", "cycles per byte", &ours, "key schedule, cycles", "ours, of a MAC"]);
    for (label, speed, key) in rows {
        grid.row(label, vec![Cell::Lost, speed, Cell::Lost, key]);
    }
    grid.note(
        "Ours: AES is ten AES-round instructions. PRESENT is PMAC with 512, 256 or 128 blocks side \
         by side, messages of 16 KiB. Key schedules are those of a whole MAC, with L or other \
         values. The copies of the publisher's page that we found end before this table.",
    );
    grid.machine(speeds);
    grid
}

/// Returns table 4 (page 12): messages of 2^7 to 2^13 bytes.
pub fn speed(speeds: &Speeds) -> Grid {
    let lengths: [u64; 7] = core::array::from_fn(|at| 128 << at);
    let names = lengths.map(|bytes| bytes.to_string());
    let mut head = vec!["cycles per byte"];
    head.extend(names.iter().map(String::as_str));
    let mut grid = Grid::new(head);
    // The cipher, n, and the library's name; the counters are section 5.2's.
    for (cipher, n, of) in [("PRESENT", 64, "PRESENT80"), ("AES", 128, "AES128")] {
        for (s, why) in [(n / 2, "n/2 = "), (if n == 64 { 24 } else { 40 }, "n/3 = "), (8, "")] {
            let limit = Theorem::LightMac { n, s, t: n }.limit();
            let within = |cell: Cell| {
                move |&bytes: &u64| if bytes <= limit { cell.clone() } else { Cell::Empty }
            };
            let label = format!("LightMAC, {cipher}, s = {why}{s}");
            grid.row(
                &format!("{label}, Skylake"),
                lengths.iter().map(within(Cell::Lost)).collect(),
            );
            let name = format!("LIGHTMAC-{of}-S{s}");
            grid.measured(&label, speeds, (Call::Ready, &name), &lengths, Unit::PerByte);
            let row = grid.rows.last_mut().expect("just added");
            for (cell, bytes) in row.cells.iter_mut().zip(lengths) {
                if bytes > limit {
                    *cell = Cell::Empty;
                }
            }
        }
        for mode in ["EMAC", "PMAC/P"] {
            let label = format!("{mode}, {cipher}");
            grid.row(&format!("{label}, Skylake"), vec![Cell::Lost; 7]);
            // The comparators' names are those with AES.
            let name = if n == 128 { mode.into() } else { format!("{mode}-{of}") };
            grid.measured(&label, speeds, (Call::Ready, &name), &lengths, Unit::PerByte);
        }
    }
    grid.note(
        "The text has some of the lost results. LightMAC costs the inverse of its rate times the \
         cipher. With a rate of 2/3 it is about 50 % faster than PMAC/P with PRESENT, and about 20 \
         % with AES. Our PMAC/P spends more on masks than on AES (see comparators), so it does not \
         measure the mode. Our calls are back to back, and overlap. The copies of the publisher's \
         page that we found end before this table, too. Chaskey is only in the text (section 1.2), \
         without a speed; it is a comparator.",
    );
    grid.machine(speeds);
    grid
}
