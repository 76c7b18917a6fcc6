//! The tables of `docs/PERFORMANCE.md`: one for each machine, and one of all machines' ceilings.

use tagmac_figures::number;

use super::call_tables::SENDER;
use super::machine_tables::{MAIN, Machine, cycles, filled};
use super::markdown::{filled_columns, flagged, head, table};
use super::memory;
use super::wins::DEFAULT;
use crate::measure::Figure;
use crate::record::Series;

/// Bytes of the long message and of the short one.
const LONG: u64 = 16 << 10;
const SHORT: u64 = 64;

/// A column of [`of_machine`]: its heading, the experiment, the possible cases, and bytes of the
/// message.
type Column = (&'static str, &'static str, &'static [Option<&'static str>], u64);

const COLUMNS: [Column; 7] = [
    ("16 KiB, per byte", "sizes", &[None], LONG),
    ("back to back", "short", &[Some("back to back")], SHORT),
    ("chained", "short", &[Some("chained")], SHORT),
    ("new key", "keys", &[Some("new key")], SHORT),
    ("packet", "session", &[Some(SENDER)], SHORT),
    ("in a batch", "batch", &[Some("in one call"), Some("one by one")], SHORT),
    ("cold", "cold", &[Some("cold")], SHORT),
];

/// Peers that are shown even if none of their figures is lower than ours.
const PEERS: [&str; 6] = [
    "OpenSSL HMAC-SHA256",
    "OpenSSL CMAC-AES128",
    "OpenSSL Poly1305-AES",
    "nettle UMAC-64",
    "libsodium SipHash-2-4",
    "BLAKE3, keyed",
];

/// Returns a row for each engine of ours, for each peer of [`PEERS`], and for each peer that is
/// faster than [`DEFAULT`] in some column.
pub fn of_machine(machine: &Machine) -> String {
    let mut heads: Vec<String> = COLUMNS.iter().map(|column| column.0.into()).collect();
    heads.insert(1, "% of ceiling".into());
    let mut rows = vec![head("cycles", heads)];
    let figures = |name: &str| COLUMNS.map(|column| figure(machine, name, column));
    let default = figures(DEFAULT);
    for name in MAIN {
        let mut row = vec![name.to_string()];
        row.extend(COLUMNS.iter().zip(figures(name)).map(|(column, found)| cell(column, found)));
        row.insert(2, share(machine, name).unwrap_or_default());
        rows.extend(filled(row));
    }
    for name in peers(machine) {
        let found = figures(name);
        let is_faster = |(own, other): (&Option<Figure>, &Option<Figure>)| {
            own.zip(*other).is_some_and(|(own, other)| other.median < own.median)
        };
        let faster: Vec<bool> = default.iter().zip(&found).map(is_faster).collect();
        if !PEERS.contains(&name) && !faster.contains(&true) {
            continue;
        }
        let mut row = vec![name.to_string()];
        row.extend(COLUMNS.iter().zip(found).zip(faster).map(|((column, found), is_faster)| {
            let cell = cell(column, found);
            if is_faster { format!("**{cell}**") } else { cell }
        }));
        row.insert(2, String::new());
        rows.extend(filled(row));
    }
    table(&filled_columns(&rows))
}

fn figure(machine: &Machine, name: &str, (_, experiment, cases, x): Column) -> Option<Figure> {
    cases.iter().find_map(|case| machine.best(experiment, name, *case))?.at(x)
}

fn cell((.., x): &Column, figure: Option<Figure>) -> String {
    let per_byte = |figure: Figure| flagged(number(figure.median / LONG as f64), figure);
    figure
        .map_or(String::new(), |figure| if *x == LONG { per_byte(figure) } else { cycles(figure) })
}

/// Returns the share of the ceiling that a long message reaches, in percent.
fn share(machine: &Machine, name: &str) -> Option<String> {
    let series = machine.best("sizes", name, None)?;
    let reached = series.ceiling? * LONG as f64 / series.at(LONG)?.median;
    Some(format!("{:.0}", 100.0 * reached))
}

/// Returns the peers of the columns, in the order of the records.
fn peers<'a>(machine: &Machine<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for record in COLUMNS.iter().filter_map(|column| machine.record(column.1)) {
        for series in record.best().filter(|series: &&Series| !series.is_ours()) {
            if !names.contains(&&*series.name) {
                names.push(&series.name);
            }
        }
    }
    names
}

/// Returns a row for each machine with the ceilings of its best level and the costs of reading.
pub fn ceilings(machines: &[Machine]) -> String {
    const INSTRUCTIONS: [&str; 4] =
        ["AES round", "AES round, chained", "32-bit products", "52-bit half products"];
    let mut rows = vec![head("machine", INSTRUCTIONS.map(Into::into))];
    rows[0].extend(["a byte from cache 2", "from cache 3", "from memory"].map(Into::into));
    for machine in machines {
        let Some(record) = machine.record("ceilings") else { continue };
        let mut row = vec![machine.title()];
        row.extend(INSTRUCTIONS.map(|name| {
            let series = record.best().find(|series| series.name == name);
            let figure = series.and_then(|series| series.at(16));
            figure.map_or(String::new(), |figure| number(figure.median))
        }));
        row.extend(memory::record_costs(record).into_iter().map(|(_, cycles)| number(cycles)));
        rows.push(row);
    }
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn peers_that_are_slower_everywhere_are_left_out() {
        let of = |name, at| (name, "A", "chained", at);
        let ours = [of(DEFAULT, 50.0), of("UMAC-64", 40.0)];
        let theirs =
            [of("a fast hash", 30.0), of("a slow hash", 60.0), of("OpenSSL HMAC-SHA256", 900.0)];
        let records = [sample::record("short", &ours, &theirs)];
        let table = of_machine(&Machine::new("some-machine", &records));
        let rows: Vec<&str> = table.lines().collect();
        assert_eq!(
            rows,
            [
                "| cycles | chained |",
                "|---|---|",
                "| PMAC-AES128 | 50 |",
                "| UMAC-64 | 40 |",
                "| a fast hash | **30** |",
                "| OpenSSL HMAC-SHA256 | 900 |",
            ]
        );
    }
}
